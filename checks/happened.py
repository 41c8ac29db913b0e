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
SECONDS = 3.0  # Of the processor, so that what else goes on in the machine changes nothing.
LONGEST = 60
IDLE = 50  # Walks that met no new state, after which there seem to be no more.


def happened(flat: Flat, world: World) -> frozenset[str | None]:
    """The starts (None: from the defaults) and transitions met in random walks, a limited number.

    Only steps from states where all invariants hold count, and only those that stay in the scope.
    """
    walks, begun = _Walks(Space(flat, world)), time.process_time()
    while not walks.over() and time.process_time() - begun < SECONDS:
        walks.walk()
    return frozenset(walks.met)


class _Walks:
    """Walks from the starts: each transition is as likely as the others that can happen, however
    many arguments it can have."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.rng = random.Random(0)
        self.met: set[str | None] = set()
        self.steps: dict[State, list[list[State]]] = {}
        self.starts: list[State] = []
        self.idle = 0
        for name, _, outcome in space.initial():
            placed, cut = space.placed(outcome)
            if isinstance(placed, Done) and cut is None:
                self.met.add(name)
                self.starts.append(placed.state)
        self.every = len(self.met) + len({row.name for _, row in space.rules})

    def over(self) -> bool:
        """Whether there is nothing more to meet, or enough was looked at."""
        done = not self.starts or len(self.met) == self.every
        return done or len(self.steps) >= STATES or self.idle >= IDLE

    def walk(self) -> None:
        """One run, of some length."""
        before = len(self.steps)
        self._run(self.rng.choice(self.starts))
        self.idle = self.idle + 1 if len(self.steps) == before else 0

    def _run(self, state: State) -> None:
        for _ in range(self.rng.randint(5, LONGEST)):
            if self.over():
                return
            found = self._steps(state)
            if not found:
                return
            state = self.rng.choice(self.rng.choice(found))

    def _steps(self, state: State) -> list[list[State]]:
        """The states after this one, by the transitions to them; none where it is no good one."""
        if state not in self.steps:
            found: dict[int, list[State]] = {}
            for edge in self.space.edges(state) if self._is_kept(state) else ():
                if isinstance(edge.outcome, Done) and edge.cut is None:
                    self.met.add(self.space.rules[edge.rule][1].name)
                    found.setdefault(edge.rule, []).append(edge.outcome.state)
            self.steps[state] = list(found.values())
        return self.steps[state]

    def _is_kept(self, state: State) -> bool:
        space = self.space
        return all(space.failing(j, state) is None for j in space.invariants)
