"""A violated liveness property as text: the lasso, and why the lasso is fair."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.spec.text.reasons import text

from ...reference.properties import PropertyOf
from ...reference.states import State
from ...verdict import Trace
from ..space import Space
from ..traces import event_between, trace_of
from .fairness import Bits
from .graph import Graph
from .violations import Lasso

WHY = {
    "eventually": "it never becomes true",
    "infinitely_often": "from some point on it is never true again",
    "eventually_always": "it is false again and again",
    "leads_to": "what is asked {since} never comes",
}


def shown(
    space: Space, j: PropertyOf, states: Sequence[State], graph: Graph, found: Lasso
) -> tuple[str, Trace, tuple[str, ...]]:
    """Why the property is violated, the lasso, and for each group why the loop is fair to it."""
    loop = found.loop
    numbers = [*found.stem, *loop.states[1:], *found.stem[-1:] * (len(loop) > 0)]
    taken = [0] * (len(found.stem) - 1) + list(loop.taken)
    run = [states[number] for number in numbers]
    events = [event_between(space, graph, run[i], run[i + 1], bits) for i, bits in enumerate(taken)]
    begins = len(found.stem) - 1
    given = space.shown_args(j.row.function, found.args)
    for_ = [found.where] if found.where else []
    which = ", ".join([*for_, *(f"{name} = {text(value)}" for name, value in given.items())])
    since = f"after event {found.since}" if found.since else "at the start"
    why = f"{f'for {which}: ' if which else ''}{WHY[j.kind].format(since=since)}"
    return why, trace_of(space, run, events, begins), tuple(_fair(graph, numbers, taken, begins))


def _fair(graph: Graph, numbers: Sequence[int], taken: Sequence[Bits], begins: int) -> list[str]:
    groups = graph.groups
    if begins == len(taken):
        if groups.rows:
            return ["no fair group is enabled there, so nothing forbids to stop"]
        return ["no fairness is declared, so a behaviour may stop anywhere"]
    asked = 0
    for number in numbers[begins:]:
        asked |= graph.enabled[number]
    notes: list[str] = []
    for i in range(asked.bit_length()):
        bit = 1 << i
        if not asked & bit:
            continue
        name = groups.named(bit)[0]
        takes = [n + 1 for n in range(begins, len(taken)) if taken[n] & bit]
        rests = [n for n in range(begins, len(taken)) if not graph.enabled[numbers[n]] & bit]
        if takes:
            notes.append(f"{name}: event {takes[0]} takes it")
        else:
            where = f"after event {rests[0]}" if rests[0] else "at the start"
            notes.append(f"{name}: not enabled {where}")
    if not notes:
        notes = ["no fair group is enabled on the way round"]
    return notes
