"""`enumerate` from a number on, as the pairs of a range and the elements."""

from __future__ import annotations

from ... import ir, ops
from ... import types as t
from ...syntax import tree
from .. import expressions
from ..context import Body
from ..families import gathered


def numbered(b: Body, node: tree.Apply) -> ir.Expr | None:
    """`enumerate(xs, 1)`: the numbers from 1 on beside the elements; None where no start is
    given."""
    given = [*node.args[1:], *(value for word, value in node.keywords if word == "start")]
    if len(node.args) < 1 or len(given) != 1 or len(node.args) + len(node.keywords) != 2:
        return None
    of, item = expressions.iterable(b, node.args[0])
    if t.contains(item, t.Part):
        gathered(b, of.place, of.type)
        return b.wrong(node.place)
    start = expressions.expr(b, given[0], t.INT)
    if isinstance(of.type, t.Unknown) or isinstance(start.type, t.Unknown):
        return b.wrong(node.place)
    if not t.ordered(of.type):
        expressions.unordered(b, node.place, "enumerate(...) of an unordered collection")
    if not t.fits(start.type, t.INT):
        expressions.misfit(b, start.place, start.type, t.INT)
    if isinstance(of, ir.Op) and of.op in ops.ITERATORS:
        of = ir.Op(of.place, t.Seq(item, False), "tuple_of", (of,))
    count = ir.Op(node.place, t.INT, "len", (of,))
    end = ir.Op(node.place, t.INT, "add", (start, count))
    numbers = ir.Op(node.place, t.Iter(t.INT, True), "range", (start, end))
    both = t.Iter(t.Tuple((t.INT, item)), True)
    return ir.Op(node.place, both, "zip", (numbers, of))
