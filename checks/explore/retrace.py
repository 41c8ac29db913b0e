"""Running a recorded counterexample again on the machine as it is declared now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lawful.spec.values.world import decode
from lawful.spec.verdicts import BUILT_IN, LIVENESS

from ..reference import Done, Fault, Refusal
from ..reference.states import State
from ..verdict import PropertyResult, Verdict
from .liveness.violations import NoLabel, NoMember, violation
from .refinement import refinements
from .search import graph_of, may_rest, why
from .space import Space

TraceStep = Mapping[str, Any]


def again(space: Space, name: str, trace: Sequence[TraceStep]) -> str | None:
    """What is still wrong with the property after these events; None where the machine no longer
    does them, or the property holds. `trace` is that of the JSON of `lawful check`.

    KeyError where the machine has no such property; TypeError for arguments of another form.
    """
    states: list[State] = []
    for _, _, outcome in space.initial():
        if isinstance(outcome, Done) and space.shown(outcome.state) == trace[0]["state"]:
            states.append(outcome.state)
            break
    else:
        return None
    for row in trace[1:]:
        if name == "ambiguous" and row is trace[-1]:
            return _ambiguous(space, states[-1], row["event"])
        then = _step(space, states[-1], row)
        if isinstance(then, Fault):
            return then.what if then.name == name else None
        if then is None:
            return None
        states.append(then.state)
    return judged(space, name, states)


def _ambiguous(space: Space, state: State, event: str) -> str | None:
    """Whether two transitions of an event are enabled for the same arguments."""
    if space.machine.event(event).choice:
        return None
    rows = [row for _, row in space.rules]
    given = Counter(e.args for e in space.edges(state) if rows[e.rule].event == event)
    return f"{event} has two transitions here" if any(n > 1 for n in given.values()) else None


def _step(space: Space, state: State, row: TraceStep) -> Done | Fault | None:
    """The step of a row; None where the machine refuses it, or has no such transition."""
    name = row.get("transition", row["event"])
    for index, (_, found) in enumerate(space.rules):
        kinds = dict(found.function.params)
        if found.name == name and list(kinds) == list(row["args"]):
            args = tuple(decode(row["args"][n], kinds[n], space.world) for n in kinds)
            outcome = space.step(state, (index, args))
            return None if isinstance(outcome, Refusal) else outcome
    return None


def judged(space: Space, name: str, states: Sequence[State]) -> str | None:
    """What is wrong with a property at the end of a run through these states; None if nothing."""
    last = states[-1]
    if name == "deadlock":
        stuck = not any(True for _ in space.edges(last)) and not may_rest(space, last)
        return "no transition is enabled" if stuck else None
    if name == "undefined":  # A step without a value has no state after it; a constraint may.
        placed, _ = space.placed(Done(last, None, ""))
        return placed.what if isinstance(placed, Fault) else None
    if name in BUILT_IN:
        return None  # Only a step, which leads to no state, violates these.
    j = {each.name: each for each in space.judged}[name]
    if j.kind in LIVENESS:
        return _for_ever(space, name, states)
    if j.kind == "refines":
        return _refined(space, name, states)
    if j.kind == "step_property":
        if len(states) < 2:
            return None
        failing = space.failing(j, states[-2], last)
    else:
        failing = space.failing(j, last)
    return None if failing is None else why(space, j, failing)


def _refined(space: Space, name: str, states: Sequence[State]) -> str | None:
    """The reason why the start or the last step is none of the abstract machine."""
    (refining,) = (each for each in refinements(space) if each.name == name)
    begins = len(states) == 1
    found = refining.starts(states[0]) if begins else refining.follows(*states[-2:])
    return None if found is None or found[0] is Verdict.UNKNOWN else found[1]


def broken_at_end(space: Space, p: PropertyResult, states: Sequence[State], most: int) -> bool:
    """Whether what a verdict says is so at the end of a run through these states.

    Of what can be reached no more, at most so many states after the last one are looked at;
    ValueError where there are more.
    """
    last = states[-1]
    if p.kind not in ("reachable", "recoverable"):
        return judged(space, p.name, states) is not None
    j = {each.name: each for each in space.judged}[p.name]
    if p.verdict is Verdict.UNDEFINED:
        return space.undefined(j, last) is not None
    if p.kind == "reachable":
        return any(space.is_true(j.row, last, args) for args in space.arguments(j.rule, last))
    after = _after(space, last, most)
    return any(
        not any(space.is_true(j.row, state, args) for state in after)
        for args in space.arguments(j.rule, last)
    )


def _after(space: Space, state: State, most: int) -> list[State]:
    """The states that can be reached from this one, itself first."""
    found = {state: None}
    waiting = [state]
    while waiting:
        for edge in space.edges(waiting.pop()):
            if isinstance(edge.outcome, Done) and edge.outcome.state not in found:
                if len(found) == most:
                    raise ValueError(f"more than {most:,} states can be reached from its end")
                found[edge.outcome.state] = None
                waiting.append(edge.outcome.state)
    return list(found)


def _for_ever(space: Space, name: str, states: Sequence[State]) -> str | None:
    """A lasso among these states, other steps of theirs being known to lead elsewhere."""
    j = {each.name: each for each in space.judged}[name]
    numbers: dict[State, int] = {}
    parents: list[int] = []
    for before, state in zip([None, *states], states, strict=False):
        if state not in numbers:
            numbers[state] = len(parents)
            parents.append(-1 if before is None else numbers[before])
    known = list(numbers)
    found = violation(space, j, known, parents, graph_of(space, known))
    if isinstance(found, NoLabel):
        return f"{name} is undefined"
    return None if found is None or isinstance(found, NoMember) else f"{name} does not come"
