"""Which integers an expression may have, if the variables in it stay within the scope."""

from __future__ import annotations

from itertools import product

from lawful.spec import ir

Range = tuple[int, int]
WIDEST = 1 << 32  # Wider ranges would make states large; few of their values are ever met.


def range_of(e: ir.Expr, within: Range) -> Range:
    """The least and the greatest value of an integer expression; a guess where it has an operator
    whose result is not followed. `within` are the least and the greatest integer of the scope."""
    low, high = _range(e, within)
    return (low, high) if high - low < WIDEST else within


def _range(e: ir.Expr, within: Range) -> Range:
    match e:
        case ir.Const(value=int() as value):
            return value, value
        case ir.If(then=then, other=other):
            return _hull(_range(then, within), _range(other, within))
        case ir.Op(op="add" | "sub" | "mul" | "min" | "max" as op, args=(a, b)):
            return _combined(op, _range(a, within), _range(b, within))
        case ir.Op(op="neg", args=(a,)):
            low, high = _range(a, within)
            return -high, -low
        case _:
            return within


def _combined(op: str, a: Range, b: Range) -> Range:
    match op:
        case "add":
            return a[0] + b[0], a[1] + b[1]
        case "sub":
            return a[0] - b[1], a[1] - b[0]
        case "min":
            return min(a[0], b[0]), min(a[1], b[1])
        case "max":
            return max(a[0], b[0]), max(a[1], b[1])
        case _:
            corners = [x * y for x, y in product(a, b)]
            return min(corners), max(corners)


def _hull(a: Range, b: Range) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])
