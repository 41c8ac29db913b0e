"""Whose turn it was: a judge of the order in which a scheduler has offered channels.

Like `history.py` it knows nothing of the service and nothing of the machine. It reads what the
clients have noted, in the order in which it happened. Senders are known by their tokens, which are
numbers, in the order in which senders came. What is not certain is not judged: a sender whose
`withdraw` has been called and has not returned is neither waiting nor gone.

Its promises (R16, R24, R26, R-B11): nobody is offered a channel before an earlier sender that is as
urgent; nobody is overtaken more than `patience` times; nobody is offered a channel before a more
urgent sender, unless this would have overtaken somebody once too often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lawful.machines.message_scheduler.declaration import ChannelId


@dataclass(frozen=True)
class Accepted:
    """`schedule` has returned the token of a sender."""

    token: int
    priority: int


@dataclass(frozen=True)
class Offered:
    """A sender is offered these channels: its `on_offer` begins."""

    token: int
    channels: frozenset[ChannelId]


@dataclass(frozen=True)
class Sent:
    """It has sent a message on one of them."""

    token: int
    channel: ChannelId


@dataclass(frozen=True)
class Returned:
    """A callback, of whomever, is about to return."""


@dataclass(frozen=True)
class Withdrawing:
    """`withdraw` is about to be called for a sender."""

    token: int


@dataclass(frozen=True)
class Withdrawn:
    """`withdraw` has returned. `back`: the sender is its caller's again."""

    token: int
    back: bool


Event = Accepted | Offered | Sent | Returned | Withdrawing | Withdrawn


@dataclass
class Waiting:
    """A sender from when it has come. `certain`: it waited when the last callback returned."""

    priority: int
    seen: frozenset[ChannelId] = frozenset()
    overtaken: int = 0
    accepted: bool = False
    certain: bool = False
    leaving: bool = False


@dataclass
class Turns:
    """What is known of those that wait, by their tokens."""

    patience: int
    waiting: dict[int, Waiting] = field(default_factory=dict[int, Waiting])

    def offered(self, offer: Offered) -> Iterator[str]:
        """What is wrong with this offer; afterwards it has been made."""
        own = self.waiting[offer.token]
        unseen = {n: w for n, w in self.waiting.items() if not offer.channels <= w.seen}
        earlier = [w for n, w in unseen.items() if n < offer.token]
        for number, other in unseen.items():
            urgent = other.priority > own.priority and other.certain and not other.leaving
            spent = any(w.overtaken >= self.patience for n, w in unseen.items() if n < number)
            if number > offer.token and urgent and not spent:
                yield f"sender {offer.token} was offered a channel before {number}, more urgent"
            if number < offer.token and other.priority >= own.priority and not other.leaving:
                yield f"sender {offer.token} was offered a channel before {number}, as urgent"
        for other in earlier:
            other.overtaken += 1
            if other.overtaken > self.patience and not other.leaving:
                yield f"sender {offer.token} overtook one that was overtaken often enough"
        own.seen = offer.channels

    def sent(self, channel: ChannelId) -> None:
        """The channel is closed: nobody has seen it since it will open again."""
        for each in self.waiting.values():
            each.seen -= {channel}


def problems(patience: int, log: Sequence[Event]) -> Iterator[str]:
    """What was promised of the order and did not happen, one line for each."""
    came = {each.token: each.priority for each in log if isinstance(each, Accepted)}
    turns = Turns(patience, {token: Waiting(came[token]) for token in sorted(came)})
    for event in log:
        match event:
            case Accepted(token) if token in turns.waiting:
                turns.waiting[token].accepted = True
            case Offered(token) if token in turns.waiting:
                yield from turns.offered(event)
            case Sent(token, channel):
                turns.waiting.pop(token, None)
                turns.sent(channel)
            case Returned():
                for each in turns.waiting.values():
                    each.certain = each.accepted
            case Withdrawing(token) if token in turns.waiting:
                turns.waiting[token].leaving = True
            case Withdrawn(token, back) if token in turns.waiting:
                if back:
                    del turns.waiting[token]
                else:
                    turns.waiting[token].leaving = False
            case _:
                pass
