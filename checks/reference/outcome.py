"""Outcomes of a step in the reference engine: done, refused, or a fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.spec.outcomes import Reason
from lawful.spec.quick_dataclass import dataclass

from .states import State


class Broken(Exception):
    """The step violates a built-in property: `asserts` or `ambiguous`."""

    def __init__(self, name: str, what: str) -> None:
        self.name = name
        self.what = what


@dataclass(frozen=True, slots=True)
class Done:
    """The step happened."""

    state: State
    output: Any
    transition: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A guard is false; `reason` says which, and is worked out only when asked for."""

    transition: str
    reason: Callable[[], Reason]


@dataclass(frozen=True, slots=True)
class Fault:
    """The step breaks the built-in property `name` (`bounds`, `asserts`, `undefined`, ...)."""

    name: str
    what: str
    transition: str


Outcome = Done | Refusal | Fault
