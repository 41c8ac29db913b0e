"""Nested states of a `HierarchicalMachine` as flat ones.

Each state in which a model can rest becomes a state of its own, with the rows of the states around
it behind its own: a trigger tries them from the inside outwards. A row leads where transitions
itself would lead, to the initial state inside its destination.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Generator, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast


def is_nested(machine: Any) -> bool:
    """Whether a machine has states inside states."""
    return any(getattr(state, "states", None) for state in machine.states.values())


def every_state(machine: Any) -> Mapping[str, Any]:
    """The states of a machine, also those around the flat ones."""
    return {**machine.__dict__.get("_around", {}), **machine.states}


def origin(machine: Any) -> Any:
    """The machine that was flattened, else the machine itself."""
    return machine.__dict__.get("_nested", machine)


def inside(machine: Any, name: str) -> list[str]:
    """A state in which a model can rest, or those inside a state."""
    if name in machine.states:
        return [name]
    prefix = f"{name}{machine.state_cls.separator}"
    return [each for each in machine.states if each.startswith(prefix)]


def is_shadow(inner: Any, outer: Any) -> bool:
    """Whether a row is there in the place of one of a state around its own."""
    return bool(inner.__dict__.get("_level") != outer.__dict__.get("_level"))


def flattened(machine: Any) -> Any:
    """A machine of the same class with flat states, and the rows that lead between them; to be
    read, not to be run. ValueError for parallel states."""
    with machine():  # A callback may ask for it while the machine is inside a state.
        return _flattened(machine)


def _flattened(machine: Any) -> Any:
    every = dict(_states(machine, []))
    several = [name for name, state in every.items() if _initial_count(state) > 1]
    if several or isinstance(machine.initial, list):
        names = ", ".join(several) or "the initial ones"
        raise ValueError(f"its states are parallel ({names}): one state at a time is imported")
    flat: Any = object.__new__(machine.__class__)
    flat.__dict__.update(machine.__dict__)
    resting = {name: state for name, state in every.items() if not _initial_count(state)}
    flat.__dict__.update(
        states=resting,
        events=_events(machine, resting),
        _nested=machine,
        _around={name: state for name, state in every.items() if name not in resting},
        _initial=_resting(machine),
    )
    return flat


def _initial_count(state: Any) -> int:
    """How many states inside are entered with a state."""
    initial: Any = state.initial
    several = isinstance(initial, list | tuple)
    return len(cast("Sequence[object]", initial)) if several else int(bool(initial))


def _states(machine: Any, path: list[str]) -> Iterator[tuple[str, Any]]:
    """All states by their whole names."""
    with _scope(machine, path):
        inside = dict(machine.states)
    for name, state in inside.items():
        yield machine.state_cls.separator.join([*path, name]), state
        yield from _states(machine, [*path, name])


@contextlib.contextmanager
def _scope(machine: Any, path: list[str]) -> Generator[None]:
    """Inside the state of that path."""
    with contextlib.ExitStack() as stack:
        for name in path:
            stack.enter_context(machine(name))
        yield


def _resting(machine: Any) -> str | None:
    """The state in which a new model rests."""
    if machine.initial is None:
        return None
    path = machine.initial.split(machine.state_cls.separator)
    found: str = machine._resolve_initial([], path)
    return found


def _events(machine: Any, resting: Mapping[str, Any]) -> dict[str, Any]:
    """The triggers, with the rows from each state in which a model can rest."""
    flat: dict[str, Any] = {}
    for name in resting:
        path = name.split(machine.state_cls.separator)
        for depth in reversed(range(len(path))):
            with _scope(machine, path[:depth]):
                for trigger, event in machine.events.items():
                    if trigger not in flat:
                        flat[trigger] = copy.copy(event)
                        flat[trigger].transitions = {}
                    rows = flat[trigger].transitions.setdefault(name, [])
                    rows.extend(_rows(machine, event, path, depth, bool(rows)))
    for event in flat.values():
        event.transitions = {name: rows for name, rows in event.transitions.items() if rows}
    order = [*machine.events, *flat]
    return {trigger: flat[trigger] for trigger in dict.fromkeys(order) if trigger in flat}


def _rows(machine: Any, event: Any, path: list[str], depth: int, later: bool) -> Iterator[Any]:
    """The rows of a trigger of one scope, from the inside outwards, as rows from the state."""
    separator = machine.state_cls.separator
    name = separator.join(path)
    for end in reversed(range(depth, len(path))):
        for number, row in enumerate(
            event.transitions.get(separator.join(path[depth : end + 1]), ())
        ):
            made = copy.copy(row)
            made.source, made._dest, made._level = name, row.dest, (depth, end)
            if later and number == 0:  # There it prepares again.
                made.prepare = [*machine.prepare_event, *row.prepare]
            if row.dest is not None:
                made.dest, made._left, made._entered = _led(machine, row, name)
            yield made
            later = True


def _led(machine: Any, row: Any, name: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Where a row leads from a state, and which states it leaves and enters."""
    model = SimpleNamespace(**{machine.model_attribute: name})
    event_data = SimpleNamespace(machine=machine, model=model)
    separator = machine.state_cls.separator
    try:
        tree, left, entered = row._resolve_transition(event_data)
    except ValueError:  # Its destination is no state.
        return row.dest, (name,), (row.dest,)
    reached: list[str] = []
    while tree:
        ((inner, tree),) = tree.items()
        reached.append(inner)
    sides = [
        tuple(separator.join([*each.args[1], each.func.__self__.name]) for each in several)
        for several in (left, entered)
    ]
    return separator.join(reached), sides[0], sides[1]
