"""The machine of which `files/` tells: it must stay as it is, or the files belong to no machine."""

from __future__ import annotations

from typing import Annotated

from lawful import (
    Machine,
    Nat,
    Opaque,
    Param,
    Record,
    Scope,
    State,
    Timer,
    invariant,
    reachable,
    require,
    transition,
)

Note = Annotated[str, Opaque("Note")]


class Stage(State):
    OPEN = "open"
    SHUT = "shut"


class Parcel(Record):
    weight: Nat
    fragile: bool


class Belt(Machine):
    moved: Nat = 0

    @transition()
    def move(self) -> None:
        self.moved += 1


class Depot(Machine):
    state: Stage = Stage.OPEN
    parcels: dict[int, Parcel] = {}
    queue: list[int] = []
    seen: set[int] = set()
    last: Parcel | None = None
    note: Note | None = None
    belt: Belt = Belt()
    due: Timer = Timer()
    limit: Param[Nat] = 3

    @transition(source=Stage.OPEN)
    def store(self, number: int, parcel: Parcel, note: Note) -> Nat:
        require(number not in self.parcels, "the number is taken")
        require(len(self.parcels) < self.limit, "the depot is full")
        self.parcels[number] = parcel
        self.queue.append(number)
        self.seen.add(number)
        self.last = parcel
        self.note = note
        self.belt.move()
        self.due.start(60)
        return len(self.parcels)

    @transition(source=Stage.OPEN, target=Stage.SHUT, timer="due")
    def shut(self) -> None: ...

    @invariant
    def stores_what_moved(self) -> bool:
        return len(self.parcels) == self.belt.moved

    @invariant
    def at_most_the_limit(self) -> bool:
        return len(self.parcels) <= self.limit


class Gate(Machine):
    """What is explored and proved."""

    inside: Nat = 0
    most: Param[Nat] = 2

    @transition()
    def enter(self) -> None:
        require(self.inside < self.most)
        self.inside += 1

    @transition()
    def leave(self) -> None:
        require(self.inside > 0)
        self.inside -= 1

    @invariant
    def at_most(self) -> bool:
        return self.inside <= self.most

    @reachable
    def full(self) -> bool:
        return self.inside == 2

    scope = Scope(Nat=range(0, 3))
