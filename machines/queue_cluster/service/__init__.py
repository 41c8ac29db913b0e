"""A cluster of queues: brokers that embed the machines, a bus, and clients."""

from .client import Client, CommandFailed, ConnectionLost

__all__ = ["Client", "CommandFailed", "ConnectionLost"]
