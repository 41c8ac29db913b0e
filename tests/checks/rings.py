"""Small machines about numbers: ranks of ordered sorts."""

from __future__ import annotations

from lawful import (
    Machine,
    Nat,
    OrderedSort,
    invariant,
    predecessor,
    rank,
    require,
    successor,
    transition,
)


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
