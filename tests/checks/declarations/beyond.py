"""Machines whose steps hold values outside the scope in their middle; most of them come back."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import Annotated

from annotated_types import Interval

from lawful import (
    Machine,
    Nat,
    Record,
    Scope,
    Sort,
    constraint,
    invariant,
    reachable,
    require,
    total,
    transition,
)

Low = Annotated[int, Interval(ge=0, le=3)]
Far = Annotated[int, Interval(ge=0, le=9_999)]


class Side(Enum):
    LEFT = 1
    RIGHT = 2


class Guest(Sort):
    pass


class Visit(Record):
    guest: Guest
    number: Far


class Pair(Record):
    side: Side
    number: Nat


class Sets(Machine):
    """Every operation on sets, with elements that no state within the scope has."""

    held: set[Nat] = set()
    pairs: set[Pair] = set()
    groups: set[frozenset[Nat]] = set()
    seen: Nat = 0

    @transition()
    def put(self, n: Nat) -> None:
        self.held.add(n)
        self.pairs.add(Pair(Side.LEFT, n))

    @transition()
    def put_beyond(self, n: Nat) -> None:
        """This leaves the scope where the element is too large."""
        self.held.add(n + 2)

    @transition()
    def put_below(self) -> None:
        """This breaks the bounds of the type."""
        require(len(self.held) == 2)
        self.held.add(-1)

    @transition()
    def go_and_come(self, n: Nat) -> None:
        self.held |= {7, 8, n}
        self.held.add(9)
        require(9 in self.held and 10 not in self.held)
        assert len(self.held) >= 4
        assert {7, 8} <= self.held and {7, 8, 9} > {7, 8} and not self.held <= {7, 8, 9}
        assert self.held.isdisjoint({10, 11}) and not self.held.isdisjoint({9, 12})
        assert {q for q in self.held if q > 5} == {7, 8, 9}
        assert sorted(self.held)[-1] == 9 and max(self.held) == 9 and sum({7, 8} - {7}) == 8
        assert self.held & {8, 9, 12} == {8, 9} and self.held ^ {7} != self.held
        self.held.discard(9)
        self.held.discard(12)
        self.held.remove(8)
        self.held = self.held - {7}

    @transition()
    def pair(self, n: Nat) -> None:
        self.pairs.add(Pair(Side.RIGHT, n + 5))
        assert any(p.number > 4 for p in self.pairs)
        self.seen = min(len(self.pairs), 2)
        self.pairs = {p for p in self.pairs if p.number < 4}

    @transition()
    def group(self, n: Nat) -> None:
        self.groups.add(frozenset({n, n + 9}))
        assert frozenset({n + 9, n}) in self.groups
        assert frozenset({n}) not in self.groups
        self.groups.discard(frozenset({n, n + 9}))
        self.groups.add(frozenset({min(n, 1)}))

    @transition()
    def lose(self) -> None:
        self.held.remove(17)  # It is never there.

    scope = Scope(Nat=range(0, 4))


class Maps(Machine):
    """The same with maps, partial and total."""

    sent: dict[Nat, Nat] = {}
    sides: dict[Low, Side] = total(Side.LEFT)

    @transition()
    def put(self, n: Nat) -> None:
        self.sent[n] = 0

    @transition()
    def put_beyond(self) -> None:
        """This leaves the scope."""
        self.sent[5] = 0

    @transition()
    def put_below(self) -> None:
        """This breaks the bounds of the type."""
        require(1 in self.sent)
        self.sent[-1] = 0

    @transition()
    def put_too_much(self) -> None:
        """A total map that gets one key more breaks its bounds."""
        require(2 in self.sent)
        self.sides[7] = Side.RIGHT

    @transition()
    def go_and_come(self, n: Nat) -> None:
        self.sent[n + 6] = 1
        self.sent.update({n + 7: 2, n: 1})
        assert n + 6 in self.sent and n + 8 not in self.sent
        assert self.sent[n + 6] == 1 and self.sent.get(n + 8, 9) == 9
        assert len(self.sent) >= 3
        assert {q: v for q, v in self.sent.items() if q > 5} == {n + 6: 1, n + 7: 2}
        assert sum(self.sent.values()) >= 4 and max(self.sent) == n + 7
        self.sent[n + 6] += 1
        assert self.sent.pop(n + 6) == 2
        assert self.sent.pop(n + 8, 5) == 5
        del self.sent[n + 7]

    @transition()
    def turn(self, n: Low) -> None:
        self.sides[n] = Side.RIGHT

    @transition()
    def lose(self) -> None:
        del self.sent[17]  # It is never there.

    scope = Scope(Nat=range(0, 3))


class Bags(Machine):
    """The same with bags; and one whose elements are too many to be numbered."""

    flying: Counter[Nat] = Counter()
    groups: Counter[frozenset[Far]] = Counter()

    @transition()
    def put(self, n: Nat) -> None:
        self.flying[n] += 1

    @transition()
    def put_beyond(self) -> None:
        """This leaves the scope."""
        self.flying[5] += 1

    @transition()
    def put_below(self) -> None:
        """This breaks the bounds of the type."""
        require(self.flying[1] == 2)
        self.flying[-1] += 1

    @transition()
    def lose(self, n: Nat) -> None:
        """A count below 0 breaks the bounds of a bag."""
        require(self.flying[0] == 2)
        self.flying[n] -= 1

    @transition()
    def go_and_come(self, n: Nat) -> None:
        self.flying[n + 6] += 2
        self.flying[n + 7] += 1
        assert self.flying[n + 6] == 2 and n + 7 in self.flying and n + 8 not in self.flying
        assert self.flying.total() >= 3 and len(self.flying) >= 2
        assert sum(self.flying[q] for q in self.flying if q > 4) == 3
        assert max(self.flying) == n + 7
        assert Counter([9, 9, n])[9] == 2
        self.flying[n + 6] -= 2
        self.flying[n + 7] = 0

    @transition()
    def group(self, n: Nat) -> None:
        require(self.groups.total() < 2)
        self.groups[frozenset({0, n})] += 1

    @transition()
    def ungroup(self) -> None:
        self.groups[frozenset({0, 2})] -= self.groups[frozenset({0, 2})]

    scope = Scope({"Bags.flying": 2, "Bags.groups": 2}, Nat=range(0, 3))


class Numbers(Machine):
    """Integers and lists that are too long for a state, and properties without a value."""

    at: Nat = 0
    line: list[Nat] = []

    @transition()
    def up(self) -> None:
        self.at += 1

    @transition()
    def far(self) -> None:
        far = 9223372036854775807
        require(self.at < 18446744073709551616 and self.at != -18446744073709551616)
        require(not self.at >= 18446744073709551616 > self.at + 0)
        self.at = far - 9223372036854775806 if self.at < far else min(far, 3)

    @transition()
    def queue(self, n: Nat) -> None:
        self.line += [q for q in range(n + 3)]
        self.line.insert(1, 9)
        assert len(self.line) >= 4
        self.line = self.line[:1]

    @transition()
    def grow(self, n: Nat) -> None:
        """This leaves the scope."""
        self.line.extend([n, n, n])

    @transition()
    def go_below(self) -> None:
        """One of the last items breaks the bounds of its type."""
        require(self.at == 2)
        self.line.extend([0, 0, 0, -1])

    @reachable
    def is_first(self) -> bool:
        return self.line[0] == 1

    @constraint
    def within(self) -> bool:
        return self.at == 0 or 6 // (self.at - 3) < 0

    @invariant
    def small(self) -> bool:
        return len(self.line) < 3

    scope = Scope({"Numbers.line": 2}, Nat=range(0, 5))


class Visits(Machine):
    """Interchangeable elements in sets, maps and bags of more elements than get a place each."""

    met: set[Visit] = set()
    last: dict[Visit, Guest] = {}
    groups: Counter[frozenset[Visit]] = Counter()

    @transition()
    def meet(self, a: Guest, b: Guest) -> None:
        require(a != b and len(self.met) < 2)
        self.met.add(Visit(a, 7))
        self.last[Visit(b, 9_000)] = a

    @transition()
    def part(self, a: Guest, b: Guest) -> None:
        require(self.groups.total() < 2 and Visit(a, 7) in self.met)
        self.groups[frozenset({Visit(a, 1), Visit(b, 2)})] += 1

    @invariant
    def two_at_most(self) -> bool:
        return len(self.met) <= 2

    scope = Scope({"Visits.groups": 2}, Guest=3)
