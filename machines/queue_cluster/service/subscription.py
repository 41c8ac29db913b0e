"""Who gets messages of a queue, and which ones it has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from ..messages import Delivery, Key, QueueName


class Subscriber(Protocol):
    """Whoever gets messages."""

    def deliver(self, subscription: Subscription, delivery: Delivery) -> None: ...

    def ended(self, subscription: Subscription) -> None:
        """The queue was destroyed. Told also of a subscription that was ended before, and still
        has something."""


@dataclass(eq=False)
class Subscription:
    """`credit`: how many messages it may have unsettled; `has`: those that it has."""

    subscriber: Subscriber
    queue: QueueName
    credit: int
    has: set[Key] = field(default_factory=set[Key])
    ended: bool = False

    @property
    def consumes(self) -> bool:
        """Whether it takes another message: it counts as a consumer then (Q33)."""
        return not self.ended and len(self.has) < self.credit
