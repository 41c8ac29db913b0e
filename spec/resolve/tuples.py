"""Tuples of fixed length: their items one by one, chained and cut."""

from __future__ import annotations

from .. import ir
from .. import types as t
from ..errors import Place


def items_of(of: ir.Expr) -> tuple[ir.Expr, ...]:
    """The items of a tuple of fixed length; they have no effects, so the tuple may be evaluated
    twice."""
    assert isinstance(of.type, t.Tuple)
    consts = (ir.Const(of.place, t.INT, i) for i in range(len(of.type.items)))
    both = zip(of.type.items, consts, strict=True)
    return tuple(ir.Item(of.place, kind, of, at) for kind, at in both)


def given(of: ir.Expr) -> tuple[ir.Expr, ...]:
    """The same, of a tuple that is written out here its own expressions."""
    return of.args if isinstance(of, ir.Op) and of.op == "tuple" else items_of(of)


def made(place: Place, items: tuple[ir.Expr, ...]) -> ir.Expr:
    """The tuple of fixed length that has these items."""
    return ir.Op(place, t.Tuple(tuple(item.type for item in items)), "tuple", items)


def chained(place: Place, left: ir.Expr, right: ir.Expr) -> ir.Expr | None:
    """Two tuples concatenated: of fixed length if both are; None if their items have different
    types."""
    match left.type, right.type:
        case t.Tuple(), t.Tuple():
            return made(place, (*given(left), *given(right)))
        case t.Seq(item=item), _:
            kind: t.Type = t.Seq(item, mutable=False)
        case _, t.Seq(item=item):
            kind = t.Seq(item, mutable=False)
        case _:
            return None
    if not t.fits(left.type, kind) or not t.fits(right.type, kind):
        return None
    sides = tuple(_sequence(side, kind) for side in (left, right))
    return ir.Op(place, kind, "concat", sides)


def _sequence(of: ir.Expr, kind: t.Type) -> ir.Expr:
    """A tuple of fixed length as a sequence of this type; a sequence as it is."""
    fixed = isinstance(of.type, t.Tuple)
    return ir.Op(of.place, kind, "tuple", given(of)) if fixed else of


def as_sequence(of: ir.Expr) -> tuple[ir.Expr, t.Type] | None:
    """A tuple of fixed length whose items have one type, as a sequence that is as long, and that
    type; None where they have several."""
    items = given(of)
    for kind in (t.widened(item.type) for item in items):
        if all(t.fits(item.type, kind) for item in items):
            whole = t.Seq(kind, mutable=False, most=len(items))
            return ir.Op(of.place, whole, "tuple", items), kind
    return None


def cut(place: Place, of: ir.Expr, low: int | None, high: int | None) -> ir.Expr | None:
    """A slice of a tuple of fixed length, between literal bounds; None where nothing is left."""
    items = items_of(of)[low:high]
    return made(place, items) if items else None
