"""Clocks and timers in declarations: what `Clock(...)` and `Timer(...)` give."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, TypeGuard

from .. import ir, words
from .. import types as t
from ..syntax import tree
from ..syntax.declare import Names
from .context import Body
from .methods import refused

STARTED = "it begins stopped: start it in a transition or @initial, self.t.start(seconds)"


def made(b: Body, node: tree.Apply, cls: type[words.Timer | words.Clock]) -> ir.Expr:
    """The initial value that `Timer(...)` or `Clock(...)` is."""
    if issubclass(cls, words.Timer):
        urgent = _urgent(node)
        if urgent is None:
            return refused(b, node, "Timer() or Timer(urgent=True)", rewrite=STARTED)
        return ir.Const(node.place, t.Timer(urgent), False)
    tick = _tick(node, b.names)
    if tick is None:
        return refused(b, node, "Clock(tick=0.5), a number of seconds above 0")
    return ir.Const(node.place, t.Clock(tick), 0)


def settled(kind: t.Type, default: tree.Expression | None, names: Names) -> t.Type:
    """The type of a field, of which its default tells how urgent or how long a tick is."""
    match kind:
        case t.Clock() if isinstance(default, tree.Apply):
            return t.Clock(_tick(default, names) or kind.tick)
        case t.Timer():
            return t.Timer(any(_urgent(node) for node in _calls(default)))
        case t.Map(value=t.Timer()):
            return dataclasses.replace(kind, value=settled(kind.value, default, names))
        case _:
            return kind


def _calls(node: object) -> Iterator[tree.Apply]:
    """The calls in an expression, outer ones first."""
    if isinstance(node, tree.Apply):
        yield node
    if isinstance(node, tree.Tree):
        for f in dataclasses.fields(node):
            yield from _calls(getattr(node, f.name))
    elif _is_tuple(node):
        for each in node:
            yield from _calls(each)


def _is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    return isinstance(value, tuple)


def _urgent(node: tree.Apply) -> bool | None:
    """The value of `urgent` in a call; None for any other arguments."""
    match node.args, node.keywords:
        case (), ():
            return False
        case (), (("urgent", tree.Literal(value=bool() as urgent)),):
            return urgent
        case _:
            return None


def _tick(node: tree.Apply, names: Names) -> float | None:
    """The seconds of a tick; None where the call says something else."""
    match node.args, node.keywords:
        case (), ():
            return words.Clock().tick
        case ((given,), ()) | ((), (("tick", given),)):
            value = _constant(given, names)
        case _:
            return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 < value < float("inf") else None


def _constant(node: tree.Expression, names: Names) -> Any:
    match node:
        case tree.Literal(value=value):
            return value
        case tree.Name(name=name) if name in names:
            return names[name]
        case _:
            return None
