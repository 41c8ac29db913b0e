"""The steps of a trace are sought again among those of the transitions that were taken."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from annotated_types import Interval

from lawful import Machine, Scope, require, transition
from lawful.checks.explore.compiled.engine import search
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Event, Space
from lawful.checks.explore.verdicts import run_to
from lawful.checks.reference import Done, Fault, Refusal
from lawful.checks.reference.states import State
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

Number = Annotated[int, Interval(ge=0, le=199)]


class Counter(Machine):
    """Counts to 20 by ones. A transition with 200 arguments, declared first, leads nowhere else."""

    count: Annotated[int, Interval(ge=0, le=20)] = 0
    last: int = 0

    @transition()
    def stay(self, number: Number) -> None:
        self.last = number // 200

    @transition()
    def up(self, by: Annotated[int, Interval(ge=1, le=2)]) -> None:
        require(self.count + by <= 20 and by == 1, "the end")
        self.count += by

    deadlock_ok = True
    scope = Scope(int=range(0, 20))


@pytest.mark.parametrize("tier", ["generated", "compiled"])
def test_a_trace_costs_the_arguments_of_the_transitions_that_were_taken(
    tier: Literal["generated", "compiled"],
) -> None:
    """One or two for each step, and not 200 more."""
    resolved = resolve(Counter)
    space = Space(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)
    found = search(space, Limits(), tier=tier)
    assert found.count == 21
    before = space.tried
    states, events = found.path(20)
    assert [args for _, args in events] == [(1,)] * 20
    assert states[-1] == found.states[20]
    assert 20 <= space.tried - before <= 40


class Lamp(Machine):
    """No step has an argument; one has an output."""

    lit: Annotated[int, Interval(ge=0, le=10)] = 0

    @transition()
    def brighter(self) -> None:
        require(self.lit < 9, "it has a limit")
        self.lit += 1

    @transition()
    def brightest(self) -> int:
        require(self.lit == 9, "it begins lower")
        self.lit = 10
        return self.lit

    deadlock_ok = True
    scope = Scope()


class Counting(Space):
    """Counts the steps that the reference engine takes."""

    steps = 0

    def step(self, state: State, event: Event) -> Done | Fault | Refusal:
        self.steps += 1
        return super().step(state, event)


def test_a_trace_takes_steps_only_for_arguments_and_outputs() -> None:
    resolved = resolve(Lamp)
    space = Counting(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)
    found = search(space, Limits(), tier="generated")
    assert (found.count, space.steps) == (11, 0)
    trace = run_to(found, 10, None)
    assert space.steps == 1
    assert [step.event for step in trace.steps] == ["brighter"] * 9 + ["brightest"]
    assert [step.output for step in trace.steps] == [None] * 9 + [10]
    assert [step.changed["lit"] for step in trace.steps] == [*range(1, 11)]
