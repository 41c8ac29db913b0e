"""Generated code that moves a value to another layout, takes it apart, or compares it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lawful.spec import types as t

from ..layout.forms import may_lack
from ..layout.layouts import (
    VOID,
    BagLayout,
    Index,
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
    Sum,
    elements,
    offsets,
    one_cell,
    spare_at,
    width,
)
from ..layout.numbering import OUTSIDE
from .bags import counts, put_count
from .codes import MOST_KNOWN, alike, coded_alike, cut
from .contents import behind, entries, key_of, members, put_entry, put_in
from .text import Value, Writer, plus


def to_layout(f: Writer, value: Value, layout: Layout) -> Value:
    """The same value in another layout; the step gives ESCAPE where it does not fit there."""
    if alike(value.layout, layout):
        return Value(layout, value.text, value.cells)
    if value.layout == VOID:  # There is no such value; whoever takes it is never asked to.
        f.escape_if("True")
        return f.load(layout, f.region(layout))
    if of_nothing(value.layout) and not isinstance(layout, Sum):
        at = f.region(layout)
        f.blank(at, width(layout))
        return f.load(layout, at)
    match value.layout, layout:
        case Sum(), Sum():
            return _sum_to_sum(f, value, layout)
        case _, Sum():
            return _to_option(f, value, layout)
        case (Product() as mine, Product() as theirs):
            return _product(f, value, mine, theirs)
        case Product(items=items), ListLayout():
            return _tuple_to_row(f, value, items, layout)
        case ListLayout() as mine, ListLayout():
            return _row(f, value, mine, layout)
        case SetLayout() as mine, SetLayout() if coded_alike(mine.item, layout.item):
            return _bits(f, value, mine, layout)
        case SetLayout() | SparseSet(), SetLayout() | SparseSet():
            return _subset(f, value, layout)
        case (MapLayout() | SparseMap() as mine, MapLayout() | SparseMap()):
            return _table(f, value, mine, layout)
        case BagLayout() as mine, BagLayout():
            return _heap(f, value, mine, layout)
        case Index(type=t.Float(), values=mine), Index(type=t.Float(), values=theirs):
            return _float(f, value.text, mine, Value(layout, f.temporary()))
        case _:
            raise NotGenerated(f"{type_of(value.layout)} as {type_of(layout)}")


def _float(f: Writer, text: str, mine: Sequence[Any], made: Value) -> Value:
    """One of some floats, as one of others."""
    assert isinstance(made.layout, Index)
    theirs = made.layout.values
    f.line(f"{made.text} = {OUTSIDE}")
    for i, each in enumerate(mine):
        if each in theirs:
            f.line(f"if {text} == {i}: {made.text} = {theirs.index(each)}")
    f.escape_if(f"{made.text} == {OUTSIDE}")
    return made


def of_nothing(layout: Layout) -> bool:
    """Whether it is the layout of an empty display."""
    match layout:
        case (
            SetLayout(item=item)
            | ListLayout(item=item)
            | BagLayout(item=item)
            | MapLayout(key=item)
        ):
            return item == VOID
        case _:
            return False


def option_of(layout: Sum, of: t.Type) -> int:
    """The alternative of a union to which all values of a type belong."""
    assert isinstance(layout.type, t.Union)
    for i, option in enumerate(layout.type.options):
        if isinstance(option, t.Int) and isinstance(of, t.Int):
            return i
        if type(option) is type(of) and (not isinstance(of, t.Record) or str(option) == str(of)):
            return i
        if isinstance(of, t.Tuple) and isinstance(option, t.Seq):
            return i
    raise NotGenerated(f"{of} in {layout.type}")


def type_of(layout: Layout) -> t.Type:
    """The type of a layout's values."""
    return t.INT if isinstance(layout, Number) else layout.type


def _to_option(f: Writer, value: Value, layout: Sum) -> Value:
    which = option_of(layout, type_of(value.layout))
    if width(layout) == 1:
        return Value(layout, str(which))
    made = to_layout(f, value, layout.options[which])
    begin = offsets(layout.options, 1)[which]
    if (made.single or made.cells or not width(made.layout)) and width(layout) <= MOST_KNOWN:
        left = width(layout) - begin - width(made.layout)
        return Value(layout, "", (str(which), *"0" * (begin - 1), *f.known(made), *"0" * left))
    at = f.region(layout)
    f.blank(at, width(layout))
    f.line(f"w[{at}] = {which}")
    f.store(plus(at, begin), made)
    return Value(layout, at)


def _sum_to_sum(f: Writer, value: Value, layout: Sum) -> Value:
    mine = value.layout
    assert isinstance(mine, Sum) and isinstance(mine.type, t.Union)
    at = f.region(layout)
    f.blank(at, width(layout))
    tag = tag_of(f, value)
    for which, of in enumerate(mine.type.options):
        try:
            there = option_of(layout, of)
        except NotGenerated:
            f.escape_if(f"{tag} == {which}")  # It never is, where a test came before.
            continue
        with f.block(f"if {tag} == {which}:"):
            f.line(f"w[{at}] = {there}")
            made = to_layout(f, inside(f, value, mine, which), layout.options[there])
            f.store(plus(at, offsets(layout.options, 1)[there]), made)
    return f.load(layout, at)


def tag_of(f: Writer, value: Value) -> str:
    """The alternative of a union's value."""
    return f.hold(f.cell(value, 0))


def inside(f: Writer, value: Value, layout: Sum, which: int) -> Value:
    """The content of a union's value of a known alternative."""
    option, at = layout.options[which], offsets(layout.options, 1)[which]
    if not width(option):
        return Value(option, "0")
    return cut(option, value.cells, at) if value.cells else f.load(option, plus(value.text, at))


def _product(f: Writer, value: Value, mine: Product, theirs: Product) -> Value:
    items = [to_layout(f, part(f, value, i), layout) for i, layout in enumerate(theirs.items)]
    assert len(mine.items) == len(theirs.items)
    return product(f, theirs, items)


def part(f: Writer, value: Value, number: int) -> Value:
    """One of the items of a record or tuple."""
    layout = value.layout
    if not isinstance(layout, Product):
        raise NotGenerated(f"a part of {type_of(layout)}")
    item = layout.items[number]
    if value.single:
        return Value(item, value.text if width(item) else "0")
    if value.cells:
        return cut(item, value.cells, offsets(layout.items)[number])
    return f.load(item, plus(value.text, offsets(layout.items)[number]))


def product(f: Writer, layout: Product, items: list[Value]) -> Value:
    """A record or tuple of these items, which have its items' layouts."""
    if width(layout) == 0:
        return Value(layout, "0")
    if one_cell(layout):
        return Value(layout, next(v.text for v in items if width(v.layout)))
    known = all(v.single or v.cells or not width(v.layout) for v in items)
    if known and width(layout) <= MOST_KNOWN:
        return Value(layout, "", tuple(c for v in items for c in f.known(v)))
    at = f.region(layout)
    for item, place in zip(items, offsets(layout.items), strict=True):
        f.store(plus(at, place), item)
    return Value(layout, at)


def _tuple_to_row(f: Writer, value: Value, items: tuple[Layout, ...], layout: ListLayout) -> Value:
    at = f.region(layout)
    f.blank(at, width(layout))
    if len(items) > layout.room:
        f.escape_if("True")
        return f.load(layout, at)
    f.line(f"w[{at}] = {len(items)}")
    for i in range(len(items)):
        made = to_layout(f, part(f, value, i), layout.item)
        f.store(plus(at, 1 + i * width(layout.item)), made)
    return f.load(layout, at)


def _row(f: Writer, value: Value, mine: ListLayout, layout: ListLayout) -> Value:
    at = f.region(layout)
    value = Value(mine, f.placed(value))
    length = f.hold(f"w[{value.text}]")
    f.escape_if(f"{length} > {layout.room}")
    f.blank(at, width(layout))
    f.line(f"w[{at}] = {length}")
    i = f.temporary()
    with f.block(f"for {i} in range({length}):"):
        each = f.load(mine.item, plus(value.text, f"1 + {i} * {width(mine.item)}"))
        f.store(plus(at, f"1 + {i} * {width(layout.item)}"), to_layout(f, each, layout.item))
    return f.load(layout, at)


def _bits(f: Writer, value: Value, mine: SetLayout, layout: SetLayout) -> Value:
    """A set of the same elements, with other room behind it."""
    count = spare_at(layout)
    if not layout.spare:
        f.escape_if(f"w[{plus(value.text, count)}] != 0")
        return f.load(layout, value.text)
    at = f.region(layout)
    if value.single:
        f.line(f"w[{at}] = {value.text}")
    else:
        f.move(at, value.text, count)
    f.blank(plus(at, count), width(layout) - count)
    one, other = behind(mine, value.text), behind(layout, at)
    if one is not None and other is not None:
        with f.block(f"if w[{one[1]}] != 0:"):
            f.store(other[1], to_layout(f, Value(*one), other[0]))
    return Value(layout, at)


def _subset(f: Writer, value: Value, layout: Sets) -> Value:
    at = f.region(layout)
    f.blank(at, width(layout))
    with members(f, value) as each:
        put_in(f, at, layout, to_layout(f, each, layout.item))
    return f.load(layout, at)


def _table(f: Writer, value: Value, mine: Maps, layout: Maps) -> Value:
    at = f.region(layout)
    f.blank(at, width(layout))
    with entries(f, value) as (which, inside):
        key = to_layout(f, key_of(f, mine, which), layout.key)
        of = to_layout(f, f.load(mine.value, inside), layout.value)
        put_entry(f, at, layout, (key, of))
    return f.load(layout, at)


def _heap(f: Writer, value: Value, mine: BagLayout, layout: BagLayout) -> Value:
    at = f.region(layout)
    f.blank(at, width(layout))
    with counts(f, Value(mine, f.placed(value))) as (item, count):
        put_count(f, at, layout, to_layout(f, item, layout.item), count)
    return f.load(layout, at)


def equal(f: Writer, a: Value, b: Value) -> str:
    """Whether two values are equal: 0 or 1, by name."""
    a, b = _same_layout(f, a, b)
    if any(isinstance(type_of(v.layout), t.Float) for v in (a, b)):
        raise NotGenerated("a comparison of floats")
    if width(a.layout) == 0:
        return "1"
    if a.single:
        return f.hold(f"{a.text} == {b.text}")
    count = width(a.layout)
    if count <= MOST_KNOWN and (a.cells or b.cells or count <= 3):
        tests = [f"{f.cell(a, i)} == {f.cell(b, i)}" for i in range(count)]
        return f.hold(" and ".join(tests))
    return f.hold(f"same(w, {f.placed(a)}, {f.placed(b)}, {count}) == 1")


def _same_layout(f: Writer, a: Value, b: Value) -> tuple[Value, Value]:
    if alike(a.layout, b.layout):
        return a, b
    if isinstance(b.layout, Sum) and (
        not isinstance(a.layout, Sum) or _is_part(a.layout, b.layout)
    ):
        return to_layout(f, a, b.layout), b
    if of_nothing(a.layout) or (isinstance(a.layout, Product) and isinstance(b.layout, ListLayout)):
        return to_layout(f, a, b.layout), b
    if (
        isinstance(a.layout, Sets)
        and isinstance(b.layout, Sets)
        and not alike(a.layout, wider(a, b))
    ):
        layout = wider(a, b)
        return to_layout(f, a, layout), to_layout(f, b, layout)
    return a, to_layout(f, b, a.layout)


def wider(a: Value, b: Value) -> Sets:
    """The layout of two sets that has room for more elements."""
    mine, theirs = a.layout, b.layout
    assert isinstance(mine, Sets) and isinstance(theirs, Sets)
    if of_nothing(mine):
        return theirs
    if isinstance(mine, SparseSet) or of_nothing(theirs):
        return mine
    if isinstance(theirs, SparseSet):
        return theirs
    best = theirs if elements(theirs.item) > elements(mine.item) else mine
    room = max(mine.spare, theirs.spare) if may_lack(best.item) else 0
    return best if best.spare == room else replace(best, spare=room)


def _is_part(narrow: Sum, wide: Sum) -> bool:
    """Whether every alternative of one union is one of another."""
    assert isinstance(narrow.type, t.Union)
    try:
        return all(option_of(wide, of) >= 0 for of in narrow.type.options)
    except NotGenerated:
        return False


def matches(mine: t.Type, option: t.Type) -> bool:
    """Whether a value of the first type may be one of the second: both are options of unions."""
    if isinstance(mine, t.Nothing) or isinstance(option, t.Nothing):
        return type(mine) is type(option)
    if isinstance(option, t.Record):
        return str(mine) == str(option)
    return not isinstance(mine, t.Nothing)


def narrowed(f: Writer, of: Value, kind: t.Type) -> Value:
    """A value known to be of a narrower type, in that one's layout."""
    if not isinstance(of.layout, Sum):
        return of
    assert isinstance(of.layout.type, t.Union)
    left = t.options(kind)
    numbers = [
        i
        for i, mine in enumerate(of.layout.type.options)
        if any(matches(mine, option) for option in left)
    ]
    if len(numbers) == 1:
        return inside(f, of, of.layout, numbers[0])
    if len(numbers) == len(of.layout.options):
        return of
    options = tuple(of.layout.options[i] for i in numbers)
    types = tuple(of.layout.type.options[i] for i in numbers)
    return to_layout(f, of, Sum(t.Union(types), options))


def field_of_option(f: Writer, of: Value, name: str) -> Value:
    """A field that every record of a union has."""
    assert isinstance(of.layout, Sum)
    if of.single:
        raise NotGenerated("a field of records without fields")
    made: str | None = None
    layout: Layout | None = None
    tag = tag_of(f, of)
    for which, option in enumerate(of.layout.options):
        if not isinstance(option, Product) or not isinstance(option.type, t.Record):
            continue
        names = [name for name, _ in option.type.fields]
        if name not in names:
            continue
        with f.block(f"if {tag} == {which}:"):
            found = part(f, inside(f, of, of.layout, which), names.index(name))
            layout = layout or found.layout
            made = made or f.region(layout)
            f.store(made, to_layout(f, found, layout))
    if made is None or layout is None:
        raise NotGenerated(f"the field {name} of a union")
    return f.load(layout, made)
