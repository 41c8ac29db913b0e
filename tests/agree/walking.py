"""Walks by generated steps beside walks by the reference engine, over a few states."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from lawful.checks.explore.compiled.single_steps import with_room
from lawful.checks.explore.initial_states import begin
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.refinement import refinements
from lawful.checks.explore.search import Search
from lawful.checks.explore.space import Space
from lawful.checks.explore.walkers import PackedWalker, ReferenceWalker, Walker
from lawful.checks.prove.nonvacuity import GeneratedSteps, ReferenceSteps
from tests.agree import packing, planning
from tests.agree.hits import Hits

RUNS, EVENTS = 3, 5
STARTS = 10
# All that is noted of a walk.
NOTED = (
    *("states", "parents", "starts", "cut_from", "generated", "cut_by", "enabled", "new"),
    *("failures", "witnesses", "unseen", "distinct", "depth"),
)


def walk(space: Space, hits: Hits) -> list[str]:
    """What walks note differently, and what the steps that proofs ask for are instead."""
    starts = (p.type for rule in space.flat.initials for p in rule.plans)
    if planning.combinations(starts) > packing.MOST:
        return []
    try:
        few = packing.stepping(space).space
        return walked(few, hits)
    except (NotGenerated, ValueError):  # Or there is no initial state within the scope.
        return []


def walked(space: Space, hits: Hits, runs: int = RUNS, events: int = EVENTS) -> list[str]:
    """The same of all rules of a space."""
    packed = with_room(lambda form: _taken(space, lambda s: PackedWalker(s, form), runs, events))
    slow = _taken(space, ReferenceWalker, runs, events)
    hits.add("total", "walks", runs)
    hits.add("total", "states of walks", len(slow.states))
    hits.add("total", "states of walks handed back", packed.handed_back)
    mine, theirs = ({name: getattr(each, name) for name in NOTED} for each in (packed, slow))
    found = [f"walks: {n}: {mine[n]}, but {theirs[n]}" for n in NOTED if mine[n] != theirs[n]]
    return found or _stepped(space, slow, hits)


def _taken(space: Space, by: Callable[[Search], Walker], runs: int, events: int) -> Search:
    search = Search(space, Limits(states=STARTS), refinements=refinements(space), complete=False)
    begin(search)
    walker, rng, initial = by(search), Random(0), len(search.states)
    for _ in range(runs if initial else 0):
        walker.walk(rng.randrange(initial), events, rng)
    return search


def _stepped(space: Space, search: Search, hits: Hits) -> list[str]:
    slow = ReferenceSteps(space)
    steps = with_room(lambda form: GeneratedSteps(space, form))
    for state in search.states:
        theirs = [(rule, steps.known(after)) for rule, after in slow.after(state)]
        mine = list(steps.after(steps.known(state)))
        hits.add("total", "comparisons", len(theirs))
        if mine != theirs:
            return [f"steps for proofs from {state}: {mine}, but {theirs}"]
    return []
