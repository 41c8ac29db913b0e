"""Reliable unicast over UDP: a service that embeds the sender and receiver entries."""

from .endpoint import EndpointClosed, Unicast

__all__ = ["EndpointClosed", "Unicast"]
