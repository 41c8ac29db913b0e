"""Canonical states by generated code beside `Symmetry`, on random states and renamings of them."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from lawful.checks.explore.compiled.plain import interpreted
from lawful.checks.explore.expansion.sorted_orbits import orbit_steps
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.explore.layout.packing import pack, unpack
from lawful.checks.explore.space import Space
from lawful.checks.explore.symmetry import Symmetry
from lawful.checks.reference.states import State
from tests.agree.hits import Hits


def misfolded(space: Space, states: Iterable[State], hits: Hits) -> list[str]:
    """The first state whose orbit generated code gets wrong: its size, that all its states have one
    canonical state, and that this is one of them."""
    symmetry = Symmetry(space)
    if not symmetry.groups:
        return []
    try:
        steps = orbit_steps(space, symmetry)
    except NotGenerated as reason:
        hits.add("not folded", str(reason))
        return []
    canonical, cells = interpreted(steps.program.source, name="canonicalised"), steps.program.begun
    rng = Random(steps.program.source)
    for state in states:
        found: list[Any] = []
        for by in (steps.renaming(0), steps.renaming(rng.randrange(len(steps.renamings)))):
            renamed = symmetry.renamed(state, by)
            try:
                words = pack(steps.slots, steps.codec.encode(steps.whole, renamed))
            except NotGenerated:
                break
            if canonical(cells, words, 0) != 0:
                break
            best = cells[steps.best : steps.best + steps.words]
            to = symmetry.renamed(renamed, steps.found(cells))
            held = steps.codec.decode(steps.whole, unpack(steps.slots, best))
            found.append((best, to == held, steps.total // cells[steps.same]))
        if len(found) < 2:
            continue
        hits.add("total", "states whose orbit is compared")
        hits.add("total", "comparisons", 3)
        expected = (found[0][0], True, symmetry.canonical(state)[1])
        if found != [expected, expected]:
            return [f"the orbit of {state}: {found}, but the reference: {expected}"]
    return []
