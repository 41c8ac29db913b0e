"""`Timeout` states: what happens how long after a state was entered.

A timeout becomes a timer. Entering the state starts it, leaving the state stops it, and where it
fires the rows of the first trigger that its callbacks name are tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

MODULES = frozenset({"transitions.extensions.states", "transitions.extensions.asyncio"})


@dataclass(frozen=True)
class StateTimeout:
    """A timeout of `seconds`. `trigger`: the first trigger among its callbacks, if there is one;
    `later`: the triggers behind it."""

    seconds: float
    trigger: str | None
    later: tuple[str, ...]


def state_features(state: Any) -> frozenset[str]:
    """The names of the features in a state's class."""
    bases: tuple[type[Any], ...] = state.__class__.__mro__
    return frozenset(base.__name__ for base in bases if base.__module__ in MODULES)


def has_timeout(state: Any) -> bool:
    """Whether a time is given after which it calls something."""
    return bool(state_features(state) & {"Timeout", "AsyncTimeout"}) and state.timeout > 0


def timeout_of(machine: Any, state: Any) -> StateTimeout | None:
    """The timeout of a state; None without one, and of one that never ends."""
    if not has_timeout(state) or not math.isfinite(state.timeout):
        return None
    named = [trigger_of(machine, func) for func in state.on_timeout]
    triggers = [name for name in named if name is not None]
    return StateTimeout(state.timeout, triggers[0] if triggers else None, tuple(triggers[1:]))


def trigger_of(machine: Any, func: object) -> str | None:
    """The trigger that a callback is: its name, or the method that a model has of it."""
    if isinstance(func, partial):
        event: Any = getattr(cast("partial[object]", func).func, "__self__", None)
        func = getattr(event, "name", None)
    return func if isinstance(func, str) and func in machine.events else None
