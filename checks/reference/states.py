"""States of machines: immutable values and, while a step runs, working copies that it changes."""

from __future__ import annotations

from typing import Any

from lawful.spec.values.world import FrozenMap

State = tuple[Any, ...]


class WorkingCopy(list[Any]):
    """A machine's state while a step changes it."""


def freeze(working: WorkingCopy) -> State:
    """The immutable value of a working copy and of those inside it."""
    return PartState([v if v.__class__ not in HOLDERS else _frozen(v) for v in working])


def _frozen(value: Any) -> Any:
    if value.__class__ is WorkingCopy:
        return freeze(value)
    if (
        value.__class__ is FrozenMap
        and value
        and next(iter(value.values())).__class__ is WorkingCopy
    ):
        return FrozenMap({k: freeze(v) for k, v in value.items()})
    return value


def thaw(state: State) -> WorkingCopy:
    """A private copy of a state that a step may change; parts are recognized by their class."""
    return WorkingCopy([v if v.__class__ not in HOLDERS else _thawed(v) for v in state])


def _thawed(value: Any) -> Any:
    if value.__class__ is PartState:
        return thaw(value)
    if value.__class__ is FrozenMap and value and next(iter(value.values())).__class__ is PartState:
        return FrozenMap({k: thaw(v) for k, v in value.items()})
    return value


def private(working: Any) -> WorkingCopy:
    """A copy of a machine, frozen or not, that shares nothing with it."""
    return thaw(freeze(working)) if working.__class__ is WorkingCopy else thaw(working)


class PartState(tuple[Any, ...]):
    """A part's state inside a state: a class of its own, to distinguish it from a tuple value."""

    __slots__ = ()


HOLDERS = frozenset({WorkingCopy, PartState, FrozenMap})  # Only these can contain a machine.
