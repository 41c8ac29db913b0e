"""`return [...]` where a `Sequence` is declared: who calls the transition gets a tuple."""

from __future__ import annotations

from ... import ir
from ... import types as t
from ...syntax import tree
from ..aliasing import own_container
from ..context import Body
from ..expressions import expr, infer, misfit


def given_out(b: Body, node: tree.Expression) -> ir.Expr:
    """What a body returns, at the type of its output."""
    wanted = b.output
    if b.mode != "transition" or not isinstance(wanted, t.Seq | t.Set) or wanted.mutable:
        return expr(b, node, wanted)
    value = _frozen(b, infer(b, node, wanted), wanted)
    if not t.fits(value.type, wanted):
        misfit(b, value.place, value.type, wanted)
        return b.wrong(node.place)
    return value


def _frozen(b: Body, value: ir.Expr, wanted: t.Type) -> ir.Expr:
    """The immutable form of a list or a set of this body's own."""
    match value.type, wanted:
        case t.Seq(item=item, mutable=True), t.Seq(item=of) if t.fits(item, of):
            op = "tuple_of"
        case t.Set(item=item, mutable=True), t.Set(item=of) if t.fits(item, of):
            op = "frozenset_of"
        case _:
            return value
    if not (isinstance(value, ir.Local) and value.name in b.owned):
        own_container(b, value, value.place)
    return ir.Op(value.place, wanted, op, (value,))
