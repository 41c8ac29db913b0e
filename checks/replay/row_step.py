"""Replay of one row: the machine does its event again, and the result is compared with the row.

The reference engine executes the machine. Journals have no rows for ticks: with a clock, each row
says which tick it is, and that never decreases. Replay compares only whether a timer is armed.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lawful.runtime.elements import NO_ELEMENTS, Elements
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis import walk
from lawful.spec.analysis.callee import bind
from lawful.spec.analysis.ghosts import erased, ghosts_of, only_reads
from lawful.spec.codec import as_json
from lawful.spec.ir import Json
from lawful.spec.values import bounds
from lawful.spec.values.time import clock_of, passed
from lawful.spec.values.world import World, decode

from ..reference import Done, Fault, Outcome, Reference, Refusal
from ..reference.expressions import SELF, Guard
from ..reference.growth import grow
from ..reference.missing_values import NoValue
from ..reference.states import State
from ..reference.time import at_tick, waiting
from .comparison import Comparison
from .deviations import (
    Deviation,
    Inconclusive,
    Malformed,
    Several,
    UnknownEvent,
    ambiguous,
    another_taken,
    none_taken,
)
from .difference import exact, hidden, pair, same, sentence
from .mapping import HAPPENED, SKIPPED
from .row_state import StateForm, StateReader
from .rows import WHOLE, Absent, Row, Seconds
from .universes import growing, grown_state, grown_universe, told_universe
from .unknown_elements import unknown_element

Args = Mapping[str, Any]


class Stepper:
    """Replays rows of one machine, from its IR.

    `anywhere`: the first row may have any state, which is then trusted (see `ReplayProgram`).
    Of the instance that is being replayed: `universe` has the elements of the sorts, and `origin`
    the seconds at which its clock begins, where the rows do not tell the clock.
    """

    def __init__(self, machine: ir.Machine, anywhere: bool = False) -> None:
        self.machine = machine
        self.anywhere = anywhere
        self.universe = NO_ELEMENTS
        self.origin: Seconds | None = None
        self.world = World.made_of(machine.types)
        self.fingerprint = as_json.behaviour(machine)
        # Running instances have no ghosts, so no journal has their values.
        self.reference = Reference(erased(machine), self.world)
        self.reference.domains = self._domain
        # As at run time: without a universe the elements of an ordered sort compare as text.
        self.reference.in_rank = lambda sort: self.universe.get(str(sort))
        self.rows = {row.name: row for row in machine.transitions}
        self.events = {row.name: row for row in machine.events}
        self.serving = {name: machine.serving(name) for name in self.events}
        self.form = StateForm(machine)
        self.control, self.shown = self.form.control, self.form.shown
        self.growth = growing(machine)
        self.waiting = waiting(machine)
        self.reader = StateReader(self.reference, self._held)
        self.compare = Comparison(self.form, self.rows, self._held).check

    def _domain(self, kind: t.Type) -> tuple[Any, ...]:
        try:
            return bounds.Values(self.world, {}, self.universe).of(kind)
        except KeyError as error:
            sort = error.args[0]
            raise Inconclusive(f"no row says which elements {sort} has") from error

    # Descriptions of a state.

    @property
    def first_control(self) -> str:
        """The control state of a new instance; empty where that depends on its parameters."""
        try:
            return self.control(self.made(Row("", 0, self.machine.name)))
        except (Malformed, Inconclusive):
            return ""

    def legal(self, state: State) -> tuple[str, ...]:
        """The events that some transition may serve in this state.

        Guards that read an argument are not evaluated, so an event may be listed that is refused
        for all arguments.
        """
        return tuple(
            name
            for name in self.events
            if any(self._may_serve(row, state) for row in self.serving[name])
        )

    def _may_serve(self, row: ir.Transition, state: State) -> bool:
        try:
            if not row.function.params:
                return not isinstance(self._step(state, row, {}), Refusal)
            return all(self._guards(row, state))
        except (Guard, NoValue):
            return False
        except Inconclusive:
            return True

    def _guards(self, row: ir.Transition, state: State) -> Iterator[bool]:
        env = {SELF: state}
        if row.source is not None and row.control is not None and not walk.reads_local(row.control):
            yield self.reference.eval(row.control, env).name in row.source
        if row.timer is not None and not walk.reads_local(row.timer):
            yield bool(self.reference.eval(row.timer, env))
        for stmt in walk.leading_guards(row.function.body):
            yield bool(self.reference.eval(stmt.test, env))

    def ended(self, state: State) -> bool:
        """Whether an instance may end in this state; Inconclusive where that depends on a ghost."""
        terminal = self.machine.of_kind("terminal")
        ghosts = ghosts_of(self.machine)
        decidable = [p for p in terminal if only_reads(self.machine, ghosts, p.name)]
        if not terminal or any(self._holds(p, state) for p in decidable):
            return True
        if len(decidable) < len(terminal):
            other = next(p.name for p in terminal if p not in decidable)
            raise Inconclusive(f"{other} reads a ghost variable, which no row records")
        return False

    def _holds(self, p: ir.Property, state: State) -> bool:
        try:
            return bool(self.reference.run(p.function.body, {SELF: state}))
        except NoValue as error:
            raise Inconclusive(f"{p.name} has no value here: {error}") from error

    # Rows.

    def follow(self, state: State | None, row: Row) -> tuple[State, str | None]:
        """The state after the row, and the transition taken, if one was.

        `state` is None before the first row. Raises Malformed, Inconclusive or Deviation.
        """
        if row.outcome == SKIPPED and state is not None:
            return state, None
        if row.fingerprint != self.fingerprint and row.outcome != HAPPENED:
            what = f"a row of another version of the machine than {self.fingerprint}"
            raise Malformed(f"{what}; give that one by --older", row.fingerprint)
        if state is None or row.outcome == "attached":
            return self._made(row), None
        if row.outcome == "continued":
            return self._continued(state, row), None
        if row.outcome == "made":
            raise Malformed("made twice: an earlier row has made this instance")
        sort = self.growth.get(str(row.event))
        if sort is not None:
            return self._grown(self.on_time(state, row), row, sort), str(row.event)
        if row.event not in self.events and row.outcome == HAPPENED and row.event in self.rows:
            # A foreign row may name the transition of an event that leaves the caller the choice.
            row = dataclasses.replace(row, event=self.rows[row.event].event, transition=row.event)
        params = self._params(row)
        if isinstance(row.transition, str) and row.transition not in self.rows:
            raise Malformed("an unknown transition", row.transition)
        args = self._args(row, params)
        state = self.on_time(state, row)
        if row.outcome in ("done", HAPPENED):
            done = self._done(state, row, args)
            return done.state, done.transition or None
        self._not_done(state, row, args)
        return state, None

    def check(self, row: Row) -> None:
        """Raise Malformed where a foreign row has no event of the machine with its arguments, and
        Deviation where an argument is out of its bounds."""
        self._args(row, self._params(row))

    def _params(self, row: Row) -> tuple[tuple[str, t.Type], ...]:
        event = self.events.get(str(row.event))
        if event is None:
            raise UnknownEvent("an unknown event", row.event)
        return event.params

    def on_time(self, state: State, row: Row) -> State:
        """The state with its clock at the tick that the row says."""
        clock = clock_of(self.machine)
        if clock is None:
            return state
        before = state[self.reference.layout[self.machine.name][clock.name]]
        if isinstance(row.changed, Absent):
            now = max(before, self._ticks(row, clock))
        else:
            now = self._value(clock.name, row.changed.get(clock.name, before), clock.type)
        if now < before:
            raise Deviation("changed", f"{clock.name} goes back from {before} to {now}")
        return at_tick(self.reference.machines, self.machine.name, state, now)

    def _ticks(self, row: Row, clock: ir.Variable) -> int:
        """The tick of a foreign row: the clock begins at the first row of the instance."""
        if row.outcome == "made":
            return 0
        if row.time is None or self.origin is None or not isinstance(clock.type, t.Clock):
            raise Inconclusive(f"the clock {clock.name} needs `time` and `unit` in the mapping")
        return passed(row.time - self.origin, clock.type.tick)

    def _args(self, row: Row, params: tuple[tuple[str, t.Type], ...]) -> tuple[Any, ...]:
        if set(row.args) != {name for name, _ in params}:
            wanted = ", ".join(name for name, _ in params) or "none"
            raise Malformed(f"arguments of {row.event} other than {wanted}", [*row.args])
        values = tuple(self._value(name, row.args[name], kind) for name, kind in params)
        for (name, kind), value in zip(params, values, strict=True):
            found = bounds.breach(value, kind)
            if found is not None:
                raise Deviation("argument", f"{name}{found if found[0] in '.[' else f': {found}'}")
            self._known("argument", name, value, kind)
        return values

    def _known(self, word: str, name: str, value: Any, kind: t.Type) -> None:
        """Deviation where a value has an element of a sort that the instance does not know."""
        found = unknown_element(value, kind, self.universe.members) if self.universe else ""
        if found:
            raise Deviation(word, f"{name}: {found}")

    def _value(self, name: str, data: Json, kind: t.Type) -> Any:
        if hidden(data):
            raise Inconclusive(f"{name} is hidden in the row")
        if not exact(data):
            raise Malformed(f"the value of {name} is no {kind}", str(data))
        try:
            return decode(data, kind, self.world)
        except (ValueError, AttributeError, TypeError, RecursionError) as error:
            raise Malformed(f"the value of {name} is no {kind}", data) from error

    def _held(self, name: str, data: Json, kind: t.Type) -> Any:
        """The value of a variable in a row."""
        value = self._value(name, data, kind)
        self._known("changed", name, value, kind)
        return value

    def made(self, row: Row) -> State:
        """The state with the defaults of all variables, and the parameters of a whole row."""
        known = {p.name: p for p in self.machine.parameters}
        if not row.args.keys() <= known.keys():
            wanted = ", ".join(known) or "none"
            raise Malformed(f"parameters of other names than {wanted}", [*row.args])
        if missing := [n for n, p in known.items() if p.default is None and n not in row.args]:
            raise Malformed(f"no value for the parameter {missing[0]}", [*row.args])
        given = {name: self._value(name, row.args[name], known[name].type) for name in row.args}
        return self.reference.initial(given)

    def _made(self, row: Row) -> State:
        if row.outcome not in WHOLE:
            what = f"the first row of the instance is none of {', '.join(WHOLE)}"
            raise Malformed(what, row.outcome)
        state = self.made(row)
        for i, each in enumerate(self.machine.parameters, len(self.machine.variables)):
            self._known("parameter", each.name, state[i], each.type)
        for p in self.machine.of_kind("assume"):
            if not self._holds(p, state):
                raise Deviation("assume", f"{p.name} is false of the parameters")
        begun = self.on_time(self._begun(row, state), row)
        out_of = self.reference.breach(self.machine.name, begun)
        if out_of is not None:
            raise Deviation("fault", f"bounds: {out_of}")
        self.compare(row, None, Done(begun, None, ""))
        return begun

    def _continued(self, state: State, row: Row) -> State:
        """The state at a row `continued`, which has the whole state; compared with the one here."""
        now = self.on_time(state, row)
        first = len(self.machine.variables)
        for i, p in enumerate(self.machine.parameters, first):
            recorded, mine = row.args.get(p.name), self.form.json(now[i], p.type)
            if not same(recorded, mine):
                raise Deviation("changed", sentence({p.name: pair(recorded, mine)}))
        self.compare(row, None, Done(now, None, ""))
        return now

    def _grown(self, state: State, row: Row, sort: t.Sort) -> State:
        """The state after a sort has grown: the universe has the element from here on."""
        self.universe = grown_universe(self.universe, sort, row, self._value)
        done = grown_state(grow(self.reference, state, sort))
        self.compare(row, state, Done(done.state, None, ""))
        return done.state

    def universe_of(self, row: Row) -> Elements:
        """The elements of the sorts, as the row says that made the instance."""
        return told_universe(self.machine, self.world, row, self._value)

    def _begun(self, row: Row, state: State) -> State:
        """The state of the instance at its first row.

        `@initial` ran before that row, and no row records its arguments. So the state in the row
        is trusted where an `@initial` has parameters, and where the instance had earlier events.
        """
        plain = [self.reference.start(state, f, {}) for f in self.machine.initials if not f.params]
        starts = [o.state for o in plain if isinstance(o, Done)]
        some = any(f.params for f in self.machine.initials)
        trusted = self.anywhere or row.outcome != "made"
        if isinstance(row.changed, Absent):
            return self._unrecorded(state, [] if some else starts)
        if not (trusted or self.machine.initials):
            return state
        recorded = self.reader.state(row.changed, state)
        if trusted or some or not starts:
            return recorded
        # Rows have no ghosts, so states are compared in their JSON form, which has none either.
        return next((s for s in starts if self.shown(s) == self.shown(recorded)), starts[0])

    def _unrecorded(self, state: State, starts: list[State]) -> State:
        """The state in which an instance begins of which no row tells how it was made."""
        if not self.machine.initials:
            return state
        if not starts or any(each != starts[0] for each in starts):
            names = ", ".join(f.name for f in self.machine.initials)
            raise Inconclusive(f"the rows do not say how the @initial of the machine ran: {names}")
        return starts[0]

    # Events.

    def _step(self, state: State, row: ir.Transition, args: Args) -> Outcome:
        try:
            return self.reference.step(state, row.name, args)
        except Inconclusive:
            raise
        except Exception as error:
            # A defect of lawful in one instance must not end the replay of all others.
            raise Inconclusive(f"{row.name}: {error.__class__.__name__}: {error}") from error

    def _outcomes(
        self, state: State, rows: tuple[ir.Transition, ...], args: tuple[Any, ...]
    ) -> Iterator[Outcome]:
        for row in rows:
            names = (name for name, _ in row.function.params)
            yield self._step(state, row, dict(zip(names, args, strict=True)))

    def successors(self, state: State, event: ir.Event) -> Iterator[State]:
        """The states to which an event leads, with any arguments.

        Raises Inconclusive where an argument has no finite number of values.
        """
        for args in itertools.product(*(self.finite(*param) for param in event.params)):
            for outcome in self._outcomes(state, self.serving[event.name], args):
                if isinstance(outcome, Done):
                    yield outcome.state

    def finite(self, name: str, kind: t.Type) -> tuple[Any, ...]:
        """All values of an argument. Raises Inconclusive where they are not finite."""
        try:
            return self._domain(kind)
        except (TypeError, ValueError) as error:
            raise Inconclusive(f"the values of {name}, a {kind}, are not finite") from error

    def _ignored(self, state: State, row: Row, args: tuple[Any, ...]) -> ir.Ignore | None:
        event = self.events[str(row.event)]
        named = bind(event.params, args)
        try:
            return self.reference.ignored(self.machine, state, event.name, named)
        except (Guard, NoValue) as error:
            raise Deviation("fault", f"undefined: {error}") from error

    def _done(self, state: State, row: Row, args: tuple[Any, ...]) -> Done:
        serving = self.serving[str(row.event)]
        named = tuple(r for r in serving if r.name == row.transition)
        for outcome in self._outcomes(state, named, args):
            if isinstance(outcome, Done):
                return self._checked(row, state, outcome)
        outcomes = list(self._outcomes(state, serving, args))
        done = [outcome for outcome in outcomes if isinstance(outcome, Done)]
        if not done:
            faulty = any(isinstance(outcome, Fault) for outcome in outcomes)
            ignored = None if faulty else self._ignored(state, row, args)
            if ignored is not None and row.outcome == HAPPENED:
                return self._checked(row, state, Done(state, None, ""))
            if ignored is not None:
                raise Deviation("ignored", f"{row.event} is ignored: {ignored.because}")
            none_taken(outcomes)
        if isinstance(row.transition, str):
            another_taken(row.transition, outcomes, done[0])
        if row.outcome == "done":
            raise Malformed("done by no transition: a row `done` names one")
        if len(done) > 1 and self.events[str(row.event)].choice:
            return self._chosen(row, state, done)
        if len(done) > 1:
            ambiguous(done)
        return self._checked(row, state, done[0])

    def _chosen(self, row: Row, state: State, done: Sequence[Done]) -> Done:
        """The transition that the caller chose, which no field of the row names.

        It is one that fits the row. Raises Several where more than one does.
        """
        fitting: list[Done] = []
        for each in done:
            try:
                fitting.append(self._checked(row, state, each))
            except Deviation as error:
                if each is done[-1] and not fitting:
                    raise error
        if len(fitting) > 1:
            raise Several(fitting)
        return fitting[0]

    def _checked(self, row: Row, state: State, done: Done) -> Done:
        self.compare(row, state, done)
        return done

    def _not_done(self, state: State, row: Row, args: tuple[Any, ...]) -> None:
        """Compare a row that says that the event was refused or ignored: no state changed."""
        rows = self.serving[str(row.event)]
        named = row.outcome == "refused" and any(r.name == row.transition for r in rows)
        if named:
            rows = (self.rows[str(row.transition)],)
        outcomes = list(self._outcomes(state, rows, args))
        if self._one_was_called(row, outcomes):
            outcomes = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
            rows = tuple(self.rows[outcome.transition] for outcome in outcomes)
        for tried, outcome in zip(rows, outcomes, strict=True):
            # A transition with a timer is refused until the timer is due; rows do not record that.
            if tried.name in self.waiting:
                continue
            if isinstance(outcome, Done):
                raise Deviation("accepted", f"{tried.name} is possible, and it was {row.outcome}")
            if isinstance(outcome, Fault):
                raise Deviation("fault", f"{outcome.name}: {outcome.what}")
        ignored = None if named else self._ignored(state, row, args)
        if row.outcome == "refused" and ignored is not None:
            raise Deviation("ignored", f"{row.event} is ignored: {ignored.because}")
        if row.outcome == "ignored" and ignored is None:
            none_taken(outcomes)
        self.compare(row, state, Done(state, None, ""))
        if isinstance(row.transition, str) and not named:
            raise Malformed(f"{row.outcome} by a transition that does not serve the event")

    def _one_was_called(self, row: Row, outcomes: Sequence[Outcome]) -> bool:
        """Whether the caller chose a transition, which the row of a refusal does not record."""
        choice = self.events[str(row.event)].choice and row.outcome == "refused"
        return choice and any(isinstance(outcome, Refusal) for outcome in outcomes)
