"""Covering paths: sequences of events that together cover a machine, as tests of an implementation.

The algorithm is greedy. Each path begins in an initial state and repeatedly goes to the nearest
uncovered item, until none can be reached; then the next path begins. Every path covers something
that the earlier ones do not. The fewest events would be a rural postman tour, which is NP-hard.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.ir import Json

from ..explore.limits import Limits
from ..explore.space import Event, Space
from ..explore.state_graph import StateGraph, state_graph
from ..explore.traces import trace_of
from ..reference.states import State
from ..verdict import Trace

Cover = Literal["transitions", "states", "pairs"]


@dataclass(frozen=True, slots=True)
class Call:
    """An event with its arguments as Python values; its output and the state after it as JSON."""

    event: str
    transition: str
    args: Mapping[str, Any]
    output: Json
    after: Mapping[str, Json]


@dataclass(frozen=True)
class Path:
    """A test: the initial state in JSON form, and the events from it."""

    initial: Mapping[str, Json]
    calls: tuple[Call, ...]
    trace: Trace = field(repr=False)

    def __iter__(self) -> Iterator[Call]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    def __str__(self) -> str:
        return "-".join(call.event for call in self.calls) or "nothing"


@dataclass(slots=True)
class _Known:
    """The state graph: states, initial states, and for each state its edges (event, target)."""

    space: Space
    states: Sequence[State]
    starts: list[int]
    edges: Sequence[Sequence[tuple[Event, int]]]


def paths(space: Space, cover: Cover, most: int) -> list[Path]:
    """Paths that cover every transition, every control state, or every pair of transitions of which
    one can directly follow the other. Without a control state "states" covers every state.

    Raises `ValueError` where the machine has `most` states or more, or no initial state.
    """
    known = _known(state_graph(space, Limits(most)), most)
    wanted = _everything(known, cover)
    found: list[Path] = []
    while wanted:
        run = _run(known, cover, wanted)
        if run is None:
            break
        found.append(_path(known, *run))
    return found


def _known(graph: StateGraph, most: int) -> _Known:
    found = graph.found
    if not found.complete:
        name = found.space.machine.name
        raise ValueError(f"{name} has {most:,} states or more: give it a smaller scope")
    starts = [number for number in range(len(found.states)) if found.before(number) < 0]
    return _Known(found.space, found.states, starts, graph.steps)


Item = Hashable
Last = int | None  # The rule of the event before; None at the start.


def _items(known: _Known, cover: Cover, last: Last, rule: int, after: int) -> list[Item]:
    """The items that a step covers."""
    if cover == "transitions":
        return [rule]
    if cover == "pairs":
        return [] if last is None else [(last, rule)]
    return _controls(known, after)


def _controls(known: _Known, number: int) -> list[Item]:
    machine, state = known.space.machine, known.states[number]
    found: list[Item] = []
    for v, value in zip(machine.variables, state, strict=False):
        if isinstance(v.type, t.Enum):
            found.append((v.name, value.name))
        elif isinstance(v.type, t.Map) and isinstance(v.type.value, t.Enum):
            found += [(v.name, key, each.name) for key, each in value.items()]
    return found or [number]


def _everything(known: _Known, cover: Cover) -> set[Item]:
    wanted: set[Item] = set()
    for number, rows in enumerate(known.edges):
        for (rule, _), after in rows:
            if cover == "pairs":
                wanted.update((rule, second) for (second, _), _ in known.edges[after])
            else:
                wanted.update(_items(known, cover, None, rule, after))
        if cover == "states" and number in known.starts:
            wanted.update(_controls(known, number))
    return wanted


Run = tuple[int, list[tuple[Event, int]]]


def _run(known: _Known, cover: Cover, wanted: set[Item]) -> Run | None:
    """One path that covers something wanted; removes what it covers from `wanted`."""
    first: list[tuple[int, Last]] = [(start, None) for start in known.starts]
    start, way = _nearest(known, cover, wanted, first) or (None, [])
    if start is None:
        return None
    run: list[tuple[Event, int]] = []
    while True:
        last: Last = run[-1][0][0] if run else None
        if cover == "states":
            wanted.difference_update(_controls(known, start if not run else run[-1][1]))
        for event, after in way:
            wanted.difference_update(_items(known, cover, last, event[0], after))
            last = event[0]
            run.append((event, after))
        at = run[-1][1] if run else start
        then = _nearest(known, cover, wanted, [(at, last)]) if wanted else None
        if then is None or not then[1]:
            return start, run
        way = then[1]


def _nearest(
    known: _Known, cover: Cover, wanted: set[Item], first: list[tuple[int, Last]]
) -> Run | None:
    """The start and the fewest events to something wanted, by breadth-first search."""
    for number, _ in first:
        if cover == "states" and wanted.intersection(_controls(known, number)):
            return number, []
    came: dict[tuple[int, Last], tuple[tuple[int, Last], Event] | None] = dict.fromkeys(first)
    queue = deque(first)
    while queue:
        at = queue.popleft()
        for event, after in known.edges[at[0]]:
            # Only for pairs does it matter which transition led to a state.
            node = after, event[0] if cover == "pairs" else None
            if wanted.intersection(_items(known, cover, at[1], event[0], after)):
                return _back(came, at, (event, after))
            if node not in came:
                came[node] = at, event
                queue.append(node)
    return None


def _back(
    came: Mapping[tuple[int, Last], tuple[tuple[int, Last], Event] | None],
    at: tuple[int, Last],
    end: tuple[Event, int],
) -> Run:
    way = [end]
    step = came[at]
    while step is not None:
        before, event = step
        way.append((event, at[0]))
        at, step = before, came[before]
    return at[0], way[::-1]


def _path(known: _Known, start: int, run: list[tuple[Event, int]]) -> Path:
    space = known.space
    states = [known.states[start], *(known.states[after] for _, after in run)]
    trace = trace_of(space, states, [event for event, _ in run])
    calls: list[Call] = []
    for i, ((rule, args), _) in enumerate(run):
        row, step = space.rules[rule][1], trace.steps[i]
        named = bind(row.function.params, args)
        calls.append(Call(row.event, row.name, named, step.output, trace.states[i + 1]))
    return Path(trace.initial, tuple(calls), trace)
