"""Comparison of the runtime with the reference engine, in every reachable state of a scope.

An instance is put into each state, and every event is called with every argument, also where it is
refused. The outcome, the state after it and the output must be those of the reference engine. The
states are enumerated here, by the reference engine, independently of the exploration.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lawful.runtime.elements import Members
from lawful.runtime.instance import Machine
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.analysis.growth import grown_by, universes
from lawful.spec.flat import Rule
from lawful.spec.lower.steps import with_all_steps
from lawful.spec.resolve import resolve
from lawful.spec.values.time import is_tick
from lawful.spec.verdicts import FAULTS

from ..explore.limits import Budget, OutOfBudget
from ..explore.result import Comparison, Disagreement
from ..explore.search import Limits
from ..explore.space import Args, Space
from ..reference import Done, Fault, Outcome, Refusal
from ..reference.missing_values import NoValue
from ..reference.states import State
from ..replay.unknown_elements import unknown_element
from .exact_types import has_exact_type, state_has_exact_types
from .instances import InstanceDriver
from .instances import Outcome as Seen
from .observation import spelled
from .oracle import EntryPoint, answer_of, entry_points

MOST = 1000  # Where an event has more tuples of arguments, only those of its plan are tried.
SHOWN = 10  # Disagreements that are kept; the others are counted.
Outcomes = dict[str, dict[Args, Outcome]]  # By transition and arguments.


Tell = Callable[[Comparison], None]


def compare(
    space: Space, cls: type[Machine], limits: Limits, progress: Tell | None = None
) -> Comparison:
    """Compare in every state of the scope, or until a limit is reached.

    Raises `ValueError` where the scope gives serial numbers fewer bits than instances have.
    """
    if space.machine != with_all_steps(resolve(cls).machine):
        what = "within the scope serial numbers have fewer bits than in an instance"
        raise ValueError(f"{space.machine.name}: the runtime cannot be compared: {what}")
    walk = _Walk(space, cls, limits)
    space.budget = Budget(limits, walk.began)
    with suppress(OutOfBudget):  # The comparison up to there remains.
        walk.found.complete = walk.begin() and walk.walk(progress)
    return walk.found


@dataclass(frozen=True, slots=True)
class _Call:
    """One call: an event in the state `before`, or a start, where that is None."""

    before: State | None
    name: str
    params: tuple[tuple[str, t.Type], ...]
    output: t.Type
    args: Args


class _Walk:
    """Breadth-first search of the states, with an instance in each."""

    def __init__(self, space: Space, cls: type[Machine], limits: Limits) -> None:
        self.space = space
        self.limits = limits
        self.began = time.perf_counter()
        machine = space.machine
        sorts = [kind for kind in machine.types if isinstance(kind, t.Sort)]
        universe = {space.world.sorts[kind.name]: space.values.of(kind) for kind in sorts}
        self.running = InstanceDriver(cls, resolve(cls), machine, universe)
        ticks = [row.event for row in machine.transitions if is_tick(row)]
        self.entry_points = [
            entry_point for entry_point in entry_points(machine) if entry_point.name not in ticks
        ]
        self.parts = {m.name: m for m in machine.parts}
        names = [v.name for v in machine.variables]
        self.universes = {s.name: names.index(v.name) for s, v in universes(machine)}
        self.ghosts = any(v.ghost for m in (machine, *machine.parts) for v in m.variables)
        rules = (*space.flat.initials, *space.flat.rules)
        narrowed = tuple(rule.name for rule in rules if self._many(rule))
        self.found = Comparison(
            tuple(entry_point.name for entry_point in self.entry_points), narrowed
        )
        self.known: set[State] = set()
        self.states: list[State] = []

    def _many(self, rule: Rule) -> bool:
        each = (islice(self.space.values.each(plan.type), MOST + 1) for plan in rule.plans)
        return math.prod(sum(1 for _ in values) for values in each) > MOST

    def _arguments(self, rule: Rule, state: State) -> Iterator[Args]:
        return self.space.arguments(rule, state, planned=rule.name in self.found.narrowed)

    # States.

    def begin(self) -> bool:
        """Compare every start, also refused ones; False where the time was over before the end."""
        for made in self.space.parameters():
            for function, args, outcome in self._starts(made):
                if self._late():
                    return False
                expected, seen = self._seen(outcome), self.running.start(made, function, args)
                name = self.space.machine.name if function is None else function.name
                params = () if function is None else function.params
                if function is None and isinstance(outcome, Fault) and seen[0] != "done":
                    seen = (
                        expected  # Whatever exception the constructor raises, there is no instance.
                    )
                self._judge(_Call(None, name, params, t.NOTHING, args), expected, seen)
                self._meet(outcome, None)
        return True

    def _late(self) -> bool:
        seconds, stop = self.limits.seconds, self.limits.stop
        late = seconds is not None and time.perf_counter() - self.began >= seconds
        return late or (stop is not None and stop())

    def _starts(
        self, made: Mapping[str, Any]
    ) -> Iterator[tuple[ir.Function | None, Args, Outcome]]:
        space = self.space
        try:
            state = space.reference.initial(made)
        except NoValue as error:
            yield None, (), Fault("undefined", str(error), "")
            return
        if not space.machine.initials:
            yield from ((None, args, outcome) for _, args, outcome in space.starts(made))
        for rule, function in zip(space.flat.initials, space.machine.initials, strict=True):
            for args in self._arguments(rule, state):
                named = bind(function.params, args)
                yield function, args, space.reference.start(state, function, named)

    def _seen(self, outcome: Outcome) -> Seen:
        """The outcome of a start or a tick in the form that instances give."""
        match outcome:
            case Done(state=state):
                return "done", self.running.without_ghosts(state), None
            case Fault(name=name):
                return name, None, None
            case _:
                return "refused", None, None

    def _meet(self, outcome: Outcome, before: State | None) -> None:
        """Queue the state after a step, if it is new and within the scope."""
        if isinstance(outcome, Done) and outcome.state not in self.known:
            placed, cut = self.space.placed(outcome, before)
            if cut is None and isinstance(placed, Done):
                self.known.add(placed.state)
                self.states.append(placed.state)

    def walk(self, progress: Tell | None) -> bool:
        """Compare in every queued state; False where a limit was reached before the end."""
        reported = self.began
        for state in self.states:  # `_meet` appends to it.
            if self._late() or self.found.states == self.limits.states:
                return False
            now = time.perf_counter()
            if progress is not None and now - reported > 0.2:
                reported = now
                progress(self.found)
            self._enter(state)
        return True

    # Calls.

    def _enter(self, state: State) -> None:
        """Compare every call in one state."""
        self.found.states += 1
        outcomes = self._outcomes(state)
        before = self.running.without_ghosts(state)
        entry = self.running.instance(state)
        for entry_point in self.entry_points:
            for args in dict.fromkeys(
                args for row in entry_point.rows for args in outcomes[row.name]
            ):
                if self._is_no_call(state, entry_point, args):
                    continue
                expected = self._expected(outcomes, state, entry_point, args)
                seen = self.running.take(entry, entry_point.name, args)
                event = entry_point.event
                call = _Call(before, entry_point.name, event.params, event.output, args)
                self._judge(call, expected, seen)
                if seen[0] == "done" or seen[1] != before:
                    entry = self.running.instance(state)

    def _is_no_call(self, state: State, entry_point: EntryPoint, args: Args) -> bool:
        """Whether an argument has an element that is not there, or a growth one that is not next:
        at run time the first is the caller's error, and the second is for the caller to say."""
        if not self.universes:
            return False
        there = {i: state[at] for i, at in self.universes.items()}
        if grown_by(self.space.machine, entry_point.name) is not None:
            row = entry_point.rows[0]
            return isinstance(self._step(row, state, args), Refusal)
        members = Members({name: frozenset(map(str, each)) for name, each in there.items()})
        pairs = zip(args, entry_point.event.params, strict=True)
        return any(unknown_element(arg, kind, members) for arg, (_, kind) in pairs)

    def _outcomes(self, state: State) -> Outcomes:
        """The outcome of every transition with all its arguments; ticks are compared here."""
        made: Outcomes = {}
        for rule, row in self.space.rules:
            if self.space.machine.is_of_ignores(row):
                continue  # Its events are compared with their transitions.
            mine = made[row.name] = {}
            for args in self._arguments(rule, state):
                mine[args] = outcome = self._step(row, state, args)
                self._meet(outcome, state)
                if is_tick(row) and isinstance(
                    outcome, Done
                ):  # Otherwise an urgent timer forbids the tick.
                    entry = self.running.instance(state)
                    call = _Call(self.running.state(entry), row.name, (), t.NOTHING, args)
                    later = "done", self.running.later(entry), None
                    self._judge(call, self._seen(outcome), later)
        return made

    def _step(self, row: ir.Transition, state: State, args: Args) -> Outcome:
        named = bind(row.function.params, args)
        return self.space.reference.step(state, row.name, named)

    def _expected(
        self, outcomes: Outcomes, state: State, entry_point: EntryPoint, args: Args
    ) -> Seen:
        """The expected outcome of an event, from the outcomes of its transitions."""
        tried = [
            outcomes[row.name].get(args) or self._step(row, state, args) for row in entry_point.rows
        ]
        answer = answer_of(self.space.reference, entry_point, state, args, tried)
        after = self.running.without_ghosts(answer.state)
        return answer.name or answer.kind, after, answer.output

    def _judge(self, call: _Call, expected: Seen, seen: Seen) -> None:
        """Count the call, and record a disagreement."""
        self.found.outcomes[expected[0]] += 1
        if self.ghosts and expected[0] in FAULTS and seen[0] != expected[0]:
            self.found.set_aside += 1
            return
        if seen == expected and self._exact(call, seen):
            return
        self.found.differing += 1
        if len(self.found.disagreements) < SHOWN:
            self.found.disagreements.append(self._disagreement(call, expected, seen))

    def _exact(self, call: _Call, seen: Seen) -> bool:
        """Whether equal values also have the same classes."""
        if seen[0] != "done":
            return True
        whole = state_has_exact_types(seen[1], self.space.machine, self.parts, ghosts=False)
        return whole and has_exact_type(seen[2], call.output)

    def _disagreement(self, call: _Call, expected: Seen, seen: Seen) -> Disagreement:
        before = self._by_name(call.before)
        names = (name for name, _ in call.params)
        args = {name: spelled(arg) for name, arg in zip(names, call.args, strict=True)}
        both = self._outcome_text(before, expected), self._outcome_text(before, seen)
        return Disagreement(before, call.name, args, *both)

    def _outcome_text(self, before: Mapping[str, str], seen: Seen) -> str:
        """An outcome as text, with the variables that it changed."""
        kind, after, output = seen
        rows = self._by_name(after).items()
        changed = [f"{name} = {value}" for name, value in rows if before.get(name) != value]
        gives = [] if output is None else [f"gives {spelled(output)}"]
        return "; ".join([kind, *changed, *gives])

    def _by_name(self, state: State | None) -> dict[str, str]:
        """The values of a state as text, without ghosts, which instances do not have."""
        machine = self.space.machine
        rows = [
            *((v.name, v.ghost) for v in machine.variables),
            *((p.name, False) for p in machine.parameters),
        ]
        both = zip(rows, state or (), strict=False)
        return {name: spelled(value) for (name, ghost), value in both if not ghost}


# Reports.
