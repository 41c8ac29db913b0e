"""Traces: a run through numbered states as events, arguments, and what each event changed."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.values.world import encode

from ..reference import Done
from ..reference.states import State
from ..verdict import Trace, TraceStep
from .liveness.fairness import Bits
from .liveness.graph import Graph
from .space import Event, Space


def trace_of(
    space: Space, states: Sequence[State], events: Sequence[Event], loop: int | None = None
) -> Trace:
    """The run through these states by these events; after one that has no state, as before it."""
    after = [*states[1:], states[-1]]
    steps = [_step(space, states[i], after[i], event) for i, event in enumerate(events)]
    return Trace(tuple(map(space.shown, states)), tuple(steps), loop)


def _step(space: Space, before: State, after: State, event: Event) -> TraceStep:
    row = space.rules[event[0]][1]
    given = space.shown_args(row.function, event[1])
    changed = space.changed(before, after)
    return TraceStep(row.event, row.name, given, changed, _output(space, before, event))


def _output(space: Space, state: State, event: Event) -> Json:
    """The output of a step of a trace, in JSON form; None if it has none."""
    if space.rules[event[0]][1].function.output == t.NOTHING:
        return None
    outcome = space.step(state, event)
    if not isinstance(outcome, Done) or outcome.output is None:
        return None
    return encode(outcome.output, space.rules[event[0]][1].function.output)


def event_between(space: Space, graph: Graph, before: State, after: State, taken: Bits) -> Event:
    """The first event that leads from one state to the other and takes all these groups."""
    for edge in space.edges(before):
        leads = isinstance(edge.outcome, Done) and edge.outcome.state == after
        if leads and not taken & ~graph.groups.bits(edge.rule, edge.args):
            return edge.rule, edge.args
    raise AssertionError("a graph's steps are those of its space")


def trace_json(trace: Trace) -> Json:
    """The initial state, then an entry for every event."""
    first: Json = {"state": dict(trace.initial)}
    return [first, *(_step_json(step) for step in trace.steps)]


def _step_json(step: TraceStep) -> Json:
    out: dict[str, Json] = {
        "event": step.event,
        "args": dict(step.args),
        "changed": dict(step.changed),
    }
    if step.transition != step.event:
        out["transition"] = step.transition
    if step.output is not None:
        out["output"] = step.output
    return out
