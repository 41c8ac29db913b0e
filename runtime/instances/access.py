"""`entry.lawful` and `Class.lawful`: what users can ask and do besides calling events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast

from lawful.spec import ir
from lawful.spec.codec.as_json import Fingerprints, behaviour, fingerprints
from lawful.spec.outcomes import MachineFault, Reason, Refused
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.resolve import Resolved, resolve, settings_of
from lawful.spec.syntax.declare import slot
from lawful.spec.words import Sort

from ..elements import Universe, other_elements
from ..kernel import dispatch
from ..kernel.commit import NOT_FIRED, choose
from ..kernel.event_record import Stepped
from ..kernel.guards import Refusal
from ..kernel.plan import Alarm, Asserted, Plan, Way
from ..kernel.signal_handlers import let_out
from ..kernel.state import State
from ..migration import Migration, check_renamed
from ..timers import REAL, SHARED_ENVIRONMENT, Environment
from . import enforcement, growth, json_events, snapshots
from .make import assume, bare, begin, plan_of
from .observers import Follower, Observed, foremost
from .part_parameters import as_declared, taken_from_declaration

M = TypeVar("M", bound=State)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fired:
    """A transition that a timer fired, and its output."""

    event: str
    transition: str
    output: Any


class Access(Generic[M]):
    """`lawful` of a class."""

    def __init__(self, cls: type[M]) -> None:
        self._cls = cls

    @property
    def resolved(self) -> Resolved:
        """The resolved machine with its classes, scopes and expectations."""
        return resolve(self._cls)

    @property
    def ir(self) -> ir.Machine:
        """The typed IR; raises `DeclarationError` with everything wrong in the declaration."""
        return self.resolved.machine

    @property
    def plan(self) -> Plan:
        """The compiled machine; the runtime's own."""
        return plan_of(self._cls)

    @property
    def fingerprint(self) -> Fingerprints:
        """Three fingerprints: `shape`, `behaviour`, `whole`."""
        return fingerprint_of(self.plan)

    def schema(self) -> dict[str, json_events.EventSchema]:
        """The JSON Schemas of each event, for `take_json`."""
        return json_events.schemas(self.plan)

    def generated(self) -> str:
        """The generated Python, as text; it is compiled under the lines that it names. The method
        of each event is compiled, if it was not yet."""
        for way in self.plan.ways.values():
            self.plan.method(way)
        return self.plan.text()

    def restore(
        self,
        data: Mapping[str, Any],
        *,
        universe: Universe | None = None,
        clock: Any = None,
        renamed: Mapping[str, str] | None = None,
    ) -> M:
        """An instance from a snapshot; its timers have as much time left as they had.

        `renamed` maps new names of variables and parameters to former ones. With it the snapshot
        may be of another version: variables are taken over by name, new ones start with their
        default, and those that no longer exist are dropped. Every invariant is checked on the
        result. `migration.proved(path)` gives what `lawful diff` proved about this migration; a
        `Migration` gives a function for changes that names do not express.

        Without `universe`, the snapshot's universe is used. Another universe is treated like
        another version: it needs `renamed`, even if empty, and every invariant is checked.

        Raises ValueError if the data is no snapshot of this machine, or of another shape of it; if
        a value is not of its type, or an element not in the universe; if an `@assume` is false; and
        if an invariant is false, or cannot be evaluated.
        It raises ValueError, too, if a part's parameter has another value than the declaration
        gives it; with `renamed` the part gets the declaration's value.
        """
        check_renamed(renamed)
        plan, shape = self.plan, fingerprint_of(self.plan).shape
        if not isinstance(cast(object, data), Mapping):
            raise ValueError(f"not a snapshot of {plan.name}: {data!r}")
        if data.get("v") != 1:
            raise ValueError(f"a snapshot of version {data.get('v')!r}; this lawful reads 1")
        another = data.get("shape") != shape
        recorded = snapshots.elements_in(data, plan)
        if another and renamed is None:
            raise ValueError(snapshots.other_shape(data, plan, shape))
        strange = ", ".join(sorted(set(data.get("universe", {})) - {s.__name__ for s in recorded}))
        if strange and renamed is None:
            raise ValueError(
                f"a snapshot of {plan.name} with a universe of {strange}: no sort of it"
            )
        change, rows = None, data
        if isinstance(renamed, Migration) and another:
            renamed.check(plan.name, str(data.get("shape")), self.fingerprint.whole)
            change = renamed.whole_change
        if another and renamed is not None:
            rows = snapshots.renamed(data, plan, renamed, change)
        known = {**recorded, **(universe or {})} or None
        machine = bare(self._cls, known, clock, snapshots.parameters_in(rows))
        other = other_elements(machine.__environment__.universe.universe(), recorded)
        if other and renamed is None:
            how = "renamed={} takes it over where every invariant allows it"
            raise ValueError(f"a snapshot of {plan.name} with another universe: {other}; {how}")
        if another or other:
            self._take_over(machine, rows if another else snapshots.renamed(data, plan, {}, None))
        else:
            kept = snapshots.read(data, plan, machine.__environment__.universe)
            snapshots.fill(machine, kept, machine.__environment__.now())
            if renamed is None:
                as_declared(machine)
            else:
                taken_from_declaration(machine)
            assume(machine)
            if renamed is not None:
                self._judge(machine, enforcement.judgeable(plan).invariants())
        if plan.asserted is not None:
            enforcement.judge(plan.asserted.invariants(), machine, "restore")
        return machine

    def _take_over(self, machine: M, data: Mapping[str, Any]) -> None:
        """Give an instance the values of another version, if its invariants allow them."""
        plan = self.plan
        try:
            kept = snapshots.read(data, plan, machine.__environment__.universe, partly=True)
        except ValueError as error:
            how = "renamed=Migration({}, function) gives the variable anew, a part as a whole"
            raise ValueError(f"{error}; {how}") from error
        missing = [name for name in plan.required if name not in kept.parameters]
        if not missing:
            begin(machine, kept.parameters, plan.fresh_but(frozenset(kept.variables)))
            snapshots.fill(machine, kept, machine.__environment__.now())
            taken_from_declaration(machine)
            assume(machine)
            missing = [name for name in plan.variables if not hasattr(machine, slot(name))]
        if missing:
            raise ValueError(f"{plan.name}: {', '.join(missing)} is new, and begins with no value")
        asserted = enforcement.judgeable(plan).invariants()
        unknown = [name for name, why in asserted.left.items() if why != enforcement.ERASED]
        if unknown:
            raise ValueError(
                f"{plan.name}: {', '.join(unknown)} cannot be evaluated in a single state"
            )
        self._judge(machine, asserted)

    def _judge(self, machine: M, asserted: Asserted) -> None:
        """ValueError where an invariant is false of a state that came in."""
        try:
            enforcement.judge(asserted, machine, "restore")
        except MachineFault as fault:
            what = f"the snapshot is of no state of {self.plan.name}: {fault}: {machine!r}"
            raise ValueError(what) from fault

    def enforce(
        self, which: Literal["off", "unproved", "all"], lock: str | Path | None = None
    ) -> Asserted:
        """Assert invariants and step properties after each event of the instances that are made
        from now on: the event raises `PropertyViolated` (or `Undefined`), and nothing has changed.

        "unproved" leaves out what `lock`, a file of `lawful lock`, says is proved for all values
        whatever the scope. What is asserted is returned, with the reasons why the rest is not.
        ValueError where the file is of another version of the machine.
        """
        plan = self.plan
        if (which == "unproved") != (lock is not None):
            raise ValueError(f"enforce: {which!r} {'without' if lock is None else 'with'} a lock")
        done: frozenset[str] = frozenset()
        if lock is not None:
            done = enforcement.proved(lock, plan, self.fingerprint.whole)
        asserted = enforcement.NOTHING if which == "off" else enforcement.judgeable(plan, done)
        plan.asserted = asserted if asserted.rows else None
        if plan.general is not None:  # The quicker `__init__` asserts nothing.
            plan.cls.__init__, plan.general = plan.general, None
        return asserted

    def state(self, *, universe: Universe | None = None, **values: Any) -> M:
        """An instance with these variables and parameters; the others have their defaults.

        Raises TypeError or ValueError for a value that the variable cannot have.
        """
        plan = self.plan
        unknown = set(values) - set(plan.fields)
        if unknown:
            known = ", ".join(plan.fields)
            raise TypeError(f"{plan.name} has no {', '.join(sorted(unknown))}; it has {known}")
        fixed = {k: v for k, v in values.items() if k not in plan.variables}
        given = {k: v for k, v in values.items() if k in plan.variables}
        machine = bare(self._cls, universe, None, fixed)
        begin(machine, fixed, plan.fresh_but(frozenset(given)))
        for name, value in given.items():
            setattr(machine, slot(name), snapshots.checked(machine, name, value))
        return machine


class InstanceAccess(Access[M]):
    """`lawful` of an instance."""

    def __init__(self, machine: M) -> None:
        self._cls = type(machine)
        self._machine = machine

    @property
    def instance(self) -> M:
        """The instance itself."""
        return self._machine

    def _way(self, event: str) -> Way:
        ways = self.plan.ways
        if event not in ways:
            raise ValueError(f"{self.plan.name} has no event {event}; it has {', '.join(ways)}")
        return ways[event]

    def _checked(self, event: str, args: tuple[Any, ...]) -> tuple[Way, tuple[Any, ...]]:
        way = self._way(event)
        if len(args) != len(way.params):
            wanted = ", ".join(f"{n}: {kind}" for n, kind in way.params)
            raise TypeError(f"{event} takes ({wanted}), not {len(args)} arguments")
        if not args:
            return way, args
        known = self._machine.__environment__.universe
        both = zip(way.checks, args, strict=True)
        return way, tuple(check(arg, known) for check, arg in both)

    def enabled(self) -> tuple[str, ...]:
        """The events that are possible now, in the order of the declaration.

        An event without parameters is listed if one of its transitions would run (or fail, by a
        fault of the machine). An event with parameters is listed unless each of its transitions is
        already refused without knowing arguments: by its source, its timer, or a condition at the
        start of its body that reads no argument. An event that would only be ignored is not listed.
        """
        self._open("enabled")
        return self._asked(self._enabled)

    def _enabled(self, _: State) -> tuple[str, ...]:
        return tuple(e.name for e in self.ir.events if self._is_enabled(e))

    def _asked(self, ask: Callable[..., T], *given: Any) -> T:
        """What it answers of the instance; all guards see one instant, as in a step."""
        if self.plan.clocked:
            return dispatch.paused(self._machine, ask, given)
        return ask(self._machine, *given)

    def _is_enabled(self, event: ir.Event) -> bool:
        state = self._machine
        way = self.plan.ways[event.name]
        if not event.params:
            return dispatch.attempt(state, way, (), ignoring=False) is None
        for candidate in way.candidates:
            try:
                self.plan.hints[candidate.name](state)
            except Refusal:
                continue
            except dispatch.NO_VALUE as error:
                let_out(error)
                return True
            return True
        return False

    def may(self, event: str, *args: Any) -> bool:
        """Whether the call would not be refused: it would run, be ignored, or fail by a fault of
        the machine. ValueError for an unknown event; TypeError and ValueError for arguments.
        """
        way, given = self._checked(event, args)
        self._open(event)
        return not self._asked(dispatch.refuses, way, given)

    def explain(self, event: str, *args: Any) -> tuple[Reason, ...]:
        """Why the call would be refused, a row for each transition that serves the event; empty
        where it would not be. Raises as `may`.
        """
        way, given = self._checked(event, args)
        self._open(event)
        return self._asked(dispatch.reasons, way, given)

    def at(self, state: Any) -> bool:
        """Whether this is the control state; TypeError for anything but a state of this machine."""
        now = dispatch.control(self._machine)
        if type(state) is not type(now):
            raise TypeError(f"{state!r} is no control state of {self.plan.name}")
        return bool(now is state)

    def take(self, event: str, *args: Any) -> Any:
        """Call an event or a transition by name; returns or raises what it does. ValueError for an
        unknown name."""
        return self.plan.method(self._way(event))(self._machine, *args)

    def take_json(self, event: str, data: Any) -> Any:
        """`take` with JSON arguments and output; ValueError for data outside of `schema`."""
        return json_events.call(self.take, self.plan, self._way(event), data)

    def snapshot(self) -> dict[str, Any]:
        """The instance as JSON data for `restore`; `instances.snapshots` has its form.

        TypeError for an opaque value that has no encoding, or is of another type than its
        annotation says.
        """
        now = self._machine.__environment__.now()
        return snapshots.snapshot(self._machine, fingerprint_of(self.plan).shape, now)

    def grow(self, sort: type[Sort], element: str) -> None:
        """Add an element to the universe of the instance: at the end of an ordered sort.

        Total maps over the sort get their default for it, and nothing else changes. All invariants
        are judged. It is a step like an event: it happens whole or not at all, observers, journals
        and stores get it under the name `grow_Node`.

        TypeError if it is not a sort of the machine, or not a growing one, and for an element of
        another type. ValueError for an element that is there, and if the instance was made without
        elements of the sort: everything is one then. `PropertyViolated` or `Undefined` if an
        invariant is false or has no value, or a default is out of its bounds.
        """
        self._open("grow")
        growth.grow(self._machine, sort, element, enforcement.judgeable(self.plan).invariants())

    def observe(self, callback: Callable[[Stepped[M]], None]) -> Callable[[], None]:
        """Call the callback with a `Stepped` after every event from now on, refused and ignored
        ones too.

        Returns a function that ends this. When observers are called, the event is over: the state
        is committed, and an observer cannot change it. If one raises, the others are still called;
        then the first exception is raised to the caller of the event, instead of its output or
        refusal. If an observer calls an event, it happens at once; observers hear of it after all
        of them have heard of the present one. A fault of the machine is raised, not observed.
        RuntimeError for a part, and before an `@initial` was called.
        """
        self.watched("observe").add(callback)
        return lambda: self.forget(callback)

    def watched(self, what: str) -> Observed:
        """The `Watch` through which events of this instance go from now on; for the runtime's own
        use.

        RuntimeError for a part, and before an `@initial` was called; `what` names the caller in its
        text.
        """
        self._open(what)
        machine = self._machine
        watch = machine.__watch__
        if not isinstance(watch, Observed):
            watch = machine.__watch__ = Observed()
        if machine.__environment__ is SHARED_ENVIRONMENT:
            machine.__environment__ = Environment(REAL)  # It takes `last_transition`.
        return watch

    def forget(self, callback: Callable[[Stepped[M]], None]) -> None:
        """End an `observe` whose caller did not get the function for it; for the runtime's own use.
        Nothing happens if the callback does not observe."""
        watch = self._machine.__watch__
        if isinstance(watch, Observed):
            if callback in watch.observers:
                watch.forget(callback)
            if not watch.needed:
                self._machine.__watch__ = None

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Have it look after every event from now on; for the runtime's own use. Returns a function
        that ends this. RuntimeError as `observe`."""
        self.watched("observe").followers += (follower,)
        return lambda: self._unfollow(follower)

    def _unfollow(self, follower: Follower) -> None:
        watch = self._machine.__watch__
        if isinstance(watch, Observed):
            watch.followers = tuple(each for each in watch.followers if each is not follower)
            if not watch.needed:
                self._machine.__watch__ = None

    def next_deadline(self) -> float | None:
        """When the next timer that fires a transition is due, in the clock's seconds; None while
        none is armed. It may have passed, where what the timer fires is refused now."""
        return first_deadline(self._machine)

    def fire_due(self, now: float) -> list[Fired]:
        """Run the transitions of the timers that are due at `now`, the earliest deadline first,
        of several at one instant the urgent ones first.

        `now` is the time for these steps, whatever the clock says. A timer fires at most once in
        a call, so this ends; one that a step stops or puts off does not fire. Where one
        timer serves several events, the first possible one in the declaration is taken. A timer
        whose transitions are all refused stays armed and is left out; observers hear nothing of
        it. A transition with a parameter that is no key of its timer's place is not fired.
        A timer whose transition fails stays armed, too, and keeps no other from firing; then the
        first exception is raised, the others noted in it.
        """
        fired: list[Fired] = []
        self.fire(now, fired)
        return fired

    def fire(self, now: float, fired: list[Fired]) -> None:
        """Like `fire_due`, but appends to a list, which also has what fired before an error."""
        self._open("fire_due")
        first = first_deadline(self._machine)
        if first is None or first > now:
            return
        time = self._machine.__environment__
        clock = time.clock.now
        time.now = lambda: now
        try:
            self._fire(now, fired)
        finally:
            time.now = clock  # No call, as in `dispatch.at_one_instant`.

    def _fire(self, now: float, fired: list[Fired]) -> None:
        state = self._machine
        seen: set[tuple[int, tuple[Any, ...]]] = set()
        first: BaseException | None = None
        while True:
            due = [
                (at, not alarm.urgent, i, args, alarm)
                for i, alarm in enumerate(self.plan.alarms)
                for at, args in alarm.find(state)
                if at <= now and (i, args) not in seen
            ]
            if not due:
                break
            *_, i, args, alarm = min(due, key=lambda row: row[:3])
            seen.add((i, args))
            try:
                self._fire_one(alarm, args, fired)
            except Exception as error:
                if isinstance(first, MachineFault) and not isinstance(error, MachineFault):
                    first, error = error, first  # Who tries again has to know of it.
                first = foremost(first, error, "another timer")
        if first is not None:
            raise first

    def _fire_one(self, alarm: Alarm, args: tuple[Any, ...], fired: list[Fired]) -> None:
        machine = state = self._machine
        for way in alarm.ways:
            output = _fired(machine, way, args)
            if output is NOT_FIRED:
                continue
            transition = state.__environment__.last_transition or way.event
            fired.append(Fired(way.event, transition, output))
            return

    def _open(self, what: str) -> None:
        """RuntimeError for a part, and before an `@initial` was called."""
        watch = self._machine.__watch__
        if watch is not None and not isinstance(watch, Observed):
            watch.call(self._machine, what, ())


def deadlines_of(state: State) -> Iterator[float]:
    """The deadline of each armed timer of an instance that fires a transition."""
    return (due for alarm in state.__plan__.alarms for due, _ in alarm.find(state))


def first_deadline(state: State) -> float | None:
    """The earliest of them; None while no such timer is armed."""
    first: float | None = None
    for alarm in state.__plan__.alarms:
        for due, _ in alarm.find(state):
            if first is None or due < first:
                first = due
    return first


def _fired(machine: State, way: Way, args: tuple[Any, ...]) -> Any:
    """Run the event of a timer, observed if the instance is; `NOT_FIRED` where it is refused."""
    plan, watch = machine.__plan__, machine.__watch__
    if plan.ways.get(way.name) is not way:  # It has no method: see `Compiler.way_without_method`.
        refused = dispatch.attempt(machine, way, args) is not None
        return NOT_FIRED if refused else _stepped(machine, way, args)
    if isinstance(watch, Observed):
        return watch.call(machine, way.name, args, fires=True)
    if way.name not in plan.runs:
        plan.runs[way.name] = plan.watched(way.name)
    try:
        return plan.runs[way.name](machine, *args)
    except Refused as refusal:
        let_out(refusal)
        return NOT_FIRED


def _stepped(machine: State, way: Way, args: tuple[Any, ...]) -> Any:
    """Run a step of this way, observed if the instance is."""
    watch = machine.__watch__
    if isinstance(watch, Observed):

        def step(state: State, *given: Any) -> Any:
            return choose(state, way, given)

        return watch.run(machine, way, args, step)
    return choose(machine, way, args)


def fingerprint_of(plan: Plan) -> Fingerprints:
    """The fingerprints of a machine, computed once."""
    if plan.fingerprint is None:
        plan.fingerprint = fingerprints(plan.machine, settings_of(plan.resolved))
    return plan.fingerprint


def behaviour_of(plan: Plan) -> str:
    """The fingerprint of its behaviour, which journals have, computed once."""
    if not plan.behaviour:
        plan.behaviour = behaviour(plan.machine)
    return plan.behaviour
