"""Growing sorts in every engine that explores or proves: counts, verdicts, what they are of."""

from __future__ import annotations

import pytest

from lawful import Machine, Scope
from lawful.checks.conform.runtime_check import compare
from lawful.checks.conform.trace_player import played
from lawful.checks.explore.check import Engine, explore
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from lawful.checks.prove import prove
from lawful.checks.reference import Done, Reference
from lawful.checks.reference.growth import grow
from lawful.checks.verdict import Verdict
from lawful.spec import types as t
from lawful.spec.analysis.growth import growing_sorts, grown_by, universes
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.values.bounds import Values
from lawful.spec.verdicts import FAULTS
from tests.checks.declarations.growing import Cluster, Registry, Ring
from tests.checks.tla.test_export import same

SMALL: dict[type[Machine], dict[str, object]] = {
    Cluster: {"Node": 2},
    Ring: {"Seat": 2, "Queue": 2},
    Registry: {"Node": 2},
}
# Distinct states, generated, depth.
COUNTS: dict[type[Machine], tuple[int, int, int]] = {
    Cluster: (78, 159, 9),
    Ring: (876, 4135, 9),
    Registry: (31, 53, 9),
}


def space_of(cls: type[Machine]) -> Space:
    found = resolve(cls)
    scope = found.scopes.get("scope", Scope()).widened(SMALL[cls])
    return Space(lower(found.machine, scope), found.world)


@pytest.mark.parametrize("engine", ["reference", "generated"])
@pytest.mark.parametrize("cls", SMALL)
def test_counts_are_those_of_every_engine(cls: type[Machine], engine: Engine) -> None:
    space = space_of(cls)
    result = explore(space.flat, space.world, {}, engine=engine)
    assert (result.distinct, result.generated, result.depth) == COUNTS[cls]
    verdicts = {p.name: p.verdict.value for p in result.properties}
    others = {name for name, verdict in verdicts.items() if not verdict.startswith("holds")}
    # With two nodes `few_up` holds, and nobody sees three.
    assert others == ({"full", "comes_down"} if cls is Cluster else set())


@pytest.mark.parametrize("cls", SMALL)
def test_instances_do_the_same_in_every_state(cls: type[Machine]) -> None:
    found = compare(space_of(cls), cls, Limits(states=120))
    assert found.disagreements == []
    assert found.outcomes["done"] > 50 and any(name.startswith("grow_") for name in found.events)


@pytest.mark.parametrize("cls", [Cluster, Registry])
def test_a_module_of_tla_means_the_same(cls: type[Machine]) -> None:
    same(cls, **SMALL[cls])


@pytest.mark.parametrize("cls", SMALL)
def test_growth_explored_is_growth_as_the_reference_defines_it(cls: type[Machine]) -> None:
    """The step of the lowered machine, beside the definition, which knows only the declaration."""
    space, declared = space_of(cls), resolve(cls).machine
    reference = Reference(declared, space.world)
    names = [v.name for v in space.machine.variables]
    own = [names.index(v.name) for v in declared.variables]
    at = {sort: names.index(v.name) for sort, v in universes(space.machine)}
    seen, grown = [o.state for _, _, o in space.initial() if isinstance(o, Done)], 0
    for state in seen:
        for edge in space.edges(state):
            if not isinstance(edge.outcome, Done):
                continue
            after = edge.outcome.state
            seen += [] if after in seen or len(seen) > 60 else [after]
            sort = grown_by(space.machine, space.rules[edge.rule][1].name)
            if sort is None:
                continue
            there = {kind.name: tuple(sorted(after[i])) for kind, i in at.items()}
            reference.domains = Values(space.world, {}, there).of
            fixed = len(names), len(state)
            before = type(state)([*(state[i] for i in own), *state[slice(*fixed)]])
            native = grow(reference, before, sort)
            assert isinstance(native, Done)
            assert native.state == (*(after[i] for i in own), *after[slice(*fixed)])
            grown += 1
    assert grown > 5


def test_a_trace_with_growth_is_shown_and_played() -> None:
    found = resolve(Cluster)
    scope = found.scopes["scope"]
    flat = lower(found.machine, scope)
    result = played(Cluster, scope, explore(flat, found.world, {}))
    rows = {p.name: p for p in result.properties}
    assert rows["few_up"].verdict is Verdict.VIOLATED
    late = rows["one_joins_later"]
    assert late.verdict is Verdict.HOLDS and late.trace is not None
    assert [step.transition for step in late.trace.steps] == ["start", "grow_Node"]
    assert result.played is not None and not result.played.unplayed
    assert dict(flat.scope)["Node"] == "1..3 (growing)"


def proved(cls: type[Machine], sizes: dict[str, int]) -> tuple[set[str], dict[str, Verdict]]:
    result = prove(resolve(cls).machine, sizes=sizes)
    asked = [p for p in result.properties if p.covers]
    return {p.covers for p in asked}, {p.name: p.verdict for p in asked}


@pytest.mark.nightly
def test_a_proof_says_that_the_sort_grows_and_has_its_step() -> None:
    covers, verdicts = proved(Registry, {"Node": 3})
    assert covers == {"all integers; Node growing up to Node=3"}
    names = ("bounds", "asserts", "undefined", "owner_is_active", "universe_Node")
    assert verdicts == dict.fromkeys(names, Verdict.PROVED_WITHIN)
    covers, verdicts = proved(Registry, {})
    assert covers == {"all integers; any Node, growing"}
    assert verdicts == dict.fromkeys(names, Verdict.PROVED)


def test_a_machine_is_lowered_once_and_its_ignores_stay_last() -> None:
    machine = space_of(Ring).machine
    assert [str(s) for s in growing_sorts(machine)] == ["Queue", "Seat"]
    assert [row.name for row in machine.transitions][-2:] == ["grow_Queue", "grow_Seat"]
    assert lower(machine, Scope({"Seat": 2, "Queue": 2, "Nat": range(3)})).machine == machine
    assert not any(isinstance(v.type, t.Map) and v.type.total for v in machine.variables)
    assert {*FAULTS}.isdisjoint(p.name for p in machine.properties)


def test_a_sort_that_could_not_grow_is_no_scope() -> None:
    with pytest.raises(DeclarationError, match="two elements or more of a growing sort"):
        lower(resolve(Registry).machine, Scope({"Node": 1, "Nat": range(3)}))
