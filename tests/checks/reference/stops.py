"""How a step of a twin ends, the words that end it, and its bags."""

from __future__ import annotations

import collections
from typing import Any

UNDEFINED = (
    KeyError,
    IndexError,
    OverflowError,
    ZeroDivisionError,
    ValueError,
    AttributeError,
    TypeError,
    NameError,
    RuntimeError,
    StopIteration,
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


REFUSED_BY_PYTHON = {
    "unhashable": "unhashable",
    "super(type, obj)": "no super",
    "too large to convert to C": "index too large",
}


def undefined_by(error: Exception) -> str:
    """What has no value, or why Python refuses what the language has.

    A container that is no key in Python may be one in the language, `super()` stands for an
    instance also in a generator, and a list takes an item in at any index.
    """
    found = (kind for text, kind in REFUSED_BY_PYTHON.items() if text in str(error))
    return next(found, "undefined")
