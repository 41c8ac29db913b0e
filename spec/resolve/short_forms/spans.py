"""Constant spans of time: `int(LEASE.total_seconds())`, `LEASE // timedelta(minutes=1)`, and
`timer.start(LEASE)`.

Python computes them when the declaration is read; what is left is a number.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ... import ir
from ... import types as t
from ...syntax import tree
from ..constants import constant
from ..context import MISSING, Body

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": operator.mod,
}
PARTS = frozenset({"days", "seconds", "microseconds"})


def _span() -> Any:
    """The class of spans: who wrote one has imported its module, and nobody else needs it."""
    return getattr(sys.modules.get("datetime"), "timedelta", MISSING)


def number_of_span(b: Body, node: tree.Expression) -> ir.Expr | None:
    """The number that an expression gives of constant spans; None where no span is in it, or
    something that is no constant."""
    found = _value(b, node) if _has_span(b, node) else None
    return constant(b, found, node.place) if type(found) in (int, float) else None


def in_seconds(b: Body, node: tree.Expression) -> tree.Expression:
    """What a timer is started with, its constant spans as seconds; anything else as it is."""
    match node:
        case tree.Conditional(then=then, other=other):
            return replace(node, then=in_seconds(b, then), other=in_seconds(b, other))
        case tree.Subscript(of=of) if spans_of(b.static(of)):
            method = tree.Attribute(node.place, node, "total_seconds")
            return tree.Apply(node.place, method, (), ())
        case _:
            found = _value(b, node) if _has_span(b, node) else None
            if found is None or type(found) is not _span():
                return node
            return tree.Literal(node.place, found.total_seconds())


def spans_of(table: object) -> dict[Any, float] | None:
    """The seconds of a dict, tuple or list of spans, by key or index; None of another object."""
    whole: Any = table
    if isinstance(table, dict):
        rows: dict[Any, Any] = whole
    elif isinstance(table, tuple | list):
        items: list[Any] = [*whole]
        rows = dict(enumerate(items))
    else:
        return None
    if not all(type(span) is _span() for span in rows.values()):
        return None
    return {key: span.total_seconds() for key, span in rows.items()}


def whole_bounds(op: str, left: ir.Expr, right: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """`n < LEASE.total_seconds()`: an integer is compared with the next whole number of a constant,
    which gives the same; other operands stay as they are."""
    match left, right:
        case ir.Expr(type=t.Int()), ir.Const(value=float(bound)) if math.isfinite(bound):
            up = op in ("<", ">=")
            return left, _whole(right, up)
        case ir.Const(value=float(bound)), ir.Expr(type=t.Int()) if math.isfinite(bound):
            return _whole(left, op in (">", "<=")), right
        case _:
            return left, right


def _whole(bound: ir.Const, up: bool) -> ir.Const:
    assert isinstance(bound.value, float)
    value = math.ceil(bound.value) if up else math.floor(bound.value)
    return ir.Const(bound.place, t.INT, value)


def _has_span(b: Body, node: tree.Expression) -> bool:
    match node:
        case tree.Apply(function=function, args=args):
            static = b.static(function)
            if static is _span():
                return static is not MISSING
            if static is int or static is round or static is abs:
                return any(_has_span(b, arg) for arg in args)
            return isinstance(function, tree.Attribute) and _has_span(b, function.of)
        case tree.Binary(left=left, right=right):
            return _has_span(b, left) or _has_span(b, right)
        case tree.Unary(of=of):
            return _has_span(b, of)
        case tree.Name() | tree.Attribute():
            if type(b.static(node)) is _span():
                return True
            return isinstance(node, tree.Attribute) and _has_span(b, node.of)
        case _:
            return False


def _value(b: Body, node: tree.Expression) -> Any:
    """A span or a number; None where it is neither, or Python refuses."""
    try:
        match node:
            case tree.Literal(value=int() | float() as value) if not isinstance(value, bool):
                return value
            case tree.Binary(op=op, left=left, right=right) if op in OPERATORS:
                return OPERATORS[op](_value(b, left), _value(b, right))
            case tree.Unary(op="-", of=of):
                return -_value(b, of)
            case tree.Apply():
                return _called(b, node)
            case tree.Attribute(of=of, name=name) if name in PARTS:
                return getattr(_value(b, of), name)
            case _:
                found = b.static(node)
                return (
                    None if found is MISSING or type(found) not in (int, float, _span()) else found
                )
    except (TypeError, ValueError, AttributeError, ArithmeticError):
        return None


def _called(b: Body, node: tree.Apply) -> Any:
    function, args = node.function, [_value(b, arg) for arg in node.args]
    static = b.static(function)
    if static is _span() and static is not MISSING:
        return static(*args, **{word: _value(b, value) for word, value in node.keywords})
    if (static is int or static is round or static is abs) and len(args) == 1 and not node.keywords:
        return static(args[0])
    if isinstance(function, tree.Attribute) and function.name == "total_seconds" and not args:
        found = _value(b, function.of)
        return found.total_seconds() if type(found) is _span() else None
    return None
