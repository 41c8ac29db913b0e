"""Whether a mutant does what its machine does: each step from each state that either reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lawful.checks.explore.space import Args, Edge, Space
from lawful.checks.reference import Done
from lawful.checks.reference.states import State
from lawful.spec import ir
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.targets import scope_of

from .mutation_tables import Asked


@dataclass(frozen=True)
class Step:
    """An event with its arguments, and what comes of it: the next state and the output, a fault, or
    what it leaves the scope by."""

    event: str
    args: Args
    to: State | str
    output: Any


def states_with_the_same_steps(asked: Asked, mutant: ir.Machine) -> int:
    """How many states the two reach, from which they do the same; no state if they differ.

    An event that changes nothing and returns nothing is no step: whether it is ignored or taken
    makes no difference.
    """
    found = resolve(asked.cls)
    scope, abstracts = scope_of(asked.cls, [asked.scope, *asked.bounds]), abstract_scopes(found)
    one, other = (
        Space(lower(each, scope, abstracts), found.world) for each in (found.machine, mutant)
    )
    starts = [step for *_, step in one.initial()]
    if starts != [step for *_, step in other.initial()]:
        return 0
    known = {step.state for step in starts if isinstance(step, Done)}
    left = list(known)
    while left:
        state = left.pop()
        steps = steps_from(one, state)
        if steps != steps_from(other, state):
            return 0
        new = {step.to for step in steps if isinstance(step.to, tuple)} - known
        known |= new
        left += new
    return len(known)


def steps_from(space: Space, state: State) -> frozenset[Step]:
    """Those that leave the scope lead nowhere."""
    steps = (
        Step(space.rules[edge.rule][1].event, edge.args, *_outcome(edge))
        for edge in space.edges(state)
    )
    return frozenset(step for step in steps if (step.to, step.output) != (state, None))


def _outcome(edge: Edge) -> tuple[State | str, Any]:
    if not isinstance(edge.outcome, Done):
        return str(edge.outcome), None
    return edge.outcome.state if edge.cut is None else edge.cut, edge.outcome.output
