"""`for x in list(s)`: a loop that goes through a copy, because it changes the collection itself.

The list would show the order of a set or a map; the loop goes through a set or map that is a copy.
"""

from __future__ import annotations

import dataclasses

from ... import ir, ops
from ... import types as t
from ...syntax import tree
from .. import expressions
from ..context import Body


def copied(b: Body, node: tree.Expression) -> tuple[ir.Expr, t.Type] | None:
    """A copy of the unordered collection in `list(...)` or `tuple(...)`, and the type of its
    elements; None of anything else, which is resolved as it stands."""
    match node:
        case tree.Apply(function=function, args=(argument,), keywords=()):
            if b.static(function) not in (list, tuple):
                return None
        case _:
            return None
    kept = len(b.scene.problems.found), b.evaluated, b.hoisted
    b.hoisted = None
    over, item = expressions.iterable(b, argument)
    refused = len(b.scene.problems.found) > kept[0]
    del b.scene.problems.found[kept[0] :]
    b.hoisted = kept[2]
    made = None if refused or not t.immutable(item) else _copy(over)
    if made is None:
        b.evaluated = kept[1]
        return None
    return made, item


def _copy(over: ir.Expr) -> ir.Expr | None:
    match over:
        case ir.Op(op=op, args=(held,)) if op in ops.MAP_VIEWS and isinstance(held.type, t.Map):
            return dataclasses.replace(over, args=(_map(held),))
        case ir.Expr(type=t.Map(key=key)):
            return ir.Op(over.place, t.Iter(key, False), "keys", (_map(over),))
        case ir.Expr(type=t.Set(item=item)):
            return ir.Op(over.place, t.Set(item, True), "set_of", (over,))
        case _:
            return None


def _map(held: ir.Expr) -> ir.Expr:
    assert isinstance(held.type, t.Map)
    return ir.Op(held.place, dataclasses.replace(held.type, mutable=True), "dict_of", (held,))
