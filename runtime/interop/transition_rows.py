"""The rows of a `transitions.Machine`: trigger, source, conditions, in the order in which it tries
them.

A condition becomes a clause over parameters of its event: one `bool` for an opaque condition, or
one parameter for each attribute that it reads. A condition that several rows name is evaluated once
for an event, so it is one parameter. But if a row has a `prepare` callback, conditions evaluated
before it may have changed: afterwards each becomes a parameter of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .names import IdentifierTable, name_of
from .options import of_row
from .reading import BUILTINS, Reading, read

WORDS = frozenset({"self", "require", "Place", "Scope", *BUILTINS})
CALLBACKS = ("prepare", "before", "after")


@dataclass(frozen=True)
class Input:
    """A parameter of an event: the result of a condition, or the value of a model's attribute.

    `source` is the condition, or the attribute's name; `blank` is a value of the type, used if the
    condition was not evaluated.
    """

    name: str
    type: str
    source: Any
    attribute: bool
    blank: Any


@dataclass(frozen=True)
class ConditionClause:
    """A condition of a row, as an expression over parameters; `wanted` is false of an `unless`."""

    text: str
    why: str
    wanted: bool
    inputs: tuple[Input, ...]

    @property
    def condition(self) -> str:
        """The row's requirement as source text."""
        inner = self.text if self.text.isidentifier() else f"({self.text})"
        return self.text if self.wanted else f"not {inner}"


@dataclass(frozen=True)
class TransitionRow:
    """A transition of a trigger from one state.

    `of`: the `transitions.Transition`. `calls`: its callbacks and conditions by kind, as given.
    `more`: attributes that no declaration has. `automatic`: one of those that lead to each state
    from everywhere. `left`, `entered`: the states that it leaves and enters, with those around.
    """

    trigger: str
    source: str
    dest: str | None
    clauses: tuple[ConditionClause, ...]
    calls: tuple[tuple[str, Any], ...]
    more: tuple[tuple[str, str], ...]
    of: Any
    automatic: bool
    left: tuple[str, ...]
    entered: tuple[str, ...]

    @property
    def callbacks(self) -> tuple[str, ...]:
        """Its callbacks in words."""
        return tuple(f"{kind}: {name_of(func)}" for kind, func in self.calls if kind in CALLBACKS)

    @property
    def conditions(self) -> frozenset[tuple[str, bool]]:
        """The conditions that must be true for the row to be taken."""
        return frozenset((clause.text, clause.wanted) for clause in self.clauses)


@dataclass(frozen=True)
class KnownRows:
    """All rows of a machine, and the readings of its conditions that could be read."""

    rows: tuple[TransitionRow, ...]
    readings: tuple[Reading, ...]


def known(machine: Any, readable: Callable[[Reading], bool]) -> KnownRows:
    """The rows of a machine; of its conditions those are read for which `readable` holds."""
    clauses = _ConditionClauses(machine.models, readable)
    rows = tuple(
        row
        for trigger, event in machine.events.items()
        for source, several in event.transitions.items()
        for row in _group(machine, (trigger, source), several, clauses)
    )
    return KnownRows(rows, tuple(r for r in clauses.readings.values() if r is not None))


class _ConditionClauses:
    """Makes clauses of conditions, with one parameter for each condition or attribute."""

    def __init__(self, models: Sequence[Any], readable: Callable[[Reading], bool]) -> None:
        self.models = models
        self.readable = readable
        self.names = IdentifierTable(WORDS)
        self.readings: dict[str, Reading | None] = {}

    def of(self, condition: Any, again: Callable[[Hashable], int]) -> ConditionClause:
        """The clause of a condition; `again` tells how often it may have changed since it was first
        evaluated."""
        func, wanted = condition.func, bool(condition.target)
        reading = self._reading(func)
        if reading is None:
            times = again(_key(func))
            name = self._name((_key(func), times), name_of(func))
            return ConditionClause(name, name, wanted, (Input(name, "bool", func, False, False),))
        inputs: dict[str, Input] = {}
        for attribute, kind in reading.attributes.items():
            name = self._name(("attribute", attribute, again(("attribute", attribute))), attribute)
            inputs[attribute] = Input(name, kind.name, attribute, True, kind.value)
        text = reading.text({attribute: each.name for attribute, each in inputs.items()})
        return ConditionClause(text, name_of(func), wanted, tuple(inputs.values()))

    def _name(self, asked: tuple[Any, ...], name: str) -> str:
        return self.names.of(asked, f"{name}_again" if asked[-1] else name)

    def _reading(self, func: Any) -> Reading | None:
        if not isinstance(func, str):
            return None
        if func not in self.readings:
            found = read(func, self.models) if self.models else None
            self.readings[func] = found if found is not None and self.readable(found) else None
        return self.readings[func]


def _key(func: Any) -> Any:
    try:
        hash(func)
    except TypeError:  # A method of a model that has no hash.
        return id(func)
    return func


def _group(
    machine: Any, of: tuple[str, str], several: Sequence[Any], clauses: _ConditionClauses
) -> Iterator[TransitionRow]:
    """The rows of one trigger from one state."""
    trigger, source = of
    prepared = 0
    asked: dict[Hashable, tuple[int, int]] = {}

    def again(what: Hashable) -> int:
        when, times = asked.get(what, (prepared, 0))
        asked[what] = prepared, times + (when < prepared)
        return asked[what][1]

    for number, each in enumerate(several):
        prepared += bool(number and each.prepare)
        yield TransitionRow(
            trigger,
            source,
            each.dest,
            tuple(clauses.of(condition, again) for condition in each.conditions),
            tuple(_calls(each)),
            tuple(of_row(each)),
            each,
            number == 0 and _is_automatic(machine, trigger, each),
            *_crossed(each),
        )


def _crossed(of: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The states that a row leaves and enters."""
    held: dict[str, Any] = of.__dict__
    if of.dest is None:
        return (), ()
    return held.get("_left", (of.source,)), held.get("_entered", (of.dest,))


def _calls(of: Any) -> Iterator[tuple[str, Any]]:
    yield from (("conditions" if c.target else "unless", c.func) for c in of.conditions)
    yield from ((kind, func) for kind in CALLBACKS for func in getattr(of, kind))


def _is_automatic(machine: Any, trigger: str, of: Any) -> bool:
    dest = of.__dict__.get("_dest", of.dest)
    return bool(machine.auto_transitions) and trigger == automatic(machine, dest)


def automatic(machine: Any, state: object) -> str:
    """The trigger that leads to a state from everywhere."""
    attribute = machine.model_attribute
    return f"to_{state}" if attribute == "state" else f"to_{attribute}_{state}"
