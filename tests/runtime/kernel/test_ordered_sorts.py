"""Ordered sorts at run time: `universe=` gives the order; without it, it is that of the text."""

from __future__ import annotations

import copy
import pickle

import pytest

from lawful import Refused
from tests.checks.declarations.rings import Ring, Row, Seat
from tests.checks.reference.agreement import agreement

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


def test_without_a_universe_elements_compare_as_text() -> None:
    table = Row()
    assert table.take(EAST, WEST, 1) is False
    with pytest.raises(Refused, match="the other way round"):
        table.take(WEST, EAST, 1)
    table.take(EAST, NORTH, 0)
    assert table.taken == {EAST}
    assert (table.first, table.last, table.all) == (EAST, NORTH, (EAST, NORTH))
    told = Row(universe={Seat: ROUND})
    told.take(WEST, NORTH, 0)
    assert (told.first, told.last, told.all) == (WEST, NORTH, (WEST, NORTH))


def test_text_is_compared_and_not_numbers() -> None:
    two, ten = Seat("Seat2"), Seat("Seat10")
    assert Row().take(ten, two, 1) is False
    assert Row(universe={Seat: [two, ten]}).take(two, ten, 1) is False


def test_ranks_and_neighbours_need_the_universe() -> None:
    table = Ring()
    with pytest.raises(RuntimeError, match=r"make it with universe=\{Seat: \[\.\.\.\]\}"):
        table.move(WEST)
    with pytest.raises(RuntimeError, match="Ring asks for the elements of Seat"):
        table.take(WEST, EAST, 0)
    assert table.at is None and not table.taken


def test_what_is_explored_is_what_python_does_with_the_text() -> None:
    compared = agreement(Row)
    assert not compared.differences
    assert compared.states == 7 and compared.comparisons > 0


def test_what_is_none_of_the_elements_has_no_rank() -> None:
    table = ring()
    with pytest.raises(ValueError, match=r"move: \w+: Seat\('south'\) is no element"):
        table.move(Seat("south"))
    assert table.at is None
