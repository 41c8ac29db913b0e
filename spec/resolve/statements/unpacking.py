"""Assignments to several targets, `a, b = x, y`: `tree` -> typed IR."""

from __future__ import annotations

from collections.abc import Sequence

from ... import ir
from ... import types as t
from ...analysis.places import in_state, prefixes
from ...errors import Place, a
from ...records import is_named_tuple
from ...syntax import tree
from ...syntax.short_forms import items_of
from .. import expressions, tuples
from ..aliasing import is_view, kept_view
from ..context import Body
from ..places import names_place, place_of
from .assignments import keep


def unpack(b: Body, node: tree.Set, target: tree.Display) -> list[ir.Stmt]:
    """`a, b = ...`: the values first, then the assignments from left to right."""
    written = node.value.items if isinstance(node.value, tree.Display) else ()
    if len(written) == len(target.items) and node.annotation is None:
        return _one_by_one(b, node, [*zip(target.items, written, strict=True)])
    value = expressions.expr(b, node.value)
    if isinstance(value.type, t.Record) and is_named_tuple(b.scene.records[value.type.name]):
        return _of_named_tuple(b, node, target, value)
    if isinstance(value.type, t.Seq) and t.immutable(value.type.item):
        return _of_sequence(b, node, target, value)
    items = value.type.items if isinstance(value.type, t.Tuple) else ()
    if len(items) != len(target.items):
        return _misfitting(b, node, target, value.type)
    temporaries = [b.temporary(kind, node.place) for kind in items]
    for kind in items:
        if not t.immutable(kind):
            b.problem(
                "L211",
                node.value.place,
                f"{a(kind)} unpacked",
                "immutable values",
                "assign containers one by one",
            )
    taken = _taken_apart(node.place, temporaries, value)
    return [taken, *_distributed(b, node, target.items, temporaries)]


def _misfitting(b: Body, node: tree.Set, target: tree.Display, found: t.Type) -> list[ir.Stmt]:
    """Note that a value has not as many items as there are names."""
    if not isinstance(found, t.Unknown):
        b.problem(
            "L203",
            node.value.place,
            str(found),
            f"a tuple of {len(target.items)}",
            "assign a tuple with as many items as there are names",
        )
    b.bind({each.name: t.Unknown() for each in target.items if isinstance(each, tree.Name)})
    return []


def _taken_apart(place: Place, into: Sequence[ir.Local], value: ir.Expr) -> ir.Stmt:
    """The items of a tuple into locals; `Unpack` with one name means the tuple as it is."""
    if len(into) == 1:
        return ir.Assign(place, into[0], *tuples.given(value))
    return ir.Unpack(place, tuple(x.name for x in into), value)


def _of_sequence(b: Body, node: tree.Set, target: tree.Display, value: ir.Expr) -> list[ir.Stmt]:
    """`lo, hi = q`: the items of a list, which has no value where there are more or fewer."""
    place, count = node.value.place, len(target.items)
    whole = b.temporary(value.type, place)
    test = None if _sorted_items(node.value) == count else "=="
    items = items_of(place, tree.Name(place, whole.name), count, test, range(count))
    again = tree.Set(node.place, target, tree.Display(place, "tuple", items), None)
    return [ir.Assign(node.place, whole, value), *unpack(b, again, target)]


def _of_named_tuple(b: Body, node: tree.Set, target: tree.Display, value: ir.Expr) -> list[ir.Stmt]:
    """`x, y = self.position`: the fields in their order."""
    assert isinstance(value.type, t.Record)
    place = node.value.place
    whole = b.temporary(value.type, place)
    held = tree.Name(place, whole.name)
    items = tuple(tree.Attribute(place, held, name) for name, _ in value.type.fields)
    again = tree.Set(node.place, target, tree.Display(place, "tuple", items), None)
    first = ir.Assign(node.place, whole, value)
    if len(items) == len(target.items):
        return [first, *unpack(b, again, target)]
    packed = t.Tuple(tuple(kind for _, kind in value.type.fields))
    return [first, *_misfitting(b, node, target, packed)]


def _sorted_items(node: tree.Expression) -> int | None:
    """How many items `sorted((a, b))` has, where they are written out."""
    match node:
        case tree.Apply(function=tree.Name(name="sorted"), args=(tree.Display(kind=kind) as of,)):
            return None if kind == "set" else len(of.items)
        case _:
            return None


def _one_by_one(
    b: Body, node: tree.Set, both: list[tuple[tree.Expression, tree.Expression]]
) -> list[ir.Stmt]:
    """`a, b = x, y`: all values first, from left to right, then the assignments."""
    values = [expressions.expr(b, value, _type_there(b, target)) for target, value in both]
    for (target, written), value in zip(both, values, strict=True):
        if is_view(written, value) and isinstance(target, tree.Name):
            kept_view(b, target.name, written.place)
    temporaries = [b.temporary(value.type, node.place) for value in values]
    if all(t.immutable(value.type) for value in values):
        whole = t.Tuple(tuple(value.type for value in values))
        packed = ir.Op(node.value.place, whole, "tuple", tuple(values))
        first: list[ir.Stmt] = [_taken_apart(node.place, temporaries, packed)]
    else:
        moved = _moved(b, [target for target, _ in both], values)
        for (target, _), value in zip(both, values, strict=True):
            if value not in moved:
                keep(b, target, value)
        first = [
            ir.Assign(value.place, local, value)
            for value, local in zip(values, temporaries, strict=True)
        ]
    return [*first, *_distributed(b, node, [target for target, _ in both], temporaries)]


def _moved(
    b: Body, targets: Sequence[tree.Expression], values: Sequence[ir.Expr]
) -> Sequence[ir.Expr]:
    """The containers that have one place afterwards, too, as another value is put where each was:
    `self.q, self.r = self.r, self.q`, `self.q, self.r = self.r, []`.

    Several are whole variables, or they exchange their places: of two keys nobody knows whether
    they are equal.
    """
    places = [_place_there(b, target) for target in targets]
    found = [place for place in places if place is not None]
    moved = [value for value in values if in_state(value) and value in found]
    once = len(set(found)) == len(found) and len(set(moved)) == len(moved)
    whole = not any(isinstance(at, ir.Item) for value in moved for at in prefixes(value))
    exchanged = set(found) == set(moved) and len(found) == len(values)
    return moved if once and (len(moved) == 1 or whole or exchanged) else []


def _type_there(b: Body, target: tree.Expression) -> t.Type | None:
    """The type of the place that is assigned; None of a new local, or one that began as None."""
    if isinstance(target, tree.Name) and target.name not in b.aliases:
        known = b.locals.get(target.name)
        return None if known == t.NOTHING else known
    place = _place_there(b, target)
    return None if place is None else place.type


def _place_there(b: Body, target: tree.Expression) -> ir.Expr | None:
    kept = len(b.scene.problems.found), b.evaluated
    place = place_of(b, target)
    del b.scene.problems.found[kept[0] :]  # It is resolved, and judged, again.
    b.evaluated = kept[1]
    return place


def _distributed(
    b: Body, node: tree.Set, targets: Sequence[tree.Expression], temporaries: Sequence[ir.Local]
) -> list[ir.Stmt]:
    """The assignments of values that locals of our own hold."""
    out: list[ir.Stmt] = []
    for each, local in zip(targets, temporaries, strict=True):
        if isinstance(each, tree.Name):
            place: ir.Expr | None = _unpacked_local(b, each, local)
        else:
            place = place_of(b, each)
        if place is None:
            continue
        if not t.fits(local.type, place.type):
            if isinstance(place, ir.Local) and place.type == t.NOTHING:  # It began as None.
                b.later.setdefault(place.name, t.union((t.widened(local.type), t.NOTHING)))
            expressions.misfit(b, node.value.place, local.type, place.type)
        b.replaced(place)
        if isinstance(place, ir.Local) and not t.immutable(place.type):
            b.own(place.name)
        out.append(ir.Assign(node.place, place, local))
    return out


def _unpacked_local(b: Body, each: tree.Name, local: ir.Local) -> ir.Expr | None:
    if names_place(b, each.name):
        b.problem(
            "L206",
            each.place,
            f"{each.name}, which names a place in the state",
            "a local that is assigned once",
            "use another name for this",
        )
        return None
    kind = b.locals.get(each.name) or t.widened(local.type)
    b.bind({each.name: kind})
    return ir.Local(each.place, kind, each.name)
