"""Models with the interface of `transitions`, over a declaration of one's own.

class Visitor:                       # a model, with callbacks if it likes
    def on_enter_OPEN(self): ...

visitor = Visitor()
bound = bind(visitor, Door)          # or an instance, Door(...)
visitor.unlock(1234)                 # an event: True, or False where a guard refuses it
visitor.may_close(), visitor.is_OPEN(), visitor.state, visitor.trigger("close")
bound.after_close("log")             # callbacks are added as in transitions
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, cast

from lawful.spec import ir
from lawful.spec.outcomes import Ambiguous, Refused
from lawful.spec.text.statements import path

from ..instance import Machine
from ..kernel.dispatch import control
from ..kernel.plan import Way
from .decided import (
    DecidedRow,
    EventData,
    ProposedStep,
    State,
    SyncMachine,
    Transition,
    listify,
)
from .unsupported import check_result

Input = str | Callable[..., Any]


def bind(
    model: object,
    machine: type[Machine] | Machine,
    *,
    inputs: Mapping[str, Input] | None = None,
    as_text: bool = False,
    **options: Any,
) -> Bound:
    """Give a model the interface of transitions over an instance of ours, or a new one of a class.

    The model's state is the member of the control state's enum, whose name is in `is_NAME`,
    `on_enter_NAME` and so on; with `as_text` all of these are the member's value, a text. The
    arguments of a trigger are those of its event; a parameter that is not given is read from the
    model's attribute of its name, or from what `inputs` says (a name, or something to call), once
    for each event. `options` are those of `transitions.Machine` that say no state or row.

    Errors: ValueError for a machine without a control state `state`, or with another one;
    TypeError for an option that says a state or row, and for a class that begins with `@initial`.
    """
    cls, entry = (machine, None) if isinstance(machine, type) else (type(machine), machine)
    fixed = {"states", "initial", "transitions", "auto_transitions", "ordered_transitions"}
    if fixed & options.keys():
        names = ", ".join(sorted(fixed & options.keys()))
        raise TypeError(f"{names}: {cls.__name__} has states and transitions of its own")
    bound = Bound(cls, _named(cls, as_text), inputs or {}, **options)
    bound.adopt(model, bound.instance() if entry is None else entry)
    return bound


def _named(cls: type[Machine], as_text: bool) -> dict[enum.Enum, str]:
    """The members of the control state's enum, by the names that the model uses for them."""
    resolved = cls.lawful.resolved
    kinds = [v.type for v in resolved.machine.variables if v.name == "state"]
    for each in resolved.machine.transitions:
        if each.control is not None and path(each.control) != "state":
            raise ValueError(f"{cls.__name__}.{each.name}: its control state is no one of a model")
    if not kinds or str(kinds[0]) not in resolved.world.enums:
        raise ValueError(f"{cls.__name__} has no control state, which a model could follow")
    members: list[enum.Enum] = list(resolved.world.enums[str(kinds[0])])
    return {member: str(member.value) if as_text else member.name for member in members}


class Bound(SyncMachine):
    """The result of `bind`: a `transitions.Machine` whose rows are those of a declaration.

    Callbacks and models can be added to it; states and rows cannot.
    """

    def __init__(
        self,
        cls: type[Machine],
        names: Mapping[enum.Enum, str],
        inputs: Mapping[str, Input],
        **options: Any,
    ) -> None:
        self._cls = cls
        self._plan = cls.lawful.plan
        self._names = dict(names)
        self._inputs = dict(inputs)
        self._held: dict[int, _BoundModel] = {}
        self._open = True
        first = next(iter(names))
        enums = names[first] == first.name
        states: Any = type(first) if enums else list(names.values())
        super().__init__(
            None, states=states, initial=names[first], auto_transitions=False, **options
        )
        self._places = {member: self.states[name] for member, name in names.items()}
        for each in cls.lawful.ir.transitions:
            self._add(each)
        self._open = False

    def _add(self, each: ir.Transition) -> None:
        """The rows of a transition; where the caller chooses among several it is a trigger."""
        members = {member.name: name for member, name in self._names.items()}
        event = next(e for e in self._cls.lawful.ir.events if e.name == each.event)
        trigger = each.name if event.choice else event.name
        dest = None if each.target is None else "|".join(members[name] for name in each.target)
        for source in [members[name] for name in each.source or members]:
            self.add_transition(trigger, source, dest)
            cast("Transition", self.events[trigger].transitions[source][-1]).law = each.name

    def add_transition(self, *args: Any, **options: Any) -> None:
        """TypeError: it has the rows of its declaration."""
        self._only_declared()
        super().add_transition(*args, **options)

    def add_states(self, *args: Any, **options: Any) -> None:
        """TypeError: it has the states of its declaration."""
        self._only_declared()
        super().add_states(*args, **options)

    def remove_transition(self, *args: Any, **options: Any) -> None:
        """TypeError: it has the rows of its declaration."""
        self._only_declared()

    def _only_declared(self) -> None:
        if not self._open:
            raise TypeError(f"states and transitions are those of {self._cls.__name__}")

    # Models and their instances.

    def instance(self, state: enum.Enum | None = None) -> Machine:
        """A new instance, in this state."""
        starts = ", ".join(self._cls.lawful.plan.starts)
        if starts:
            raise TypeError(f"{self._cls.__name__} begins with {starts}: bind an instance")
        return self._cls() if state is None else self._cls.lawful.state(state=state)

    def adopt(self, model: Any, entry: Machine) -> None:
        """Bind another model to an instance."""
        state = self._places[control(entry)]
        each = self if model is self.self_literal else model
        self._held[id(each)] = _BoundModel(each, entry, state)
        super().add_model(each, initial=state.name)

    def add_model(self, model: Any, initial: Any = None) -> None:
        """Bind other models, each to a new instance, in the initial state that is given."""
        state = None if initial is None else self._member(self._state(initial).name)
        for each in listify(model):
            self.adopt(each, self.instance(state))

    def remove_model(self, model: Any) -> None:
        """Remove models and their instances: the methods that they were given no longer work."""
        super().remove_model(model)
        for each in listify(model):
            self._held.pop(id(each), None)

    def lawful_entry(self, model: object) -> Machine:
        """The instance that decides for a model; ValueError for one that is not bound."""
        return self._of(model).entry

    def _of(self, model: object) -> _BoundModel:
        held = self._held.get(id(model))
        if held is None:
            raise ValueError(f"a {type(model).__name__} is not bound to {self._cls.__name__} here")
        return held

    def set_state(self, state: Any, model: Any = None) -> None:
        """Only to the state in which the instance is: ValueError for another."""
        wanted = self._state(state)
        for each in self.models if model is None else listify(model):
            held = self._of(each)
            if self._places[control(held.entry)] is not wanted:
                raise ValueError(f"{held} cannot be put into {wanted.name}: it decides itself")
            held.last = wanted
            setattr(each, self.model_attribute, wanted.value)

    def get_model_state(self, model: object) -> State:
        """The state of a model, which follows what its instance did by itself: its timers, and
        events that were called there. ValueError where the model was put elsewhere."""
        held = self._of(model)
        value: Any = getattr(model, self.model_attribute)
        if value != held.last.value:
            raise ValueError(f"{held} was assigned to {value!r} from outside")
        return self.follow(model)

    def follow(self, model: object) -> State:
        """Give a model the state of its instance; triggers do it first."""
        return self.moved(model, self._of(model).entry)

    def moved(self, model: object, entry: Machine) -> State:
        held, state = self._held.get(id(model)), self._places[control(entry)]
        if held is None:  # A callback has let go of it.
            setattr(model, self.model_attribute, state.value)
        elif held.last is not state:
            held.last = state
            setattr(model, self.model_attribute, state.value)
        return state

    def state_of(self, entry: Machine) -> State:
        return self._places[control(entry)]

    def _state(self, state: Any) -> State:
        return state if isinstance(state, State) else self.get_state(state)

    def _member(self, name: str) -> enum.Enum:
        return next(member for member, each in self._names.items() if each == name)

    # Deciding.

    def proposed(self, row: DecidedRow, event_data: EventData) -> ProposedStep | None:
        entry = self._of(event_data.model).entry
        ways = self._plan.ways
        event = ways[event_data.event.name]
        args = self._args(entry, event, event_data)
        step = ProposedStep(entry, ways[row.law or ""], args)
        if len(event.candidates) > 1:
            self._alone(step, event)
        return step

    def _alone(self, step: ProposedStep, event: Way) -> None:
        """Ambiguous where the declaration would take this step and another, too."""
        rivals = [self._plan.ways[c.name] for c in event.candidates if c.name != step.way.name]
        for other in rivals if step.admitted() else ():
            if ProposedStep(step.entry, other, step.args).admitted():
                both = f"both {step.way.name} and {other.name} are enabled: call one of them"
                raise Ambiguous(self._plan.name, event.event, both)

    def refusal(self, event_data: EventData) -> Refused | None:
        entry, event = self.lawful_entry(event_data.model), event_data.event.name
        args = self._args(entry, self._plan.ways[event], event_data)
        try:
            entry.lawful.take(event, *args)
        except Refused as refusal:
            return refusal
        return None

    def leads_somewhere(self, row: Any) -> bool:
        return True

    def is_final(self, state: State, model: object) -> bool:
        """Whether a method under `@terminal` is true."""
        entry = self.lawful_entry(model)
        of = entry.lawful.ir.properties
        return any(getattr(entry, p.name)() for p in of if p.kind == "terminal")

    def _args(self, entry: Machine, event: Way, event_data: EventData) -> tuple[Any, ...]:
        """The arguments of an event, as the machine keeps them."""
        if not event.params:
            return ()
        known: tuple[Any, ...] | None = event_data.__dict__.get("given")
        if known is None:
            universe = entry.__environment__.universe
            values = [self._given(i, each[0], event_data) for i, each in enumerate(event.params)]
            both = zip(event.checks, values, strict=True)
            known = event_data.__dict__["given"] = tuple(check(v, universe) for check, v in both)
        return known

    def _given(self, number: int, name: str, event_data: EventData) -> Any:
        """A parameter: the caller's, else the model's."""
        args, named = tuple(event_data.args), event_data.kwargs
        if number < len(args):
            return args[number]
        if name in named:
            return named[name]
        try:
            found = self.resolve_callable(self._inputs.get(name, name), event_data)
        except AttributeError:
            kind = type(event_data.model).__name__
            text = f"{event_data.event.name} needs {name}: it is not given, and no {name} of {kind}"
            raise TypeError(text) from None
        given = found(event_data) if self.send_event else found(*args, **named)
        check_result(self, self._inputs.get(name, name), given)
        return given

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": list(self._held.values()), "_plan": None}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._plan = self._cls.lawful.plan
        self._held = {id(each.model): each for each in kept["_held"]}


class _BoundModel:
    """A model, its instance, and the state that it was given last."""

    def __init__(self, model: Any, entry: Machine, last: State) -> None:
        self.model = model
        self.entry = entry
        self.last = last

    def __str__(self) -> str:
        return f"a {type(self.model).__name__} bound to {type(self.entry).__name__}"
