"""The states in which an instance may be, as far as its rows tell.

A mapping names the events that no row tells (`hidden`); they may happen at any time. Instances may
begin in mid-history (`attach`), in any reachable state. Arguments may be missing (`partial`). So a
row is followed from each state in which the instance may be, and it deviates only where it fits
none of them: whatever nobody saw.

Each state has a number: how many unseen things it needs at least. Where no possible state has 0,
the verdict hinges on something unseen.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import json
from collections.abc import Iterator

from lawful.spec import ir
from lawful.spec.values.world import encode

from ...reference.states import State
from ..deviations import Deviation, Inconclusive, Several
from ..mapping import TraceMapping
from ..row_step import Stepper
from ..rows import ABSENT, Row

MOST = 1_000  # States in which an instance may be; with more its verdict is inconclusive.
READINGS = 64  # Ways to fill in missing arguments.
KEPT = 50_000  # Steps of sets that are kept.
Held = dict[State, int]  # Possible states, each with the number of unseen things that it needs.
Step = tuple[Held, frozenset[str]]  # The states after a row, and the transitions that led to them.


class PossibleStates:
    """Follows rows from all states in which an instance may be. Sets of states and their steps are
    made when they are first needed, and kept for all instances of a process."""

    def __init__(self, stepper: Stepper, mapping: TraceMapping) -> None:
        self.stepper = stepper
        self.mapping = mapping
        self.hidden = tuple(stepper.events[name] for name in mapping.hidden)
        self.later: dict[State, tuple[State, ...]] = {}
        self.steps: dict[tuple[frozenset[tuple[State, int]], str], Step] = {}
        self.reachable: dict[State, Held] = {}

    def begun(self, initial: State) -> Held:
        """The states in which an instance may begin. Raises Inconclusive where they are too many to
        be found."""
        if not self.mapping.attach:
            return {initial: 0}
        if initial not in self.reachable:
            found: Held = {initial: 0}
            queue = [initial]
            for state in queue:
                for event in self.stepper.events.values():
                    for after in self.stepper.successors(state, event):
                        if after not in found:
                            found[after] = 1
                            queue.append(after)
                if len(found) > MOST:
                    raise Inconclusive(f"it may begin in more than {MOST:,} states")
            self.reachable[initial] = found
        return self.reachable[initial]

    def possible(self, held: Held) -> Held:
        """These states and those that hidden steps lead to, the least unseen first.

        Raises Inconclusive where there are too many.
        """
        if not self.hidden:
            return held
        out: Held = {}
        order = itertools.count()
        queue = [(cost, next(order), state) for state, cost in held.items()]
        heapq.heapify(queue)
        while queue:
            cost, _, state = heapq.heappop(queue)
            if state in out:
                continue
            out[state] = cost
            if len(out) > MOST:
                raise Inconclusive(f"hidden steps lead to more than {MOST:,} states")
            for after in self._hidden_steps(state):
                if after not in out:
                    heapq.heappush(queue, (cost + 1, next(order), after))
        return out

    def _hidden_steps(self, state: State) -> tuple[State, ...]:
        if state not in self.later:
            if len(self.later) > KEPT:
                self.later.clear()
            steps = (self.stepper.successors(state, event) for event in self.hidden)
            self.later[state] = tuple(dict.fromkeys(itertools.chain.from_iterable(steps)))
        return self.later[state]

    def after(self, held: Held, row: Row) -> Step:
        """The states after a row. Raises Deviation where the row fits no possible state, and
        Inconclusive where there are too many states."""
        key = (frozenset(held.items()), _text(row))
        if key not in self.steps:
            if len(self.steps) > KEPT:
                self.steps.clear()
            self.steps[key] = self._after(held, row)
        return self.steps[key]

    def _after(self, held: Held, row: Row) -> Step:
        out: Held = {}
        names: set[str] = set()
        first: Deviation | None = None
        readings = [*self._readings(row)]
        dead = False
        for state, cost in self.possible(held).items():
            ways: list[tuple[State, str | None]] = []
            for reading in readings:
                try:
                    ways.append(self.stepper.follow(state, reading))
                except Several as several:
                    ways += [(way.state, way.transition) for way in several.ways]
                except Deviation as error:
                    first = first or error
            # Where only some values of a missing argument fit, its value was unseen.
            needs = cost + (len(ways) < len(readings))
            dead = dead or not (cost or ways)
            for after, taken in ways:
                out[after] = min(out.get(after, needs), needs)
                names.add(taken or "")
        if first is not None and not out:
            raise first
        if len(out) > MOST:
            raise Inconclusive(f"the instance may be in more than {MOST:,} states")
        if self.mapping.partial and dead:
            # With other values of arguments that earlier rows lack, this row would not fit.
            out = {state: max(1, needs) for state, needs in out.items()}
        return out, frozenset(names)

    def _readings(self, row: Row) -> Iterator[Row]:
        """The row, with every value of the arguments that it lacks."""
        event = self.stepper.events.get(str(row.event))
        if not self.mapping.partial or event is None:
            yield row
            return
        missing = [(name, kind) for name, kind in event.params if name not in row.args]
        values = itertools.product(*(self.stepper.finite(name, kind) for name, kind in missing))
        for number, given in enumerate(values):
            if number == READINGS:
                raise Inconclusive(f"missing arguments have more than {READINGS} values")
            rest = zip(missing, given, strict=True)
            more = {name: encode(value, kind) for (name, kind), value in rest}
            yield dataclasses.replace(row, args={**row.args, **more})


def _text(row: Row) -> str:
    """What a row says, without its instance and its number."""
    said = [row.event, dict(row.args), str(row.output) if row.output is ABSENT else [row.output]]
    return json.dumps([*said, dict(row.observed)], sort_keys=True)


def wrong(machine: ir.Machine, mapping: TraceMapping, timed: bool) -> str:
    """Why a mapping cannot leave steps of the machine untold, as a sentence; empty where it can."""
    events = {event.name for event in machine.events}
    if transitions := [name for name in mapping.hidden if name not in events]:
        return f"hidden has {transitions[0]}, which is no event of {machine.name}, but a transition"
    if timed and mapping.unseen:
        return f"{machine.name} has a clock, and nobody saw when hidden steps happened"
    return ""
