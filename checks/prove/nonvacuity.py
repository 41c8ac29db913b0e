"""Non-vacuity by random walk: a transition seen in a run is satisfiable, so Z3 is not asked."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, Protocol

from lawful.spec.flat import Flat
from lawful.spec.values.world import World

from ..explore.compiled.single_steps import SingleSteps, Words, with_room
from ..explore.layout.forms import Form
from ..explore.layout.layouts import NotGenerated
from ..explore.limits import Budget, Limits, OutOfBudget, looked
from ..explore.space import Space
from ..reference import Done
from ..reference.states import State
from .needed_guards import STATES as ENOUGH
from .needed_guards import GuardKey, needed_guards

STATES = 3000
TRIED = 100_000  # Events, refused ones included. A clock would make the outcome depend on the load.
LOOKS = 100_000  # Of the budget: an event may have many arguments, and its guards long loops.
LONGEST = 60
# Events that the reference engine tries first: where these are enough, no steps are generated.
SOON = 500
Step = tuple[int, Any]  # The place of its transition among the rules, and the state after it.


@dataclass(frozen=True, slots=True)
class Walked:
    """The starts (None: from the defaults) and transitions that walks met; `not_generated` names
    why the reference engine took all of them, if so. `needed` are guards that refuse in a state
    that was met."""

    met: frozenset[str | None]
    not_generated: str = ""
    needed: frozenset[GuardKey] = field(default=frozenset(), compare=False)


class Taken(NamedTuple):
    """What walks met, some of the states in which a step began, and whether the walks are over."""

    met: frozenset[str | None]
    states: Sequence[State]
    over: bool


def transitions_seen(flat: Flat, world: World) -> Walked:
    """What a limited number of random walks meets; where there are few states, all there is.

    A step counts if it begins in a state in which all invariants hold, and stays within the scope.
    """
    space = Space(flat, world)
    found, why = taken(space, lambda: ReferenceSteps(space), SOON), ""
    if not found.over:
        try:
            found = with_room(lambda form: taken(space, lambda: GeneratedSteps(space, form), TRIED))
        except NotGenerated as reason:
            found, why = taken(space, lambda: ReferenceSteps(space), TRIED), str(reason)
    return Walked(found.met, why, needed_guards(space, found.states))


class Walk:
    """The walks of a machine, which begin when somebody asks what they meet."""

    def __init__(self, flat: Flat, world: World) -> None:
        self._of = flat, world
        self._walked = Walked(frozenset())

    def met(self) -> Collection[str | None]:
        """The starts and transitions that walks meet."""
        self._walked = transitions_seen(*self._of)
        return self._walked.met

    def needed(self) -> Collection[GuardKey]:
        """The guards that refuse in a state that was met; none where nobody asked for `met`."""
        return self._walked.needed

    @property
    def not_generated(self) -> str:
        """Why the reference engine took all steps, if so."""
        return self._walked.not_generated


class Steps(Protocol):
    """The steps of states, by one engine or the other."""

    def known(self, state: State) -> Any:
        """The state as it is given to `after`."""
        ...

    def state(self, known: Any) -> State:
        """The state that is known so."""
        ...

    def after(self, state: Any) -> Iterable[Step]:
        """The steps within the scope, in the order of the declaration; none where an invariant
        fails."""
        ...


class ReferenceSteps:
    """By the reference engine."""

    def __init__(self, space: Space) -> None:
        self.space = space

    def known(self, state: State) -> State:
        return state

    def state(self, known: State) -> State:
        return known

    def after(self, state: State) -> Iterable[tuple[int, State]]:
        space = self.space
        if all(space.failing(j, state) is None for j in space.invariants):
            for edge in space.edges(state):
                if isinstance(edge.outcome, Done) and edge.cut is None:
                    yield edge.rule, edge.outcome.state


class GeneratedSteps:
    """By generated steps, over packed states; raises `NotGenerated` for what these do not do."""

    def __init__(self, space: Space, form: Form) -> None:
        self._steps = SingleSteps(space, form, labelled=False)
        self._slow = ReferenceSteps(space)
        stepping = self._steps.stepping
        first = stepping.notes["property"]
        rows = enumerate(stepping.judged)
        self._invariants = [first + i for i, j in rows if j.kind == "invariant"]

    def known(self, state: State) -> Words:
        return self._steps.packed(state)

    def state(self, known: Words) -> State:
        return self._steps.state(known)

    def after(self, state: Words) -> Sequence[tuple[int, Words]]:
        made = self._steps.expanded(state)
        if made is None:
            rows = self._slow.after(self._steps.state(state))
            return [(rule, self.known(after)) for rule, after in rows]
        if any(made.info[at] for at in self._invariants):
            return ()
        return list(zip(made.labels, made.after, strict=True))


def taken(space: Space, steps: Callable[[], Steps], tried: int, few: int = ENOUGH) -> Taken:
    """What random walks meet until so many events were tried, and whether they came to their end:
    more of them would meet no more, or enough states were looked at. `few` limits the states that
    are returned."""
    enough, most = looked(LOOKS), space.tried + tried
    space.budget = Budget(Limits(stop=lambda: space.tried >= most or enough()))
    walks, over = _Walks(space, steps()), False
    with suppress(OutOfBudget):  # What was seen until then counts.
        walks.begin()
        while walks.starts and not walks.over():
            walks.walk(walks.rng.choice(walks.starts))
            walks.walk(walks.new())
        over = True
    return Taken(frozenset(walks.met), walks.left(few), over)


class _Walks:
    """Random walks from the starts, and from the states where earlier walks ended.

    Each transition is as likely as the others that are enabled, however many arguments it has.
    """

    def __init__(self, space: Space, steps: Steps) -> None:
        self.space = space
        self.engine = steps
        self.rng = random.Random(0)
        self.met: set[str | None] = set()
        self.steps: dict[Any, list[list[Any]]] = {}
        self.starts: list[Any] = []
        self.seen: set[Any] = set()
        self.waiting: list[Any] = []
        self.every = 0

    def begin(self) -> None:
        """Execute the starts."""
        space = self.space
        for name, _, outcome in space.initial():
            placed, cut = space.placed(outcome)
            if isinstance(placed, Done) and cut is None:
                self.met.add(name)
                self.starts.append(self.engine.known(placed.state))
        self.seen = set(self.starts)
        self.waiting = list(self.starts)
        rows = [row for _, row in space.rules if not space.machine.is_of_ignores(row)]
        self.every = len(self.met) + len({row.name for row in rows})

    def over(self) -> bool:
        """Whether every transition was seen, or the limit of attempts is reached."""
        enough = len(self.steps) >= STATES or len(self.steps) == len(self.seen)
        return enough or len(self.met) == self.every

    def new(self) -> Any:
        """A state that no walk has left yet, if there is one."""
        while len(self.waiting) > 1:
            at = self.rng.randrange(len(self.waiting))
            self.waiting[at], self.waiting[-1] = self.waiting[-1], self.waiting[at]
            state = self.waiting.pop()
            if state not in self.steps:
                return state
        return self.waiting[0]

    def walk(self, state: Any) -> None:
        """One walk of a random length."""
        for _ in range(self.rng.randint(5, LONGEST)):
            if self.over():
                return
            found = self._steps(state)
            if not found:
                return
            state = self.rng.choice(self.rng.choice(found))

    def _steps(self, state: Any) -> list[list[Any]]:
        """The states after this one, by transition."""
        if state not in self.steps:
            found: dict[int, list[Any]] = {}
            for rule, after in self.engine.after(state):
                self.met.add(self.space.rules[rule][1].name)
                found.setdefault(rule, []).append(after)
                if after not in self.seen:
                    self.seen.add(after)
                    self.waiting.append(after)
            self.steps[state] = list(found.values())
        return self.steps[state]

    def left(self, few: int) -> Sequence[State]:
        """The first states that a step left: in these all invariants hold."""
        some = islice((state for state, after in self.steps.items() if after), few)
        return [self.engine.state(state) for state in some]
