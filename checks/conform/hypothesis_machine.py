"""Stateful Hypothesis tests of an implementation, generated from a declaration.

Users import `conformance` from `lawful.testing`:

    TestSender = conformance(SenderEntry, lambda clock: SenderEntry(clock=clock))

is a `unittest.TestCase` that pytest collects. It has one Hypothesis rule for each event. After
every event it compares the implementation with the machine: whether the event was accepted, its
output, the whole state, and that a refused or ignored event changed nothing. It also evaluates the
invariants and step properties of the machine, except those that the declaration expects to fail.

The implementation may be a lawful instance, a service that embeds one, or an object written by
hand.

`make(clock)` makes one. `perform(implementation, event, args)` performs an event and returns its
output; by default it calls the method of that name. A refusal is `Refused` or one of the `refused`
exceptions; any other exception ends the test. `view(implementation)` returns a mapping, or an
object with attributes, that has the variables; by default the implementation itself. A variable in
`unseen` is not compared. Parameters are those of the lawful instance in the view, else those of
`machine` if that is an instance, else the defaults.

Timers: in the machine an armed timer may fire at any moment. So before an event that a timer
serves, the clock that `make` got jumps so far that every armed timer is due; then the event is
performed as any other. In the view a timer is a bool (armed or not), or its deadline, None while it
is stopped; a deadline is compared, too. With lawful instances the test also calls `fire_due` and
follows each transition that fires.

Arguments are drawn near values in the state and in recent events, so that guards pass often;
integers may be any within the bounds of their type. `given` maps names of types ("Payload", "Nat",
"Ack") or of parameters ("ack.m") to the strategies of new values there. Elements of a sort are
those of the instance's universe. A growing sort gets up to two more in a run: a lawful instance
by `lawful.grow`, another implementation by its method `grow_Node(element)` or by `perform`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, TypeVar
from unittest import TestCase

from hypothesis import HealthCheck, Phase, reject
from hypothesis import settings as Settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import DrawFn, SearchStrategy

from lawful.runtime.instance import Machine
from lawful.runtime.timers import SimulatedClock
from lawful.spec import types as t
from lawful.spec.analysis.growth import growing_sorts, step_name
from lawful.spec.analysis.named_elements import explored
from lawful.spec.outcomes import Refused
from lawful.spec.resolve import resolve
from lawful.spec.values.bounds import Values, breach
from lawful.spec.values.world import FrozenBag, FrozenMap, Token, World, chosen

from ..explore.value_pool import Near
from .lockstep import Mismatch, Run, Subject, replay
from .oracle import SORT_SIZE, Action, Args, Call, EntryPoint, Fire, Grow, Start
from .shrinking import shrunk

T = TypeVar("T")
Given = Mapping[str, SearchStrategy[Any]]
Params = tuple[tuple[str, t.Type], ...]
SMALL, LARGE = 5, 1_000  # Distance of integers from 0; not larger, for bodies loop over ranges.
LONG = 3  # Most elements of a new container.
TRIES = 4  # Draws of arguments until the machine accepts them.
MOVES = (0, 0, 0, 0, 1, -1)  # What is added to an integer that occurs.


@functools.cache
def _between(low: int, high: int) -> SearchStrategy[int]:
    return st.integers(low, high)


def _pick(draw: DrawFn, values: Sequence[Any]) -> Any:
    return values[draw(_between(0, len(values) - 1))]


class Drawing:
    """Draws values of types: mostly values that occur (`near`), or values next to them."""

    def __init__(self, values: Values, given: Given) -> None:
        self.values = values
        self.given = given

    def value(self, draw: DrawFn, kind: t.Type, near: Near, name: str = "") -> Any:
        """A value of the type, for a parameter or field of that name."""
        match kind:
            case t.Int():
                return self._integer(draw, kind, near, name)
            case t.Nothing():
                return None
            case t.Union(options=options):
                return self.value(draw, _pick(draw, options), near, name)
            case t.Record() | t.Opaque() | t.Tuple() | t.Seq() | t.Set() | t.Map() | t.Bag():
                known = near.named(kind, name) or near.like(kind)
                if known and _pick(draw, (False, False, True)):
                    return _pick(draw, known)
                return self._new(draw, kind, near)
            case _:
                return self._new(draw, kind, near)

    def _integer(self, draw: DrawFn, kind: t.Int, near: Near, name: str) -> int:
        """One that occurs under the same name, or anywhere, or one next to it, or any."""
        how = draw(_between(0, 9))
        known = near.named(kind, name) if how < 5 else ()
        known = known or (near.like(kind) if how < 7 else ())
        own = kind.name in self.given
        if known:
            moved = int(_pick(draw, known)) + (0 if own else _pick(draw, MOVES))
            if breach(moved, kind) is None:
                return moved
        if own:
            return int(draw(self.given[kind.name]))
        return draw(_around(kind, LARGE if how == 9 else SMALL))

    def _new(self, draw: DrawFn, kind: t.Type, near: Near) -> Any:
        match kind:
            case t.Opaque(name=name) | t.Record(name=name) | t.Enum(name=name) | t.Sort(name=name):
                if name in self.given:
                    return draw(self.given[name])
                return self._named(draw, kind, near)
            case t.Bool():
                return _pick(draw, (False, True))
            case t.Float():
                return draw(st.floats(allow_nan=False, allow_infinity=False))
            case t.Tuple(items=items):
                return tuple(self.value(draw, of, near) for of in items)
            case t.Seq(item=item, most=most):
                return tuple(self._several(draw, item, near, most))
            case t.Set(item=item):
                return frozenset(self._several(draw, item, near, None))
            case t.Bag(item=item, most=most):
                found = self._several(draw, item, near, most)
                return FrozenBag({each: found.count(each) for each in found})
            case t.Map(key=key, value=of, total=total):
                keys = self.values.of(key) if total else self._several(draw, key, near, None)
                return FrozenMap({k: self.value(draw, of, near) for k in keys})
            case _:
                raise TypeError(f"no values are drawn of type {kind}")

    def _named(self, draw: DrawFn, kind: t.Type, near: Near) -> Any:
        match kind:
            case t.Opaque(name=name):
                return Token(name, draw(_between(0, LONG)))
            case t.Record(name=name, fields=fields):
                args = [self.value(draw, of, near, field) for field, of in fields]
                return self.values.world.records[name](*args)
            case _:
                return _pick(draw, self.values.of(kind))

    def nudged(self, draw: DrawFn, value: Any, kind: t.Type, near: Near) -> Any:
        """The value with one small change: guards often have their boundary there."""
        if (kind.name if isinstance(kind, t.Int) else str(kind)) in self.given:
            return self.value(draw, kind, near)
        match kind:
            case t.Int():
                moved = value + _pick(draw, (1, -1))
                return moved if breach(moved, kind) is None else value
            case t.Record(fields=fields) if fields:
                name, of = _pick(draw, fields)
                inner = self.nudged(draw, getattr(value, name), of, near)
                return dataclasses.replace(value, **{name: inner})
            case t.Tuple(items=items) if items:
                at = draw(_between(0, len(items) - 1))
                inner = self.nudged(draw, value[at], items[at], near)
                return (*value[:at], inner, *value[at + 1 :])
            case t.Union() if value is not None:
                return self.nudged(draw, value, chosen(value, kind), near)
            case _:
                return self.value(draw, kind, near)

    def _several(self, draw: DrawFn, item: t.Type, near: Near, most: int | None) -> list[Any]:
        count = draw(_between(0, LONG if most is None else min(LONG, most)))
        return [self.value(draw, item, near) for _ in range(count)]


def _around(kind: t.Int, far: int) -> SearchStrategy[int]:
    """Integers within the bounds, at most `far` from 0, or from the bound nearest to 0."""
    middle = 0 if breach(0, kind) is None else kind.low if kind.low is not None else kind.high
    assert middle is not None
    low = middle - far if kind.low is None else max(kind.low, middle - far)
    high = middle + far if kind.high is None else min(kind.high, middle + far)
    return _between(low, high)


def strategy(
    kind: t.Type, world: World, near: Near | None = None, given: Given | None = None
) -> SearchStrategy[Any]:
    """A strategy for values of a type, within its bounds; immutable and hashable.

    Values in `near` are drawn often. Sorts have three elements, unless they are in `given`.
    """
    sorts = world.elements((name, explored(name, SORT_SIZE, {})) for name in world.sorts)
    return _value(Drawing(Values(world, {}, sorts), given or {}), kind, near or Near())


@st.composite
def _value(draw: DrawFn, drawing: Drawing, kind: t.Type, near: Near) -> Any:
    return drawing.value(draw, kind, near)


# The test.


class LockstepMachine(RuleBasedStateMachine):
    """One run of an implementation and the model in lockstep, driven by Hypothesis.

    `shrunk` is the first failing run, shrunk. Every later failing run, also the one that
    Hypothesis reports at the end, raises the failure of that run.
    """

    subject: ClassVar[Subject[Any]]
    given: ClassVar[Given]
    shrunk: ClassVar[list[Action] | None] = None
    begin: ClassVar[Any]
    fire_due: ClassVar[Any]

    def __init__(self) -> None:
        super().__init__()
        self.run = Run(self.subject)
        self.drawing = Drawing(self.run.model.values, self.given)

    def arguments(self, draw: DrawFn, name: str, params: Params) -> Args:
        """Arguments of an event, drawn near values that occur."""
        return tuple(
            draw(self.given[f"{name}.{param}"])
            if f"{name}.{param}" in self.given
            else self.drawing.value(draw, kind, self.run.near, param)
            for param, kind in params
        )

    def nudged(self, draw: DrawFn, entry_point: EntryPoint, args: Args) -> Args:
        """The arguments with a small change in one of them, unless `given` fixes it."""
        at = draw(_between(0, len(args) - 1))
        name, kind = entry_point.event.params[at]
        if f"{entry_point.event.name}.{name}" in self.given:
            return args
        moved = self.drawing.nudged(draw, args[at], kind, self.run.near)
        return (*args[:at], moved, *args[at + 1 :])

    def perform_action(self, action: Action) -> None:
        """Perform the action on both; a failure is raised in its shrunk form."""
        try:
            self.run.perform_action(action)
            if self.drawing.values is not self.run.model.values:  # A sort has grown.
                self.drawing = Drawing(self.run.model.values, self.given)
            return
        except HypothesisException:
            raise
        except Exception as error:
            failed = error
        self._fail_shortest(type(failed))
        raise failed

    def _fail_shortest(self, kind: type[Exception]) -> None:
        cls = type(self)
        if cls.shrunk is None:
            cls.shrunk = shrunk(self.subject, self.run.actions, kind, self.given)
        replay(self.subject, cls.shrunk)


@st.composite
def _call(draw: DrawFn, entry_point: EntryPoint) -> Call:
    """A call: mostly one that the model accepts, or one close to it, or any."""
    lockstep: LockstepMachine = draw(st.runner())
    how = _pick(draw, ("admitted", "admitted", "admitted", "almost", "any"))
    args: Args = ()
    for _ in range(1 if how == "any" or lockstep.run.hopeless(entry_point) else TRIES):
        args = lockstep.arguments(draw, entry_point.event.name, entry_point.event.params)
        if lockstep.run.admits(entry_point, args):
            break
    return Call(entry_point, lockstep.nudged(draw, entry_point, args) if how == "almost" else args)


@st.composite
def _start(draw: DrawFn) -> Start:
    lockstep: LockstepMachine = draw(st.runner())
    function = _pick(draw, lockstep.run.machine.initials)
    return Start(function, lockstep.arguments(draw, function.name, function.params))


def _begin() -> Any:
    """The Hypothesis rule that first calls an `@initial`."""

    def begin(self: LockstepMachine, start: Start) -> None:
        self.perform_action(start)
        if not self.run.begun:
            reject()

    return initialize(start=_start())(begin)


def _rule(entry_point: EntryPoint) -> Any:
    """The Hypothesis rule that performs an event.

    All rules have one name. Otherwise Hypothesis would disable some events in each run, and
    without the event that connects, say, all others would be refused.
    """

    def event(self: LockstepMachine, call: Call) -> None:
        self.perform_action(call)

    def worth(self: LockstepMachine) -> bool:
        return self.run.worth(entry_point)

    drawn = _call(entry_point) if entry_point.event.params else st.just(Call(entry_point, ()))
    return precondition(worth)(rule(call=drawn)(event))


def _timers() -> Any:
    """The Hypothesis rule that fires the timers that are due, of lawful instances."""

    def event(self: LockstepMachine, fire: Fire) -> None:
        self.perform_action(fire)

    def fires(self: LockstepMachine) -> bool:
        return self.run.fires

    drawn = st.sampled_from((Fire(far=False), Fire(far=True)))
    return precondition(fires)(rule(fire=drawn)(event))


def _growth(grow: Grow) -> Any:
    """The Hypothesis rule in which a sort grows."""

    def event(self: LockstepMachine) -> None:
        self.perform_action(grow)

    def may(self: LockstepMachine) -> bool:
        return self.run.may_grow(grow)

    return precondition(may)(rule()(event))


class ConformanceTest(TestCase):
    """A conformance test, for pytest and unittest; `settings` are those of Hypothesis.

    The phases `shrink` and `explain` are always off: `shrinking` does their work. Without
    settings those of the active profile hold, without deadline and health checks.
    """

    settings: ClassVar[Settings | None] = None
    lockstep: ClassVar[type[LockstepMachine]]

    def runTest(self) -> None:  # unittest's name
        """Run Hypothesis; of a failure, drop the notes that repeat its message."""
        self.lockstep.shrunk = None
        try:
            run_state_machine_as_test(self.lockstep, settings=self._settings())
        except Exception as error:
            notes: list[str] = getattr(error, "__notes__", [])
            notes[:] = [n for n in notes if not n.startswith(("state", "Failing test case"))]
            if isinstance(error, Mismatch):
                raise error.with_traceback(None) from None
            raise

    def _settings(self) -> Settings:
        # Deprecated members are left out of the iteration: Hypothesis warns of them.
        present = {str(each) for each in HealthCheck}
        checks = [each for each in HealthCheck.__members__.values() if str(each) in present]
        used = self.settings or Settings(deadline=None, suppress_health_check=checks)
        left = [phase for phase in used.phases if phase not in (Phase.shrink, Phase.explain)]
        return Settings(used, phases=left, report_multiple_bugs=False)


def conformance(
    machine: type[Machine] | Machine,
    make: Callable[[SimulatedClock], T],
    *,
    perform: Callable[[T, str, Args], Any] | None = None,
    view: Callable[[T], Any] | None = None,
    refused: tuple[type[Exception], ...] = (),
    unseen: Collection[str] = (),
    given: Given | None = None,
    settings: Settings | None = None,
) -> type[ConformanceTest]:
    """A test that what `make` returns conforms to the machine; see the top of this module."""
    cls, like = (machine, None) if isinstance(machine, type) else (type(machine), machine)
    subject = Subject(
        resolve(cls), make, perform, view, (Refused, *refused), frozenset(unseen), like
    )

    class Test(ConformanceTest):
        lockstep = _lockstep_machine(subject, given or {})

    Test.settings = settings
    Test.__name__ = Test.__qualname__ = f"{cls.__name__}Conformance"
    return Test


def _lockstep_machine(subject: Subject[Any], given: Given) -> type[LockstepMachine]:
    """The Hypothesis state machine of one subject: rules for its start, events and timers."""

    class Made(LockstepMachine):
        pass

    Made.subject, Made.given = subject, given
    for entry_point in subject.entry_points:
        setattr(Made, f"event_{entry_point.name}", _rule(entry_point))
    if subject.machine.initials:
        Made.begin = _begin()
    for sort in growing_sorts(subject.machine):
        setattr(Made, step_name(sort), _growth(Grow(sort)))
    if any(row.timer is not None for row in subject.machine.transitions):
        Made.fire_due = _timers()
    Made.__name__ = Made.__qualname__ = subject.machine.name
    return Made
