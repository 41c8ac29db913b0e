"""Conditions: what Python takes for true."""

from __future__ import annotations

import enum

from .. import ir
from .. import types as t
from ..syntax import tree
from .context import Body
from .expressions import infer, misfit

SAYS = ("__bool__", "__len__")
PLAIN = (int, str)  # What makes their members true needs no code of the declaration.


def truth(b: Body, node: tree.Expression) -> ir.Expr:
    """A condition: a bool, which may be None; an integer, which may be None, is true where it is
    neither that nor 0, a collection where it is not empty, a record, a member or an element where
    it is not None."""
    b.asked = node  # `and` and `or` give one of their sides: only where that is a condition.
    found = infer(b, node, t.BOOL)
    match found.type:
        case t.Serial():
            pass
        case t.Iter() if not is_range(found):
            pass
        case t.Int():
            return ir.Op(found.place, t.BOOL, "ne", (found, ir.Const(found.place, t.INT, 0)))
        case t.Set() | t.Seq() | t.Map() | t.Bag() | t.Iter():
            return _filled(found)
        case t.Union() | t.Record() | t.Sort() | t.Enum() if _true_unless_none(
            b, (whole := widest(found)).type
        ):
            none = ir.IsA(found.place, t.BOOL, whole, (t.NOTHING,))
            return ir.Op(found.place, t.BOOL, "not", (none,))
        case t.Union() if (test := _unless_none(found)) is not None:
            return test
        case _:
            pass
    if not t.fits(found.type, t.BOOL):
        misfit(b, found.place, found.type, t.BOOL)
        return b.wrong(node.place)
    return found


def true_or_not(b: Body, node: tree.Expression) -> ir.Expr:
    """A side of `or` after which another follows: a bool, which may be None."""
    found = infer(b, node, t.BOOL)
    if t.BOOL in t.options(found.type) and (test := _unless_none(found)) is not None:
        return test
    if not t.fits(found.type, t.BOOL):
        misfit(b, found.place, found.type, t.BOOL)
        return b.wrong(node.place)
    return found


def _unless_none(found: ir.Expr) -> ir.Expr | None:
    """Whether a value that may be None is there, and true; None where that is no condition."""
    match found.type:
        case t.Union(options=(kind, t.Nothing()) | (t.Nothing(), kind)):
            held = ir.Narrow(found.place, kind, found)
        case _:
            return None
    match kind:
        case t.Serial():
            return None
        case t.Bool():
            test: ir.Expr = held
        case t.Int():
            test = ir.Op(found.place, t.BOOL, "ne", (held, ir.Const(found.place, t.INT, 0)))
        case t.Set() | t.Seq() | t.Map() | t.Bag():
            test = _filled(held)
        case _:
            return None
    none = ir.IsA(found.place, t.BOOL, found, (t.NOTHING,))
    given = ir.Op(found.place, t.BOOL, "not", (none,))
    return ir.And(found.place, t.BOOL, (given, test))


def _filled(found: ir.Expr) -> ir.Expr:
    """Whether a collection is not empty."""
    count = ir.Op(found.place, t.INT, "len", (found,))
    return ir.Op(found.place, t.BOOL, "gt", (count, ir.Const(found.place, t.INT, 0)))


def is_range(value: ir.Expr) -> bool:
    """Whether the value is a range, or one of several."""
    match value:
        case ir.Op(op="range"):
            return True
        case ir.Local(type=t.Iter()):  # No other iterable is kept in a local.
            return True
        case ir.If(then=then, other=other):
            return is_range(then) and is_range(other)
        case _:
            return False


def widest(found: ir.Expr) -> ir.Expr:
    """The value with the type that it had before any test."""
    return widest(found.of) if isinstance(found, ir.Narrow) else found


def _true_unless_none(b: Body, kind: t.Type) -> bool:
    """Whether None is the one value of the type that Python takes for false."""
    options = t.options(kind)
    others = [option for option in options if not isinstance(option, t.Nothing)]
    return len(others) < len(options) and all(_always_true(b, option) for option in others)


def _always_true(b: Body, kind: t.Type) -> bool:
    """Whether Python takes every value of this type for true."""
    cls: type | None = None
    match kind:
        case t.Sort() | t.Literal():  # A text of a Literal is not empty.
            return True
        case t.Record(name=name):
            cls = b.scene.records[name]
        case t.Enum(name=name):
            cls = b.scene.enums[name]
        case _:
            pass
    if cls is None or any(each in vars(c) for c in cls.__mro__ for each in SAYS if c not in PLAIN):
        return False
    # One that is a number or a text, too, has the truth of those.
    return not issubclass(cls, enum.Enum) or all(map(bool, cls))
