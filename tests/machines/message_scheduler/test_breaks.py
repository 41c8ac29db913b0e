"""Each demand that is broken on purpose is noticed by the property that says it."""

from __future__ import annotations

import pytest

from lawful import Scope
from lawful.checks.explore import Limits, explore
from lawful.checks.verdict import Verdict
from lawful.machines.message_scheduler.demands import DEMANDS
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

from .breaks import BREAKS, Break, broken
from .slips import SLIPS

EVERY = BREAKS + SLIPS

MOST = 8000  # States: a break leads to many.
FAILING = {Verdict.VIOLATED, Verdict.UNDEFINED}
# A few that are tried with every change; `make nightly` tries all.
ALWAYS = (
    "the queue is a stack",
    "a sender that continues goes before those that wait",
    "nobody ages",
    "an overtaking counts twice",
    "a response of any peer is taken",
    "the same offer is made again",
    "a response opens the first channel of its peer",
)


def failing(row: Break) -> set[str]:
    """The properties that do not hold any more."""
    found = resolve(broken(row))
    bounds = {**found.scopes["scope"].bounds, **row.scope}
    result = explore(lower(found.machine, Scope(bounds)), found.world, {}, limits=Limits(MOST))
    return {p.name for p in result.properties if p.verdict in FAILING}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.what, marks=() if row.what in ALWAYS else pytest.mark.nightly)
        for row in EVERY
    ],
)
def test_a_break_is_noticed_by_name(row: Break) -> None:
    assert row.noticed in failing(row)


def test_every_demand_is_broken_and_names_who_notices() -> None:
    noticed = {
        number: {row.noticed for row in EVERY if number in row.demands.split()}
        for number in DEMANDS
    }
    named = {
        number: {place.rpartition(".")[2] for place in places}
        for number, (_, *places) in DEMANDS.items()
    }
    assert {number: names - named[number] for number, names in noticed.items()} == {
        number: set() for number in DEMANDS
    }
    assert [number for number in DEMANDS if named[number] and not noticed[number]] == []
