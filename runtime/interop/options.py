"""Options of a `transitions.Machine`, its states and its rows that a declaration does not have.

The report names each with its value. Options that are found by no name here, those of classes of
one's own and of later versions, are found as attributes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

# What a declaration has, or its docstring or the problems name.
OF_MACHINE = frozenset(
    {
        *("self", "args", "kwargs", "model", "states", "initial", "transitions", "queued"),
        *("ordered_transitions", "auto_transitions", "ignore_invalid_triggers", "machine_context"),
        *("before_state_change", "after_state_change", "prepare_event", "finalize_event"),
        *("on_exception", "on_final", "markup"),
    }
)
OF_STATE = frozenset(
    {
        *("name", "final", "ignore_invalid_triggers", "on_enter", "on_exit", "tags", "timeout"),
        *("on_failure", "retries", "volatile_cls", "volatile_hook", "initialized", "runner"),
        *("retry_counts", "initial", "on_final", "states", "events"),
    }
)
OF_ROW = frozenset({"source", "dest", "conditions", "prepare", "before", "after", "law", "asks"})


def of_machine(machine: Any) -> Iterator[tuple[str, str]]:
    """The options of its constructor that differ from their defaults, with their values."""
    seen = set(OF_MACHINE)
    for cls in machine.__class__.__mro__[:-1]:
        for option in inspect.signature(cls.__init__).parameters.values():
            if option.name not in seen:
                seen.add(option.name)
                default = "" if option.default is None else option.default
                held: dict[str, Any] = machine.__dict__
                value = held.get(option.name, held.get(f"_{option.name}", default))
                if value is not None and value != default:
                    yield option.name, _text(value)
    drawn = getattr(machine, "graph_cls", None)
    if drawn is not None:
        yield "graph_engine", drawn.__module__.rpartition("_")[2]


def of_state(state: Any) -> Iterator[tuple[str, str]]:
    """Attributes of a state that no state of transitions has."""
    yield from _others(state, OF_STATE)


def of_row(row: Any) -> Iterator[tuple[str, str]]:
    """Attributes of a row that no row of transitions has."""
    yield from _others(row, OF_ROW)


def _others(of: Any, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    held: dict[str, Any] = of.__dict__
    for name, value in held.items():
        given = value is not None and not (isinstance(value, str | list) and not value)
        if name not in known and not name.startswith("_") and given:
            yield name, _text(value)


def _text(value: Any) -> str:
    """A value in words: itself, or of which class it is."""
    simple = isinstance(value, bool | int | float | str)
    return str(value) if simple else f"a {type(value).__name__}"
