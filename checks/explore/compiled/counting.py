"""Coverage by generated steps: guards are counted state by state, values variable by variable.

A state that the generated steps give up is counted by the reference engine.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from lawful.spec import ir
from lawful.spec import types as t

from ..coverage import Counting, Coverage, Said, clauses_of, guards
from ..expansion.guard_counts import GuardCounts
from ..layout.layouts import Layout, MachineLayout, offsets, width
from ..layout.packing import masks, unpack
from ..limits import Budget, Limits, OutOfBudget
from ..place_values import Collector
from .engine import PackedSearch
from .plain import Plain
from .state_store import Span, Store


def coverage(found: PackedSearch, limits: Limits) -> Coverage:
    """What the states of a search exercised; when the seconds are over, or it is asked to stop,
    the rest of them are left. Raises `NotGenerated`, naming it, for what cannot be counted so."""
    began = time.perf_counter()
    space, count = found.space, found.count
    clauses = clauses_of(space)
    nodes = {name: [node for node, _, _ in rows] for name, rows in clauses.items()}
    space.preparation = limits.of_seconds(began)  # The search may have used up its own.
    try:
        steps = GuardCounts(space, nodes, found.stepping.codec.form)
    except OutOfBudget:
        return Coverage(0, tuple(guards(space, Counter())), {}, found.tier)
    tier, store = _store(found.store, steps, count)
    space.budget = Budget(limits, began)
    counting, looked = Counting(space), 0
    within = limits.within()
    while looked < count and not within.met(0, time.perf_counter() - began, False):
        done = store.advance(Span(looked, count, count, count + 1, False))
        if done.escaped:
            try:
                counting.tries(found.states[done.next - 1])
            except OutOfBudget:
                break
        if done.next == looked:
            break
        looked = done.next
    said = counting.said
    _add(said, steps, store.totals)
    values = _values(found, looked)
    return Coverage(looked, tuple(guards(space, said)), values.found(), tier)


def _store(known: Store, steps: GuardCounts, count: int) -> tuple[str, Store]:
    """The states in a store whose steps count."""
    if isinstance(known, Plain):
        store = Plain(steps)
        store.store = known.store
        return "generated", store
    from .llvm import compiled
    from .memory import Memory

    assert isinstance(known, Memory)
    return "compiled", Memory.beside(known, steps, compiled(steps.text), count)


def _add(said: Said, steps: GuardCounts, totals: Sequence[int]) -> None:
    number = 0
    for name, nodes in steps.counted.items():
        for node in nodes:
            at = steps.place(number)
            said[name, id(node), True] += totals[at]
            said[name, id(node), False] += totals[at + 1]
            number += 1


def _values(found: PackedSearch, count: int) -> Collector:
    """The values that variables have in so many states, each of them looked at once."""
    s, store = found.stepping, found.store
    collector = Collector(s.machine)
    for place, kind, at, layout in _variables(found, s.machine, s.whole, "", 0):
        here = [slot for slot in s.slots if at <= slot.cell < at + width(layout)]
        held_in = masks(here)
        for held in store.distinct([*held_in], [*held_in.values()], count):
            packed = dict(zip(held_in, held, strict=True))
            cells = unpack(here, [packed.get(i, 0) for i in range(s.words)])
            collector.take(place, kind, s.codec.decode(layout, cells))
    return collector


def _variables(
    found: PackedSearch, machine: ir.Machine, whole: MachineLayout, prefix: str, at: int
) -> Iterator[tuple[str, t.Type, int, Layout]]:
    """The variables, those of single parts by their paths: type, first cell, layout."""
    layouts = [layout for _, layout in whole.fields]
    rows = zip(machine.variables, layouts, offsets(layouts, at), strict=False)
    for v, layout, place in rows:
        if isinstance(v.type, t.Part):
            assert isinstance(layout, MachineLayout)
            part = found.space.machine.part(v.type.machine)
            yield from _variables(found, part, layout, f"{prefix}{v.name}.", place)
        else:
            yield prefix + v.name, v.type, place, layout
