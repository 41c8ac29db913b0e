"""Conditions: what Python takes for true."""

from __future__ import annotations

from .. import ir
from .. import types as t
from ..syntax import tree
from .context import Body
from .expressions import infer, misfit


def truth(b: Body, node: tree.Expression) -> ir.Expr:
    """A condition: a bool; an integer, which may be None, is true where it is neither that nor 0, a
    collection where it is not empty, a record that may be None where it is not."""
    b.asked = node  # `and` and `or` give one of their sides: only where that is a condition.
    found = infer(b, node, t.BOOL)
    match found.type:
        case t.Serial() | t.Iter():
            pass
        case t.Int():
            return ir.Op(found.place, t.BOOL, "ne", (found, ir.Const(found.place, t.INT, 0)))
        case t.Set() | t.Seq() | t.Map() | t.Bag():
            count = ir.Op(found.place, t.INT, "len", (found,))
            return ir.Op(found.place, t.BOOL, "gt", (count, ir.Const(found.place, t.INT, 0)))
        case t.Union() | t.Record() if _true_unless_none(b, (whole := _widest(found)).type):
            none = ir.IsA(found.place, t.BOOL, whole, (t.NOTHING,))
            return ir.Op(found.place, t.BOOL, "not", (none,))
        case t.Union(options=(t.Int() as kind, t.Nothing()) | (t.Nothing(), t.Int() as kind)) if (
            not isinstance(kind, t.Serial)
        ):
            none = ir.IsA(found.place, t.BOOL, found, (t.NOTHING,))
            number, zero = ir.Narrow(found.place, kind, found), ir.Const(found.place, t.INT, 0)
            given = ir.Op(found.place, t.BOOL, "not", (none,))
            counts = ir.Op(found.place, t.BOOL, "ne", (number, zero))
            return ir.And(found.place, t.BOOL, (given, counts))
        case _:
            pass
    if not t.fits(found.type, t.BOOL):
        misfit(b, found.place, found.type, t.BOOL)
        return b.wrong(node.place)
    return found


def _widest(found: ir.Expr) -> ir.Expr:
    """The value with the type that it had before any test."""
    return _widest(found.of) if isinstance(found, ir.Narrow) else found


def _true_unless_none(b: Body, kind: t.Type) -> bool:
    """Whether None is the one value of the type that Python takes for false."""
    options = t.options(kind)
    others = [option for option in options if not isinstance(option, t.Nothing)]
    return len(others) < len(options) and all(
        isinstance(option, t.Record)
        and not any(hasattr(b.scene.records[option.name], each) for each in ("__bool__", "__len__"))
        for option in others
    )
