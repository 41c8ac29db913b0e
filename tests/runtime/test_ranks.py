"""Ordered sorts at run time: `universe=` gives the order, and whoever asks for one needs it."""

from __future__ import annotations

import copy
import pickle

import pytest

from lawful import Undefined
from tests.checks.rings import Ring, Seat

EAST, NORTH, WEST = Seat("east"), Seat("north"), Seat("west")
ROUND = [WEST, EAST, NORTH]


def ring() -> Ring:
    return Ring(universe={Seat: ROUND})


def test_the_order_is_that_of_the_universe_and_not_that_of_the_names() -> None:
    table = ring()
    assert table.move(WEST) == NORTH
    assert (table.at, table.far) == (EAST, 0)
    assert table.move(NORTH) == EAST
    assert (table.at, table.far) == (WEST, 1)
    table.take(WEST, NORTH, 1)
    table.take(EAST, NORTH, 1)
    assert table.taken == {WEST, EAST}
    assert table.pour(2) == (WEST, EAST)
    assert table.cups == {NORTH: 1, WEST: 1, EAST: 1}
    assert table.first_free()
    assert table.at == NORTH


def test_a_copy_knows_the_order() -> None:
    assert copy.deepcopy(ring()).move(WEST) == NORTH
    unpickled: Ring = pickle.loads(pickle.dumps(ring()))
    assert unpickled.move(WEST) == NORTH


def test_without_a_universe_the_error_says_what_is_missing() -> None:
    table = Ring()
    with pytest.raises(RuntimeError, match=r"make it with universe=\{Seat: \[\.\.\.\]\}"):
        table.move(WEST)
    with pytest.raises(RuntimeError, match="Ring asks for the elements of Seat"):
        table.take(WEST, EAST, 0)
    assert table.at is None and not table.taken


def test_what_is_none_of_the_elements_has_no_rank() -> None:
    table = ring()
    with pytest.raises(Undefined):
        table.move(Seat("south"))
    assert table.at is None
