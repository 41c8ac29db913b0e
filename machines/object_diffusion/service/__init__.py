"""An inbound node that downloads objects from TCP peers: a service that embeds `Registry`."""

from .node import Node
from .outbound import OutboundPeer
from .pool import SqlitePool

__all__ = ["Node", "OutboundPeer", "SqlitePool"]
