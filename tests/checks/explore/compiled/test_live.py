"""The graph for liveness, and the states in which properties are true, are the reference's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pytest

from lawful import (
    Fairness,
    Machine,
    Nat,
    Scope,
    Sort,
    Strong,
    Weak,
    eventually,
    infinitely_often,
    leads_to,
    recoverable,
    require,
    transition,
)
from lawful.checks.explore import explore
from lawful.checks.explore.compiled.engine import PackedSearch, search
from lawful.checks.explore.compiled.plain import Expanding
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.liveness.graph import Graph
from lawful.checks.explore.liveness.violations import violation
from lawful.checks.explore.search import search as by_reference
from lawful.checks.explore.space import Space
from lawful.checks.reference.missing_values import NoValue
from lawful.checks.reference.properties import PropertyOf
from lawful.spec import ir
from lawful.spec.analysis.callee import bind
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.verdicts import LIVENESS


class Job(Sort):
    """What waits at the desk."""


class Bell(Machine):
    """A part with a property of its own."""

    rung: bool = False

    @transition()
    def ring(self) -> None:
        self.rung = not self.rung

    @infinitely_often
    def rings(self) -> bool:
        return self.rung

    deadlock_ok = True


class Desk(Machine):
    """Jobs wait in a line and leave; a number grows beyond the scope; some labels have no value."""

    line: list[Job] = []
    done: set[Job] = set()
    count: Nat = 0
    bell: Bell = Bell()

    @transition()
    def come(self, job: Job, loud: bool) -> None:
        require(job not in self.line and job not in self.done, "it is here")
        self.line.append(job)
        if loud:
            self.bell.ring()

    @transition()
    def serve(self, job: Job) -> None:
        require(len(self.line) > 0 and self.line[0] == job, "not yet")
        self.done.add(self.line.pop(0))

    @transition()
    def tally(self, job: Job) -> None:
        require(job in self.done, "it is not done")
        self.count += 1

    @transition()
    def stay(self) -> None:
        pass

    @leads_to
    def waiting_ends(self, job: Job) -> tuple[bool, bool]:
        return job in self.line, job in self.done

    @eventually
    def all_is_done(self) -> bool:
        return len(self.done) == 2

    @infinitely_often
    def first_is_done(self) -> bool:
        return self.line[0] in self.done

    @recoverable
    def may_be_many(self) -> bool:
        return self.count > 0

    fairness = Fairness(Weak("serve", each=("job",)), Strong("come"), Weak("tally", each=("job",)))
    deadlock_ok = True
    scope = Scope(Job=2, Nat=range(0, 3), line=2)


class Many(Machine):
    """In every state 256 steps leave the scope."""

    x: Nat = 0

    @transition()
    def go(self) -> None:
        self.x = 1

    @transition()
    def jump(self, a: Job, b: Job) -> None:
        require(self.x == 1, "not yet")
        self.x = 1_000 if a == b else 1_001

    @recoverable
    def at_the_start(self) -> bool:
        return self.x == 0

    @eventually
    def it_goes(self) -> bool:
        return self.x == 1

    deadlock_ok = True
    scope = Scope(Job=16, Nat=range(0, 2))


TIERS: tuple[Literal["generated", "compiled"], ...] = ("generated", "compiled")


def space_of(cls: type[Machine]) -> Space:
    resolved = resolve(cls)
    return Space(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)


def shown(graph: Graph, states: Any) -> dict[Any, Any]:
    """By state: the names of the groups enabled, and the states its steps lead to with those that
    each takes."""

    def names(bits: int) -> tuple[str, ...]:
        return tuple(sorted(graph.groups.named(bits)))

    return {
        states[n]: (
            names(graph.enabled[n]),
            Counter((states[target], names(bits)) for target, bits in graph.steps(n)),
        )
        for n in range(len(graph))
    }


def noted(found: PackedSearch) -> dict[Any, list[int]]:
    return {
        (j.name, args): list(found.live(j, args))
        for j in found.space.of_kind(*LIVENESS)
        for args in found.space.arguments(j.rule, found.states[0], planned=False)
    }


def judged(found: PackedSearch) -> dict[Any, list[int]]:
    """The same by the reference engine."""
    rows: dict[Any, list[int]] = {key: [] for key in noted(found)}
    for j in found.space.of_kind(*LIVENESS):
        for args in found.space.arguments(j.rule, found.states[0], planned=False):
            for state in found.states:
                ((_, own),) = j.members(state)
                try:
                    named = bind(j.row.function.params, args)
                    value = found.space.reference.call_named(j.row.function, own, named)
                except NoValue:
                    rows[j.name, args].append(4)
                    continue
                p, q = value if j.kind == "leads_to" else (value, value)
                rows[j.name, args].append(p + 2 * q)
    return rows


@pytest.mark.parametrize("tier", TIERS)
def test_the_graph_and_the_notes_are_the_reference_s(
    tier: Literal["generated", "compiled"],
) -> None:
    found = search(space_of(Desk), Limits(), tier=tier)
    slow = by_reference(space_of(Desk), Limits())
    assert found.graph is not None and slow.graph is not None
    assert shown(found.graph, found.states) == shown(slow.graph, slow.states)
    assert noted(found) == judged(found)
    assert {len(row) for row in noted(found).values()} == {len(found.states)} == {39}
    notes = Counter(cell for row in noted(found).values() for cell in row)
    assert notes.keys() == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("cls", [Desk, Many])
def test_verdicts_are_the_same_in_every_engine(cls: type[Machine]) -> None:
    resolved = resolve(cls)
    space = space_of(cls)
    rows = [
        [(p.name, p.verdict, p.why, p.trace) for p in checked.properties]
        for engine in ("reference", "generated", "compiled")
        for checked in [explore(space.flat, resolved.world, {}, engine=engine)]
    ]
    assert rows[0] == rows[1] == rows[2]


@pytest.mark.parametrize("cls", [Desk, Many])
def test_no_state_is_expanded_or_judged_twice(
    cls: type[Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain steps expand each state once, its steps for liveness included; the reference engine is
    asked what a property is only where it has no value."""
    expanded, asked, space = list[int](), Counter[str](), space_of(cls)
    once, named = Expanding.expanded, space.reference.call_named

    def counted(self: Expanding, store: Sequence[int], at: int) -> tuple[list[int], int]:
        expanded.append(at)
        return once(self, store, at)

    def noted_by(function: ir.Function, owner: Any, args: Mapping[str, Any]) -> Any:
        asked[function.name] += 1
        return named(function, owner, args)

    monkeypatch.setattr(Expanding, "expanded", counted)
    monkeypatch.setattr(space.reference, "call_named", noted_by)
    found = search(space, Limits(), tier="generated")
    graph = found.graph
    assert graph is not None
    assert sorted(expanded) == [n * found.stepping.words for n in range(found.count)]
    parents = [found.before(number) for number in range(found.count)]
    for j in space.of_kind(*LIVENESS):
        asked.clear()
        violation(space, j, found.states, parents, graph, live=found.live)
        undefined = [4 in found.live(j, args) for args in values(found, j)]
        assert asked.total() == sum(undefined)  # It ends with the first.
        asked.clear()
        violation(space, j, found.states, parents, graph)
        assert any(undefined) or asked.total() == len(undefined) * found.count


def values(found: PackedSearch, j: PropertyOf) -> list[Any]:
    return list(found.space.arguments(j.rule, found.states[0], planned=False))
