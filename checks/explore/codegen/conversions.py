"""Generated code that puts a value into the cells of another kind, takes it apart, compares it."""

from __future__ import annotations

from lawful.checks.explore.layout.layouts import (
    MOST_BITS,
    VOID,
    Heap,
    Kind,
    Number,
    Product,
    Row,
    Subset,
    Sum,
    Table,
    Unsupported,
    elements,
    offsets,
    one_cell,
    stride,
    width,
    words,
)
from lawful.spec import types as t

from .codes import MOST_KNOWN, alike, code, cut, uncode
from .text import Value, Writer, plus


def to_kind(f: Writer, value: Value, kind: Kind) -> Value:
    """The same value in the cells of another kind; ESCAPE where it has no place there."""
    if alike(value.kind, kind):
        return Value(kind, value.text, value.cells)
    if of_nothing(value.kind) and not isinstance(kind, Sum):
        at = f.region(kind)
        f.blank(at, width(kind))
        return f.load(kind, at)
    match value.kind, kind:
        case Sum(), Sum():
            return _sum_to_sum(f, value, kind)
        case _, Sum():
            return _to_option(f, value, kind)
        case (Product() as mine, Product() as theirs):
            return _product(f, value, mine, theirs)
        case Product(items=items), Row():
            return _tuple_to_row(f, value, items, kind)
        case Row() as mine, Row():
            return _row(f, value, mine, kind)
        case Subset() as mine, Subset():
            return _subset(f, value, mine, kind)
        case Table() as mine, Table():
            return _table(f, value, mine, kind)
        case Heap() as mine, Heap():
            return _heap(f, value, mine, kind)
        case _:
            raise Unsupported(f"a {type(value.kind).__name__} as a {type(kind).__name__}")


def of_nothing(kind: Kind) -> bool:
    """Whether it is the kind of an empty display."""
    match kind:
        case Subset(item=item) | Row(item=item) | Heap(item=item) | Table(key=item):
            return item == VOID
        case _:
            return False


def option_of(kind: Sum, of: t.Type) -> int:
    """Which alternative of a union the values of a type are."""
    assert isinstance(kind.type, t.Union)
    for i, option in enumerate(kind.type.options):
        if type(option) is type(of) and (not isinstance(of, t.Record) or str(option) == str(of)):
            return i
        if isinstance(of, t.Tuple) and isinstance(option, t.Seq):
            return i
    raise Unsupported(f"{of} in {kind.type}")


def type_of(kind: Kind) -> t.Type:
    """The type of a kind's values."""
    return t.INT if isinstance(kind, Number) else kind.type


def _to_option(f: Writer, value: Value, kind: Sum) -> Value:
    which = option_of(kind, type_of(value.kind))
    if width(kind) == 1:
        return Value(kind, str(which))
    made = to_kind(f, value, kind.options[which])
    begin = offsets(kind.options, 1)[which]
    if (made.single or made.cells or not width(made.kind)) and width(kind) <= MOST_KNOWN:
        left = width(kind) - begin - width(made.kind)
        return Value(kind, "", (str(which), *"0" * (begin - 1), *f.known(made), *"0" * left))
    at = f.region(kind)
    f.blank(at, width(kind))
    f.line(f"w[{at}] = {which}")
    f.store(plus(at, begin), made)
    return Value(kind, at)


def _sum_to_sum(f: Writer, value: Value, kind: Sum) -> Value:
    mine = value.kind
    assert isinstance(mine, Sum) and isinstance(mine.type, t.Union)
    at = f.region(kind)
    f.blank(at, width(kind))
    tag = tag_of(f, value)
    for which, of in enumerate(mine.type.options):
        try:
            there = option_of(kind, of)
        except Unsupported:
            f.escape_if(f"{tag} == {which}")  # It never is, where a test came before.
            continue
        with f.block(f"if {tag} == {which}:"):
            f.line(f"w[{at}] = {there}")
            made = to_kind(f, inside(f, value, mine, which), kind.options[there])
            f.store(plus(at, offsets(kind.options, 1)[there]), made)
    return f.load(kind, at)


def tag_of(f: Writer, value: Value) -> str:
    """Which alternative a union's value is."""
    return f.hold(f.cell(value, 0))


def inside(f: Writer, value: Value, kind: Sum, which: int) -> Value:
    """What a union's value holds, known to be of that alternative."""
    option, at = kind.options[which], offsets(kind.options, 1)[which]
    if not width(option):
        return Value(option, "0")
    return cut(option, value.cells, at) if value.cells else f.load(option, plus(value.text, at))


def _product(f: Writer, value: Value, mine: Product, theirs: Product) -> Value:
    items = [to_kind(f, part(f, value, i), kind) for i, kind in enumerate(theirs.items)]
    assert len(mine.items) == len(theirs.items)
    return product(f, theirs, items)


def part(f: Writer, value: Value, number: int) -> Value:
    """One of the items of a record or tuple."""
    kind = value.kind
    if not isinstance(kind, Product):
        raise Unsupported(f"a part of {kind.__class__.__name__}")
    item = kind.items[number]
    if value.single:
        return Value(item, value.text if width(item) else "0")
    if value.cells:
        return cut(item, value.cells, offsets(kind.items)[number])
    return f.load(item, plus(value.text, offsets(kind.items)[number]))


def product(f: Writer, kind: Product, items: list[Value]) -> Value:
    """A record or tuple of these items, which have its items' kinds."""
    if width(kind) == 0:
        return Value(kind, "0")
    if one_cell(kind):
        return Value(kind, next(v.text for v in items if width(v.kind)))
    known = all(v.single or v.cells or not width(v.kind) for v in items)
    if known and width(kind) <= MOST_KNOWN:
        return Value(kind, "", tuple(c for v in items for c in f.known(v)))
    at = f.region(kind)
    for item, place in zip(items, offsets(kind.items), strict=True):
        f.store(plus(at, place), item)
    return Value(kind, at)


def _tuple_to_row(f: Writer, value: Value, items: tuple[Kind, ...], kind: Row) -> Value:
    at = f.region(kind)
    f.blank(at, width(kind))
    if len(items) > kind.room:
        f.escape_if("True")
        return f.load(kind, at)
    f.line(f"w[{at}] = {len(items)}")
    for i in range(len(items)):
        made = to_kind(f, part(f, value, i), kind.item)
        f.store(plus(at, 1 + i * width(kind.item)), made)
    return f.load(kind, at)


def _row(f: Writer, value: Value, mine: Row, kind: Row) -> Value:
    at = f.region(kind)
    value = Value(mine, f.placed(value))
    length = f.hold(f"w[{value.text}]")
    f.escape_if(f"{length} > {kind.room}")
    f.blank(at, width(kind))
    f.line(f"w[{at}] = {length}")
    i = f.temporary()
    with f.block(f"for {i} in range({length}):"):
        each = f.load(mine.item, plus(value.text, f"1 + {i} * {width(mine.item)}"))
        f.store(plus(at, f"1 + {i} * {width(kind.item)}"), to_kind(f, each, kind.item))
    return f.load(kind, at)


def _subset(f: Writer, value: Value, mine: Subset, kind: Subset) -> Value:
    at = f.region(kind)
    f.blank(at, width(kind))
    i = f.temporary()
    with f.block(f"for {i} in range({elements(mine.item)}):"):
        f.line(f"if {has_bit(value, i)} == 0: continue")
        number = code(f, to_kind(f, uncode(f, mine.item, i), kind.item))
        f.escape_if(f"{number} < 0")
        set_bit(f, at, kind, number)
    return f.load(kind, at)


def has_bit(value: Value, number: str) -> str:
    """Whether the element with that code is in a set."""
    if value.single:
        return f"{value.text} >> {number} & 1"
    if number.isdigit():
        word, bit = divmod(int(number), MOST_BITS)
        return f"w[{plus(value.text, word)}] >> {bit} & 1"
    return f"w[{value.text} + {number} // {MOST_BITS}] >> {number} % {MOST_BITS} & 1"


def set_bit(f: Writer, at: str, kind: Subset, number: str) -> None:
    """The element with that code put into a set at a place."""
    if words(elements(kind.item)) == 1:
        f.line(f"w[{at}] |= 1 << {number}")
    else:
        f.line(f"w[{at} + {number} // {MOST_BITS}] |= 1 << {number} % {MOST_BITS}")


def _table(f: Writer, value: Value, mine: Table, kind: Table) -> Value:
    at = f.region(kind)
    f.blank(at, width(kind))
    i = f.temporary()
    place = f.temporary()
    source = f.placed(value)
    with f.block(f"for {i} in range({elements(mine.key)}):"):
        f.line(f"{place} = {source} + {i} * {stride(mine)}")
        if not mine.total:
            f.line(f"if w[{place}] == 0: continue")
        key = to_kind(f, uncode(f, mine.key, i), kind.key)
        number = code(f, key)
        f.escape_if(f"{number} < 0")
        there = f.hold(f"{at} + {number} * {stride(kind)}")
        if not kind.total:
            f.line(f"w[{there}] = 1")
        each = f.load(mine.value, plus(place, int(not mine.total)))
        f.store(plus(there, int(not kind.total)), to_kind(f, each, kind.value))
    return f.load(kind, at)


def _heap(f: Writer, value: Value, mine: Heap, kind: Heap) -> Value:
    at = f.region(kind)
    f.blank(at, width(kind))
    i = f.temporary()
    value = Value(mine, f.placed(value))
    with f.block(f"for {i} in range(w[{value.text}]):"):
        of = f.hold(f"w[{value.text} + 1 + 2 * {i}]")
        number = code(f, to_kind(f, uncode(f, mine.item, of), kind.item))
        f.escape_if(f"{number} < 0")
        count = f.hold(f"w[{value.text} + 2 + 2 * {i}]")
        f.passing(f"put_count(w, {at}, {kind.room}, {number}, {count})")
    return f.load(kind, at)


def equal(f: Writer, a: Value, b: Value) -> str:
    """Whether two values are equal: 0 or 1, by name."""
    a, b = _same_kind(f, a, b)
    if any(isinstance(type_of(v.kind), t.Float) for v in (a, b)):
        raise Unsupported("a comparison of floats")
    if width(a.kind) == 0:
        return "1"
    if a.single:
        return f.hold(f"{a.text} == {b.text}")
    count = width(a.kind)
    if count <= MOST_KNOWN and (a.cells or b.cells or count <= 3):
        tests = [f"{f.cell(a, i)} == {f.cell(b, i)}" for i in range(count)]
        return f.hold(" and ".join(tests))
    return f.hold(f"same(w, {f.placed(a)}, {f.placed(b)}, {count}) == 1")


def _same_kind(f: Writer, a: Value, b: Value) -> tuple[Value, Value]:
    if alike(a.kind, b.kind):
        return a, b
    if isinstance(b.kind, Sum) and (not isinstance(a.kind, Sum) or _is_part(a.kind, b.kind)):
        return to_kind(f, a, b.kind), b
    if of_nothing(a.kind):
        return to_kind(f, a, b.kind), b
    return a, to_kind(f, b, a.kind)


def _is_part(narrow: Sum, wide: Sum) -> bool:
    """Whether every alternative of one union is one of another."""
    assert isinstance(narrow.type, t.Union)
    try:
        return all(option_of(wide, of) >= 0 for of in narrow.type.options)
    except Unsupported:
        return False


def matches(mine: t.Type, option: t.Type) -> bool:
    """Whether a value of the first type may be one of the second: both are options of unions."""
    if isinstance(mine, t.Nothing) or isinstance(option, t.Nothing):
        return type(mine) is type(option)
    if isinstance(option, t.Record):
        return str(mine) == str(option)
    return not isinstance(mine, t.Nothing)


def narrowed(f: Writer, of: Value, kind: t.Type) -> Value:
    """A value known to be of a narrower type, in that one's kind."""
    if not isinstance(of.kind, Sum):
        return of
    assert isinstance(of.kind.type, t.Union)
    left = t.options(kind)
    numbers = [
        i
        for i, mine in enumerate(of.kind.type.options)
        if any(matches(mine, option) for option in left)
    ]
    if len(numbers) == 1:
        return inside(f, of, of.kind, numbers[0])
    if len(numbers) == len(of.kind.options):
        return of
    options = tuple(of.kind.options[i] for i in numbers)
    types = tuple(of.kind.type.options[i] for i in numbers)
    return to_kind(f, of, Sum(t.Union(types), options))


def field_of_option(f: Writer, of: Value, name: str) -> Value:
    """A field that every record of a union has."""
    assert isinstance(of.kind, Sum)
    if of.single:
        raise Unsupported("a field of records without fields")
    made: str | None = None
    kind: Kind | None = None
    tag = tag_of(f, of)
    for which, option in enumerate(of.kind.options):
        if not isinstance(option, Product) or not isinstance(option.type, t.Record):
            continue
        names = [name for name, _ in option.type.fields]
        if name not in names:
            continue
        with f.block(f"if {tag} == {which}:"):
            found = part(f, inside(f, of, of.kind, which), names.index(name))
            kind = kind or found.kind
            made = made or f.region(kind)
            f.store(made, to_kind(f, found, kind))
    if made is None or kind is None:
        raise Unsupported(f"the field {name} of a union")
    return f.load(kind, made)
