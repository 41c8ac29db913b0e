"""A machine with a variable of every kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from lawful import (
    Machine,
    Nat,
    Opaque,
    Param,
    Record,
    Sort,
    State,
    Timer,
    ignore,
    invariant,
    require,
    transition,
)
from lawful.runtime.timers import SimulatedClock

Blob = Annotated[bytes, Opaque("Blob")]


class Life(State):
    NEW = "new"
    LIVE = "live"
    DEAD = "dead"


class Who(Sort):
    pass


class Parcel(Record):
    key: Nat
    body: Blob


class Desk(Machine):
    """What a snapshot has to carry."""

    state: Life = Life.NEW
    count: Nat = 0
    names: set[Who] = set()
    parcels: dict[Nat, Parcel] = {}
    order: list[Nat] = []
    bag: Counter[Nat] = Counter()
    pairs: dict[Nat, set[Nat]] = {}
    last: Parcel | None = None
    nap: Timer = Timer()
    leases: dict[Who, Timer] = {}

    limit: Param[Nat] = 3
    seconds: Param[float] = 1.5
    fixed: Param[Mapping[bool, Nat]] = {False: 0, True: 1}

    @transition(source=(Life.NEW, Life.LIVE), target=Life.LIVE)
    def take(self, who: Who, parcel: Parcel) -> Nat:
        require(self.count < self.limit, "the desk is full")
        require(parcel.key not in self.parcels, "is there")
        self.count += 1
        self.names.add(who)
        self.parcels[parcel.key] = parcel
        self.order.append(parcel.key)
        self.bag[parcel.key] += 1
        self.pairs[parcel.key] = {self.count}
        self.last = parcel
        self.nap.start(self.seconds)
        self.leases[who] = Timer()
        self.leases[who].start(self.seconds)
        return self.count

    @transition(source=(Life.NEW, Life.LIVE), target=Life.DEAD)
    def close(self) -> None:
        require(self.count > 0, "nothing was taken")

    dead = ignore("close", source=Life.DEAD, because="it is closed")

    @transition(source=Life.DEAD)
    def bury(self) -> None: ...

    @invariant
    def within_limit(self) -> bool:
        return self.count <= self.limit

    def label(self, suffix: str) -> str:
        """Plain Python, left alone."""
        return f"{self.state.value}/{len(self.parcels)}{suffix}"

    @property
    def size(self) -> int:
        return len(self.names)


PARCEL = Parcel(7, b"\x00seven")


def busy(clock: SimulatedClock | None = None) -> Desk:
    desk = Desk(limit=5, clock=clock)
    desk.take(Who("ann"), PARCEL)
    return desk
