"""An event that changes one part does not look at the others: its cost is independent of them."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from lawful import Machine, Nat, OrderedSort, PropertyViolated, Record, require, transition


class Name(OrderedSort):
    """A lamp."""


class Last(Record):
    by: Nat
    left: int


class Lamp(Machine):
    """Its record has a bound, so that each change of it is judged."""

    last: Last | None = None

    @transition()
    def turn(self, by: int) -> None:
        self.last = Last(by, 0)


class House(Machine):
    lamps: dict[Name, Lamp] = {}

    @transition()
    def hang(self, lamp: Name) -> None:
        require(lamp not in self.lamps, "it hangs")
        self.lamps[lamp] = Lamp()

    @transition()
    def turn(self, lamp: Name, by: int) -> None:
        require(lamp in self.lamps, "no such lamp")
        self.lamps[lamp].turn(by)


def house(lamps: int) -> House:
    made = House()
    for number in range(lamps):
        made.hang(Name(f"{number:03}"))
        made.turn(Name(f"{number:03}"), 1)
    return made


def calls(made: House) -> int:
    """The Python functions that one event calls."""
    found = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal found
        found += event == "call"

    sys.setprofile(count)
    try:
        made.turn(Name("000"), 2)
    finally:
        sys.setprofile(None)
    return found


def test_an_event_of_a_part_costs_the_same_however_many_there_are() -> None:
    few, many = house(2), house(200)
    assert calls(few) == calls(many)
    assert few.lamps[Name("000")].last == many.lamps[Name("000")].last == Last(2, 0)


def test_what_is_out_of_bounds_in_the_part_is_still_noticed_and_undone() -> None:
    made = house(3)
    with pytest.raises(PropertyViolated, match=r"lamps\[001\]\.last\.by: -1 is below 0"):
        made.turn(Name("001"), -1)
    assert [lamp.last for lamp in made.lamps.values()] == [Last(1, 0)] * 3
