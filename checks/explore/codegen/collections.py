"""Generated code of the operators of collections: algebra, relations, lists, look-ups."""

from __future__ import annotations

from lawful.spec import ir
from lawful.spec import types as t

from ..layout.layouts import (
    BOOL,
    INTEGER,
    MOST_BITS,
    BagLayout,
    Layout,
    ListLayout,
    MapLayout,
    NotGenerated,
    Number,
    Product,
    SetLayout,
    elements,
    stride,
    width,
    written,
)
from .codes import alike
from .conversions import equal, of_nothing, part, product, to_layout, type_of
from .expressions import Expressions, Operation, TargetedOperation
from .loops import ROOM, append, each
from .text import Target, Value, plus

# Collections.


def _len(f: Expressions, e: ir.Op) -> Value:
    of = e.args[0]
    if isinstance(of, ir.Domain) or (isinstance(of, ir.Op) and of.op == "range"):
        return _counted(f, of)
    value = f.value(of)
    match value.layout:
        case ListLayout():
            return Value(Number(0, value.layout.room), f.hold(f"w[{f.placed(value)}]"))
        case BagLayout():
            return Value(Number(0, value.layout.room), f.hold(f"w[{value.text}]"))
        case Product(items=items):
            return Value(Number(len(items), len(items)), str(len(items)))
        case SetLayout() if value.single:
            return Value(Number(0, MOST_BITS), f.hold(f"popcount({value.text})"))
        case SetLayout():
            words = range(width(value.layout))
            total = " + ".join(f"popcount(w[{plus(value.text, i)}])" for i in words)
            return Value(Number(0, elements(value.layout.item)), f.hold(total))
        case MapLayout() if value.layout.total:
            count = elements(value.layout.key)
            return Value(Number(count, count), str(count))
        case _:
            return _counted(f, of)


def _counted(f: Expressions, of: ir.Expr) -> Value:
    found = f.temporary()
    f.line(f"{found} = 0")
    with each(f, of):
        f.line(f"{found} += 1")
    return Value(Number(0, None), found)


SIGNS = {"union": "|", "intersection": "&", "symmetric_difference": "^"}


def _algebra(f: Expressions, e: ir.Op, to: Target) -> Value:
    """Set algebra word by word; of maps, `|` takes the right one's values."""
    wanted = to.layout if isinstance(to.layout, SetLayout) else None
    a = f.value(e.args[0], Target(wanted, to.in_state))
    if isinstance(a.layout, MapLayout):
        return _merged(f, e, a)
    if not isinstance(a.layout, SetLayout):
        raise NotGenerated(f"{e.op} of {type_of(a.layout)}")
    keeps = e.op in ("union", "symmetric_difference")
    want = wanted or (None if of_nothing(a.layout) else a.layout)
    b = f.value(e.args[1], Target(want, to.in_state and keeps))
    layout = want or b.layout
    assert isinstance(layout, SetLayout)
    a, b = to_layout(f, a, layout), to_layout(f, b, layout)
    sign = SIGNS.get(e.op)
    if a.single:
        text = f"{a.text} {sign} {b.text}" if sign else f"{a.text} & ~{b.text}"
        return Value(layout, f.hold(text))
    at = f.region(layout)
    for i in range(width(layout)):
        one, other = f"w[{plus(a.text, i)}]", f"w[{plus(b.text, i)}]"
        f.line(f"w[{plus(at, i)}] = {one} {sign or '& ~'}{'' if not sign else ' '}{other}")
    return Value(layout, at)


def _merged(f: Expressions, e: ir.Op, a: Value) -> Value:
    assert isinstance(a.layout, MapLayout)
    if e.op != "union":
        raise NotGenerated(f"{e.op} of maps")
    at = f.region(a.layout)
    f.store(at, a)
    merge(f, at, a.layout, e.args[1], False)
    return f.load(a.layout, at)


def merge(f: Expressions, at: str, layout: MapLayout, other: ir.Expr, storing: bool) -> None:
    """The entries of a map put into one at a place."""
    value = f.value(other, Target(layout, storing))
    if not isinstance(value.layout, MapLayout):
        raise NotGenerated("a map updated by no map")
    source = Value(value.layout, f.placed(value))
    if alike(value.layout, layout) and layout.total:
        f.move(at, source.text, width(layout))
        return
    wanted = written(layout, value.layout.type)
    place = f.placed(to_layout(f, source, wanted))
    i = f.temporary()
    with f.block(f"for {i} in range({elements(layout.key)}):"):
        there = f.hold(f"{place} + {i} * {stride(wanted)}")
        here = f.hold(f"{at} + {i} * {stride(layout)}")
        if not wanted.total:
            f.line(f"if w[{there}] == 0: continue")
        if not layout.total:
            f.line(f"w[{here}] = 1")
        f.move(
            plus(here, int(not layout.total)),
            plus(there, int(not wanted.total)),
            width(layout.value),
        )


def _relation(word: str) -> Operation:
    def made(f: Expressions, e: ir.Op) -> Value:
        a = f.value(e.args[0])
        b = f.value(e.args[1], Target(a.layout))
        if not (isinstance(a.layout, SetLayout) and isinstance(b.layout, SetLayout)):
            raise NotGenerated(f"{word} of collections that are no sets")
        b = to_layout(f, b, a.layout)
        if word.endswith("superset"):
            a, b = b, a
        if word == "disjoint":
            return Value(BOOL, f.hold(" and ".join(_words(a, b, "{0} & {1} == 0"))))
        within = " and ".join(_words(a, b, "{0} & ~{1} == 0"))
        if word.startswith("proper"):
            within += " and (" + " or ".join(_words(a, b, "{0} != {1}")) + ")"
        return Value(BOOL, f.hold(within))

    return made


def _words(a: Value, b: Value, form: str) -> list[str]:
    if a.single:
        return [form.format(a.text, b.text)]
    count = range(width(a.layout))
    return [form.format(f"w[{plus(a.text, i)}]", f"w[{plus(b.text, i)}]") for i in count]


def _concat(f: Expressions, e: ir.Op, to: Target) -> Value:
    wanted = to.layout if isinstance(to.layout, ListLayout) else None
    a = f.value(e.args[0], Target(wanted, to.in_state))
    if isinstance(a.layout, Product) and isinstance(e.type, t.Tuple):
        b = f.value(e.args[1])
        assert isinstance(b.layout, Product)
        items = [part(f, a, i) for i in range(len(a.layout.items))]
        items += [part(f, b, i) for i in range(len(b.layout.items))]
        return product(f, Product(e.type, tuple(v.layout for v in items)), items)
    a = as_row(f, a)
    b = as_row(f, f.value(e.args[1], Target(wanted or a.layout, to.in_state)))
    assert isinstance(a.layout, ListLayout) and isinstance(b.layout, ListLayout)
    layout = wanted or ListLayout(e.type, a.layout.item, ROOM, a.layout.room + b.layout.room)
    at = f.region(layout)
    f.blank(at, width(layout))
    for row in (a, b):
        extend(f, at, layout, row)
    return f.load(layout, at)


def extend(f: Expressions, at: str, layout: ListLayout, row: Value) -> None:
    """Append the items of one list to another."""
    assert isinstance(row.layout, ListLayout)
    i = f.temporary()
    with f.block(f"for {i} in range(w[{row.text}]):"):
        place = f.hold(f"{plus(row.text, 1)} + {i} * {width(row.layout.item)}")
        append(f, at, layout, to_layout(f, f.load(row.layout.item, place), layout.item))


def as_row(f: Expressions, value: Value) -> Value:
    """A list or tuple in the layout of a list, in cells."""
    if isinstance(value.layout, ListLayout):
        return Value(value.layout, f.placed(value))
    if isinstance(value.layout, Product) and value.layout.items:
        items = value.layout.items
        wanted = ListLayout(t.Seq(type_of(items[0]), False), items[0], len(items), len(items))
        made = to_layout(f, value, wanted)
        return Value(wanted, f.placed(made))
    raise NotGenerated(f"{type_of(value.layout)} as a list")


def listed(f: Expressions, e: ir.Expr, want: Layout | None = None) -> Value:
    """The elements of anything that can be iterated, as a list in cells."""
    if isinstance(e.type, t.Seq | t.Tuple):
        return as_row(f, f.value(e))
    name = "_item"
    clause = ir.Clause(e.place, (name,), e, ())
    item = ir.Local(e.place, t.element(e.type) or t.Unknown(), name)
    comp = ir.Comp(e.place, t.Seq(item.type, False), "list", item, None, (clause,))
    return as_row(f, f.value(comp, Target(want if isinstance(want, ListLayout) else None)))


def _slice(f: Expressions, e: ir.Op) -> Value:
    row = as_row(f, f.value(e.args[0]))
    assert isinstance(row.layout, ListLayout)
    length = f.hold(f"w[{row.text}]")
    low, high = (_end(f, arg, length, d) for arg, d in zip(e.args[1:], ("0", length), strict=True))
    layout = row.layout
    at = f.region(layout)
    f.blank(at, width(layout))
    i = f.temporary()
    with f.block(f"for {i} in range({low}, {high}):"):
        place = f.hold(f"{plus(row.text, 1)} + {i} * {width(layout.item)}")
        append(f, at, layout, f.load(layout.item, place))
    return f.load(layout, at)


def _end(f: Expressions, e: ir.Expr, length: str, default: str) -> str:
    if isinstance(e.type, t.Nothing):
        return default
    given = f.integer(e)
    at = f.hold(f"{given} if {given} >= 0 else {given} + {length}")
    return f.hold(f"max(0, min({at}, {length}))")


def _count(f: Expressions, e: ir.Op) -> Value:
    found = f.temporary()
    f.line(f"{found} = 0")
    row = as_row(f, f.value(e.args[0]))
    assert isinstance(row.layout, ListLayout)
    item = f.into(e.args[1], row.layout.item)
    i = f.temporary()
    with f.block(f"for {i} in range(w[{row.text}]):"):
        place = f.hold(f"{plus(row.text, 1)} + {i} * {width(row.layout.item)}")
        f.line(f"if {equal(f, f.load(row.layout.item, place), item)}: {found} += 1")
    return Value(Number(0, None), found)


def _index(f: Expressions, e: ir.Op) -> Value:
    row = as_row(f, f.value(e.args[0]))
    assert isinstance(row.layout, ListLayout)
    item = f.placed(f.into(e.args[1], row.layout.item))
    found = f.hold(f"in_row(w, {row.text}, {width(row.layout.item)}, {item})")
    f.fail_if(f"{found} < 0")
    return Value(Number(0, None), found)


def _total(f: Expressions, e: ir.Op) -> Value:
    bag = f.value(e.args[0])
    found = f.temporary()
    f.line(f"{found} = 0")
    i = f.temporary()
    with f.block(f"for {i} in range(w[{bag.text}]):"):
        count = f.hold(f"w[{plus(bag.text, 2)} + 2 * {i}]")
        f.line(f"{found} = {f.module.added(f, found, count)}")
    return Value(INTEGER, found)


def _get(f: Expressions, e: ir.Op, to: Target) -> Value:
    table = f.value(e.args[0])
    layout = table.layout
    if isinstance(layout, BagLayout):
        number = f.code_in(e.args[1], layout.item)
        default = f.integer(e.args[2])
        found = f.hold(f"count_of(w, {table.text}, {number})")
        return Value(INTEGER, f.hold(f"{found} if {found} != 0 else {default}"))
    if not isinstance(layout, MapLayout):
        raise NotGenerated("get of no map")
    number = f.code_in(e.args[1], layout.key)
    other = f.value(e.args[2], Target(to.layout))
    made = to.layout or (layout.value if alike(layout.value, other.layout) else f.layout_of(e.type))
    place = f.hold(f"{f.placed(table)} + {number} * {stride(layout)}")
    there = f"{number} >= 0" if layout.total else f"{number} >= 0 and w[{place}] != 0"
    at = f.region(made)
    other = to_layout(f, other, made)
    with f.block(f"if {there}:"):
        inside = f.load(layout.value, plus(place, int(not layout.total)))
        f.store(at, to_layout(f, inside, made))
    with f.block("else:"):
        f.store(at, other)
    return f.load(made, at)


OPERATIONS: dict[str, Operation] = {
    "len": _len,
    "subset": _relation("subset"),
    "proper_subset": _relation("proper_subset"),
    "superset": _relation("superset"),
    "proper_superset": _relation("proper_superset"),
    "disjoint": _relation("disjoint"),
    "slice": _slice,
    "count": _count,
    "index": _index,
    "total": _total,
}
TARGETED: dict[str, TargetedOperation] = {
    "union": _algebra,
    "intersection": _algebra,
    "difference": _algebra,
    "symmetric_difference": _algebra,
    "concat": _concat,
    "get": _get,
}
