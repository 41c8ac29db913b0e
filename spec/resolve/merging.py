"""Two maps as one: `a | b`, `{**a, k: v}`; where both have a key, the right one's value."""

from __future__ import annotations

from .. import ir
from .. import types as t
from ..errors import Place


def merged(place: Place, left: ir.Expr, right: ir.Expr) -> ir.Expr | None:
    """The map with the items of both; they have no effects, so each may be evaluated again. None
    where their keys or values have different types."""
    assert isinstance(left.type, t.Map) and isinstance(right.type, t.Map)
    mine, theirs = left.type, right.type
    if not t.alike(mine.key, theirs.key):
        return None
    wide = mine if t.fits(theirs.value, mine.value) else theirs
    if not t.fits(mine.value, wide.value) or not t.immutable(wide.value):
        return None
    key = ir.Local(place, mine.key, "_key")
    views = [
        ir.Op(place, t.Set(mine.key, False), "frozenset_of", (_keys(place, each),))
        for each in (left, right)
    ]
    every = ir.Op(place, t.Set(mine.key, False), "union", tuple(views))
    test = ir.Op(place, t.BOOL, "in", (key, right))
    items = [ir.Item(place, wide.value, each, key) for each in (right, left)]
    value = ir.If(place, wide.value, test, *items)
    total = mine.total or theirs.total
    kind = t.Map(mine.key, wide.value, mutable=True, total=total)
    return ir.Comp(place, kind, "map", value, key, (ir.Clause(place, ("_key",), every, ()),))


def _keys(place: Place, of: ir.Expr) -> ir.Expr:
    assert isinstance(of.type, t.Map)
    return ir.Op(place, t.Iter(of.type.key, False), "keys", (of,))
