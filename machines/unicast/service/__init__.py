"""Reliable unicast over UDP: a service that embeds the sender and receiver entries."""

from .endpoint import EndpointClosed, Unicast
from .threaded import ThreadedUnicast

__all__ = ["EndpointClosed", "ThreadedUnicast", "Unicast"]
