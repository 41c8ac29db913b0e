"""Timers that fire by themselves, and the code that finds their deadlines."""

from __future__ import annotations

import ast

from lawful.spec import ir
from lawful.spec import types as t

from .python_ast import name
from .statements import Body


def fireable(machine: ir.Machine) -> list[list[ir.Transition]]:
    """The transitions of each timer, grouped; those whose parameters are all keys of its place."""
    groups: dict[tuple[ir.Expr, tuple[str, ...]], list[ir.Transition]] = {}
    for tr in machine.transitions:
        params = tuple(n for n, _ in tr.function.params)
        if tr.timer is not None and set(params) <= set(_keys(tr.timer)):
            groups.setdefault((tr.timer, params), []).append(tr)
    return list(groups.values())


def due_timers(body: Body, tr: ir.Transition) -> ast.stmt:
    """The statement that returns (deadline, arguments) of each armed timer of the transition."""
    assert tr.timer is not None
    params = [n for n, _ in tr.function.params]
    loops: list[ast.comprehension] = []
    for item in _items(tr.timer):
        key = item.key
        if isinstance(key, ir.Local):
            to = ast.Name(key.name, ast.Store())
            loops.append(ast.comprehension(to, body.expr(item.of), [], 0))
    due = body.names.local("due")
    armed = ast.Compare(name(due), [ast.IsNot()], [ast.Constant(None)])
    once = ast.List([body.expr(tr.timer)], ast.Load())
    loops.append(ast.comprehension(ast.Name(due, ast.Store()), once, [armed], 0))
    args = ast.Tuple([name(p) for p in params], ast.Load())
    return ast.Return(ast.ListComp(ast.Tuple([name(due), args], ast.Load()), loops))


def _items(place: ir.Expr) -> list[ir.Item]:
    """The lookups on the way to a place, outermost container first."""
    match place:
        case ir.Item(of=of):
            return [*_items(of), place]
        case ir.Field(of=of) | ir.Narrow(of=of):
            return _items(of)
        case _:
            return []


def _keys(place: ir.Expr) -> list[str]:
    return [item.key.name for item in _items(place) if isinstance(item.key, ir.Local)]


def has_time(kind: t.Type) -> bool:
    """Whether a variable of this type is a clock, or is or may hold a timer."""
    return isinstance(kind.value if isinstance(kind, t.Map) else kind, t.Timer | t.Clock | t.Part)
