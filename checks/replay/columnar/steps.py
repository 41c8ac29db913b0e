"""The compiled steps of a machine as a replay runs them, and instances between their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from lawful.runtime.elements import NO_ELEMENTS
from lawful.runtime.instances.from_ir import class_of
from lawful.runtime.instances.make import begin
from lawful.runtime.timers import REAL, Environment
from lawful.spec import types as t
from lawful.spec.analysis.ghosts import ghosts_of, only_reads
from lawful.spec.ir import Json
from lawful.spec.syntax.declare import slot
from lawful.spec.values.world import decode, encode

from ..difference import exact
from ..fold import Fold
from ..mapping import TraceMapping
from ..program import ReplayProgram
from ..row_step import Stepper
from ..rows import Row

Step = Callable[..., Any]


@dataclass(slots=True)
class Opened:
    """An instance whose rows so far fit, and what they covered.

    `shown`: its state at the end of the last batch, in JSON form; None in its first batch.
    `recent`: the last rows of it.
    """

    instance: str
    state: Any
    first: int
    next: int
    rows: int = 0
    events: int = 0
    transitions: Counter[str] = field(default_factory=Counter[str])
    states: Counter[str] = field(default_factory=Counter[str])
    shown: dict[str, Json] | None = None
    recent: tuple[Row, ...] = ()


class Steps:
    """The steps of one machine, by event.

    `sure`: the events that one transition serves, and that transition. `decidable`: whether running
    instances know if they may end. Raises ValueError where the machine cannot be compiled.
    """

    def __init__(self, stepper: Stepper, mapping: TraceMapping) -> None:
        machine = stepper.machine
        self.stepper = stepper
        self.mapping = mapping
        self.cls = class_of(machine, stepper.world)
        self.environment = Environment(REAL)
        self.by_event: dict[str, Step] = {}
        self.sure: dict[str, str] = {}
        for event in machine.events:
            served = machine.serving(event.name)
            if len(served) == 1 and not any(row.event == event.name for row in machine.ignores):
                self.sure[event.name] = served[0].name
                plan = self.cls.__plan__
                self.by_event[event.name] = plan.method(plan.ways[event.name])
            else:  # This one says which transition ran.
                self.by_event[event.name] = self.cls.__plan__.watched(event.name)
        at = stepper.form.at_control
        self.control = None if at is None else attrgetter(slot(machine.variables[at].name))
        kind = None if at is None else machine.variables[at].type
        named = kind.name if isinstance(kind, t.Enum) else ""
        self.members: tuple[Any, ...] = tuple(stepper.world.enums[named]) if named else ()
        terminal, ghosts = machine.of_kind("terminal"), ghosts_of(machine)
        self.decidable = all(only_reads(machine, ghosts, p.name) for p in terminal)
        functions = self.cls.__plan__.functions
        self.terminal = [functions[p.name] for p in terminal if self.decidable]
        self.parameters = self._parameters()

    def _parameters(self) -> dict[str, Any] | None:
        """The parameters of every instance; None where none begins with them."""
        known = {p.name: p.type for p in self.stepper.machine.parameters}
        mapped = self.mapping.parameters
        if not mapped.keys() <= known.keys() or not exact(dict(mapped)):
            return None
        try:
            given = {n: decode(v, known[n], self.stepper.world) for n, v in mapped.items()}
            begin(self.bare(), given)
        except Exception:
            return None  # The row fold says why.
        return given

    def bare(self) -> Any:
        """A new instance without values."""
        made: Any = self.cls.__new__(self.cls)
        made.__environment__ = self.environment
        made.__watch__ = None
        return made

    def opened(self, instance: str, first: int) -> Opened:
        """A new instance whose first row has this number."""
        state = self.bare()
        begin(state, self.parameters or {})
        made = Opened(instance, state, first, first)
        made.states[self.control(state).name if self.control else ""] += 1
        return made

    def ended(self, state: Any) -> str:
        """The verdict on an instance that fits and ends in this state."""
        fits = not self.terminal or any(holds(state) for holds in self.terminal)
        return "fits" if fits else "open"

    def shown(self, state: Any) -> dict[str, Json]:
        """The variables of a state in the form of a journal."""
        kept = [v for _, v in self.stepper.form.kept]
        return {v.name: encode(getattr(state, slot(v.name)), v.type) for v in kept}

    def resumed(self, program: ReplayProgram, opened: Opened) -> Fold:
        """The row fold that goes on with an instance from the end of the last batch."""
        fold = Fold(program, opened.instance)
        if opened.shown is None:
            return fold
        machine = self.stepper.machine.name
        row = Row(opened.instance, opened.first, machine)
        self.stepper.universe = NO_ELEMENTS
        start, _ = self.stepper.follow(None, self.mapping.made(row, self.stepper.fingerprint))
        fold.stepper, fold.machine, fold.first = self.stepper, machine, (opened.first, machine)
        fold.state = self.stepper.reader.state(opened.shown, start)
        fold.next, fold.rows, fold.events = opened.next, opened.rows, opened.events
        fold.judged = opened.events
        for each in opened.recent:
            fold.near.take(each)
        fold.transitions, fold.states = opened.transitions, opened.states
        return fold
