"""The oracle of conformance tests: what each event should do, computed by the reference engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from lawful.runtime.timers import Environment, SimulatedClock, ticks_of
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.analysis.growth import step_name
from lawful.spec.analysis.headers import own_source
from lawful.spec.analysis.named_elements import explored, named_elements
from lawful.spec.analysis.walk import everything
from lawful.spec.outcomes import Reason
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.resolve import Resolved
from lawful.spec.sorting import in_order
from lawful.spec.text.reasons import seconds
from lawful.spec.values.bounds import Values
from lawful.spec.values.time import clock_of
from lawful.spec.words import Expected

from ..explore.value_pool import Near
from ..reference import Done, Fault, Outcome, Reference, Refusal
from ..reference.clauses import failure_of
from ..reference.expressions import Guard
from ..reference.growth import grow
from ..reference.missing_values import NoValue
from ..reference.states import State
from ..reference.time import at_tick, timers
from .observation import Armed, spelled

Args = tuple[Any, ...]
Elements = Mapping[str, tuple[Any, ...]]
SORT_SIZE = 3  # Elements of a sort without a scope.
SMALL = 20  # An integer type of fewer values is small: property parameters take each of them.


# No dataclasses: Hypothesis would print all their fields, at length.


class EntryPoint:
    """What a caller can call: an event, or a transition by its own name.

    `timed`: whether a timer that is due may be a guard. `extra`: only lawful instances have it.
    """

    def __init__(
        self, event: ir.Event, rows: tuple[ir.Transition, ...], timed: bool, own: bool = False
    ) -> None:
        self.name = rows[0].name if own else event.name
        self.event = event
        self.rows = rows
        self.timed = timed
        self.extra = own and not event.choice

    def __repr__(self) -> str:
        return self.name


class Call:
    """An event with its arguments."""

    def __init__(self, entry_point: EntryPoint, args: Args) -> None:
        self.entry_point = entry_point
        self.args = args

    def __repr__(self) -> str:
        return f"{self.entry_point.name}({', '.join(map(spelled, self.args))})"


class Start:
    """An `@initial` with its arguments."""

    def __init__(self, function: ir.Function, args: Args) -> None:
        self.function = function
        self.args = args

    def __repr__(self) -> str:
        return f"{self.function.name}({', '.join(map(spelled, self.args))})"


class Fire:
    """Let time pass until the next timer is due, or all with `far`, and fire those that are."""

    def __init__(self, far: bool) -> None:
        self.far = far

    def __repr__(self) -> str:
        return f"fire_due({'all' if self.far else 'next'})"


class Grow:
    """The growth of a sort: an element joins that has a new name."""

    def __init__(self, sort: t.Sort) -> None:
        self.sort = sort
        self.name = step_name(sort)

    def element(self, there: Args) -> str:
        """The first name, of those that scopes give, that no element has."""
        known = set(map(str, there))
        names = explored(self.sort.name, len(known) + 1, {})
        return next(name for name in names if name not in known)

    def __repr__(self) -> str:
        return f"{self.name}(...)"


Action = Call | Start | Fire | Grow


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model does with an event.

    A fault has a `name` (the property that it violates) and a `cause`, an ignored event a `cause`.
    """

    kind: Literal["done", "ignored", "refused", "fault"]
    state: State
    output: Any = None
    transition: str = ""
    name: str = ""
    cause: str = ""
    refusals: tuple[Refusal, ...] = ()

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it refuses: a reason for each transition; computed when it is read."""
        return tuple(refusal.reason() for refusal in self.refusals)

    @property
    def why(self) -> str:
        """The cause, or the reasons in one line."""
        return self.cause or "; ".join(map(str, self.reasons))


def entry_points(machine: ir.Machine) -> tuple[EntryPoint, ...]:
    """The events, then the transitions that have another name than their event.

    An event with `choice=True` and several transitions is no entry point: callers choose one.
    """
    made: list[EntryPoint] = []
    for event in machine.events:
        rows = machine.serving(event.name)
        if rows and not (event.choice and len(rows) > 1):
            made.append(EntryPoint(event, rows, _timed(machine, rows)))
    for row in machine.transitions:
        if row.name != row.event and not machine.is_of_ignores(row):
            made.append(
                EntryPoint(machine.event(row.event), (row,), _timed(machine, (row,)), own=True)
            )
    return tuple(made)


def _timed(machine: ir.Machine, rows: tuple[ir.Transition, ...]) -> bool:
    """Whether a timer that is due may be a guard here, or in a step of a part."""
    if any(row.timer is not None for row in rows):
        return True
    inner = any(row.timer is not None for part in machine.parts for row in part.transitions)
    calls = (ir.Step, ir.Base, ir.Do, ir.Can, ir.Call)
    return inner and any(isinstance(n, calls) for n in everything(r.function for r in rows))


def answer_of(
    reference: Reference,
    entry_point: EntryPoint,
    state: State,
    args: Args,
    tried: Sequence[Outcome],
) -> Answer:
    """The outcome of an entry point, from the outcomes of its transitions (`tried`).

    The enabled transition decides, else a matching `ignore`, else it is a refusal.
    """
    admitted = [outcome for outcome in tried if not isinstance(outcome, Refusal)]
    if len(admitted) > 1:
        both = " and ".join(outcome.transition for outcome in admitted[:2])
        return Answer("fault", state, name="ambiguous", cause=f"both {both} are enabled")
    if admitted:
        return _answer(state, admitted[0])
    if entry_point.name == entry_point.event.name:
        named = bind(entry_point.event.params, args)
        try:
            row = reference.ignored(reference.machine, state, entry_point.event.name, named)
        except (Guard, NoValue) as error:
            return Answer("fault", state, name="undefined", cause=str(error))
        if row is not None:
            return Answer("ignored", state, cause=row.because)
    refusals = tuple(outcome for outcome in tried if isinstance(outcome, Refusal))
    return Answer("refused", state, refusals=refusals)


class Model:
    """The steps and properties of one machine; `given` are the elements of sorts, where known.

    `now` is the time of the next step, from which deadlines of timers are computed. Without a
    clock an armed timer may be due at any moment, with one it is due at its deadline.
    """

    def __init__(self, resolved: Resolved, given: Elements) -> None:
        self.machine = resolved.machine
        self.world = resolved.world
        self.elements = {**_default_elements(resolved), **given}
        self.reference = Reference(self.machine, resolved.world)
        self.clock = clock_of(self.machine)
        self.begin(0.0)
        self.reference.armed = lambda seconds: Armed(self.time.due(seconds))
        if self.clock is not None:
            self.reference.left = self._left
        self.values = Values(self.world, {}, self.elements)
        self.reference.domains = self.values.of
        self.parts = {part.name: part for part in self.machine.parts}
        self.excused = _excused(resolved)

    # Time.

    def begin(self, now: float) -> None:
        """Set the time of the start, from which ticks are counted."""
        self.now = now
        self.time = Environment(SimulatedClock(now))
        if self.clock is not None:
            ticks_of(self.time, self.tick, now)

    def _left(self, timer: Armed) -> str:
        left = timer.deadline - self.now
        return seconds(left) if left > 0 else ""

    @property
    def tick(self) -> float:
        """The seconds of a tick; 0 without a clock."""
        kind = None if self.clock is None else self.clock.type
        return kind.tick if isinstance(kind, t.Clock) else 0.0

    def at(self, state: State, now: float) -> State:
        """Advance the time to `now`; returns the state with its clock at that time."""
        self.now = now
        self.time.pause_at(now)
        if self.time.ticks is None:
            return state
        return at_tick(self.reference.machines, self.machine.name, state, self.time.ticks.now)

    def moment(self, state: State, wanted: float) -> float:
        """The latest time up to `wanted` that is not beyond the deadline of an urgent timer."""
        urgent = [due for timer, due in self.deadlines(state) if timer.urgent]
        return max(self.now, min([wanted, *urgent]))

    def deadlines(self, state: State) -> list[tuple[t.Timer, float]]:
        """The armed timers, with their deadlines."""
        found = timers(self.reference.machines, self.machine.name, state)
        return [(kind, value.deadline) for _, kind, value in found if isinstance(value, Armed)]

    # Steps.

    def initial(self, parameters: Mapping[str, Any]) -> Answer:
        """A new instance with these parameters, before an `@initial` is called."""
        state = self.reference.initial(parameters)
        out_of = None
        if not self.machine.initials:
            out_of = self.reference.breach(self.machine.name, state)
        if out_of is not None:
            return Answer("fault", state, name="bounds", cause=out_of)
        return Answer("done", state)

    def start(self, state: State, function: ir.Function, args: Args) -> Answer:
        """An `@initial` of a new instance."""
        return _answer(state, self.reference.start(state, function, bind(function.params, args)))

    def step(self, state: State, entry_point: EntryPoint, args: Args) -> Answer:
        """The outcome of an event; see `answer_of`."""
        step = self.reference.step
        tried = [step(state, row.name, bind(row.function.params, args)) for row in entry_point.rows]
        return answer_of(self.reference, entry_point, state, args, tried)

    def may_take(self, state: State, entry_point: EntryPoint) -> bool:
        """Whether the control state allows some transition; guards are not evaluated."""
        return any(self._admitted(row, state) for row in entry_point.rows)

    def _admitted(self, row: ir.Transition, state: State) -> bool:
        source = own_source(row)
        if source is None:
            return True
        name, states = source
        return state[self.reference.layout[self.machine.name][name]].name in states

    def grown(self, other: Model, state: State, sort: t.Sort) -> Answer:
        """The growth of a sort, where `other` was the model with one element less."""
        self.now, self.time = other.now, other.time
        return _answer(state, grow(self.reference, state, sort))

    # Properties.

    def broken(self, before: State | None, after: State) -> str | None:
        """The property that the step violates, and why; None without one. `before` is None at the
        start."""
        return self._broken(self.machine, "", before, after)

    def _broken(
        self, machine: ir.Machine, prefix: str, before: State | None, after: State
    ) -> str | None:
        for p in machine.properties:
            found = None
            if p.kind == "invariant" and prefix + p.name not in self.excused:
                found = self._false(p, after, ())
            elif p.kind == "step_property" and prefix + p.name not in self.excused:
                found = None if before is None else self._false(p, before, (after,))
            if found is not None:
                return f"{prefix}{p.name}: {found}"
        return self._broken_part(machine, prefix, before, after)

    def _broken_part(
        self, machine: ir.Machine, prefix: str, before: State | None, after: State
    ) -> str | None:
        for at, v in enumerate(machine.variables):
            kind = t.part_of(v.type)
            if kind is None:
                continue
            part, name = self.parts[kind.machine], f"{prefix}{v.name}."
            old = None if before is None else before[at]
            if not isinstance(v.type, t.Map):
                found = self._broken(part, name, old, after[at])
            else:
                keys = in_order(after[at])
                olds: Mapping[Any, State] = old or {}
                members = (self._broken(part, name, olds.get(k), after[at][k]) for k in keys)
                found = next((each for each in members if each is not None), None)
            if found is not None:
                return found
        return None

    def _false(self, p: ir.Property, state: State, more: Args) -> str | None:
        for args in self._tried(p.function.params[len(more) :], state):
            given = bind(p.function.params, (*more, *args))
            try:
                if not self.reference.call_named(p.function, state, given):
                    return failure_of(self.reference, p, state, (*more, *args))
            except NoValue as error:
                return f"undefined: {error}"
        return None

    def _tried(self, params: tuple[tuple[str, t.Type], ...], state: State) -> Iterator[Args]:
        """Values of a property's parameters: all of a small type, else those in the state."""
        if not params:
            yield ()
            return
        for value in self._some(params[0][1], state):
            for more in self._tried(params[1:], state):
                yield (value, *more)

    def _some(self, kind: t.Type, state: State) -> tuple[Any, ...]:
        match kind:
            case t.Bool() | t.Enum() | t.Sort():
                return self.values.of(kind)
            case t.Int(low=int() as low, high=int() as high) if high - low < SMALL:
                return tuple(range(low, high + 1))
            case _:
                return Near.of(self.machine, state).like(kind)


def _default_elements(resolved: Resolved) -> dict[str, tuple[Any, ...]]:
    """Elements of each sort: as many as the default scope says, else `SORT_SIZE`; and those that
    the machine names."""
    named = named_elements(resolved.machine)
    scope = resolved.scopes.get("scope")
    bounds = {} if scope is None else scope.bounds
    made: dict[str, tuple[Any, ...]] = {}
    for name, sort in resolved.world.sorts.items():
        size = bounds.get(name)
        texts = explored(name, size if isinstance(size, int) else SORT_SIZE, named)
        made[name] = tuple(map(sort, texts))
    return made


def _excused(resolved: Resolved) -> frozenset[str]:
    """The properties that the declaration expects to be violated or undefined."""
    rows: dict[str, Expected] = dict(resolved.expects)
    scope = resolved.scopes.get("scope")
    if scope is not None and scope.expects is not None:
        rows.update(scope.expects.verdicts)
    verdicts = {name: row if isinstance(row, str) else row[0] for name, row in rows.items()}
    return frozenset(name for name, v in verdicts.items() if v in ("violated", "undefined"))


def _answer(state: State, outcome: Outcome) -> Answer:
    match outcome:
        case Done(state=after, output=output, transition=name):
            return Answer("done", after, output, name)
        case Fault(name=name, what=what, transition=transition):
            return Answer("fault", state, None, transition, name, what)
        case Refusal():
            return Answer("refused", state, refusals=(outcome,))
