"""What senders, receivers and connections are for a scheduler, and the offer that a sender gets.

Source: `message-scheduler.md`, demands R18 to R20, R29 and R33 to R35.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ..declaration import ChannelId, Offer, Peer, Reason, Token


class OfferOver(Exception):
    """The offer is used after its `on_offer` has returned."""


class Sender(Protocol):
    """Waits for an open channel. One of its callbacks ends it: an `on_offer` that sends something,
    or `on_discard` after `stop`; or it is withdrawn."""

    def on_offer(self, offering: Offering) -> None:
        """Send up to `offering.left` messages, each on a channel of its own; none keeps the
        sender's place in the queue."""
        ...

    def on_discard(self) -> None: ...


class Receiver(Protocol):
    """Waits for the response to a request. Exactly one of its callbacks is called, once, or it is
    withdrawn."""

    def on_success(self, number: int, body: bytes) -> None: ...

    def on_failure(self, number: int, reason: Reason) -> None: ...


class Link(Protocol):
    """The connection to a peer. Any thread may call it; it does not wait and raises nothing."""

    @property
    def alive(self) -> bool: ...

    def send(self, frame: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class Message:
    """What goes to a peer: for a request its type is that of the response. `timeout`: seconds, for
    a request until it fails, for a notification until the peer has digested it (R21)."""

    type: str
    body: bytes
    timeout: float


class Broker(Protocol):
    """What an offering asks its scheduler."""

    def order(self, channels: frozenset[ChannelId]) -> list[ChannelId]: ...

    def usable(self, offering: Offering, channel: ChannelId) -> bool: ...

    def request(
        self, offering: Offering, channel: ChannelId, message: Message, receiver: Receiver
    ) -> int: ...

    def notify(self, offering: Offering, channel: ChannelId, message: Message) -> None: ...

    def left(self, offering: Offering) -> int: ...


class Offering:
    """An offer while its sender considers it: iterate over it, and send on what you like.

    It lists the channels longest unused first, and ends when the sender may use no more. A channel
    whose peer is gone is left out without a word, so there may be fewer than `size` (R34).
    """

    def __init__(self, broker: Broker, offer: Offer) -> None:
        self._broker = broker
        self._offer = offer
        self.over = False

    @property
    def token(self) -> Token:
        """The sender's, as `schedule` returned it."""
        return self._offer.token

    @property
    def size(self) -> int:
        """How many of the channels the sender may use in all."""
        return self._offer.size

    @property
    def left(self) -> int:
        """How many it may still use; 0 after it was withdrawn, and after `stop`."""
        return self._broker.left(self)

    @property
    def channels(self) -> frozenset[ChannelId]:
        """All channels of the offer, also those whose peer has gone since."""
        return self._offer.channels

    @property
    def peers(self) -> frozenset[Peer]:
        """The peers of all channels of the offer."""
        return frozenset(channel.peer for channel in self._offer.channels)

    def __iter__(self) -> Iterator[ChannelId]:
        for channel in self._broker.order(self._offer.channels):
            if self._broker.usable(self, channel):
                yield channel

    def send_request(self, channel: ChannelId, message: Message, receiver: Receiver) -> int:
        """Send a request; its number, with which the receiver is called.

        Errors: ValueError for a message out of its limits; `Refused` for a channel that is used or
        not of this offer, and for more than `size`; OfferOver.
        """
        return self._broker.request(self, channel, message, receiver)

    def send_notification(self, channel: ChannelId, message: Message) -> None:
        """Send a notification, which nobody answers. Errors: as of `send_request`."""
        self._broker.notify(self, channel, message)
