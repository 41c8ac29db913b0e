"""Whole searches of random machines: how many of their states the fast engine hands back.

A search is done in plain Python and ends after so many states, so that the counts are the same on
every computer.
"""

from __future__ import annotations

from lawful.checks.explore import Limits
from lawful.checks.explore.compiled import engine
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.explore.space import Space
from tests.agree import packing, planning
from tests.agree.hits import Hits

STATES = 40  # Of a search: it expands no more of them.
SEARCHED, HANDED_BACK = "states searched", "states searched and handed back"


def search(space: Space, hits: Hits) -> None:
    """Search a machine that has few starts, with those of its rules that have few arguments."""
    starts = (p.type for rule in space.flat.initials for p in rule.plans)
    if planning.combinations(starts) > packing.MOST:
        return
    try:
        few = packing.stepping(space).space
        found = engine.search(few, Limits(states=STATES), tier="generated")
    except (NotGenerated, ValueError):  # Or there is no initial state within the scope.
        return
    hits.add("total", SEARCHED, found.expanded)
    hits.add("total", HANDED_BACK, found.handed_back)


def share(hits: Hits) -> float:
    """The share of the states that were handed back."""
    return hits.rows[f"total {HANDED_BACK}"] / hits.rows[f"total {SEARCHED}"]
