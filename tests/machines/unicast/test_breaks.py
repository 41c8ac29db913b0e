"""Each demand that is broken on purpose is noticed by the property that says it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lawful.machines.unicast.demands import DEMANDS
from tests.machines.breaking import failing

from .breaks import BREAKS, CONDITIONS, SLIPS, Break, broken

MOST = 50_000  # States: some breaks lead to many.
# U1 and U2 are background. Batches, U27, are of the service, whose tests plant bugs of their own.
UNBROKEN = {"U1", "U2", "U27"}
ALWAYS = {"U8", "U12", "U24"}  # `make nightly` tries all.


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.demand, marks=() if row.demand in ALWAYS else pytest.mark.nightly)
        for row in BREAKS
    ],
)
def test_who_breaks_a_demand_is_noticed(row: Break) -> None:
    assert row.noticed in failing(broken(row), most=MOST)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("row", SLIPS, ids=lambda row: row.what)
def test_a_slip_is_noticed(row: Break) -> None:
    assert row.noticed in failing(broken(row), most=MOST)


@pytest.mark.nightly
@pytest.mark.parametrize("row", CONDITIONS, ids=lambda row: row.what)
def test_who_forgets_a_condition_is_noticed(row: Break) -> None:
    assert row.noticed in failing(broken(row), most=MOST, scope=row.scope)


def test_every_demand_is_broken_or_it_is_said_why_not() -> None:
    assert [row.demand for row in BREAKS] == [each for each in DEMANDS if each not in UNBROKEN]


def test_a_demand_names_who_notices_that_it_is_broken() -> None:
    """Where it is an `assert` of a caller, the caller's event."""
    named = {number: names(places) for number, (_, *places) in DEMANDS.items()}
    assert [row.demand for row in BREAKS if row.noticed not in named[row.demand]] == []


def names(places: Sequence[str]) -> set[str]:
    calls = any(place.startswith("callers.") for place in places)
    return {place.rpartition(".")[2] for place in places} | ({"asserts"} if calls else set[str]())
