"""The steps with their events, of the fast engine and of the reference engine."""

from __future__ import annotations

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import state_graph as graphs
from lawful.checks.explore.compiled.edges import Labels, Step
from lawful.checks.explore.compiled.engine import NotGenerated, Tier, search
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.search import Search, visited
from lawful.checks.explore.space import Event, Space
from lawful.checks.explore.state_graph import StateGraph, state_graph
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from tests.checks.declarations.exploration import Several
from tests.checks.declarations.playable import Doubled
from tests.checks.declarations.timed import Fischer, Rooms
from tests.classics.chang_roberts import ChangRoberts
from tests.classics.two_phase import TwoPhase

MACHINES = (Several, Doubled, Fischer, Rooms, TwoPhase, ChangRoberts)


def space_of(cls: type[Machine]) -> Space:
    found = resolve(cls)
    scope = found.scopes.get("scope", Scope())
    return Space(lower(found.machine, scope, abstract_scopes(found)), found.world)


def same(cls: type[Machine]) -> StateGraph:
    """The graph, which is compared with what the reference engine visits."""
    made, search = state_graph(space_of(cls), Limits()), Search(space_of(cls), Limits())
    rows = [[((e.rule, e.args), after) for e, after in steps] for _, steps in visited(search)]
    assert [*made.found.states] == search.states
    assert [[*steps] for steps in made.steps] == rows
    return made


@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
def test_states_and_steps_are_those_of_the_reference_engine(cls: type[Machine]) -> None:
    assert same(cls).engine == "generated"


def test_another_argument_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    event = Labels.event

    def other(labels: Labels, label: int) -> Event:
        rule, args = event(labels, label)
        return rule, args[::-1] if label % 2 else ()

    monkeypatch.setattr(Labels, "event", other)
    with pytest.raises(AssertionError):
        same(TwoPhase)


def test_the_reference_engine_says_that_it_took_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_given: object, **_named: object) -> None:
        raise NotGenerated("a set over too many values")

    monkeypatch.setattr(graphs, "packed", refused)
    made = same(TwoPhase)
    assert (made.engine, made.found.not_generated) == ("reference", "a set over too many values")


def test_a_limit_leaves_no_steps() -> None:
    made = state_graph(space_of(TwoPhase), Limits(states=10))
    assert not made.found.complete and not made.steps


def steps_of(cls: type[Machine], tier: Tier) -> list[list[Step]]:
    found = search(space_of(cls), Limits(), None, tier, labelled=True)
    return [[*rows] for rows in found.steps()]


@pytest.mark.parametrize("cls", [Several, TwoPhase], ids=lambda cls: cls.__name__)
def test_machine_code_has_the_same_steps(cls: type[Machine]) -> None:
    assert steps_of(cls, "compiled") == steps_of(cls, "generated")
