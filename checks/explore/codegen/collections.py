"""Generated code of the operators of collections."""

from __future__ import annotations

from lawful.checks.explore.layout.layouts import (
    BOOL,
    INTEGER,
    MOST_BITS,
    Heap,
    Kind,
    Number,
    Product,
    Row,
    Subset,
    Table,
    Unsupported,
    elements,
    stride,
    width,
    written,
)
from lawful.spec import ir
from lawful.spec import types as t

from .codes import alike
from .conversions import equal, part, product, to_kind, type_of
from .expressions import Expressions, Operation, TargetedOperation
from .loops import ROOM, append, each
from .text import Target, Value, plus

# Collections.


def _len(f: Expressions, e: ir.Op) -> Value:
    of = e.args[0]
    if isinstance(of, ir.Domain) or (isinstance(of, ir.Op) and of.op == "range"):
        return _counted(f, of)
    value = f.value(of)
    match value.kind:
        case Row():
            return Value(Number(0, value.kind.room), f.hold(f"w[{f.placed(value)}]"))
        case Heap():
            return Value(Number(0, value.kind.room), f.hold(f"w[{value.text}]"))
        case Product(items=items):
            return Value(Number(len(items), len(items)), str(len(items)))
        case Subset() if value.single:
            return Value(Number(0, MOST_BITS), f.hold(f"popcount({value.text})"))
        case Subset():
            words = range(width(value.kind))
            total = " + ".join(f"popcount(w[{plus(value.text, i)}])" for i in words)
            return Value(Number(0, elements(value.kind.item)), f.hold(total))
        case Table() if value.kind.total:
            count = elements(value.kind.key)
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
    wanted = to.layout if isinstance(to.layout, Subset) else None
    a = f.value(e.args[0], Target(wanted, to.in_state))
    if isinstance(a.kind, Table):
        return _merged(f, e, a)
    if not isinstance(a.kind, Subset):
        raise Unsupported(f"{e.op} of a {type(a.kind).__name__}")
    kind = wanted or a.kind
    a = to_kind(f, a, kind)
    keeps = e.op in ("union", "symmetric_difference")
    b = to_kind(f, f.value(e.args[1], Target(kind, to.in_state and keeps)), kind)
    sign = SIGNS.get(e.op)
    if a.single:
        text = f"{a.text} {sign} {b.text}" if sign else f"{a.text} & ~{b.text}"
        return Value(kind, f.hold(text))
    at = f.region(kind)
    for i in range(width(kind)):
        one, other = f"w[{plus(a.text, i)}]", f"w[{plus(b.text, i)}]"
        f.line(f"w[{plus(at, i)}] = {one} {sign or '& ~'}{'' if not sign else ' '}{other}")
    return Value(kind, at)


def _merged(f: Expressions, e: ir.Op, a: Value) -> Value:
    assert isinstance(a.kind, Table)
    if e.op != "union":
        raise Unsupported(f"{e.op} of maps")
    at = f.region(a.kind)
    f.store(at, a)
    merge(f, at, a.kind, e.args[1], False)
    return f.load(a.kind, at)


def merge(f: Expressions, at: str, kind: Table, other: ir.Expr, storing: bool) -> None:
    """The entries of a map put into one at a place."""
    value = f.value(other, Target(kind, storing))
    if not isinstance(value.kind, Table):
        raise Unsupported("a map updated by no map")
    source = Value(value.kind, f.placed(value))
    if alike(value.kind, kind) and kind.total:
        f.move(at, source.text, width(kind))
        return
    wanted = written(kind, value.kind.type)
    place = f.placed(to_kind(f, source, wanted))
    i = f.temporary()
    with f.block(f"for {i} in range({elements(kind.key)}):"):
        there = f.hold(f"{place} + {i} * {stride(wanted)}")
        here = f.hold(f"{at} + {i} * {stride(kind)}")
        if not wanted.total:
            f.line(f"if w[{there}] == 0: continue")
        if not kind.total:
            f.line(f"w[{here}] = 1")
        f.move(
            plus(here, int(not kind.total)), plus(there, int(not wanted.total)), width(kind.value)
        )


def _relation(word: str) -> Operation:
    def made(f: Expressions, e: ir.Op) -> Value:
        a = f.value(e.args[0])
        b = f.value(e.args[1], Target(a.kind))
        if not (isinstance(a.kind, Subset) and isinstance(b.kind, Subset)):
            raise Unsupported(f"{word} of collections that are no sets")
        b = to_kind(f, b, a.kind)
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
    count = range(width(a.kind))
    return [form.format(f"w[{plus(a.text, i)}]", f"w[{plus(b.text, i)}]") for i in count]


def _concat(f: Expressions, e: ir.Op, to: Target) -> Value:
    wanted = to.layout if isinstance(to.layout, Row) else None
    a = f.value(e.args[0], Target(wanted, to.in_state))
    if isinstance(a.kind, Product) and isinstance(e.type, t.Tuple):
        b = f.value(e.args[1])
        assert isinstance(b.kind, Product)
        items = [part(f, a, i) for i in range(len(a.kind.items))]
        items += [part(f, b, i) for i in range(len(b.kind.items))]
        return product(f, Product(e.type, tuple(v.kind for v in items)), items)
    a = as_row(f, a)
    b = as_row(f, f.value(e.args[1], Target(wanted or a.kind, to.in_state)))
    assert isinstance(a.kind, Row) and isinstance(b.kind, Row)
    kind = wanted or Row(e.type, a.kind.item, ROOM, a.kind.room + b.kind.room)
    at = f.region(kind)
    f.blank(at, width(kind))
    for row in (a, b):
        extend(f, at, kind, row)
    return f.load(kind, at)


def extend(f: Expressions, at: str, kind: Row, row: Value) -> None:
    """The items of a row put at the end of another."""
    assert isinstance(row.kind, Row)
    i = f.temporary()
    with f.block(f"for {i} in range(w[{row.text}]):"):
        place = f.hold(f"{plus(row.text, 1)} + {i} * {width(row.kind.item)}")
        append(f, at, kind, to_kind(f, f.load(row.kind.item, place), kind.item))


def as_row(f: Expressions, value: Value) -> Value:
    """A list or tuple as a row in cells."""
    if isinstance(value.kind, Row):
        return Value(value.kind, f.placed(value))
    if isinstance(value.kind, Product) and value.kind.items:
        items = value.kind.items
        wanted = Row(t.Seq(type_of(items[0]), False), items[0], len(items), len(items))
        made = to_kind(f, value, wanted)
        return Value(wanted, f.placed(made))
    raise Unsupported(f"a {type(value.kind).__name__} as a list")


def listed(f: Expressions, e: ir.Expr, want: Kind | None = None) -> Value:
    """What can be iterated, as a row."""
    if isinstance(e.type, t.Seq | t.Tuple):
        return as_row(f, f.value(e))
    name = "_item"
    clause = ir.Clause(e.place, (name,), e, ())
    item = ir.Local(e.place, t.element(e.type) or t.Unknown(), name)
    comp = ir.Comp(e.place, t.Seq(item.type, False), "list", item, None, (clause,))
    return as_row(f, f.value(comp, Target(want if isinstance(want, Row) else None)))


def _slice(f: Expressions, e: ir.Op) -> Value:
    row = as_row(f, f.value(e.args[0]))
    assert isinstance(row.kind, Row)
    length = f.hold(f"w[{row.text}]")
    low, high = (_end(f, arg, length, d) for arg, d in zip(e.args[1:], ("0", length), strict=True))
    kind = row.kind
    at = f.region(kind)
    f.blank(at, width(kind))
    i = f.temporary()
    with f.block(f"for {i} in range({low}, {high}):"):
        place = f.hold(f"{plus(row.text, 1)} + {i} * {width(kind.item)}")
        append(f, at, kind, f.load(kind.item, place))
    return f.load(kind, at)


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
    assert isinstance(row.kind, Row)
    item = f.into(e.args[1], row.kind.item)
    i = f.temporary()
    with f.block(f"for {i} in range(w[{row.text}]):"):
        place = f.hold(f"{plus(row.text, 1)} + {i} * {width(row.kind.item)}")
        f.line(f"if {equal(f, f.load(row.kind.item, place), item)}: {found} += 1")
    return Value(Number(0, None), found)


def _index(f: Expressions, e: ir.Op) -> Value:
    row = as_row(f, f.value(e.args[0]))
    assert isinstance(row.kind, Row)
    item = f.placed(f.into(e.args[1], row.kind.item))
    found = f.hold(f"in_row(w, {row.text}, {width(row.kind.item)}, {item})")
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
    kind = table.kind
    if isinstance(kind, Heap):
        number = f.code_in(e.args[1], kind.item)
        default = f.integer(e.args[2])
        found = f.hold(f"count_of(w, {table.text}, {number})")
        return Value(INTEGER, f.hold(f"{found} if {found} != 0 else {default}"))
    if not isinstance(kind, Table):
        raise Unsupported("get of no map")
    number = f.code_in(e.args[1], kind.key)
    other = f.value(e.args[2], Target(to.layout))
    made = to.layout or (kind.value if alike(kind.value, other.kind) else f.kind_of(e.type))
    place = f.hold(f"{f.placed(table)} + {number} * {stride(kind)}")
    there = f"{number} >= 0" if kind.total else f"{number} >= 0 and w[{place}] != 0"
    at = f.region(made)
    other = to_kind(f, other, made)
    with f.block(f"if {there}:"):
        inside = f.load(kind.value, plus(place, int(not kind.total)))
        f.store(at, to_kind(f, inside, made))
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
