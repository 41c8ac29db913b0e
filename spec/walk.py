"""Walking the IR: every expression, statement and path of a body."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from . import ir


def children(node: ir.Node) -> Iterator[ir.Node]:
    """The nodes directly inside a node, in the order of its fields."""
    for f in dataclasses.fields(node):
        if f.name != "place":
            yield from _nodes(getattr(node, f.name))


def _nodes(value: object) -> Iterator[ir.Node]:
    if isinstance(value, ir.Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def everything(nodes: Iterable[object]) -> Iterator[ir.Node]:
    """The nodes and all that is inside them, outer before inner, left to right."""
    for given in nodes:
        for node in _nodes(given):
            yield node
            yield from everything(children(node))


def statements(body: Iterable[ir.Stmt]) -> Iterator[ir.Stmt]:
    """All statements of a body, those inside branches and loops included."""
    return (node for node in everything(body) if isinstance(node, ir.Stmt))


def written(stmt: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The places that a statement itself assigns or updates, parts that step included."""
    match stmt:
        case ir.Assign(target=target):
            return (target,)
        case ir.Update(target=target, into=into) | ir.Step(part=target, into=into):
            return (target,) if into is None else (target, into)
        case ir.Base(into=into) | ir.Do(into=into) if into is not None:
            return (into,)
        case _:
            return ()
