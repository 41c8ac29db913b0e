"""What a machine in which a declaration decides does not do, refused in words."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from .names import name_of

# By the class of transitions that does it.
INSTEAD: Mapping[str, str] = {
    "HierarchicalMachine": (
        "it has no nested states; from_transitions imports those that are not parallel"
    ),
    "AsyncMachine": "it awaits nothing; async_drop_in.AsyncLawfulMachine does",
    "MarkupMachine": "it draws nothing; `lawful draw` draws declaration().text",
    "LockedMachine": "it enters no contexts; locked.LockedLawfulMachine does",
}
NESTED = ("children", "states", "parallel")


def check_bases(cls: type[Any], beside: frozenset[str]) -> None:
    """TypeError for a class that is derived from a machine of transitions whose work it would not
    do; `beside` may be among its bases."""
    for base in cls.__mro__:
        names = [each.__name__ for each in base.__mro__ if each.__name__ not in beside]
        reasons = [INSTEAD[name] for name in names if name in INSTEAD]
        if base.__module__.startswith("transitions.") and reasons:
            raise TypeError(f"{cls.__name__} is no {base.__name__}: {reasons[0]}")


def check_options(cls: type[Any], beside: frozenset[str], options: Mapping[str, Any]) -> None:
    """TypeError for contexts that nothing would enter, and for several initial states."""
    if isinstance(options.get("initial"), list | tuple):
        nested = INSTEAD["HierarchicalMachine"][3:]
        raise TypeError(f"initial has several states: {cls.__name__} {nested}")
    if "machine_context" in options and "LockedMachine" not in beside:
        contexts = INSTEAD["LockedMachine"][3:]
        raise TypeError(f"machine_context is given: {cls.__name__} {contexts}")


def check_given(cls: type[Any], states: Iterable[Any]) -> None:
    """TypeError for nested states as they are given."""
    for state in states:
        as_dict = hasattr(state, "keys")
        held: Mapping[str, Any] = state if as_dict else getattr(state, "__dict__", {})
        parts = [key for key in NESTED if held.get(key)]
        if parts:
            name: Any = held.get("name", held.get("_name", "a machine"))
            of = f"{getattr(name, 'name', name)} has {parts[0]}"
            raise TypeError(f"{of}: {cls.__name__} {INSTEAD['HierarchicalMachine'][3:]}")


def check_state(cls: type[Any], state: Any) -> None:
    """TypeError for a state whose `enter` or `exit` would have to be awaited."""
    kind: type[Any] = state.__class__
    if any(inspect.iscoroutinefunction(each) for each in (kind.enter, kind.exit)):
        awaits = INSTEAD["AsyncMachine"][3:]
        raise TypeError(f"{state.name} is asynchronous ({kind.__name__}): {cls.__name__} {awaits}")


def check_result(machine: object, func: object, result: Any) -> None:
    """TypeError for a result of a callback or condition that would have to be awaited."""
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        awaits = INSTEAD["AsyncMachine"][3:]
        text = f"{name_of(func)} is asynchronous: {type(machine).__name__} {awaits}"
        raise TypeError(text)
