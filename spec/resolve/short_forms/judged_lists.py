"""Lists that are made to be judged, `any([p(x) for x in s])`, `if not [x for x in s if p(x)]`; and
`next(iter(q), None)`.

Nothing shows the order of such a list, so it may be made from a set or a map.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from ... import ir
from ... import types as t
from ...analysis.partiality import always_defined
from ...errors import Place
from ...syntax import tree
from ..comprehensions import comprehension
from ..context import Body


def judged_list(
    b: Body, place: Place, node: tree.Comprehension, kind: Literal["all", "any"]
) -> ir.Expr:
    """Whether all or any elements of a list are true. Python makes the whole list first, so each
    element must have a value; where each has one anyway, the list need not be made."""
    once = tree.Unary(node.element.place, "not", node.element)
    twice = tree.Unary(node.element.place, "not", once)
    made = comprehension(b, dataclasses.replace(node, element=twice), "tuple", None, any_order=True)
    if not isinstance(made, ir.Comp):
        return made
    element = made.element
    match element:
        case ir.Op(op="not", args=(ir.Op(op="not", args=(inner,)),)):
            element = inner
        case _:
            pass
    made = dataclasses.replace(made, element=element, place=place)
    tests = [test for clause in made.clauses for test in clause.conditions]
    if always_defined(element, *tests, unsure=b.unsure):
        return dataclasses.replace(made, type=t.BOOL, kind=kind)
    return ir.Op(place, t.BOOL, f"{kind}_of", (made,))


def first_of(b: Body, node: tree.Expression) -> tree.Expression:
    """`iter(q)` as a generator that gives the same; any other expression as it is."""
    match node:
        case tree.Apply(place=place, function=function, args=(over,), keywords=()):
            if b.static(function) is not iter:
                return node
            b.fresh += 1
            name = f"_{b.fresh}"
            clause = tree.For(place, (name,), over, ())
            return tree.Comprehension(place, "generator", tree.Name(place, name), None, (clause,))
        case _:
            return node
