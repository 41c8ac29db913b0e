"""Each break of what a service embeds is noticed by the property that says it."""

from __future__ import annotations

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import Limits, explore
from lawful.checks.verdict import Verdict
from lawful.machines.queue_cluster.promises import BrokersFixed, BrokersLive
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

from .breaks import BREAKS, SCOPES, Break, broken

MOST = 250_000  # States: with two messages a break shows after 194,341.
FAILING = {Verdict.VIOLATED, Verdict.UNDEFINED}
ALWAYS = (  # `make nightly` tries all.
    "a queue that is declared again has the owner that ended",
)


def failing(cls: type[Machine], scope: str) -> set[str]:
    """The properties that do not hold in the scope, or in its first states."""
    found = resolve(cls)
    bounds = {**found.scopes["scope"].bounds, **SCOPES[scope]}
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
    assert row.noticed in failing(broken(row), row.scope)


LIVE = sorted({row.scope for row in BREAKS if row.brokers == BrokersLive.__name__})


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("cls", "scope"),
    [*((BrokersFixed, scope) for scope in SCOPES), *((BrokersLive, scope) for scope in LIVE)],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_what_is_not_broken_fails_nowhere(cls: type[Machine], scope: str) -> None:
    assert not failing(cls, scope)
