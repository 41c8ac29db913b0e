"""Machines with parts: one step of the whole."""

from __future__ import annotations

import pytest

from lawful import (
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Undefined,
    can,
    ignore,
    require,
    transition,
)
from tests.runtime.helpers import refused


class Cell(Machine):
    size: Param[Nat] = 2
    held: list[Nat] = []
    closed: bool = False

    @transition()
    def put(self, x: Nat) -> Nat:
        require(len(self.held) < self.size, "is full")
        self.held.append(x)
        return len(self.held)

    @transition()
    def close(self) -> None:
        require(not self.closed, "is closed")
        self.closed = True

    again = ignore("close", because="it is")

    def room(self) -> Nat:
        return self.size - len(self.held)


class Rack(Machine):
    main: Cell = Cell()
    side: Cell = Cell(size=1)
    table: dict[Nat, Nat] = {}
    moves: Nat = 0

    @transition()
    def both(self, x: Nat) -> Nat:
        self.moves += 1
        self.table[x] = self.moves
        count = self.main.put(x)
        return count * 10 + self.side.put(x)

    @transition()
    def lacks(self, key: Nat) -> None:
        self.main.put(key)
        self.table[key] += 1

    @transition()
    def somewhere(self, x: Nat) -> bool:
        if can(self.main.put, x):
            self.main.put(x)
            return True
        if self.main.room() == 0 and can(self.main.close):
            self.main.close()
        return False

    @transition()
    def sink(self, x: Nat) -> None:
        self.main.put(x)
        self.moves -= 1


def test_a_composed_step_is_atomic() -> None:
    rack = Rack()
    assert rack.both(7) == 11
    before = rack.lawful.snapshot()
    error = refused(lambda: rack.both(8))
    assert str(error) == "both: is full (1 < 1 is false)"
    assert error.reasons[0].transition == "both"
    with pytest.raises(Undefined, match="KeyError: 9"):
        rack.lacks(9)
    assert rack.lawful.snapshot() == before
    assert (rack.main.held, rack.side.held, rack.table) == ([7], [7], {7: 1})
    with pytest.raises(PropertyViolated, match="moves: -1 is below 0"):
        Rack().sink(1)


def test_can_changes_nothing() -> None:
    rack = Rack()
    assert [rack.somewhere(x) for x in range(4)] == [True, True, False, False]
    assert rack.main.held == [0, 1]
    assert rack.main.closed


def test_a_part_changes_by_its_whole_only() -> None:
    rack = Rack()
    with pytest.raises(RuntimeError, match="by the transitions of its whole"):
        rack.main.put(1)
    assert rack.main.room() == 2
