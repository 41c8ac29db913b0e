"""Machines with parts: one step of the whole."""

from __future__ import annotations

import pytest

from lawful import (
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Refused,
    Undefined,
    can,
    ignore,
    initial,
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


class Fuel(Machine):
    size: Param[Nat] = 1
    level: Nat = 0

    @transition()
    def fill(self, by: int) -> None:
        self.level += by


class Battery(Machine):
    """It makes parts, and calls one of them, in methods that undo without a save of all parts."""

    cells: dict[Nat, Fuel] = {}
    made: Nat = 0

    @transition()
    def add(self, key: Nat, less: Nat) -> None:
        self.made += 1
        self.cells[key] = Fuel(size=3 - less)

    @transition()
    def fill(self, key: Nat, by: int) -> None:
        require(key in self.cells, "no such cell")
        self.cells[key].fill(by)
        self.made += 1

    @transition()
    def replace(self, key: Nat, by: int) -> None:
        self.cells[key].fill(by)
        self.cells[key] = Fuel()
        self.made += 1


def battery_values(battery: Battery) -> tuple[int, dict[int, tuple[int, int]]]:
    return battery.made, {k: (cell.size, cell.level) for k, cell in battery.cells.items()}


def test_what_breaks_bounds_in_a_part_is_undone_in_all_of_them() -> None:
    battery = Battery()
    battery.add(1, 0)
    battery.fill(1, 5)
    before = battery_values(battery)
    assert before == (2, {1: (3, 5)})
    with pytest.raises(PropertyViolated, match=r"cells\[2\]\.size: -1 is below 0"):
        battery.add(2, 4)
    with pytest.raises(PropertyViolated, match=r"cells\[1\]\.level: -1 is below 0"):
        battery.fill(1, -6)
    with pytest.raises(Undefined):
        battery.replace(2, 1)
    assert battery_values(battery) == before
    battery.replace(1, -6)  # What is gone has no bounds to keep.
    assert battery_values(battery) == (3, {1: (1, 0)})


class Bulb(Machine):
    on: bool = False

    @transition()
    def light(self) -> None:
        require(not self.on, "it is on")
        self.on = True


class Room(Machine):
    bulb: Bulb = Bulb()

    @transition()
    def once_more(self, n: int) -> int:
        n = n + 1
        self.bulb.light()
        if n == 1:
            self.bulb.light()
        return n

    @transition()
    def as_wanted(self, n: int) -> int:
        self.bulb.light()
        if n == 1:
            self.bulb.light()
            return 1
        if n == 2:
            return 2
        return 3


@pytest.mark.parametrize("event", ["once_more", "as_wanted"])
def test_a_part_is_undone_where_a_parameter_is_assigned_or_the_ends_are_many(event: str) -> None:
    """The method then calls a function for the whole body, and does not know which parts it
    changes."""
    room = Room()
    with pytest.raises(Refused, match="it is on"):
        getattr(room, event)(1 if event == "as_wanted" else 0)
    assert not room.bulb.on
    assert getattr(room, event)(2) == (2 if event == "as_wanted" else 3)
    assert room.bulb.on


class Peer(Machine):
    owner: int
    level: Nat
    seen: dict[int, Nat]

    @initial
    def begin(self, owner: int) -> None:
        self.owner = owner
        self.level = owner
        self.seen = {owner: owner - 1}


class Hub(Machine):
    peers: dict[int, Peer] = {}
    joined: Nat = 0

    @transition()
    def join(self, node: int) -> None:
        self.peers[node] = Peer()
        self.peers[node].begin(node)
        self.joined += 6 // (node - 5)


def test_a_part_is_made_and_started_in_one_step_or_not_at_all() -> None:
    hub = Hub()
    hub.join(7)
    peer = hub.peers[7]
    assert (peer.owner, peer.level, dict(peer.seen), hub.joined) == (7, 7, {7: 6}, 3)
    for node, fault, what in (
        (5, Undefined, "ZeroDivisionError"),
        (-1, PropertyViolated, r"peers\[-1\]\.level: -1 is below 0"),
        (0, PropertyViolated, "bounds"),
    ):
        with pytest.raises(fault, match=what):
            hub.join(node)
    assert ([*hub.peers], hub.joined) == ([7], 3)
