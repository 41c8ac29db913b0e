"""The first element: `next((e for x in xs if p), default)`, `next(iter(q))`."""

from __future__ import annotations

from ... import ir
from ... import types as t
from ...analysis.partiality import always_defined
from ...syntax import tree
from .. import expressions
from ..comprehensions import comprehension
from ..context import Body
from ..declared.serials import declared
from ..methods import only, refused
from .judged_lists import first_of


def first_element(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    """`next((e for x in xs if p), default)`: the first, or the default."""
    generator = first_of(b, node.args[0]) if node.args else None
    if not isinstance(generator, tree.Comprehension) or generator.kind != "generator":
        return refused(b, node, "next((e for x in xs if p), default)")
    if len(node.args) == 1 and not node.keywords:  # Without a first one it has no value.
        every = comprehension(b, generator, "tuple", None)
        if not isinstance(every, ir.Comp) or not isinstance(every.type, t.Seq):
            return every
        tests = [test for clause in every.clauses for test in clause.conditions]
        if not always_defined(every.element, *tests, unsure=b.unsure):
            return refused(b, node, "a default, for a value or a condition may have none", "L204")
        first = ir.Const(node.place, t.INT, 0)
        return ir.Item(node.place, every.type.item, every, first)
    if not only(b, node, 2):
        return b.wrong(node.place)
    inside = None if expected is None else t.Seq(expected, mutable=False)
    made = comprehension(b, generator, "first", inside)
    if not isinstance(made.type, t.Seq):
        return made
    other = expressions.expr(b, node.args[-1], expected)
    other = declared(b, other, made.type.item)
    kind = expected or expressions.join(b, node.place, (made.type.item, other.type))
    return ir.Op(node.place, kind, "first_or", (made, other))
