"""`x or y` and `x and y` that give one of their sides, and no bool that says whether it is true."""

from __future__ import annotations

from dataclasses import replace

from ... import ir
from ... import types as t
from ...syntax import tree
from ..conditions import truth
from ..context import Body, facts_if
from ..expressions import expr, infer, join


def given_side(b: Body, node: tree.Both | tree.Either, expected: t.Type | None) -> ir.Expr | None:
    """`x or y` as `x if x else y`, and `x and y` as `y if x else x`. None where x is a bool, or for
    `and` a container: then it is a condition."""
    first, *rest = node.args
    after = rest[0] if len(rest) == 1 else replace(node, args=tuple(rest))
    kept, asked = len(b.scene.problems.found), b.asked
    with b.without_hoisting(), b.knowing({}):  # The first is written twice.
        found = infer(b, first, None)
        if len(b.scene.problems.found) > kept or isinstance(found.type, t.Unknown):
            return b.wrong(node.place)  # What is wrong with it was noted.
        b.asked = asked
        if isinstance(found.type, t.Bool) or t.contains(found.type, t.Part):
            return None
        both = isinstance(node, tree.Both)
        if both and not _number_or_none(found.type):
            return None
        test = truth(b, first)
        b.facts.update(facts_if(test, both))
        other = expr(b, after, expected)
    given = _false(found) if both else _true(found)
    kind = join(b, node.place, (given.type, other.type))
    return ir.If(node.place, kind, test, *((other, given) if both else (given, other)))


def _number_or_none(kind: t.Type) -> bool:
    """Whether what is false of this type is a number, a bool or None."""
    some = [o for o in t.options(kind) if not isinstance(o, t.Nothing)]
    held = t.Set | t.Seq | t.Map | t.Bag | t.Iter
    return bool(some) and not any(isinstance(o, held) for o in some)


def _true(found: ir.Expr) -> ir.Expr:
    """The value where it counts as true: no None."""
    some = t.union(tuple(o for o in t.options(found.type) if not isinstance(o, t.Nothing)))
    return found if some == found.type else ir.Narrow(found.place, some, found)


def _false(found: ir.Expr) -> ir.Expr:
    """The value where it counts as false: None, False, or a number that is 0."""
    if any(isinstance(o, t.Int | t.Bool) for o in t.options(found.type)):
        return found
    return ir.Const(found.place, t.NOTHING, None)
