"""Callees: what a call of a machine's member by name runs, and its arguments by name.

    callee := Start                an `@initial`
            | One                  a transition; an event that nothing else serves or ignores
            | Several              an event: its one enabled transition, or an ignore

Each has the `params` and the `output` that the caller sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from .. import ir
from .. import types as t
from ..quick_dataclass import dataclass

Params = tuple[tuple[str, t.Type], ...]
_Arg = TypeVar("_Arg")


def bind(params: Params, args: Iterable[_Arg]) -> dict[str, _Arg]:
    """The arguments by the names of the parameters; ValueError where there are more or fewer."""
    return {row[0]: arg for row, arg in zip(params, args, strict=True)}


@dataclass(frozen=True, slots=True)
class Start:
    """The call runs an `@initial`, which gives nothing."""

    params: Params
    output: t.Type
    function: ir.Function


@dataclass(frozen=True, slots=True)
class One:
    """The call runs this transition, and is refused where the transition is."""

    params: Params
    output: t.Type
    transition: ir.Transition


@dataclass(frozen=True, slots=True)
class Several:
    """The call tries each transition; where none is enabled, an ignore may accept the event."""

    params: Params
    output: t.Type
    event: str
    serving: tuple[ir.Transition, ...]
    ignores: tuple[ir.Ignore, ...]


def callee(machine: ir.Machine, name: str) -> Start | One | Several:
    """What a call of the `@initial`, event or transition runs; KeyError if there is none."""
    for f in machine.initials:
        if f.name == name:
            return Start(f.params, t.NOTHING, f)
    for event in machine.events:
        if event.name == name:
            return _event(machine, event)
    row = machine.transition(name)
    return One(row.function.params, row.function.output, row)


def _event(machine: ir.Machine, event: ir.Event) -> One | Several:
    serving = machine.serving(event.name)
    ignores = tuple(row for row in machine.ignores if row.event == event.name)
    if len(serving) == 1 and not ignores:
        return One(event.params, event.output, serving[0])
    return Several(event.params, event.output, event.name, serving, ignores)
