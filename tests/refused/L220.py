"""Calls of an `@initial` of a part that is not new, or is not its whole's to begin."""

from lawful import Machine, Nat, initial, transition


class Cell(Machine):
    held: Nat = 0

    @initial
    def begin(self, held: Nat) -> None:
        self.held = held

    @transition()
    def put(self) -> None:
        self.held += 1


class Shelf(Machine):
    first: Cell = Cell()
    cells: dict[Nat, Cell] = {}

    @initial
    def begin(self) -> None:
        self.first.begin(1)
        self.first.begin(2)

    @transition()
    def elsewhere(self, n: Nat) -> None:
        self.cells[n].begin(1)

    @transition()
    def late(self, n: Nat) -> None:
        self.cells[n] = Cell()
        self.cells[n].put()
        self.cells[n].begin(1)

    @transition()
    def its_own(self) -> None:
        self.begin()
