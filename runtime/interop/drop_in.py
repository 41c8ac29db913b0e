"""`LawfulMachine`, a replacement for `transitions.Machine`: a declaration of its rows decides.

    machine = LawfulMachine(model, states=..., transitions=...)

The declaration is that of `from_transitions`. It is made again after rows were changed. All
conditions are opaque in it: the model evaluates them, and the results are arguments of the event.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from lawful.spec.outcomes import Refused
from lawful.spec.syntax.declare import slot

from ..instance import Machine
from ..kernel.dispatch import control
from ..kernel.plan import Plan
from .decided import (
    DecidedMachine,
    EventData,
    ProposedStep,
    State,
    SyncMachine,
    listify,
)
from .text import DeclarationWriter, Imported, ignores
from .transition_rows import Input


@dataclass(frozen=True)
class DeclaredRows:
    """The declaration of a machine's rows at some time; `rows` maps each row to its content
    then."""

    found: Imported
    cls: type[Machine]
    plan: Plan
    places: Mapping[Any, enum.Enum]
    rows: Mapping[tuple[str, str], list[Any]]
    quiet: frozenset[str]


class DeclaredMachine(DecidedMachine):
    """A machine of transitions with the declaration of its rows, and an instance for each model."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._made: DeclaredRows | None = None
        self._entries: dict[int, Machine] = {}
        super().__init__(*args, **options)

    def declaration(self) -> Imported:
        """The declaration that decides now, of the automatic triggers too: what the journal of an
        instance is replayed against."""
        made = self._made
        if made is None or not all(self._fits(made, event, s) for event, s in self._pairs()):
            made = self._made = self._make()
        return made.found

    def lawful_entry(self, model: object) -> Machine:
        """The instance that decides for a model: to be observed, explained, written down."""
        self.declaration()
        assert self._made is not None
        return self._entry(self._made, model)

    def remove_model(self, model: Any) -> None:
        """As in transitions."""
        super().remove_model(model)
        for each in listify(model):
            self._entries.pop(id(each), None)

    def declared(self, row: Any, event_data: EventData) -> DeclaredRows | None:
        """The declaration that decides about a row; None if nothing can take the row."""
        made = self._current(event_data)
        leads_nowhere = row.dest is not None and row.dest not in self.states
        return None if row.law is None and not leads_nowhere else made

    def step(self, row: Any, made: DeclaredRows, event_data: EventData) -> ProposedStep | None:
        """The step of a row whose conditions were evaluated. ValueError for one that would be
        taken, and leads to an unknown state."""
        answers = answers_of(event_data)
        if row.law is None:
            asked = zip(row.asks, row.conditions, strict=True)
            if all(answers.get((name, bool(each.target))) for name, each in asked):
                self.get_state(row.dest)
            return None
        inputs = made.found.inputs[made.found.events[event_data.event.name]]
        args = _values(inputs, answers) if inputs else ()
        return ProposedStep(self._entry(made, event_data.model), made.plan.ways[row.law], args)

    def refusal(self, event_data: EventData) -> Refused | None:
        made, trigger = self._current(event_data), event_data.event.name
        entry, event = self._entry(made, event_data.model), made.found.events.get(trigger)
        if event is None:
            return Refused(type(entry).__name__, trigger, event_data.state.name, ())
        return _sent(entry, event, _values(made.found.inputs[event], answers_of(event_data)))

    def state_of(self, entry: Machine) -> State:
        return self.states[control(entry).value]

    def moved(self, model: object, entry: Machine) -> State:
        state = self.states[control(entry).value]
        if getattr(model, self.model_attribute) is not state.value:
            self.set_state(state, model)
        return state

    # Asking.

    # The declaration, and the instances.

    def _current(self, event_data: EventData) -> DeclaredRows:
        made, of = self._made, (event_data.event, event_data.state.name)
        if made is None or not self._fits(made, *of):
            made = self._made = self._make()
        return made

    def _pairs(self) -> list[tuple[Any, str]]:
        return [(event, state) for event in self.events.values() for state in self.states]

    def _fits(self, made: DeclaredRows, event: Any, state: str) -> bool:
        """Whether the declaration and the machine agree on an event in a state."""
        rows = event.transitions.get(state)
        if rows is None:
            there = self.states[state].value in made.places
            same = there and (state in made.quiet) is ignores(self, state)
            return same and (event.name, state) not in made.rows
        then = made.rows.get((event.name, state), ())
        return len(then) == len(rows) and all(
            [
                row is was[0] and row.dest == was[1] and row.conditions == was[2]
                for row, was in zip(rows, then, strict=True)
            ]
        )

    def _make(self) -> DeclaredRows:
        writer = DeclarationWriter(self, automatic=True, whole=False)
        found = writer.imported(tuple(writer.renamed()))
        cls = found.load()
        numbers: Counter[tuple[str, str]] = Counter()
        for row in writer.rows:
            where = row.trigger, row.source
            row.of.law = found.ways[(*where, numbers[where])]
            row.of.asks = tuple(clause.inputs[0].name for clause in row.clauses)
            numbers[where] += 1
        places = cls.lawful.resolved.world.enums["Place"]
        rows = {
            (name, state): [_what(row) for row in several]
            for name, event in self.events.items()
            for state, several in event.transitions.items()
        }
        values = {self.states[name].value: places[m] for name, m in found.states.items()}
        quiet = frozenset(name for name in self.states if ignores(self, name))
        watched = [e for e in self._entries.values() if e.__watch__ is not None]
        if watched:
            raise ValueError("its rows were changed while an instance is observed")
        self._entries = {}
        return DeclaredRows(found, cls, cls.lawful.plan, values, rows, quiet)

    def _entry(self, made: DeclaredRows, model: object) -> Machine:
        """The instance of a model, in the state that the model says it is in."""
        state = made.places.get(getattr(model, self.model_attribute))
        if state is None:
            state = made.places[self.get_model_state(model).value]
        entry = self._entries.get(id(model))
        if entry is None:
            entry = self._entries[id(model)] = made.cls.lawful.state(state=state)
        elif control(entry) is not state:  # It was put there from outside.
            setattr(entry, slot("state"), state)
        return entry

    def __getstate__(self) -> dict[str, Any]:
        """Without the declaration, which is made again where it is needed."""
        kept = cast("dict[str, Any]", super().__getstate__())
        return {**kept, "_made": None, "_entries": {}}


class LawfulMachine(DeclaredMachine, SyncMachine):
    """Replaces `transitions.Machine`: the same constructor and methods, but a declaration decides.

    A condition is evaluated at most once for an event, even if several rows name it, unless one of
    them has a `prepare` callback in between. Raises TypeError for rows of a class that would decide
    by itself, and for what it does not do: nested states, and what would have to be awaited.
    """

    def proposed(self, row: Any, event_data: EventData) -> ProposedStep | None:
        made = self.declared(row, event_data)
        if made is None:
            return None
        if row.conditions:
            _ask(row, event_data)
        return self.step(row, made, event_data)


def _ask(row: Any, event_data: EventData) -> None:
    """Evaluate a row's conditions up to the first that has the wrong value; those that were
    evaluated before are not evaluated again."""
    answers = answers_of(event_data)
    for condition, name in zip(row.conditions, row.asks, strict=True):
        wanted = bool(condition.target)
        if (name, wanted) not in answers:
            answers[name, wanted] = bool(condition.check(event_data))
        answers[name] = wanted is answers[name, wanted]
        if not answers[name, wanted]:
            break


def _what(row: Any) -> tuple[Any, ...]:
    return row, row.dest, list(row.conditions)


def answers_of(event_data: EventData) -> dict[Any, bool]:
    """The results of this event's conditions so far."""
    found: dict[Any, bool] = event_data.__dict__.setdefault("answers", {})
    return found


def _values(inputs: Sequence[Input], answers: Mapping[Any, bool]) -> tuple[Any, ...]:
    """The arguments of an event; False for a condition that was not evaluated."""
    return tuple([answers.get(each.name, each.blank) for each in inputs])


def _sent(entry: Machine, event: str, args: tuple[Any, ...]) -> Refused | None:
    """Pass an event that no row takes to the instance, so that observers see it."""
    try:
        entry.lawful.take(event, *args)
    except Refused as refusal:
        return refusal
    return None
