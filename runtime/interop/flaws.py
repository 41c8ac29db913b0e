"""Flaws of a `transitions.Machine` that it reports late or never.

They are rows to or from unknown states, rows that can never be taken, states that are never
reached, triggers that a model's own attribute hides, and callbacks that no model has.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from .features import calls
from .names import name_of
from .nested import every_state, inside, is_shadow, origin
from .timeouts import has_timeout, timeout_of
from .transition_rows import TransitionRow, automatic

STATE_CALLS = ("on_enter", "on_exit")
MACHINE_CALLS = (
    "prepare_event",
    "before_state_change",
    "after_state_change",
    "on_exception",
    "on_final",
    "finalize_event",
)


def flaws(machine: Any, rows: Sequence[TransitionRow]) -> Iterator[str]:
    """All that is found, a sentence each."""
    before: dict[tuple[str, str], list[TransitionRow]] = {}
    for row in rows:
        same = before.setdefault((row.trigger, row.source), [])
        yield from _of_row(machine, row, same)
        same.append(row)
    yield from _unreached(machine, rows)
    yield from _timeouts(machine, before)
    for model in machine.models:
        yield from _hidden(machine, model)
        yield from _callbacks(machine, model, rows)
        yield from _never_called(machine, model)
    if not machine.models:  # Conditions and callbacks by name are those of models.
        for where, func in (*_called(machine), *_called_by(rows)):
            yield from _never_awaited(machine, where, func, func)


def _of_row(machine: Any, row: TransitionRow, before: Sequence[TransitionRow]) -> Iterator[str]:
    """The problems of a row, given the earlier rows for the same trigger and state."""
    where = f"{row.trigger} from {row.source}"
    if row.dest is not None and row.dest not in machine.states:
        yield f"{where} leads to {row.dest}, which is no state"
    if row.source not in machine.states:
        yield f"{where}: {row.source} is no state"
    both = [text for text, wanted in row.conditions if wanted and (text, False) in row.conditions]
    if both:
        yield f"{where} to {row.dest} is never taken: it wants {both[0]} to be true and false"
    for each in before:
        if each.conditions <= row.conditions and not is_shadow(each.of, row.of):
            yield (
                f"{where} to {row.dest} is never reached: one before it, to {each.dest}, is taken"
                " whenever it could be"
            )
            return


def _timeouts(
    machine: Any, before: Mapping[tuple[str, str], Sequence[TransitionRow]]
) -> Iterator[str]:
    """Timeouts that never end, or that trigger what the state has no row for."""
    for name, state in every_state(machine).items():
        timeout = timeout_of(machine, state)
        if timeout is None and has_timeout(state):
            seconds = f"{state.timeout:g} seconds"
            yield f"{name} has a Timeout of {seconds}: no timer can wait that long"
        trigger = None if timeout is None else timeout.trigger
        for place in inside(machine, name) if trigger is not None else ():
            if (trigger, place) not in before:
                yield f"the Timeout of {name} triggers {trigger}, which has no row from {place}"


def _unreached(machine: Any, rows: Sequence[TransitionRow]) -> Iterator[str]:
    """States to which no row leads from where models are or begin."""
    attribute = machine.model_attribute
    now = {
        getattr(getattr(m, attribute, None), "name", getattr(m, attribute, None))
        for m in machine.models
    }
    reached = {machine.initial, *now}
    steps = [row for row in rows if not row.automatic]
    while True:
        more = {row.dest for row in steps if row.source in reached} - reached
        if not more:
            break
        reached |= more
    for name in machine.states:
        if name not in reached:
            only = f"by {automatic(machine, name)} only" if machine.auto_transitions else "never"
            yield f"{name} is reached {only}"


# Of one model.


def _hidden(machine: Any, model: Any) -> Iterator[str]:
    """The methods that the machine cannot add to the model, because those names are taken."""
    kind = type(model).__name__
    separated = getattr(machine.state_cls, "separator", "_") != "_"
    for trigger in machine.events:
        for name in (trigger, f"may_{trigger}"):
            if separated and trigger.startswith("to_"):
                continue  # Reached as `to_STATE.INNER`.
            if not _is_of(machine, getattr(model, name, None)):
                yield f"{name} is no trigger of {kind}, {_instead(model, name)}"
    prefix = "is_" if machine.model_attribute == "state" else f"is_{machine.model_attribute}_"
    states = () if separated else every_state(machine)
    for name in ("trigger", "may_trigger", *(f"{prefix}{state}" for state in states)):
        if not _is_of(machine, getattr(model, name, None)):
            yield f"{name} is no method of the machine on {kind}, {_instead(model, name)}"


def _instead(model: Any, name: str) -> str:
    if hasattr(model, name):
        return f"which has its own {name}"
    return "which has none to be replaced: `model_override`"


def _is_of(machine: Any, found: Any) -> bool:
    """Whether a model's method is what this machine put there."""
    while found.__class__ is partial:
        found = found.func
    owner = getattr(found, "__self__", None)
    machine = origin(machine)
    return owner is machine or getattr(owner, "machine", None) is machine


def _callbacks(machine: Any, model: Any, rows: Sequence[TransitionRow]) -> Iterator[str]:
    """Callbacks by a name that neither the model nor an import gives, and those never awaited."""
    data = SimpleNamespace(model=model)
    for where, func in (*_called(machine), *_called_by(rows)):
        found = _resolved(machine.resolve_callable, func, data)
        if found is None and isinstance(func, str):
            yield f"{where} calls {func}, which {type(model).__name__} does not have"
        else:
            yield from _never_awaited(machine, where, func, found)


def _never_awaited(machine: Any, where: str, func: Any, found: Any) -> Iterator[str]:
    """A coroutine function, or an object with one as `__call__`, where nothing awaits it."""
    called: Any = getattr(found.__class__, "__call__", None)  # noqa: B004  # It is looked at.
    if not any(map(inspect.iscoroutinefunction, (found, called))):
        return
    if all(cls.__name__ != "AsyncMachine" for cls in type(machine).__mro__):
        yield (
            f"{where} calls {name_of(func)}, which is asynchronous: {type(machine).__name__}"
            " awaits nothing, so a callback does nothing and a condition is never true"
        )


def _resolved(resolve: Callable[..., Any], func: Any, data: SimpleNamespace) -> Any:
    """What transitions calls for this; None where it finds none."""
    try:
        found = resolve(func, data)
    except AttributeError:
        return None
    except Exception:  # A property that is there, and has no value now.
        return func
    return found if callable(found) else None


def _called(machine: Any) -> Iterator[tuple[str, Any]]:
    for kind in MACHINE_CALLS:
        yield from ((kind, func) for func in getattr(machine, kind, []))
    for name, state in every_state(machine).items():
        for kind in STATE_CALLS:
            yield from ((f"{kind} of {name}", func) for func in getattr(state, kind))
        for kind, funcs in calls(state).items():
            yield from ((f"{kind} of {name}", func) for func in funcs)


def _called_by(rows: Sequence[TransitionRow]) -> Iterator[tuple[str, Any]]:
    for row in rows:
        yield from ((f"{row.trigger} from {row.source}", func) for _, func in row.calls)


def _never_called(machine: Any, model: Any) -> Iterator[str]:
    """Methods that look like callbacks of a state, and are none."""
    cls = model.__class__
    kind = cls.__name__
    called = {name_of(func) for _, func in _called(machine)}
    for name in dir(cls):
        prefix = next((f"{each}_" for each in STATE_CALLS if name.startswith(f"{each}_")), "")
        state = name.removeprefix(prefix)
        if not prefix or name in called or not callable(getattr(model, name, None)):
            continue
        if state not in every_state(machine):
            yield f"{name} of {kind} is never called: there is no state {state}"
        elif not inspect.ismethod(getattr(model, name)):
            yield f"{name} of {kind} is never called: it is no method"
