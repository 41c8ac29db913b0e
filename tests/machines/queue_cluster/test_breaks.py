"""Each break of what a service embeds is noticed by the property that says it."""

from __future__ import annotations

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import Limits, explore
from lawful.checks.verdict import Verdict
from lawful.machines.queue_cluster.acceptance import ClientsFixed
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.demands import DEMANDS
from lawful.machines.queue_cluster.promises import BrokersFixed, BrokersLive
from lawful.machines.queue_cluster.subscribers import SubscribersFixed
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

from .breaks import BREAKS, SCOPES, Break, broken
from .node_breaks import NODE_BREAKS

EVERY = BREAKS + NODE_BREAKS
MOST = 250_000  # States: with two messages a break shows after 194,341.
# Q7 asks for tests, Q14 says that the sketch is incomplete; Q9, Q11, Q12, Q13 say which parts there
# are. What Q51 asks for is done by the service, whose tests flood it; the model has a bound.
UNBROKEN = {"Q7", "Q9", "Q11", "Q12", "Q13", "Q14", "Q51"}
FAILING = {Verdict.VIOLATED, Verdict.UNDEFINED}
ALWAYS = ("what is published is not kept as this node's own",)  # `make nightly` tries all.


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
        for row in EVERY
    ],
)
def test_a_break_is_noticed_by_name(row: Break) -> None:
    assert row.noticed in failing(broken(row), row.scope)


def test_every_demand_is_broken_or_it_is_said_why_not() -> None:
    demands = {number for row in EVERY for number in row.demands.split()}
    assert {number for number, (_, *places) in DEMANDS.items() if places} == demands | UNBROKEN
    assert not demands & UNBROKEN


def test_a_demand_names_who_notices_that_it_is_broken() -> None:
    named = {
        number: {place.rpartition(".")[2] for place in places}
        for number, (_, *places) in DEMANDS.items()
    }
    assert [
        (number, row.noticed)
        for row in EVERY
        for number in row.demands.split()
        if row.noticed.rpartition(".")[2] not in named[number]
    ] == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("cls", "scope"),
    [
        pytest.param(cls, scope, id=f"{cls.__name__} {scope}")
        for cls in (BrokersFixed, BrokersLive, ClientsFixed, QueueOwnerFixed, SubscribersFixed)
        for scope in sorted({row.scope for row in EVERY if row.machine == cls.__name__})
    ],
)
def test_what_is_not_broken_fails_nowhere(cls: type[Machine], scope: str) -> None:
    assert not failing(cls, scope)
