"""What is seen to happen: a run is a model of a start and of a transition's guard, too."""

from __future__ import annotations

import random
import time

from lawful.spec.flat import Flat
from lawful.spec.values import World

from .boxes import State
from .reference import Done
from .space import Space

STATES = 3000
SECONDS = 3.0


def happened(flat: Flat, world: World) -> frozenset[str | None]:
    """The starts (None: from the defaults) and transitions met in a search of limited length.

    Only steps from states where all invariants hold count, and only those that stay in the scope.
    """
    space = Space(flat, world)
    rng, begun = random.Random(0), time.perf_counter()
    met: set[str | None] = set()
    known: set[State] = set()
    waiting: list[State] = []

    def meet(state: State) -> None:
        if state not in known and _is_kept(space, state):
            known.add(state)
            waiting.append(state)

    for name, _, outcome in space.initial():
        placed, cut = space.placed(outcome)
        if isinstance(placed, Done) and cut is None:
            met.add(name)
            meet(placed.state)
    every = len(space.rules) + len(met)
    while waiting and len(known) < STATES and len(met) < every:
        # Neither first nor last: what happens late is met, and what happens early as well.
        state = waiting.pop(rng.randrange(len(waiting)))
        for edge in space.edges(state):
            if isinstance(edge.outcome, Done) and edge.cut is None:
                met.add(space.rules[edge.rule][1].name)
                meet(edge.outcome.state)
        if time.perf_counter() - begun > SECONDS:
            break
    return frozenset(met)


def _is_kept(space: Space, state: State) -> bool:
    return all(space.failing(j, state) is None for j in space.invariants)
