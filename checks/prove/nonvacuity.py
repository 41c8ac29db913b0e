"""Non-vacuity by random walk: a transition seen in a run is satisfiable, so Z3 is not asked."""

from __future__ import annotations

import random
from contextlib import suppress

from lawful.spec.flat import Flat
from lawful.spec.values.world import World

from ..explore.limits import Budget, Limits, OutOfBudget, looked
from ..explore.space import Space
from ..reference import Done
from ..reference.states import State

STATES = 3000
TRIED = 100_000  # Events, refused ones included. A clock would make the outcome depend on the load.
LOOKS = 100_000  # Of the budget: an event may have many arguments, and its guards long loops.
LONGEST = 60


def transitions_seen(flat: Flat, world: World) -> frozenset[str | None]:
    """The starts (None: from the defaults) and transitions met in a limited number of random walks.

    Where there are few states, all of them. A step counts if it begins in a state in which all
    invariants hold, and stays within the scope.
    """
    space = Space(flat, world)
    enough = looked(LOOKS)
    space.budget = Budget(Limits(stop=lambda: space.tried >= TRIED or enough()))
    walks = _Walks(space)
    with suppress(OutOfBudget):  # What was seen until then counts.
        walks.begin()
        while walks.starts and not walks.over():
            walks.walk(walks.rng.choice(walks.starts))
            walks.walk(walks.new())
    return frozenset(walks.met)


class _Walks:
    """Random walks from the starts, and from the states where earlier walks ended.

    Each transition is as likely as the others that are enabled, however many arguments it has.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.rng = random.Random(0)
        self.met: set[str | None] = set()
        self.steps: dict[State, list[list[State]]] = {}
        self.starts: list[State] = []
        self.seen: set[State] = set()
        self.waiting: list[State] = []
        self.every = 0

    def begin(self) -> None:
        """Execute the starts."""
        space = self.space
        for name, _, outcome in space.initial():
            placed, cut = space.placed(outcome)
            if isinstance(placed, Done) and cut is None:
                self.met.add(name)
                self.starts.append(placed.state)
        self.seen = set(self.starts)
        self.waiting = list(self.starts)
        rows = [row for _, row in space.rules if not space.machine.is_of_ignores(row)]
        self.every = len(self.met) + len({row.name for row in rows})

    def over(self) -> bool:
        """Whether every transition was seen, or the limit of attempts is reached."""
        enough = len(self.steps) >= STATES or len(self.steps) == len(self.seen)
        return enough or len(self.met) == self.every

    def new(self) -> State:
        """A state that no walk has left yet, if there is one."""
        while len(self.waiting) > 1:
            at = self.rng.randrange(len(self.waiting))
            self.waiting[at], self.waiting[-1] = self.waiting[-1], self.waiting[at]
            state = self.waiting.pop()
            if state not in self.steps:
                return state
        return self.waiting[0]

    def walk(self, state: State) -> None:
        """One walk of a random length."""
        for _ in range(self.rng.randint(5, LONGEST)):
            if self.over():
                return
            found = self._steps(state)
            if not found:
                return
            state = self.rng.choice(self.rng.choice(found))

    def _steps(self, state: State) -> list[list[State]]:
        """The states after this one, by transition; none where an invariant fails in it."""
        if state not in self.steps:
            found: dict[int, list[State]] = {}
            for edge in self.space.edges(state) if self._is_kept(state) else ():
                if isinstance(edge.outcome, Done) and edge.cut is None:
                    self.met.add(self.space.rules[edge.rule][1].name)
                    after = edge.outcome.state
                    found.setdefault(edge.rule, []).append(after)
                    if after not in self.seen:
                        self.seen.add(after)
                        self.waiting.append(after)
            self.steps[state] = list(found.values())
        return self.steps[state]

    def _is_kept(self, state: State) -> bool:
        space = self.space
        return all(space.failing(j, state) is None for j in space.invariants)
