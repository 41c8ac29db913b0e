"""A scheduler of messages to TCP peers: a service that embeds the machine `Scheduler`."""

from .offering import Offering, OfferOver
from .scheduler import MessageScheduler, Stopped

__all__ = ["MessageScheduler", "OfferOver", "Offering", "Stopped"]
