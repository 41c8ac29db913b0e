"""Runs that Z3 finds of random machines are runs of the reference, to the violation it names."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from lawful.checks.explore.space import Space
from lawful.checks.prove.bounded import Bounded
from lawful.checks.prove.result import PropertyProof
from lawful.checks.reference import Done, Fault, Reference, Refusal
from lawful.checks.reference.missing_values import NoValue
from lawful.checks.smt.encode.sorts import fields_of
from lawful.checks.smt.solver.budget import Effort
from lawful.checks.verdict import Trace, Verdict
from lawful.spec import types as t
from lawful.spec.lower import sized
from lawful.spec.values.world import decode
from tests.agree.test_resuming import space_of

FAULTS = {"bounds", "asserts", "undefined", "ambiguous"}
EVENTS = 2
UNITS = 12_000_000  # For each machine; what is not decided with so many is left out.


@dataclasses.dataclass(frozen=True)
class Run:
    """A run that violates something, and what the reference makes of it."""

    space: Space
    proof: PropertyProof
    trace: Trace

    def agrees(self, number: int, state: Sequence[Any]) -> bool:
        """Whether a state of the run is this one; nothing is said here of parts, and of what has
        no encoding."""
        rows = self.trace.states[number]
        pairs = zip(fields_of(self.space.machine), state, strict=True)
        return all(
            decode(rows[name], kind, self.space.world) == value
            for (name, kind), value in pairs
            if not t.contains(kind, t.Part) and "$unknown" not in str(rows[name])
        )

    def confirm(self) -> None:
        """Take every step again: each state is as the run says, and the last step is the fault, or
        leads where the property is false."""
        reference = Reference(self.space.machine, self.space.world)
        reference.domains = self.space.values.of
        kinds = {p.name: p.type for p in self.space.machine.parameters}
        given = {n: decode(self.trace.states[0][n], k, self.space.world) for n, k in kinds.items()}
        state, before = reference.initial(given), None
        assert self.agrees(0, state)
        for number, step in enumerate(self.trace.steps, 1):
            params = self.space.machine.transition(step.transition).function.params
            args = {n: decode(step.args[n], kind, self.space.world) for n, kind in params}
            outcome = reference.step(state, step.transition, args)
            last = number == len(self.trace.steps)
            # Which of two transitions could come next is no step of the run.
            if last and self._without_constraint(outcome):
                return
            if last and self.proof.name in FAULTS - {"ambiguous" * isinstance(outcome, Done)}:
                assert isinstance(outcome, Fault) and outcome.name == self.proof.name
                return
            assert isinstance(outcome, Done), outcome
            before, state = state, outcome.state
            assert self.agrees(number, state)
        if not self.trace.steps and self._without_constraint(Done(state, None, "")):
            return
        assert self.proof.name not in FAULTS - {"ambiguous"}
        # Those of parts are judged in no state of the whole.
        if self.proof.name not in FAULTS and "." not in self.proof.name:
            assert not self._holds(reference, state, before)

    def _without_constraint(self, outcome: Done | Fault | Refusal) -> bool:
        """Whether the run ends because a constraint has no value in its last state."""
        if self.proof.name != "undefined" or not isinstance(outcome, Done):
            return False
        found = (self.space.failing(j, outcome.state) for j in self.space.constraints)
        return any(failing is not None and failing.undefined is not None for failing in found)

    def _holds(self, reference: Reference, state: Any, before: Any) -> bool:
        p = next(p for p in self.space.machine.properties if p.name == self.proof.name)
        of_steps = p.kind == "step_property"
        params = p.function.params[of_steps:]
        first = {p.function.params[0][0]: state} if of_steps else {}
        try:
            return all(
                reference.call_named(
                    p.function,
                    before if of_steps else state,
                    {**first, **dict(zip((n for n, _ in params), values, strict=True))},
                )
                for values in product(*(self.space.values.of(kind) for _, kind in params))
            )
        except NoValue:
            return False


def confirmed(seeds: range) -> Counter[str]:
    """How many machines were asked, and runs confirmed."""
    found = Counter[str]()
    for seed in seeds:
        space = space_of(seed)
        if space is None or space.machine.initials:
            continue
        found["machines"] += 1
        search = Bounded(sized(space.machine, dict(space.flat.sizes)), Effort(6_000_000))
        for proof in search.search(EVENTS, budget=Effort(UNITS).begin()):
            if proof.trace is not None and proof.trace.states:  # Else the start itself fails.
                if any("$unknown" in str(step.args) for step in proof.trace.steps):
                    found["untold"] += 1  # An argument without an encoding: any value will do.
                    continue
                assert proof.verdict in (Verdict.VIOLATED, Verdict.UNDEFINED)
                Run(space, proof, proof.trace).confirm()
                found["runs"] += 1
    return found


def test_a_run_that_violates_is_one_of_the_reference() -> None:
    found = confirmed(range(1000, 1015))
    assert found["machines"] == 13 and found["runs"] > 0


@pytest.mark.nightly
def test_many_runs_that_violate_are_runs_of_the_reference() -> None:
    found = confirmed(range(1015, 1100))
    assert found["machines"] > 40 and found["runs"] > 5
