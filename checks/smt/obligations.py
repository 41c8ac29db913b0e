"""Cases and questions: a start or step of a machine, and whether it keeps a property."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from lawful.spec import types as t
from lawful.spec.ir import Json

from .algebra.term import Term
from .encode.sorts import NotEncodable
from .encode.symbolic import State, SymbolicStep, TypedValue

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Fixed:
    """Fixed values of parameters, state and arguments, in JSON form."""

    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])
    state: Mapping[str, Json] = field(default_factory=dict[str, Json])
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True)
class Case:
    """A start or a transition: the state before (None at a start), arguments, and the step.

    `given` are assumptions. `bounded`: the state after the step keeps the bounds of its types.
    `within`: it keeps the lengths of the scope.
    """

    name: str
    event: str
    before: State | None
    args: Mapping[str, TypedValue]
    given: tuple[Term, ...]
    step: SymbolicStep
    bounded: Term
    within: Term
    output: t.Type


@dataclass(frozen=True)
class Question:
    """Whether the facts imply the goals."""

    facts: tuple[Term, ...]
    goals: tuple[Term, ...]


def attempt(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | NotEncodable:
    """The result of `work`, or the NotEncodable that it raises."""
    try:
        return work(*args, **kwargs)
    except NotEncodable as error:
        return error
