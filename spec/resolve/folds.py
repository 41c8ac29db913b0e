"""`all`, `any`, `sum`, `min` and `max`: one value of many."""

from __future__ import annotations

import dataclasses
from typing import TypeGuard

from .. import ir
from .. import types as t
from ..syntax import tree
from . import expressions, ordered_sorts
from .comprehensions import comprehension, each_of
from .context import Body, Caller
from .families import gathered
from .methods import refused
from .short_forms.enum_integers import has_order
from .short_forms.judged_lists import judged_list
from .short_forms.keyed_orders import has_key, keyed, least_member, of_members
from .short_forms.mapped import comprehended


def values_of(b: Body, node: tree.Expression, any_order: bool = False) -> tuple[ir.Expr, t.Type]:
    """The iterable, and the type of its elements, which are values and not machines; `any_order`
    where the order of what is made for this one call does not show."""
    if any_order and is_folded(node):
        made = comprehension(b, node, "tuple", None, any_order=True)
        return made, t.element(made.type) or t.Unknown()
    over, item = expressions.iterable(b, node)
    if t.contains(item, t.Part):
        gathered(b, over.place, over.type)
        return b.wrong(node.place), t.Unknown()
    return over, item


def is_folded(node: tree.Expression) -> TypeGuard[tree.Comprehension]:
    """Whether it is a generator, or a list that is made for the one call that it is given to."""
    return isinstance(node, tree.Comprehension) and node.kind in ("generator", "list")


def fold(kind: ir.CompKind, op: str, type: t.Type) -> Caller:
    """`all`, `any`, `sum`, `min`, `max` of one iterable; min and max also of several values."""

    def resolve(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
        least = kind in ("min", "max")
        if least and has_key(node, kind):
            return keyed(b, node, kind)
        if least and len(node.args) > 1 and not node.keywords:
            args = tuple(expressions.expr(b, arg) for arg in node.args)
            if (member := of_members(b, node.place, kind, args)) is not None:
                return member
            of = ordered_sorts.compared(b, node.place, tuple(arg.type for arg in args), kind)
            return ir.Op(node.place, t.widened(of), kind, args)
        if least and len(node.args) == 1 and [name for name, _ in node.keywords] == ["default"]:
            return _or_default(b, node, kind)
        if kind == "sum" and len(node.args) == 2 and not node.keywords:
            alone = tree.Apply(node.place, node.function, node.args[:1], ())
            return expressions.expr(b, tree.Binary(node.place, "+", alone, node.args[1]), t.INT)
        if len(node.args) != 1 or node.keywords:
            more = f", {kind}(a, b) or {kind}(collection, default=0)"
            return refused(b, node, f"{kind}(collection){more if least else ''}")
        argument = comprehended(b, node.args[0])
        if least and (found := least_member(b, node, kind)) is not None:
            return found
        if is_folded(argument):
            if kind in ("all", "any") and argument.kind == "list":
                return judged_list(b, node.place, argument, kind)
            made = comprehension(b, argument, kind, None)
            return dataclasses.replace(made, place=node.place)
        over, item = values_of(b, argument)
        if (kind == "sum" and has_order(b, item)) or (
            kind in ("all", "any") and not isinstance(item, t.Bool | t.Unknown)
        ):
            made = comprehension(b, each_of(argument), kind, None)
            return dataclasses.replace(made, place=node.place)
        if least:
            item = t.widened(ordered_sorts.compared(b, node.place, (item,), kind))
        elif not t.fits(item, type):
            return refused(b, node, f"a collection of {type}", "L203")
        return ir.Op(node.place, item if least else type, op, (over,))

    return resolve


def _or_default(b: Body, node: tree.Apply, builtin: str) -> ir.Expr:
    """`min` or `max` of a collection, and the default where that is empty."""
    argument, default = comprehended(b, node.args[0]), dict(node.keywords)["default"]
    if is_folded(argument):
        over = comprehension(b, argument, "tuple", None, any_order=True)
        item = t.element(over.type) or t.Unknown()
    else:
        over, item = values_of(b, argument)
    item = t.widened(ordered_sorts.compared(b, node.place, (item,), builtin))
    other = expressions.expr(b, default)
    result = expressions.join(b, node.place, (item, other.type))
    return ir.Op(node.place, result, f"{builtin}_or", (over, other))
