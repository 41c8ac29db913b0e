"""Journal rows: how a journal, log records and span events describe each event of an instance.

`runtime.journal` documents the form of a row. A row contains values in their JSON form
(`variables`, `plain`) unless `Hidden` hides them.
"""

from __future__ import annotations

import hashlib
import json
import time as clocks
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.outcomes import MachineFault, Refused, joined
from lawful.spec.syntax.declare import slot
from lawful.spec.values.time import clock_of
from lawful.spec.values.world import Encoder, encoded_map, encoder

from ..kernel.commit import choose
from ..kernel.dispatch import UNSET, control_name
from ..kernel.event_record import Stepped
from ..kernel.plan import Plan, Way
from ..kernel.signal_handlers import of_a_handler
from ..kernel.state import State
from ..timers import Environment
from .access import behaviour_of
from .container_changes import Teller
from .make import bare, begin, plan_of

VERSION = 3  # Of the form of a row; `runtime.journal` tells the older ones.
KEYS = (
    "v",
    "instance",
    "seq",
    "time",
    "machine",
    "fingerprint",
    "event",
    "transition",
    "args",
    "outcome",
    "before",
    "after",
    "changed",
    "output",
    "why",
    "wall",
)
WALL = "wall"  # A column that rows of older journals lack.
UNIVERSE = "universe"  # A column of those rows alone that tell a whole instance.
HIDDEN = "$hidden"  # The one key of the object that stands for a hidden value.


@dataclass(frozen=True)
class Hidden:
    """Values that rows do not show: names of variables, parameters and arguments, and outputs as
    `event.output`. `before` and `after` belong to the control variable.

    `excluded` values are left out. `hashed` values are replaced by keyed hashes, so that equal
    values look equal. Rows of refusals name only the transitions, because reasons contain values. A
    replay compares everything else; without a hidden parameter or argument that it needs, it stops
    with `inconclusive`.
    """

    excluded: frozenset[str] = frozenset()
    hashed: frozenset[str] = frozenset()
    key: bytes = b""

    def __post_init__(self) -> None:
        if self.hashed and not self.key:
            raise ValueError("a hash without a key hides nothing that can be guessed")

    def recorded(self, name: str, value: Json) -> Json:
        """The form in which a row shows a value."""
        if name in self.excluded:
            return {HIDDEN: "excluded"}
        if name in self.hashed:
            text = json.dumps(value, sort_keys=True).encode()
            return {HIDDEN: hashlib.blake2b(text, key=self.key, digest_size=16).hexdigest()}
        return value

    def each(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """The forms in which a row shows values, by name."""
        return {name: self.recorded(name, value) for name, value in values.items()}

    def check(self, plan: Plan) -> None:
        """ValueError for a name that the machine does not have: nothing would be hidden."""
        known = {*plan.fields, *(f"{event.name}.output" for event in plan.machine.events)}
        known |= {name for way in plan.ways.values() for name, _ in way.params}
        unknown = sorted((self.excluded | self.hashed) - known)
        if unknown:
            raise ValueError(f"{plan.name} has no {', '.join(unknown)} to hide")


class Written(NamedTuple):
    """What a writer knows from its rows: the number of the next one, the tick, and the event of
    the last row, while that still waits."""

    seq: int
    tick: int
    last: Stepped | None


class RowWriter:
    """Makes the rows of one instance and passes each to `write(writer, row)`.

    Who takes the row stores `writer.next` in `writer.at`, with nothing between that an interrupt
    could come into: so each row is taken once, and numbers have no gap. An event whose row was
    interrupted waits, and its row is made before the next one. One that a signal handler calls
    while rows are made waits for its turn.
    """

    def __init__(
        self,
        entry: State,
        instance: str,
        write: Callable[[RowWriter, dict[str, Any]], None],
        hidden: Hidden | None = None,
        refused: bool = True,
    ) -> None:
        self.instance = instance
        self.write = write
        self.refused = refused
        self.plan = plan_of(type(entry))
        self.fingerprint = behaviour_of(self.plan)
        self.forms = forms_of(self.plan)
        self.clock = clock_of(self.plan.machine)
        self.at = self.next = Written(0, 0, None)
        self.waiting: deque[Stepped] = deque()
        self.drains = False
        self.tried: Stepped | None = None
        self.hidden = hidden
        if hidden is not None:
            hidden.check(self.plan)

    def drain(self, _: Stepped | None = None) -> None:
        """Make the rows of the events that wait. One that cannot be made is left out, and what
        was wrong is raised; where the stack was too deep, it is tried once more the next time. What
        a signal handler raises is no fault of the row: it waits for the next time."""
        if self.drains:
            return
        self.drains = True
        try:
            while self.waiting or self.at.last is not None:
                if self.waiting:
                    self._drain(self.waiting[0])
                else:  # Do not hold what the event had before and after.
                    at = self.at
                    left = Written(at.seq, at.tick, None)
                    if self.at is at:  # No call since: a handler may have written a row before.
                        self.next = self.at = left
        finally:
            self.drains = False

    def _drain(self, done: Stepped) -> None:
        """Make the row of the first event that waits."""
        try:
            wanted = self.refused or done.outcome != "refused"
            if wanted and done is not self.at.last:
                self.stepped(done)
        except Exception as error:
            again = isinstance(error, RecursionError) and done is not self.tried
            self.tried = done if again else None
            if not again and not of_a_handler(error):
                self.waiting.popleft()
            raise
        self.waiting.popleft()

    def row(self, time: float, rest: dict[str, Any]) -> None:
        if self.hidden is not None:
            for part in ("args", "changed"):
                rest[part] = self.hidden.each(rest[part])
            for side in ("before", "after"):
                if rest[side] is not None and self.plan.control is not None:
                    rest[side] = self.hidden.recorded(self.plan.control, rest[side])
            rest["output"] = self.hidden.recorded(f"{rest['event']}.output", rest["output"])
        row = {
            "v": VERSION,
            "instance": self.instance,
            "seq": self.at.seq,
            "time": time,
            "machine": self.plan.name,
            "fingerprint": self.fingerprint,
            **rest,
            WALL: clocks.time(),
        }
        self.write(self, row)

    def attached(self, entry: State) -> None:
        """Write the first row: the present state, and whether the instance is new."""
        self.whole(entry, "made" if self.at.seq == 0 and _is_new(entry) else "attached")

    def whole(self, entry: State, outcome: str) -> None:
        """Write a row with the whole present state, at which a replay can begin."""
        plan, environment = self.plan, entry.__environment__
        at = control_name(entry)
        whole = variables(entry)
        self.next = Written(self.at.seq + 1, self._now(entry), self.at.last)
        rows = plan.machine.parameters
        fixed = {p.name: plain(getattr(entry, slot(p.name)), p.type) for p in rows}
        known = environment.universe.texts()
        rest = {
            "event": None,
            "transition": None,
            "args": fixed,
            "outcome": outcome,
            "before": None,
            "after": at,
            "changed": whole,
            "output": None,
            "why": None,
        }
        self.row(environment.now(), rest | {UNIVERSE: known} if known else rest)

    def stepped(self, done: Stepped) -> None:
        """Write the row of an event."""
        params, output = self.forms.of(done.way)
        why = self.why(done) if done.outcome == "refused" else None
        changed = self.changed(done)
        rest = {
            "event": done.event,
            "transition": done.transition,
            "args": {row[0]: row[1](value) for row, value in zip(params, done.given, strict=True)},
            "outcome": done.outcome,
            "before": done.before,
            "after": done.after,
            "changed": changed,
            "output": output(done.output),
            "why": why,
        }
        self.row(done.time, rest)

    def why(self, done: Stepped) -> str:
        """Why an event was refused; where something is hidden, by which transitions only."""
        if self.hidden is None:
            return joined(done.reasons)
        return "refused by " + ", ".join(reason.transition for reason in done.reasons)

    def changed(self, done: Stepped) -> dict[str, Json]:
        """What has changed; of timers only whether they are armed.

        The clock advances between events: the row of the next event has its tick.
        """
        tick = self._now(done.instance)
        out = self.forms.teller.changes(done)
        if self.clock is not None and tick != self.at.tick:
            out = {self.clock.name: tick, **out}
        self.next = Written(self.at.seq + 1, tick, done)
        return out

    def _now(self, state: State) -> int:
        """The present tick of a machine with a clock."""
        return 0 if self.clock is None else getattr(state, slot(self.clock.name)).now


_Field = tuple[str, str, Encoder]  # A variable or parameter, its slot, and its form.
_FormsOfWay = tuple[list[tuple[str, Encoder]], Encoder]


class _Forms:
    """What makes the rows of all instances of a machine."""

    def __init__(self, plan: Plan) -> None:
        self.teller = Teller(plan, former)
        self.variables = tuple(_field(plan, name) for name in plan.variables)
        self.parameters = tuple(_field(plan, name) for name in plan.parameters)
        self._steps = plan.steps
        self._known: dict[str, _FormsOfWay] = {}

    def of(self, way: Way) -> _FormsOfWay:
        """The names and forms of the arguments, and the form of the output."""
        known = self._known.get(way.name)
        if known is None:
            step = self._steps[way.event]
            kinds = dict(step.params)
            params = [(name, former(kinds[name])) for name, _ in way.params]
            known = self._known[way.name] = params, former(step.output)
        return known


def _field(plan: Plan, name: str) -> _Field:
    return name, slot(name), former(plan.fields[name])


_KNOWN: WeakKeyDictionary[type[Any], _Forms] = WeakKeyDictionary()


def forms_of(plan: Plan) -> _Forms:
    """What makes the rows of the instances of this machine."""
    known = _KNOWN.get(plan.cls)
    if known is None:
        known = _KNOWN[plan.cls] = _Forms(plan)
    return known


def _is_new(entry: State) -> bool:
    """Whether the instance is as its class makes one with these parameters, clocks aside.

    Nothing keeps the arguments of an `@initial`: after one that takes some, every state may be new.
    """
    starts = entry.__plan__.starts.values()
    if any(start.params for start in starts):
        return True
    now = _but_clocks(entry)
    return any(_begun(entry, start) == now for start in starts or (None,))


def _begun(entry: State, start: Way | None) -> dict[str, Json] | None:
    """The variables of a new instance with the same parameters, which began so; None where it
    cannot."""
    plan, environment = entry.__plan__, entry.__environment__
    made = bare(type(entry), None, None)
    made.__environment__ = Environment(environment.clock, environment.universe)
    try:
        begin(made, {p.name: getattr(entry, slot(p.name)) for p in plan.machine.parameters})
        if start is not None:
            choose(made, start, ())
    except (Refused, MachineFault, TypeError, ValueError):
        return None
    return _but_clocks(made)


def _but_clocks(state: State) -> dict[str, Json]:
    kinds = state.__plan__.fields
    return {k: v for k, v in variables(state).items() if not isinstance(kinds[k], t.Clock)}


# The JSON forms of values as they are inside an instance.


def variables(state: State) -> dict[str, Json]:
    """The JSON form of all variables."""
    return _fields(state, forms_of(state.__plan__).variables)


def _part(state: State) -> dict[str, Json]:
    """The JSON form of all variables and parameters."""
    forms = forms_of(state.__plan__)
    return _fields(state, (*forms.variables, *forms.parameters))


def _fields(state: State, fields: Iterable[_Field]) -> dict[str, Json]:
    held = ((name, getattr(state, at, UNSET), form) for name, at, form in fields)
    return {name: form(value) for name, value, form in held if value is not UNSET}


def plain(value: Any, kind: t.Type) -> Json:
    """The JSON form of an internal value; a part is an object of its variables and parameters."""
    return former(kind)(value)


def former(kind: t.Type) -> Encoder:
    """The function that makes such forms of values of this type."""
    match kind:
        case t.Clock():
            return lambda value: value.now
        case t.Part():
            return _part
        case t.Map(key=key, value=t.Part()):
            return lambda value: encoded_map(((k, _part(v)) for k, v in value.items()), key)
        case t.Timer():
            return encoder(kind)
        case _:
            whole = encoder(kind)
            return lambda value: None if value is None else whole(value)  # A refused event's output
