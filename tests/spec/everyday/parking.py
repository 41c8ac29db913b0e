"""A parking lot with two kinds of places."""

from collections import Counter
from enum import Enum, unique

from lawful import Machine, Nat, Scope, Sort, invariant, refuse, require, transition


class Plate(Sort): ...


@unique
class Kind(Enum):
    CAR = 1
    MOTORCYCLE = 2


CAPACITY = {Kind.CAR: 2, Kind.MOTORCYCLE: 1}
RATES: dict[Kind, int] = {Kind.CAR: 3, Kind.MOTORCYCLE: 1}
FREE_HOURS = 1


def fee(kind: Kind, hours: int) -> int:
    """The price in euro."""
    if hours <= FREE_HOURS:
        return 0
    return RATES[kind] * (hours - FREE_HOURS)


class Lot(Machine):
    parked: dict[Plate, Kind] = {}
    paid: set[Plate] = set()
    counts: Counter[Kind] = Counter()
    income: Nat = 0
    closed: bool = False

    def free(self, kind: Kind) -> int:
        return CAPACITY[kind] - self.counts[kind]

    @transition
    def enter(self, plate: Plate, kind: Kind) -> bool:
        if self.closed:
            refuse("closed")
        if plate in self.parked:
            refuse("is inside")
        if not self.free(kind):
            return False
        self.parked[plate] = kind
        self.counts[kind] += 1
        return True

    @transition
    def pay(self, plate: Plate, hours: Nat) -> int:
        require(plate in self.parked, "is not here")
        require(plate not in self.paid, "has paid")
        amount = fee(self.parked[plate], hours)
        self.paid.add(plate)
        return amount

    @transition
    def leave(self, plate: Plate) -> None:
        require(plate in self.paid, "has not paid")
        kind = self.parked.pop(plate)
        self.counts.subtract([kind])
        self.paid -= {plate}

    @transition
    def toggle(self) -> bool:
        self.closed = not self.closed
        return self.closed

    @invariant
    def payers_are_parked(self) -> bool:
        return self.paid <= self.parked.keys()

    @invariant
    def capacity_kept(self) -> bool:
        return all(self.counts[k] <= CAPACITY[k] for k in Kind)

    @invariant
    def counted(self) -> bool:
        for kind in Kind:
            if self.counts[kind] != sum(1 for k in self.parked.values() if k is kind):
                return False
        return True

    scope = Scope(Plate=3, Nat=range(0, 4), counts=3)
