"""Seeded random walks through a machine that is too large to be explored.

A violation that a walk finds is real. If walks find none, the verdict is only *sampled*. A
violation is shrunk before it is shown: events are left out as long as it remains (A. Zeller, R.
Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from lawful.spec.flat import Flat
from lawful.spec.values.world import World
from lawful.spec.verdicts import FAULTS
from lawful.spec.words import Expected

from ..reference import Done, Fault, Refusal
from ..reference.states import State
from ..verdict import PropertyResult, Verdict
from .check import MANY_STARTS, NoEngine
from .compiled.single_steps import with_room
from .initial_states import begin
from .layout.forms import Form
from .layout.layouts import NotGenerated
from .limits import Budget, OutOfBudget
from .refinement import refinements
from .result import ByReference, CheckResult
from .retrace import judged
from .search import Limits, Progress, Search
from .short_search import short_search
from .space import Event, Space
from .traces import trace_of
from .verdicts import judge
from .walkers import PackedWalker, ReferenceWalker, Walker

STARTS = 10_000  # Walks begin in one of at most so many initial states.
NEAR = 1000  # States around the start that are looked at for a shorter violation.
Tell = Callable[[Progress], None] | None
WalkEngine = Literal["auto", "reference", "generated"]


@dataclass(frozen=True, slots=True)
class Walks:
    """The number of walks, and the greatest number of events in each; equal seeds give equal walks.
    `stop` is called before each walk, and returns whether to stop. `engine`: that of the steps,
    `auto` with generated ones where these can be generated."""

    runs: int = 100
    steps: int = 100
    seed: int = 0
    seconds: float | None = None
    stop: Callable[[], bool] | None = None
    engine: WalkEngine = "auto"


def simulate(
    flat: Flat, world: World, expects: Mapping[str, Expected], walks: Walks, tell: Tell = None
) -> CheckResult:
    """Walk at random within the scope, and judge all that is met.

    Raises `ValueError` where no initial state is within the scope: nothing would be tried; and
    `NoEngine` where generated steps are asked for and cannot be had.
    """
    space, started = Space(flat, world), time.perf_counter()
    walker = _walked(space, walks, tell, started)
    search, within = walker.search, _within(walks)
    after = within.afterwards(search.stopped)
    space.budget = Budget(after)
    wanted = {name: _verdict(each) for name, each in expects.items()}
    properties = _smallest(search, wanted, after)
    return CheckResult(
        machine=flat.machine.name,
        scope=dict(flat.scope),
        engine="simulation",
        steps=walker.engine,
        not_generated=search.not_generated,
        handed_back=search.handed_back,
        by_reference=tuple(_of_reference(search)),
        complete=False,
        distinct=len(search.states),
        generated=search.generated,
        depth=search.depth,
        cuts=sum(search.cut_by.values()),
        cut_by=search.cut_by,
        seconds=time.perf_counter() - started,
        transitions={
            row.name: {"enabled": search.enabled[row.name], "new": search.new[row.name]}
            for row in flat.machine.transitions
            if not flat.machine.is_of_ignores(row)
        },
        properties=tuple(properties),
    )


def _of_reference(search: Search) -> Iterator[ByReference]:
    if search.space.begun >= MANY_STARTS:
        yield "initial states"
    if search.refinements:
        yield "refinements"
    if search.failures:
        yield "shrinking"


def _within(walks: Walks) -> Limits:
    return Limits(seconds=walks.seconds, stop=walks.stop)


def _walked(space: Space, walks: Walks, tell: Tell, started: float) -> Walker:
    """The walks by the engine that is asked for, or by the reference engine if that can do no
    better: all is noted in its search, and `not_generated` says why."""

    def begun() -> Search:
        limits = Limits(states=STARTS, seconds=walks.seconds)
        search = Search(space, limits, refinements=refinements(space), complete=False)
        search.started = started
        space.budget = Budget(_within(walks), started)
        begin(search)
        return search

    def packed(form: Form) -> Walker:
        walker = PackedWalker(begun(), form)
        _walk(walker, walks, tell)
        return walker

    why = ""
    if walks.engine != "reference":
        try:
            return with_room(packed)
        except NotGenerated as reason:
            why = str(reason)
    if walks.engine == "generated":
        raise NoEngine(f"the generated engine does not know {why}")
    walker = ReferenceWalker(begun())
    walker.search.not_generated = why
    _walk(walker, walks, tell)
    return walker


def _walk(walker: Walker, walks: Walks, tell: Tell) -> None:
    """Take the walks, or those for which there is time."""
    search = walker.search
    initial, rng = len(search.states), Random(walks.seed)
    for run in range(walks.runs):
        seconds = time.perf_counter() - search.started
        late = walks.seconds is not None and seconds >= walks.seconds
        search.stopped = "asked" if walks.stop is not None and walks.stop() else ""
        if not initial or late or search.stopped:
            break
        if tell is not None:
            tell(Progress(len(search.states), search.generated, search.depth, run, seconds))
        try:
            walker.walk(rng.randrange(initial), walks.steps, rng)
        except OutOfBudget as end:
            search.stopped = "asked" if end.reason == "asked" else ""
            break


def _verdict(expected: Expected) -> str:
    """What is expected of a walk: nothing of its length."""
    return expected if isinstance(expected, str) else expected[0]


def _smallest(
    search: Search, expects: Mapping[str, Expected], within: Limits
) -> list[PropertyResult]:
    """The verdicts; of each violation the shorter one of what is left of its walk, and of what an
    exhaustive search meets near the start."""
    found = [_sampled(search, p) for p in judge(search, expects)]
    if not search.failures:
        return found
    around = short_search(search.space, dataclasses.replace(within, states=NEAR))
    near = {p.name: p for p in judge(around, expects)}
    return [_shorter(p, near[p.name]) if p.name in search.failures else p for p in found]


def _shorter(p: PropertyResult, other: PropertyResult) -> PropertyResult:
    if other.verdict is not p.verdict or p.trace is None or other.trace is None:
        return p
    return other if len(other.trace) < len(p.trace) else p


def _sampled(search: Search, p: PropertyResult) -> PropertyResult:
    """The result as what a sample says of it, its counterexample made smaller."""
    if p.verdict is Verdict.BOUNDED:
        return dataclasses.replace(p, verdict=Verdict.SAMPLED)
    found = search.failures.get(p.name)
    if found is None or found.at < 0 or p.kind == "refines" or p.name == "ambiguous":
        return p
    events = [] if found.edge is None else [(found.edge.rule, found.edge.args)]
    number = found.at
    while search.parents[number][0] >= 0:
        before, rule, args = search.parents[number]
        events.append((rule, args))
        number = before
    try:
        return _smaller(search.space, p, search.states[number], events[::-1])
    except OutOfBudget:  # A longer run is one, too.
        return p


def _smaller(space: Space, p: PropertyResult, start: State, events: list[Event]) -> PropertyResult:
    """The same, without the events that it does not need."""
    size = max(1, len(events) // 2)
    while size:
        at = 0
        while at < len(events):
            space.ask()
            fewer = events[:at] + events[at + size :]
            if _broken(space, p.name, start, fewer) is not None:
                events = fewer
            else:
                at += size
        size //= 2
    broken = _broken(space, p.name, start, events)
    if broken is None:  # Only where the property was never broken at the end of its run.
        return p
    why, states = broken
    return dataclasses.replace(p, why=why, trace=trace_of(space, states, events))


def _broken(
    space: Space, name: str, start: State, events: Sequence[Event]
) -> tuple[str, list[State]] | None:
    """Why the property is broken at the end of these events, and the states on the way; None
    where it is not, or where they cannot happen one after the other."""
    states = [start]
    for i, event in enumerate(events):
        outcome = _outcome(space, states[-1], event)
        if isinstance(outcome, Fault) and i == len(events) - 1 and outcome.name == name:
            return outcome.what, states
        if not isinstance(outcome, Done):
            return None
        states.append(outcome.state)
    if name in FAULTS and name != "ambiguous":
        return None
    said = judged(space, name, states)
    return None if said is None else (said, states)


def _outcome(space: Space, state: State, event: Event) -> Done | Fault | None:
    outcome = space.step(state, event)
    if isinstance(outcome, Refusal):
        return None
    placed, outside = space.placed(outcome, state)
    return placed if outside is None else None
