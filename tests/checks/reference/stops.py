"""What ends a step of a twin, the words that do it, and its bags."""

from __future__ import annotations

import collections
from typing import Any

UNDEFINED = (
    KeyError,
    IndexError,
    ZeroDivisionError,
    ValueError,
    AttributeError,
    TypeError,
    UnboundLocalError,
    RuntimeError,
)


class Stop(Exception):
    """A guard is false."""


class OutOfTarget(Exception):
    """The body leaves the control state in none of the states that `target` names."""


class Several(Exception):
    """Two transitions of one event of a part are enabled."""


FAULTS = (*UNDEFINED, AssertionError, OutOfTarget, Several)


class Counted(collections.Counter[Any]):
    """A bag as the language has it: an element with count 0 is absent."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        for key in [key for key, count in self.items() if not count]:
            del self[key]

    def __setitem__(self, key: Any, count: int) -> None:
        if count:
            super().__setitem__(key, count)
        else:
            self.pop(key, None)


def require(condition: bool, why: str = "", /) -> None:
    if not condition:
        raise Stop


def refuse(why: str, /) -> None:
    raise Stop


def needed(value: Any, why: str, /) -> Any:
    if value is None:
        raise Stop
    return value
