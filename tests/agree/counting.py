"""Guards counted by generated code beside the reference engine, on random states."""

from __future__ import annotations

from collections.abc import Iterable

from lawful.checks.explore.compiled.plain import Expanding
from lawful.checks.explore.coverage import Counting, Said, clauses_of
from lawful.checks.explore.expansion.guard_counts import GuardCounts
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.explore.layout.packing import pack
from lawful.checks.explore.space import Space
from lawful.checks.reference.states import State
from tests.agree.hits import Hits


def miscounted(space: Space, states: Iterable[State], hits: Hits) -> list[str]:
    """The first state whose guards are counted differently."""
    nodes = {name: [node for node, _, _ in rows] for name, rows in clauses_of(space).items()}
    try:
        steps = GuardCounts(space, nodes)
    except NotGenerated as reason:
        hits.add("not counted", str(reason))
        return []
    expanding = Expanding(steps)
    for state in states:
        try:
            words = pack(steps.slots, steps.codec.encode(steps.whole, state))
        except NotGenerated:
            continue
        info, _ = expanding.expanded(words, 0)
        if info[steps.notes["escaped"]]:
            hits.add("total", "states whose guards are left to the reference")
            continue
        counting = Counting(space)
        counting.tries(state)
        mine, theirs = counts(steps, info), Said()
        for name, guards in nodes.items():
            for key in ((name, id(node), true) for node in guards for true in (True, False)):
                theirs[key] = counting.said[key]
        hits.add("total", "states whose guards are counted")
        hits.add("total", "comparisons", len(theirs))
        if mine != +theirs:
            return [f"guards counted in {state}: {mine}, but the reference: {+theirs}"]
    return []


def counts(steps: GuardCounts, info: list[int]) -> Said:
    """What generated code counted, zeros left out."""
    found, number = Said(), 0
    for name, nodes in steps.counted.items():
        for node in nodes:
            at = steps.place(number)
            found[name, id(node), True], found[name, id(node), False] = info[at : at + 2]
            number += 1
    return +found
