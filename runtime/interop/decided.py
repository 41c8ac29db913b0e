"""A `transitions.Machine` in which a declaration decides whether a trigger is taken.

States, rows and callbacks are kept by transitions; whether a row is taken is asked of an instance
of a declared machine, and a state changes by its step alone. The order is that of transitions:

    prepare_event, then of each row from the state until one is taken
        prepare, DECISION, before_state_change, before, on_exit, STEP, on_enter, on_final, after,
        after_state_change
    on_exception where one of these raises, and finalize_event in the end

A decision changes nothing, and a step happens completely or not at all: what raises before it
leaves the state as it was, what raises after it does not undo it, as in transitions.
"""

from __future__ import annotations

import itertools
import logging
from typing import Any, ClassVar, cast

import transitions
from transitions.core import EventData, MachineError, State, listify

from lawful.spec.outcomes import Refused

from ..instance import Machine
from ..kernel.dispatch import attempt, control
from ..kernel.plan import Way
from . import unsupported

__all__ = [
    "DecidedMachine",
    "DecidedRow",
    "Event",
    "EventData",
    "MachineError",
    "ProposedStep",
    "State",
    "SyncMachine",
    "Transition",
    "listify",
]
OVERTAKEN = (
    "{}: a callback has changed the state since {}, for which this was decided; queue the events of"
    " callbacks (queued=True)"
)
LOG = logging.getLogger(__name__)


class ProposedStep:
    """The step that a row proposes: a transition of the declaration, in the present state."""

    __slots__ = ("args", "entry", "state", "way")

    def __init__(self, entry: Machine, way: Way, args: tuple[Any, ...]) -> None:
        self.entry = entry
        self.way = way
        self.args = args
        self.state = control(entry)

    def admitted(self) -> bool:
        """Whether the declaration would not refuse it; that the machine itself is at fault comes
        out where it is made."""
        return attempt(self.entry, self.way, self.args, ignoring=False) is None

    def make(self) -> Any:
        """Run the step and return its output. Refused where the declaration refuses it."""
        return self.entry.__plan__.method(self.way)(self.entry, *self.args)

    def make_as_decided(self) -> Any:
        """The same after callbacks: MachineError where one of them has changed what was decided."""
        ignored = self.way.ignores and not self.admitted()
        if control(self.entry) is self.state and not ignored:
            try:
                return self.make()
            except Refused as refusal:
                raise MachineError(OVERTAKEN.format(self.way.event, self.state.name)) from refusal
        raise MachineError(OVERTAKEN.format(self.way.event, self.state.name))


class Condition(transitions.core.Condition):
    """A condition whose result is not awaited."""

    def check(self, event_data: EventData) -> bool:
        """Whether it has the wanted value."""
        machine: Any = event_data.machine
        func = machine.resolve_callable(self.func, event_data)
        if machine.send_event:
            result = func(event_data)
        else:
            result = func(*event_data.args, **event_data.kwargs)
        if result is not True and result is not False:
            unsupported.check_result(machine, self.func, result)
        return bool(result == self.target)


class DecidedRow:
    """A row; `law` is the name of the declaration's transition that decides about it, None of
    one that nothing can take. `asks`: the parameters that its conditions are."""

    law: str | None = None
    asks: tuple[str, ...] = ()


class Transition(DecidedRow, transitions.Transition):
    """A row that is taken at once."""

    condition_cls = Condition

    def execute(self, event_data: EventData) -> bool:
        """Take the row, if the declaration admits it now."""
        machine = _machine(event_data)
        if self.prepare:
            machine.callbacks(self.prepare, event_data)
        step = machine.proposed(self, event_data)
        if step is None:
            return False
        if machine.state_of(step.entry) is not machine.states[self.source]:
            raise MachineError(OVERTAKEN.format(event_data.event.name, self.source))
        if not self._made(machine, event_data, step):
            return False
        if machine.after_state_change or self.after:
            machine.callbacks(itertools.chain(self.after, machine.after_state_change), event_data)
        return True

    def _made(self, machine: SyncMachine, event_data: EventData, step: ProposedStep) -> bool:
        """Make the step, after the callbacks before it and before the state is entered. If there
        are no such callbacks, no observer of refusals and no `ignore`, one call decides and makes
        the step."""
        source = machine.states[self.source]
        leaves = self.dest is not None and (source.on_exit or type(source) is not State)
        apart = step.way.ignores or step.entry.__watch__ is not None
        if apart or leaves or machine.before_state_change or self.before:
            if not step.admitted():
                return False
            if machine.before_state_change or self.before:
                first = itertools.chain(machine.before_state_change, self.before)
                machine.callbacks(first, event_data)
            if leaves:
                source.exit(event_data)
            output = step.make_as_decided()
        else:
            try:
                output = step.make()
            except Refused:
                return False
        if output is not None:
            event_data.__dict__["output"] = output
        state = machine.moved(event_data.model, step.entry)
        if self.dest is not None:
            event_data.state = state
            if state.on_enter or type(state) is not State:
                state.enter(event_data)
            if machine.on_final and machine.is_final(state, event_data.model):
                machine.callbacks(machine.on_final, event_data)
        return True


class Event(transitions.Event):
    """A trigger."""

    def _trigger(self, event_data: EventData) -> bool:
        machine = _machine(event_data)
        event_data.state = machine.get_model_state(event_data.model)
        try:
            event_data.result = self._run(machine, event_data)
        except BaseException as error:
            event_data.error = cast("Exception", error)
            if not machine.on_exception:
                raise
            machine.callbacks(machine.on_exception, event_data)
        finally:
            self._finish(machine, event_data)
        return bool(event_data.result)

    def _run(self, machine: SyncMachine, event_data: EventData) -> bool:
        state = event_data.state
        if state.name not in self.transitions:
            machine.unserved(event_data)
            return False
        if machine.prepare_event:
            machine.callbacks(machine.prepare_event, event_data)
        for row in self.transitions[state.name]:
            event_data.transition = row
            if row.execute(event_data):
                return True
        machine.refusal(event_data)
        return False

    def _finish(self, machine: SyncMachine, event_data: EventData) -> None:
        """Run the final callbacks; exceptions that they raise are suppressed."""
        if machine.finalize_event:
            try:
                machine.callbacks(machine.finalize_event, event_data)
            except BaseException:
                LOG.exception("%sa finalize_event callback of %s", machine.name, self.name)


class DecidedMachine(transitions.Machine):
    """The common part of the machines of `bound`, `drop_in` and `async_drop_in`.

    `decided_by`: the classes that rows and triggers are derived from. `beside`: classes of
    transitions that may be bases, too.
    """

    decided_by: ClassVar[tuple[type[Any], type[Any]]]
    beside: ClassVar[frozenset[str]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if hasattr(cls, "beside"):
            unsupported.check_bases(cls, cls.beside)

    def __init__(self, *args: Any, **options: Any) -> None:
        kinds: tuple[Any, Any] = self.transition_cls, self.event_cls
        for mine, base in zip(kinds, self.decided_by, strict=True):
            if not issubclass(mine, base):
                raise TypeError(f"{mine!r} would decide by itself: derive it from {base!r}")
        unsupported.check_options(type(self), self.beside, options)
        super().__init__(*args, **options)

    def add_states(self, states: Any, *args: Any, **options: Any) -> None:
        """As in transitions. TypeError for nested states."""
        unsupported.check_given(type(self), listify(states))
        if options.keys() & set(unsupported.NESTED):
            unsupported.check_given(type(self), [{"name": states, **options}])
        super().add_states(states, *args, **options)

    def refusal(self, event_data: EventData) -> Refused | None:
        """The declaration's refusal of an event that no row takes; None if it ignores the event."""
        raise NotImplementedError

    def state_of(self, entry: Machine) -> State:
        """The state in which an instance is."""
        raise NotImplementedError

    def moved(self, model: object, entry: Machine) -> State:
        """Give a model the state of its instance, which has made a step."""
        raise NotImplementedError

    def leads_somewhere(self, row: transitions.Transition) -> bool:
        """Whether the destination of a row is a state."""
        return row.dest in self.states

    def is_final(self, state: State, model: object) -> bool:
        """Whether the state that a model has entered is a final one."""
        return state.final

    def unserved(self, event_data: EventData) -> None:
        """An event without a row from the state: nothing where it is ignored, else MachineError,
        caused by the declaration's own refusal."""
        state, machine = event_data.state, self.name
        refused = self.refusal(event_data)
        own = cast("bool | None", state.ignore_invalid_triggers)
        quiet = self.ignore_invalid_triggers if own is None else own
        text = f"{machine}Can't trigger event {event_data.event.name} from state {state.name}!"
        if refused is not None and not quiet:
            raise MachineError(text) from refused
        LOG.warning(text)


class SyncMachine(DecidedMachine):
    """One that awaits nothing."""

    transition_cls = Transition
    event_cls = Event
    decided_by = (Transition, Event)
    beside = frozenset[str]()

    def add_states(self, states: Any, *args: Any, **options: Any) -> None:
        """As in transitions. TypeError for nested states, and those that would be awaited."""
        super().add_states(states, *args, **options)
        for state in {type(state): state for state in self.states.values()}.values():
            unsupported.check_state(type(self), state)

    def callback(self, func: Any, event_data: EventData) -> None:
        """As in transitions. TypeError for one whose result would have to be awaited."""
        called = self.resolve_callable(func, event_data)
        if self.send_event:
            result = called(event_data)
        else:
            result = called(*event_data.args, **event_data.kwargs)
        if result is not None:
            unsupported.check_result(self, func, result)

    def proposed(self, row: DecidedRow, event_data: EventData) -> ProposedStep | None:
        """The step of a row, which the declaration must still accept; None if the declaration has
        no such step."""
        raise NotImplementedError

    def _can_trigger(self, model: Any, trigger: str, *args: Any, **named: Any) -> bool:
        """Whether a trigger would be taken: runs the `prepare` callbacks, and decides."""
        state, event = self.get_model_state(model), self.events.get(trigger)
        if event is None:
            return False
        event_data = EventData(state, event, self, model, args, named)
        for row in event.transitions.get(state.name, ()):
            if row.dest is not None and not self.leads_somewhere(row):
                continue
            event_data.transition = row
            try:
                self.callbacks(self.prepare_event, event_data)
                self.callbacks(row.prepare, event_data)
                step = self.proposed(cast("DecidedRow", row), event_data)
                if step is not None and step.admitted():
                    return True
            except BaseException as error:
                event_data.error = cast("Exception", error)
                if not self.on_exception:
                    raise
                self.callbacks(self.on_exception, event_data)
        return False


def _machine(event_data: EventData) -> SyncMachine:
    return cast("SyncMachine", event_data.machine)
