"""Each break of what a service embeds is noticed by the property that says it."""

from __future__ import annotations

import pytest

from lawful import Scope
from lawful.checks.explore import Limits, explore
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

from .breaks import BREAKS, SCOPES, Break, broken

MOST = 20_000  # States: a break leads to many.
FAILING = {Verdict.VIOLATED, Verdict.UNDEFINED}
ALWAYS = ("a node joins without ownership",)  # `make nightly` tries all.


def failing(row: Break) -> set[str]:
    """The properties that do not hold any more."""
    found = resolve(broken(row))
    bounds = {**found.scopes["scope"].bounds, **SCOPES[row.scope]}
    result = explore(lower(found.machine, Scope(bounds)), found.world, {}, limits=Limits(MOST))
    return {p.name for p in result.properties if p.verdict in FAILING}


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.what, marks=() if row.what in ALWAYS else pytest.mark.nightly)
        for row in BREAKS
    ],
)
def test_a_break_is_noticed_by_name(row: Break) -> None:
    assert row.noticed in failing(row)
