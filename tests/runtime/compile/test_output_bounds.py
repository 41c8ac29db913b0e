"""The bounds of what an event returns, where that is a record: each integer inside is tested."""

from __future__ import annotations

from typing import Annotated

import pytest
from annotated_types import Interval

from lawful import Machine, Nat, PropertyViolated, Record, transition

Few = Annotated[int, Interval(ge=-2, le=2)]


class Point(Record):
    x: Nat
    y: Few


class Named(Record):
    at: Point
    size: Nat
    sure: bool


class Grouped(Record):
    size: Nat
    points: frozenset[Nat]


class Plotter(Machine):
    """Each event returns what it is told to."""

    told: Nat = 0

    @transition()
    def point(self, x: int, y: int) -> Point:
        self.told += 1
        return Point(x, y)

    @transition()
    def named(self, x: int, y: int, size: int) -> Named:
        self.told += 1
        return Named(Point(x, y), size, True)

    @transition()
    def perhaps(self, x: int, y: int) -> Point | None:
        self.told += 1
        return None if x == y else Point(x, y)

    @transition()
    def grouped(self, size: int, x: int) -> Grouped:
        self.told += 1
        return Grouped(size, frozenset({x}))


def test_what_is_within_bounds_is_returned() -> None:
    plotter = Plotter()
    assert plotter.point(0, -2) == Point(0, -2)
    assert plotter.named(5, 2, 0) == Named(Point(5, 2), 0, True)
    assert (plotter.perhaps(1, 1), plotter.perhaps(1, 2)) == (None, Point(1, 2))
    assert plotter.grouped(0, 0) == Grouped(0, frozenset({0}))
    assert plotter.told == 5


@pytest.mark.parametrize(
    ("event", "given", "found"),
    [
        ("point", (-1, 0), ".x: -1 is below 0"),
        ("point", (0, -3), ".y: -3 is below -2"),
        ("point", (0, 3), ".y: 3 is above 2"),
        ("named", (-1, 0, 0), ".at: .x: -1 is below 0"),
        ("named", (0, 3, 0), ".at: .y: 3 is above 2"),
        ("named", (0, 0, -4), ".size: -4 is below 0"),
        ("perhaps", (-1, 0), ".x: -1 is below 0"),
        ("grouped", (-1, 0), ".size: -1 is below 0"),
        ("grouped", (0, -1), ".points: -1 is below 0"),
    ],
)
def test_what_is_out_of_bounds_undoes_the_event(
    event: str, given: tuple[int, ...], found: str
) -> None:
    plotter = Plotter()
    with pytest.raises(PropertyViolated) as caught:
        plotter.lawful.take(event, *given)
    assert caught.value.what == f"bounds: the output{found}"
    assert plotter.told == 0
