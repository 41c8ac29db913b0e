"""Small machines about numbers that go round: ranks of ordered sorts, serial numbers."""

from __future__ import annotations

from typing import Annotated

from lawful import (
    Machine,
    Nat,
    OrderedSort,
    Param,
    Record,
    Scope,
    Serial,
    assume,
    before,
    invariant,
    predecessor,
    rank,
    require,
    step_property,
    subsets,
    successor,
    transition,
)

Seq = Annotated[int, Serial(bits=16)]


class Seat(OrderedSort):
    """Seats round a table."""


class Ring(Machine):
    """Ranks, neighbours, and what comes first and last."""

    at: Seat | None = None
    taken: set[Seat] = set()
    cups: dict[Seat, Nat] = {}
    far: int = 0

    @transition()
    def move(self, seat: Seat) -> Seat:
        require(seat != self.at, "there already")
        self.far = rank(seat) - (0 if self.at is None else rank(self.at))
        self.at = successor(seat)
        return predecessor(seat)

    @transition()
    def take(self, seat: Seat, other: Seat, n: Nat) -> bool:
        require(seat < other or seat >= successor(other), "the other way round")
        self.taken.add(min(seat, other))
        self.cups[max(seat, other, min(self.taken))] = 1
        return (seat, n + 1) < (other, n)

    @transition()
    def leave(self, seat: Seat) -> Seat:
        self.taken.discard(seat)
        self.at = max((s for s in self.taken if s < seat), default=seat)
        return min(s for s in self.taken if s > seat)

    @transition()
    def pour(self, n: Nat) -> tuple[Seat, ...]:
        for seat in sorted(self.taken):
            if n > 0:
                n -= 1
                self.cups[seat] = self.cups.get(seat, 0) + 1
        return tuple(sorted(self.taken))

    @transition()
    def first_free(self) -> bool:
        self.at = None
        for seat in Seat:
            if self.at is None and seat not in self.taken:
                self.at = seat
        return all(s <= max(self.taken) for s in self.taken)

    @invariant
    def neighbours(self) -> bool:
        return all(successor(predecessor(s)) == s and rank(s) < len(Seat) for s in Seat)


class Numbered(Record):
    """A message and the number it has."""

    seq: Seq
    copies: Nat = 1


class Window(Machine):
    """A sliding window over serial numbers."""

    base: Seq = 0
    next: Seq = 0
    size: Param[Nat] = 3
    held: dict[Seq, Nat] = {}
    seen: frozenset[Seq] = frozenset()
    latest: Numbered | None = None
    gap: int = 0

    @transition()
    def send(self) -> Seq:
        require(self.next - self.base < self.size, "the window is full")
        self.next += 1
        return self.next - 1

    @transition()
    def ack(self, upto: Seq) -> None:
        require(upto - self.base <= self.next - self.base, "acknowledges what was never sent")
        self.base = upto

    @transition()
    def receive(self, message: Numbered, n: int) -> bool:
        require(before(self.base, message.seq + n) or message.seq == 5, "old")
        self.held[message.seq] = message.copies
        self.held[n + message.seq] = self.held.get(message.seq - n, 0) + 1
        self.seen = self.seen | {message.seq, 0}
        self.latest = message.replace(seq=message.seq + 1)
        self.gap = self.latest.seq - self.base
        return message.seq in self.seen and before(message.seq, 7)

    @assume
    def window_below_half(self) -> bool:
        return self.size < 4

    @invariant
    def window_is_kept(self) -> bool:
        return self.next - self.base <= self.size

    @invariant
    def order(self, a: Seq, b: Seq) -> bool:
        return not (before(a, b) and before(b, a))

    @invariant
    def next_comes_after(self, a: Seq) -> bool:
        return before(a, a + 1) and not before(a, a) and a + 1 - 1 == a

    @step_property
    def never_back(self, after: Window) -> bool:
        return not before(after.base, self.base)

    scope = Scope(base=3, Nat=range(0, 2), int=range(-1, 2), size=(3,))


class Choices(Machine):
    """Subsets, and what is chosen of what may be nothing."""

    here: set[Seat] = set()
    few: frozenset[Seat] = frozenset()
    best: int = 0
    first: Seat | None = None

    @transition()
    def sit(self, seat: Seat, n: int) -> int:
        self.here.add(seat)
        self.best = max((rank(s) // n for s in self.here if s != seat), default=6 // n)
        self.first = min((s for s in self.here if s > seat), default=None)
        return min((rank(s) for s in self.here if s > seat), default=-n)

    @transition()
    def search(self, n: int) -> Seat:
        """What comes after the first that fits is not evaluated; the default always is."""
        self.best = next((6 // (rank(s) - n) for s in Seat if 4 // (rank(s) - 1) > n), 6 // n)
        return next((s for s in Seat if s not in self.here), max(self.here))

    @transition()
    def quorums(self, quorum: frozenset[Seat]) -> bool:
        require(quorum in subsets(Seat) and len(quorum) > 1, "too few")
        self.few = frozenset(s for s in Seat if all(s in q for q in subsets(self.here)))
        self.best = sum(1 for q in subsets(self.here) if len(q) > 1)
        return any(q < quorum and q == frozenset(self.here) for q in subsets(quorum))

    @invariant
    def quorums_meet(self) -> bool:
        big = {q for q in subsets(Seat) if len(q) * 2 > len(Seat)}
        return all(len(q & r) > 0 for q in big for r in big)

    scope = Scope(Seat=3, int=range(-1, 4))


class Greeting(Record):
    """What every message has."""

    seat: Seat
    n: Nat = 0


class Toast(Greeting):
    """A greeting to somebody."""

    to: Seat | None = None


class Speech(Toast):
    """A long one."""

    minutes: Nat = 5


class Party(Ring):
    """Records that inherit, and an ancestor's helpers and properties."""

    last: Greeting | Toast | Speech | None = None
    long: frozenset[Toast | Speech] = frozenset()

    def count(self, n: Nat) -> int:
        return self.far + n

    @transition()
    def say(self, message: Greeting | Toast | Speech) -> int:
        self.last = message
        if isinstance(message, Toast):
            self.long = self.long | {message}
            return message.n if message.to is None else rank(message.to)
        return self.count(message.n)

    @transition()
    def hear(self, message: Toast | Greeting | Speech) -> int:
        match message:
            case Speech(minutes=m):
                return m
            case Toast(seat, n, to=to) if to is not None:
                return rank(seat) + n
            case Greeting(n=n):
                return -n
            case _:
                return 0

    @invariant
    def neighbours(self) -> bool:
        return super().neighbours() and (self.last is None or self.last.n < 9)

    @invariant
    def toasts(self) -> bool:
        return all(not isinstance(m, Speech) or m.minutes != m.n for m in self.long)


class Feast(Party):
    """Once more."""

    def count(self, n: Nat) -> int:
        return super().count(n) + 1

    @transition()
    def pour(self, n: Nat) -> tuple[Seat, ...]:
        self.far = self.count(n) + super().count(1)
        return super().pour(n)

    @invariant
    def toasts(self) -> bool:
        return super().toasts() or not super().neighbours()


class Row(Machine):
    """What needs an order alone, and no neighbours."""

    taken: set[Seat] = set()
    first: Seat | None = None
    last: Seat | None = None
    all: tuple[Seat, ...] = ()

    @transition()
    def take(self, seat: Seat, other: Seat, n: Nat) -> bool:
        require(seat < other, "the other way round")
        self.taken.add(min(seat, other))
        self.first = min(self.taken)
        self.last = max(seat, other, self.first)
        self.all = tuple(sorted({seat, other}))
        return (other, n) <= (seat, n + 1)

    scope = Scope(Seat=3, Nat=range(0, 2), all=2)
