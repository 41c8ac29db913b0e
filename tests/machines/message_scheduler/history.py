"""What the clients of a scheduler and its peers have seen, and the judge of it.

The judge knows nothing of the service and nothing of the machine: it reads the histories alone.
Its promises are those of `message-scheduler.md`: one end for each sender and each request (R30),
callbacks that never overlap (R38), offers and channels that are used as offered (R18, R19, R25),
answers of the right peer to the right request (R3), nothing after `stop` (R32); and those of
`turns.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.machines.message_scheduler import turns
from tests.machines.message_scheduler.turns import Event


@dataclass
class Sending:
    """One sender. `offers`: of each, how many channels might be used, and how many were. `refuses`:
    it may refuse what it is offered, and then wait for ever."""

    refuses: bool = False
    accepted: bool = False
    offers: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    ends: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Times:
    """A moment, in seconds: how much time has passed, and how much by the scheduler's clock, which
    jumps forward. `back`: how often it has jumped back; what has passed since the scheduler looked
    at it for the last time is lost then."""

    passed: float
    by_clock: float
    back: int


LATE = 0.003  # Seconds after which a timeout is late; it is in milliseconds, rounded up.
EARLY = 0.001  # Seconds: what a duration in milliseconds may be off.


@dataclass
class Asking:
    """One request: where it went, and each of its ends: `timeout`, `withdrawn`, `answered` ..."""

    peer: str
    number: int
    body: bytes
    timeout: float
    sent_at: Times
    failed_at: Times | None = None
    ends: list[str] = field(default_factory=list[str])
    answer: bytes | None = None


@dataclass
class History:
    """All that was seen in one run. `right`: the answer to each request's body. `lies`: what a peer
    has said to numbers that it was not asked. `arrived`: how many requests came to a peer.
    `turns`: what clients have noted of the order, which `turns.py` judges. `shared`: messages on a
    channel whose request had not ended."""

    sendings: list[Sending] = field(default_factory=list[Sending])
    askings: list[Asking] = field(default_factory=list[Asking])
    right: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    lies: dict[str, frozenset[bytes]] = field(default_factory=dict[str, frozenset[bytes]])
    arrived: Counter[str] = field(default_factory=Counter[str])
    turns: list[Event] = field(default_factory=list[Event])
    patience: int = 0
    shared: int = 0
    overlapping: int = 0
    after_stop: int = 0


def problems(history: History) -> Iterator[str]:
    """What was promised and did not happen, one line for each."""
    for number, sending in enumerate(history.sendings):
        yield from (f"sender {number}: {what}" for what in _of_sending(sending))
    given = Counter(asking.number for asking in history.askings)
    for asking in history.askings:
        again = given[asking.number] > 1
        yield from (
            f"request {asking.number}: {what}" for what in _of_asking(asking, history, again)
        )
    sent = Counter(asking.peer for asking in history.askings)
    for peer, arrived in history.arrived.items():
        if arrived > sent[peer]:
            yield f"{arrived} requests arrived at {peer}, {sent[peer]} were sent"
    yield from turns.problems(history.patience, history.turns)
    if history.shared:
        yield f"{history.shared} messages on a channel that was in use"
    if history.overlapping:
        yield f"{history.overlapping} callbacks overlapped another"
    if history.after_stop:
        yield f"{history.after_stop} callbacks after stop had returned"


def _of_sending(sending: Sending) -> Iterator[str]:
    if not sending.accepted:
        if sending.offers or sending.ends:
            yield "was called, though it was not accepted"
    elif len(sending.ends) != 1:
        yield f"ended {len(sending.ends)} times: {sending.ends}"
    for size, used in sending.offers:
        if used > size:
            yield f"used {used} channels of {size}"


def _of_asking(asking: Asking, history: History, again: bool) -> Iterator[str]:
    """`again`: its number was given to another request too, whose late answer may be its own."""
    if len(asking.ends) != 1:
        yield f"ended {len(asking.ends)} times: {asking.ends}"
    if asking.failed_at is not None and asking.ends == ["timeout"]:
        yield from _of_timeout(asking, asking.failed_at)
    if asking.answer is None or again:
        return
    if asking.answer not in {history.right[asking.body]} | history.lies[asking.peer]:
        yield f"got {asking.answer[:40]!r}, which {asking.peer} has never answered to it"


def _of_timeout(asking: Asking, failed: Times) -> Iterator[str]:
    """It is told when the time is over, neither earlier nor later."""
    sent = asking.sent_at
    passed, by_clock = failed.passed - sent.passed, failed.by_clock - sent.by_clock
    if passed > asking.timeout + LATE and failed.back == sent.back:
        yield f"had {asking.timeout:.3f} s, and was told after {passed:.3f} s"
    if by_clock < asking.timeout - EARLY:
        yield f"had {asking.timeout:.3f} s, and was given up after {by_clock:.3f} s"


def missing(counts: Mapping[str, int], expected: Iterable[str]) -> list[str]:
    """What should have happened at least once, and did not."""
    return [name for name in expected if not counts.get(name)]
