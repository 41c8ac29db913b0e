"""Constant lists in comparisons: a constant of the module is a tuple here, and Python has a list,
which equals no tuple."""

from __future__ import annotations

from typing import Any

from ... import ir
from ... import types as t
from ...syntax import tree
from .. import tuples
from ..context import Body


def constant_list(b: Body, node: tree.Expression, found: ir.Expr) -> ir.Expr:
    """A constant list, or a part of one, as the list that it is; anything else unchanged. What is
    inside a constant is a tuple here, so a list there has no equal."""
    static = b.static(node.of if isinstance(node, tree.Cut) else node)
    if isinstance(static, list) and isinstance(found.type, t.Seq | t.Tuple):
        if found.type == t.Tuple(()):
            return ir.Op(found.place, t.Seq(t.Unknown(), mutable=True), "list", ())
        made = tuples.as_sequence(found) if isinstance(found.type, t.Tuple) else (found, None)
        if made is not None and isinstance(made[0].type, t.Seq):
            kind = t.Seq(made[0].type.item, mutable=True)
            return ir.Op(found.place, kind, "list_of", (made[0],))
    elif not (_has_list(_root(b, node)) and isinstance(found.type, t.Seq | t.Tuple)):
        return found
    b.problem(
        "L203",
        node.place,
        "== of a list that is in a constant",
        "lists of one type, or tuples",
        "make it a tuple in the constant, and compare tuples",
    )
    return b.wrong(node.place)


def _root(b: Body, node: tree.Expression) -> object:
    """The constant that an item or a part is of; None of what is none."""
    while isinstance(node, tree.Subscript | tree.Cut):
        node = node.of
    static: object = b.static(node)
    return static


def _has_list(value: object) -> bool:
    """Whether a list is inside a constant."""
    whole: Any = value
    inside: list[Any] = []
    if isinstance(value, dict):
        inside = [*whole.values()]
    elif isinstance(value, list | tuple):
        inside = [*whole]
    return any(isinstance(each, list) or _has_list(each) for each in inside)
