"""What clients of a cluster have seen, and the judge of it.

The judge knows neither brokers nor machines: it reads the histories alone. Each body is published
once, so that it names its message. Promised is:

1. A message whose publishing was answered is delivered, and in the end accepted.
2. It is delivered without `redelivered` at most once from each queue.
3. The cluster answers at most one acceptance, or rejection, of a message from each queue. After
   the answer nobody gets it over a connection that is opened later, or over the same. If it is the
   delivery without `redelivered` that was so answered, there is no other.
4. What one connection published to a queue comes to each subscription in that order, as far as it
   is not redelivered.
5. Nothing comes that nobody published to that queue, except where it was rejected to its alternate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Sent:
    """A message: by which connection, its place there, when it was answered."""

    body: bytes
    queue: str
    connection: str
    place: int
    answered: bool = False


@dataclass
class Got:
    """A delivery over a connection. `moment`: its place in the history; `opened`: that of its
    connection. `tried`: how the client settled it; `settled`: the same, if that was answered, at
    the moment `at`."""

    body: bytes
    queue: str
    connection: str
    redelivered: bool
    moment: int
    opened: int
    tried: str = ""
    settled: str = ""
    at: int = 0


@dataclass
class History:
    """All that clients did and saw. `alternates`: where the rejected messages of a queue go."""

    sent: list[Sent] = field(default_factory=list[Sent])
    got: list[Got] = field(default_factory=list[Got])
    alternates: dict[str, str] = field(default_factory=dict[str, str])
    moments: int = 0

    def moment(self) -> int:
        """The next place in the history."""
        self.moments += 1
        return self.moments


Deliveries = defaultdict[tuple[bytes, str], list[Got]]


def problems(history: History) -> Iterator[str]:
    """What was promised and did not happen, one line for each."""
    deliveries = _deliveries(history)
    yield from _lost(history, deliveries)
    for (body, queue), gots in deliveries.items():
        yield from (f"{_short(body)} from {queue}: {what}" for what in _of_message(gots))
    yield from _foreign(history, deliveries)
    yield from _out_of_order(history)


def lost(history: History) -> list[str]:
    """The messages that have not been delivered and ended yet, though their publishing was
    answered."""
    return [*_lost(history, _deliveries(history))]


def _deliveries(history: History) -> Deliveries:
    found: Deliveries = defaultdict(list)
    for got in history.got:
        found[got.body, got.queue].append(got)
    return found


def _lost(history: History, deliveries: Deliveries) -> Iterator[str]:
    for sent in history.sent:
        queue: str | None = sent.queue
        while sent.answered and queue is not None:
            gots = deliveries.get((sent.body, queue), [])
            ends = {got.tried for got in gots}  # Without an answer, it may have happened or not.
            if not ends & {"accept", "reject"}:
                what = "was never accepted" if gots else "was never delivered"
                yield f"{_short(sent.body)} from {queue}: {what}"
            queue = None if "accept" in ends else history.alternates.get(queue)


def _of_message(gots: list[Got]) -> Iterator[str]:
    first = sum(not got.redelivered for got in gots)
    if first > 1:
        yield f"was delivered {first} times without `redelivered`"
    ends = [got for got in gots if got.settled in ("accept", "reject")]
    if len(ends) > 1:
        yield f"ended {len(ends)} times: {', '.join(got.settled for got in ends)}"
    for end in ends:
        if not end.redelivered and len(gots) > 1:
            yield f"was delivered {len(gots)} times, though its first {end.settled} was answered"
        for got in gots:
            same = got.connection == end.connection and got.moment > end.at
            if got.opened > end.at or same:
                yield f"was delivered after its {end.settled} was answered"


def _foreign(history: History, deliveries: Deliveries) -> Iterator[str]:
    known = {(sent.body, sent.queue) for sent in history.sent}
    rejectable = {(got.body, got.queue) for got in history.got}
    known |= {(b, history.alternates[q]) for b, q in rejectable if q in history.alternates}
    for body, queue in deliveries:
        if (body, queue) not in known:
            yield f"{_short(body)} from {queue}: nobody published it there"


def _out_of_order(history: History) -> Iterator[str]:
    sent = {(each.body, each.queue): each for each in history.sent}
    latest: dict[tuple[str, str, str], int] = {}
    for got in history.got:
        each = sent.get((got.body, got.queue))
        if each is not None and not got.redelivered:
            way = each.connection, got.queue, got.connection
            if each.place < latest.get(way, -1):
                yield f"{_short(got.body)} from {got.queue}: came after one published later"
            latest[way] = max(each.place, latest.get(way, -1))


def counts(history: History) -> Counter[str]:
    """How much happened."""
    found = Counter(f"settled by {got.settled}" for got in history.got if got.settled)
    found["sent"] = len(history.sent)
    found["answered"] = sum(sent.answered for sent in history.sent)
    found["delivered"] = len(history.got)
    found["redelivered"] = sum(got.redelivered for got in history.got)
    return found


def _short(body: bytes) -> str:
    return body[:40].decode(errors="replace")
