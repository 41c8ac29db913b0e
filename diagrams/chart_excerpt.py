"""A part of a large state diagram: some states, and the transitions that reach or leave them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator

from .chart import Chart, Region, Stay


def excerpt(shown: Chart, names: Collection[str]) -> Chart:
    """The chart with the named states, their transitions, and the states at the other ends.

    Regions and parts without any of the names are left out. Raises ValueError for a name that no
    state has.
    """
    known = sorted({state for state in _states(shown)})
    for name in names:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has no control states"
            raise ValueError(f"{shown.title} has no state {name}; {has}")
    return _excerpt(shown, names)


def _states(shown: Chart) -> Iterator[str]:
    for region in shown.regions:
        yield from (state.name for state in region.states)
    for part in shown.parts:
        yield from _states(part)


def _excerpt(shown: Chart, names: Collection[str]) -> Chart:
    return dataclasses.replace(
        shown,
        excerpt=True,
        regions=tuple(_region(r, names) for r in shown.regions if _has(r, names)),
        parts=tuple(_excerpt(p, names) for p in shown.parts if not {*_states(p)}.isdisjoint(names)),
    )


def _has(region: Region, names: Collection[str]) -> bool:
    return any(state.name in names for state in region.states)


def _region(region: Region, names: Collection[str]) -> Region:
    edges = tuple(e for e in region.edges if e.source in names or e.target in names)
    seen = {*names, *(e.source for e in edges), *(e.target for e in edges)}
    stays = tuple(_stay(stay, names) for stay in region.stays if stay.state in names)
    states = tuple(state for state in region.states if state.name in seen)
    return dataclasses.replace(region, states=states, edges=edges, stays=stays)


def _stay(stay: Stay, names: Collection[str]) -> Stay:
    """What is said of a state that is left out is said here."""
    own = tuple(
        label for other, several in stay.repeated if other not in names for label in several
    )
    rest = tuple(each for each in stay.repeated if each[0] in names)
    return Stay(stay.state, (*stay.labels, *own), rest)
