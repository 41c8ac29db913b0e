"""Generated code of displays (`[a, b]`), of conversions (`set(x)`) and of folds (`sum(x)`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lawful.spec import ir
from lawful.spec import types as t

from ..layout.forms import of_bag, written
from ..layout.layouts import (
    VOID,
    BagLayout,
    Layout,
    ListLayout,
    MapLayout,
    Number,
    Product,
    SetLayout,
    Sets,
    SparseMap,
    SparseSet,
    Sum,
    hull,
    width,
)
from .bags import count_in, put_count
from .collections import listed
from .contents import put_entry, put_in
from .conversions import of_nothing, product, to_layout
from .expressions import Expressions, TargetedOperation
from .loops import ROOM, each
from .text import Target, Value, plus

# Folds, conversions, displays.


def _fold_of(kind: ir.CompKind) -> TargetedOperation:
    def made(f: Expressions, e: ir.Op, to: Target) -> Value:
        over = e.args[0]
        element = t.element(over.type) or t.Unknown()
        clause = ir.Clause(e.place, ("_each",), over, ())
        item = ir.Local(e.place, element, "_each")
        return f.value(ir.Comp(e.place, e.type, kind, item, None, (clause,)), to)

    return made


def _sorted(f: Expressions, e: ir.Op, to: Target) -> Value:
    row = listed(f, e.args[0], to.layout)
    assert isinstance(row.layout, ListLayout)
    at = f.region(row.layout)
    f.store(at, row)
    if width(row.layout.item):
        f.line(f"sort(w, {at}, {width(row.layout.item)})")
    return Value(row.layout, at)


def _set_of(f: Expressions, e: ir.Op, to: Target) -> Value:
    of = e.args[0]
    if isinstance(of.type, t.Set):
        return f.value(of, to)
    return _fold_of("set")(f, e, to)


def _list_of(f: Expressions, e: ir.Op, to: Target) -> Value:
    of = e.args[0]
    if isinstance(of.type, t.Seq):
        return f.value(of, to)
    return listed(f, of, to.layout)


def _dict_of(f: Expressions, e: ir.Op, to: Target) -> Value:
    return f.value(e.args[0], to)


def _counter_of(f: Expressions, e: ir.Op, to: Target) -> Value:
    want = to.layout
    of = e.args[0]
    if isinstance(of.type, t.Bag):
        return f.value(of, to)
    empty = isinstance(of, ir.Op) and of.op == "map" and not of.args
    if not isinstance(want, BagLayout):
        want = of_bag(e.type, _counted(f, of, empty), ROOM, ROOM, None)
    at = f.region(want)
    f.blank(at, width(want))
    if empty:
        return Value(want, at)
    counts = isinstance(of.type, t.Map)
    over = ir.Op(of.place, of.type, "items", (of,)) if counts else of
    with each(f, over) as items:
        item, count = items if isinstance(items, tuple) else (items, None)
        item = to_layout(f, item, want.item)
        text = f.hold(f"{count_in(f, at, want, item)} + 1") if count is None else count.text
        put_count(f, at, want, item, text)
    return Value(want, at)


def _counted(f: Expressions, of: ir.Expr, empty: bool) -> Layout:
    """The layout of the elements of a counter."""
    if empty:
        return VOID
    item = ir.Local(of.place, t.element(of.type) or t.Unknown(), "_each")
    counted = f.module.probed(f, (ir.Clause(of.place, ("_each",), of, ()),), item)
    return f.module.member(counted)


def _set(f: Expressions, e: ir.Op, to: Target) -> Value:
    layout = to.layout
    if not isinstance(layout, SetLayout | SparseSet) or (e.args and layout.item == VOID):
        layout = _set_layout(f, e)
    at = f.region(layout)
    f.blank(at, width(layout))
    for arg in e.args:
        put_in(f, at, layout, f.into(arg, layout.item))
    return f.load(layout, at)


def _set_layout(f: Expressions, e: ir.Op) -> Sets:
    """The layout of a set; an empty one has that of its type, if the type tells."""
    match t.element(e.type):
        case (t.Bool() | t.Enum() | t.Sort() | t.Opaque()) as item if not e.args:
            return f.module.set_of(e.type, f.module.codec.layout(item, item))
        case item:
            return f.module.set_of(e.type, _display_item(f, e.args, item))


def _display_item(f: Expressions, args: tuple[ir.Expr, ...], kind: t.Type | None = None) -> Layout:
    """The layout of the elements of a display; `kind` is their type, where it is known."""
    if not args:
        return VOID
    layouts = [f.module.probed(f, (), arg) for arg in args]
    if all(isinstance(k, Number) for k in layouts):
        return hull(*layouts)
    if isinstance(kind, t.Union) and not all(isinstance(k, Sum) for k in layouts):
        return f.layout_of(kind)
    return next((k for k in layouts if isinstance(k, Sum)), _filled(layouts))


def _filled(layouts: Sequence[Layout]) -> Layout:
    """The first of these; that of an empty display, also inside a tuple, gives way to another."""
    first = next((k for k in layouts if not of_nothing(k)), layouts[0])
    rows = [k.items for k in layouts if isinstance(k, Product)]
    if isinstance(first, Product) and len({len(row) for row in rows}) == 1:
        return replace(first, items=tuple(map(_filled, zip(*rows, strict=True))))
    return first


def _list(f: Expressions, e: ir.Op, to: Target) -> Value:
    if isinstance(to.layout, ListLayout):
        layout = to.layout
    else:
        layout = ListLayout(
            e.type, _display_item(f, e.args, t.element(e.type)), len(e.args), len(e.args)
        )
    at = f.region(layout)
    f.blank(at, width(layout))
    if len(e.args) > layout.room:
        f.escape_if("True")
        return f.load(layout, at)
    f.line(f"w[{at}] = {len(e.args)}")
    for i, arg in enumerate(e.args):
        f.store(plus(at, 1 + i * width(layout.item)), f.into(arg, layout.item))
    return f.load(layout, at)


def _tuple(f: Expressions, e: ir.Op, to: Target) -> Value:
    if isinstance(e.type, t.Seq):
        return _list(f, e, to)
    wants: tuple[Layout | None, ...] = (None,) * len(e.args)
    if isinstance(to.layout, Product) and len(to.layout.items) == len(e.args):
        wants = to.layout.items
    items = [
        f.value(arg) if w is None else f.into(arg, w) for arg, w in zip(e.args, wants, strict=True)
    ]
    return product(f, Product(e.type, tuple(v.layout for v in items)), items)


def _map(f: Expressions, e: ir.Op, to: Target) -> Value:
    want = to.layout
    if not isinstance(want, MapLayout | SparseMap):
        kind = e.type if isinstance(e.type, t.Map) else t.Map(t.Unknown(), t.Unknown(), False)
        keys = _display_item(f, e.args[::2], kind.key)
        values = _display_item(f, e.args[1::2], kind.value)
        want = f.module.map_of(kind, keys, values)
    want = written(want, e.type)
    at = f.region(want)
    f.blank(at, width(want))
    for key, value in zip(e.args[::2], e.args[1::2], strict=True):
        of = f.into(key, want.key)
        put_entry(f, at, want, (of, f.into(value, want.value)))
    return f.load(want, at)


TARGETED: dict[str, TargetedOperation] = {
    "all_of": _fold_of("all"),
    "any_of": _fold_of("any"),
    "sum_of": _fold_of("sum"),
    "min_of": _fold_of("min"),
    "max_of": _fold_of("max"),
    "sorted": _sorted,
    "set_of": _set_of,
    "frozenset_of": _set_of,
    "list_of": _list_of,
    "tuple_of": _list_of,
    "dict_of": _dict_of,
    "counter_of": _counter_of,
    "set": _set,
    "list": _list,
    "tuple": _tuple,
    "map": _map,
}
