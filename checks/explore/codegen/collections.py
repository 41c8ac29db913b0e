"""Generated code of the operators of collections: algebra, relations, lists, look-ups."""

from __future__ import annotations

from lawful.spec import ir
from lawful.spec import types as t

from ..layout.forms import may_lack, written
from ..layout.layouts import (
    BOOL,
    INTEGER,
    MOST_BITS,
    BagLayout,
    Layout,
    ListLayout,
    MapLayout,
    Maps,
    NotGenerated,
    Number,
    Product,
    SetLayout,
    Sets,
    SparseMap,
    SparseSet,
    elements,
    key_count,
    spare_at,
    stride,
    width,
)
from .bags import count_in, counts
from .codes import alike
from .contents import (
    behind,
    contains,
    entries,
    key_of,
    looked_up,
    members,
    put_entry,
    put_in,
    subset,
)
from .conversions import equal, of_nothing, part, product, to_layout, type_of, wider
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
        case BagLayout() as layout:
            rows = behind(layout, value.text)
            length = f"w[{value.text}]" + ("" if rows is None else f" + w[{rows[1]}]")
            return Value(Number(0, layout.room + layout.spare), f.hold(length))
        case SparseSet() | SparseMap():
            return Value(Number(0, value.layout.room), f.hold(f"w[{f.placed(value)}]"))
        case Product(items=items):
            return Value(Number(len(items), len(items)), str(len(items)))
        case SetLayout() if value.single:
            return Value(Number(0, MOST_BITS), f.hold(f"popcount({value.text})"))
        case SetLayout() as layout:
            words = range(spare_at(layout))
            total = [f"popcount(w[{plus(value.text, i)}])" for i in words]
            more = behind(layout, value.text)
            total += [] if more is None else [f"w[{more[1]}]"]
            most = elements(layout.item) + layout.spare
            return Value(Number(0, most), f.hold(" + ".join(total)))
        case MapLayout() as table if table.total:
            count, rows = key_count(table.key), behind(table, value.text)
            text = str(count) if rows is None else f.hold(f"{count} + w[{rows[1]}]")
            return Value(Number(count, count + table.spare), text)
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
    wanted = to.layout if isinstance(to.layout, SetLayout | SparseSet) else None
    a = f.value(e.args[0], Target(wanted))
    if isinstance(a.layout, MapLayout | SparseMap):
        return _merged(f, e, a.layout, a)
    if not isinstance(a.layout, SetLayout | SparseSet):
        raise NotGenerated(f"{e.op} of {type_of(a.layout)}")
    want = wanted or (None if of_nothing(a.layout) else a.layout)
    narrow = isinstance(want, SetLayout) and not want.spare and may_lack(want.item)
    b = f.value(e.args[1], Target(None if narrow else want))
    assert isinstance(b.layout, SetLayout | SparseSet)
    layout = wanted or wider(a, b)
    a, b = to_layout(f, a, layout), to_layout(f, b, layout)
    at = f.region(layout)
    if isinstance(layout, SparseSet):
        f.blank(at, width(layout))
        _by_element(f, at, e.op, a, b)
        return f.load(layout, at)
    sign = SIGNS.get(e.op)
    if a.single:
        text = f"{a.text} {sign} {b.text}" if sign else f"{a.text} & ~{b.text}"
        return Value(layout, f.hold(text))
    for i in range(spare_at(layout)):
        one, other = f"w[{plus(a.text, i)}]", f"w[{plus(b.text, i)}]"
        f.line(f"w[{plus(at, i)}] = {one} {sign or '& ~'}{'' if not sign else ' '}{other}")
    more, left, right = behind(layout, at), behind(layout, a.text), behind(layout, b.text)
    if more is not None and left is not None and right is not None:
        f.blank(more[1], width(more[0]))
        with f.block(f"if w[{left[1]}] != 0 or w[{right[1]}] != 0:"):
            _by_element(f, more[1], e.op, Value(*left), Value(*right))
    return Value(layout, at)


def _by_element(f: Expressions, at: str, op: str, a: Value, b: Value) -> None:
    """Set algebra of sparse sets, into an empty one at a place: of each, some of the elements."""
    layout = a.layout
    assert isinstance(layout, SparseSet)
    with members(f, a) as each_of_a:
        if op != "union":
            there = contains(f, b, each_of_a)
            f.line(f"if {f'not ({there})' if op == 'intersection' else there}: continue")
        put_in(f, at, layout, each_of_a)
    if op in ("union", "symmetric_difference"):
        with members(f, b) as each_of_b:
            if op == "symmetric_difference":
                f.line(f"if {contains(f, a, each_of_b)}: continue")
            put_in(f, at, layout, each_of_b)


def _merged(f: Expressions, e: ir.Op, layout: Maps, a: Value) -> Value:
    if e.op != "union":
        raise NotGenerated(f"{e.op} of maps")
    at = f.region(layout)
    f.store(at, a)
    merge(f, at, layout, e.args[1])
    return f.load(layout, at)


def merge(f: Expressions, at: str, layout: Maps, other: ir.Expr) -> None:
    """The entries of a map put into one at a place."""
    value = f.value(other, Target(layout))
    if not isinstance(value.layout, MapLayout | SparseMap):
        raise NotGenerated("a map updated by no map")
    source = Value(value.layout, f.placed(value))
    if isinstance(layout, SparseMap):
        _put_all(f, at, layout, to_layout(f, source, layout))
        return
    wanted = written(layout, value.layout.type)
    assert isinstance(wanted, MapLayout)
    place = f.placed(to_layout(f, source, wanted))
    if wanted.total and layout.total:
        f.move(at, place, spare_at(layout))
    else:
        _put_dense(f, (at, layout), (place, wanted))
    room, more = behind(layout, at), behind(wanted, place)
    if room is not None and more is not None:
        with f.block(f"if w[{more[1]}] != 0:"):
            _put_all(f, room[1], room[0], Value(*more))


def _put_dense(f: Expressions, to: tuple[str, MapLayout], of: tuple[str, MapLayout]) -> None:
    """The entries with codes of one map put into another one of the same keys."""
    (at, layout), (place, wanted) = to, of
    i = f.temporary()
    with f.block(f"for {i} in range({key_count(layout.key)}):"):
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


def _put_all(f: Expressions, at: str, layout: SparseMap, source: Value) -> None:
    """The entries of a sparse map put into one of the same layout at a place."""
    with entries(f, source) as (key, inside):
        put_entry(f, at, layout, (key_of(f, layout, key), f.load(layout.value, inside)))


def _relation(word: str) -> Operation:
    def made(f: Expressions, e: ir.Op) -> Value:
        a = f.value(e.args[0])
        b = f.value(e.args[1], Target(a.layout))
        if not (isinstance(a.layout, Sets) and isinstance(b.layout, Sets)):
            raise NotGenerated(f"{word} of collections that are no sets")
        layout = wider(a, b)
        a, b = to_layout(f, a, layout), to_layout(f, b, layout)
        if word.endswith("superset"):
            a, b = b, a
        if isinstance(a.layout, SparseSet):
            return _of_sparse(f, word, a, b)
        if word == "disjoint":
            dense = f.hold(" and ".join(_words(a, b, "{0} & {1} == 0")))
            return _and_behind(f, dense, a, b, disjoint=True)
        within = " and ".join(_words(a, b, "{0} & ~{1} == 0"))
        if word.startswith("proper"):
            unlike = [*_words(a, b, "{0} != {1}"), *_lengths_behind(a, b)]
            within += " and (" + " or ".join(unlike) + ")"
        return _and_behind(f, f.hold(within), a, b)

    return made


def _of_sparse(f: Expressions, word: str, a: Value, b: Value) -> Value:
    """How two sparse sets of the same layout relate."""
    a, b = Value(a.layout, f.placed(a)), Value(b.layout, f.placed(b))
    true = subset(f, a, b, disjoint=word == "disjoint")
    more = f" and w[{a.text}] != w[{b.text}]" if word.startswith("proper") else ""
    return Value(BOOL, f.hold(f"{true} != 0{more}"))


def _and_behind(f: Expressions, dense: str, a: Value, b: Value, disjoint: bool = False) -> Value:
    """How two sets relate, where it is known how their dense parts do."""
    assert isinstance(a.layout, SetLayout)
    left, right = behind(a.layout, a.text), behind(a.layout, b.text)
    if left is not None and right is not None:
        with f.block(f"if {dense} != 0 and w[{left[1]}] != 0:"):
            f.line(f"{dense} = {subset(f, Value(*left), Value(*right), disjoint)}")
    return Value(BOOL, dense)


def _lengths_behind(a: Value, b: Value) -> list[str]:
    assert isinstance(a.layout, SetLayout)
    left, right = behind(a.layout, a.text), behind(a.layout, b.text)
    return [] if left is None or right is None else [f"w[{left[1]}] != w[{right[1]}]"]


def _words(a: Value, b: Value, form: str) -> list[str]:
    if a.single:
        return [form.format(a.text, b.text)]
    assert isinstance(a.layout, SetLayout)
    count = range(spare_at(a.layout))
    return [form.format(f"w[{plus(a.text, i)}]", f"w[{plus(b.text, i)}]") for i in count]


def _concat(f: Expressions, e: ir.Op, to: Target) -> Value:
    wanted = to.layout if isinstance(to.layout, ListLayout) else None
    a = f.value(e.args[0], Target(wanted))
    if isinstance(a.layout, Product) and isinstance(e.type, t.Tuple):
        b = f.value(e.args[1])
        assert isinstance(b.layout, Product)
        items = [part(f, a, i) for i in range(len(a.layout.items))]
        items += [part(f, b, i) for i in range(len(b.layout.items))]
        return product(f, Product(e.type, tuple(v.layout for v in items)), items)
    a = as_row(f, a)
    b = as_row(f, f.value(e.args[1], Target(wanted or a.layout)))
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
    item, size = f.placed(f.into(e.args[1], row.layout.item)), width(row.layout.item)
    found = f.hold(f"in_row(w, {row.text}, {size}, {size}, {item})")
    f.fail_if(f"{found} < 0")
    return Value(Number(0, None), found)


def _total(f: Expressions, e: ir.Op) -> Value:
    bag = f.value(e.args[0])
    found = f.temporary()
    f.line(f"{found} = 0")
    with counts(f, bag) as (_, count):
        f.line(f"{found} = {f.module.added(f, found, count)}")
    return Value(INTEGER, found)


def _get(f: Expressions, e: ir.Op, to: Target) -> Value:
    table = f.value(e.args[0])
    layout = table.layout
    if isinstance(layout, BagLayout):
        item = f.into(e.args[1], layout.item)
        default = f.integer(e.args[2])
        found = count_in(f, table.text, layout, item)
        return Value(INTEGER, f.hold(f"{found} if {found} != 0 else {default}"))
    if not isinstance(layout, MapLayout | SparseMap):
        raise NotGenerated("get of no map")
    key = f.into(e.args[1], layout.key)
    other = f.value(e.args[2], Target(to.layout))
    made = to.layout or (layout.value if alike(layout.value, other.layout) else f.layout_of(e.type))
    place, there = looked_up(f, f.placed(table), layout, key)
    at = f.region(made)
    other = to_layout(f, other, made)
    with f.block(f"if {there}:"):
        f.store(at, to_layout(f, f.load(layout.value, place), made))
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
