"""Generated code of iteration: loops, comprehensions, quantifiers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace

from lawful.spec import ir
from lawful.spec import types as t

from ..layout.forms import written
from ..layout.layouts import (
    BOOL,
    MOST_BITS,
    BagLayout,
    Layout,
    ListLayout,
    MapLayout,
    NotGenerated,
    Number,
    Product,
    SetLayout,
    SparseMap,
    SparseSet,
    card,
    elements,
    rounds,
    spare_at,
    width,
)
from .bags import counts
from .codes import uncode
from .contents import entries, key_of, members, put_entry, put_in
from .conversions import part, product, to_layout, type_of
from .expressions import Expressions
from .text import LONG, Target, Value, plus

ROOM = 32  # Items of a list in the middle of a step whose length is not known beforehand.

Items = Value | tuple[Value, ...]


def each(f: Expressions, e: ir.Expr, owned: bool = False) -> AbstractContextManager[Items]:
    """A loop over what an expression gives: the lines inside see one item.

    `owned`: from a copy, for the lines inside change the state.
    """
    return _source(f, e, owned)


def _source(f: Expressions, e: ir.Expr, owned: bool) -> AbstractContextManager[Items]:
    match e:
        case ir.Domain(type=t.Iter(item=item)):
            return _domain(f, item)
        case ir.Op(op=op) if op in ITERATIONS:
            return ITERATIONS[op](f, e, owned)
        case ir.Narrow(of=of) if not isinstance(of.type, t.Union):
            return _source(f, of, owned)
        case _:
            return held(f, f.value(e), owned)


@contextmanager
def _domain(f: Expressions, item: t.Type) -> Generator[Items]:
    layout = f.layout_of(item)
    i = f.temporary()
    with f.loop(f"for {i} in range({rounds(layout)}):", rounds(layout)):
        yield uncode(f, layout, i)


def long(layouts: Sequence[Layout]) -> bool:
    """Whether nested loops through all values of these layouts are long."""
    total = 1
    for layout in layouts:
        count = card(layout)
        total *= LONG if count is None else count
    return total >= LONG


def universe_of(f: Expressions, of: ir.Expr) -> Value:
    """A sparse set or one in one word, or all elements of a sort as such a set."""
    if isinstance(of, ir.Domain) and isinstance(of.type, t.Iter):
        layout = SetLayout(t.Set(of.type.item, False), f.layout_of(of.type.item))
        value = Value(layout, str((1 << elements(layout.item)) - 1))
    else:
        value = f.value(of)
    if isinstance(value.layout, SetLayout) and spare_at(value.layout) == 1:
        value = to_layout(f, value, replace(value.layout, spare=0))
    if not (isinstance(value.layout, SparseSet) or value.single):
        raise NotGenerated("the subsets of a set in several words")
    return value


@contextmanager
def _sparse_subsets(f: Expressions, of: Value, layout: SparseSet) -> Generator[Items]:
    at, i, chosen = f.region(layout), f.temporary(), f.temporary()
    whole, size = f.own(of).text, width(layout.item)
    f.escape_if(f"w[{whole}] > {MOST_BITS}")
    with f.loop(f"for {chosen} in range(1 << w[{whole}]):", None):
        f.blank(at, width(layout))
        with f.block(f"for {i} in range(w[{whole}]):"):
            f.line(f"if {chosen} >> {i} & 1 == 0: continue")
            place = f.hold(f"{at} + 1 + w[{at}] * {size}")
            f.line(f"copy(w, {place}, {plus(whole, 1)} + {i} * {size}, {size})")
            f.line(f"w[{at}] += 1")
        yield Value(layout, at)


@contextmanager
def _subsets(f: Expressions, of: Value) -> Generator[Items]:
    if isinstance(of.layout, SparseSet):
        with _sparse_subsets(f, of, of.layout) as subset:
            yield subset
        return
    part_of, left, now = f.temporary(), f.temporary(), f.temporary()
    f.line(f"{part_of} = 0")
    f.line(f"{left} = 1")
    with f.loop(f"while {left} != 0:", card(of.layout)):
        f.line(f"{now} = {part_of}")
        f.line(f"{part_of} = ({part_of} - {of.text}) & {of.text}")
        f.line(f"{left} = {part_of}")
        yield Value(of.layout, now)


@contextmanager
def _range(f: Expressions, args: tuple[ir.Expr, ...]) -> Generator[Items]:
    given = [f.value(arg) for arg in args]
    texts = [value.text for value in given]
    if len(texts) == 3:
        f.fail_if(f"{texts[2]} == 0")
    i = f.temporary()
    low, high = _interval(given)
    with f.loop(f"for {i} in range({', '.join(texts)}):", _count(given)):
        yield Value(Number(low, high), i)


def _count(given: list[Value]) -> int | None:
    """The most numbers in a range between these; None where nobody knows."""
    ends = [v.layout for v in given]
    lowest = ends[0] if len(ends) > 1 else Number(0, 0)
    low = lowest.low if isinstance(lowest, Number) else None
    highest = ends[min(1, len(ends) - 1)]
    high = highest.high if isinstance(highest, Number) else None
    return None if low is None or high is None or len(ends) == 3 else max(0, high - low)


def _interval(given: list[Value]) -> tuple[int | None, int | None]:
    layouts = [v.layout for v in given]
    if not all(isinstance(k, Number) for k in layouts) or len(layouts) == 3:
        return None, None
    ends = [k for k in layouts if isinstance(k, Number)]
    low = 0 if len(ends) == 1 else ends[0].low
    high = ends[-1].high
    return low, None if high is None else high - 1


@contextmanager
def _numbered(f: Expressions, of: ir.Expr, owned: bool) -> Generator[Items]:
    number = f.temporary()
    f.line(f"{number} = -1")
    with _source(f, of, owned) as item:
        f.line(f"{number} += 1")
        held = f.hold(f"{number} + 0")
        yield Value(Number(0, None), held), one(f, item)


def _row_of(f: Expressions, of: ir.Expr, owned: bool) -> Value:
    row = f.module.as_row(f, f.value(of))
    return _own(f, row) if owned else row


def _set_of(f: Expressions, of: ir.Expr, owned: bool) -> Value:
    value = universe_of(f, of)
    return f.own(value) if owned else value


@contextmanager
def _zipped(f: Expressions, args: tuple[ir.Expr, ...], owned: bool) -> Generator[Items]:
    rows = [f.module.as_row(f, f.module.listed(f, arg)) for arg in args]
    rows = [_own(f, row) for row in rows] if owned else rows
    lengths = [f.hold(f"w[{row.text}]") for row in rows]
    shortest = lengths[0] if len(lengths) == 1 else f.hold(f"min({', '.join(lengths)})")
    i = f.temporary()
    most = min(row.layout.room for row in rows if isinstance(row.layout, ListLayout))
    with f.loop(f"for {i} in range({shortest}):", most):
        yield tuple(_at(f, row, i) for row in rows)


def _at(f: Expressions, row: Value, i: str) -> Value:
    assert isinstance(row.layout, ListLayout)
    return f.load(row.layout.item, f.hold(f"{plus(row.text, 1)} + {i} * {width(row.layout.item)}"))


@contextmanager
def _row(f: Expressions, row: Value, backwards: bool = False) -> Generator[Items]:
    length = f.hold(f"w[{row.text}]")
    i = f.temporary()
    span = f"{length} - 1, -1, -1" if backwards else length
    assert isinstance(row.layout, ListLayout)
    with f.loop(f"for {i} in range({span}):", row.layout.room):
        yield _at(f, row, i)


def _entries(f: Expressions, of: ir.Expr, which: str, owned: bool) -> AbstractContextManager[Items]:
    value = f.value(of)
    if isinstance(value.layout, BagLayout):
        return _heap(f, value, which, owned)
    if not isinstance(value.layout, MapLayout | SparseMap):
        raise NotGenerated(f"{which}() of {type_of(value.layout)}")
    return _table(f, value, which, owned)


def held(f: Expressions, value: Value, owned: bool = False) -> AbstractContextManager[Items]:
    """The same over a collection."""
    match value.layout:
        case SetLayout() | SparseSet():
            return members(f, _own(f, value) if owned and not value.single else value)
        case MapLayout() | SparseMap():
            return _table(f, value, "keys", owned)
        case BagLayout():
            return _heap(f, value, "keys", owned)
        case ListLayout() | Product():
            row = f.module.as_row(f, value)
            return _row(f, _own(f, row) if owned else row)
        case _:
            raise NotGenerated(f"a loop over {type_of(value.layout)}")


def _own(f: Expressions, value: Value) -> Value:
    at = f.region(value.layout)
    f.store(at, value)
    return Value(value.layout, at)


@contextmanager
def _table(f: Expressions, value: Value, which: str, owned: bool) -> Generator[Items]:
    layout = value.layout
    assert isinstance(layout, MapLayout | SparseMap)
    with entries(f, _own(f, value) if owned else value) as (entry, inside):
        if which == "values":
            yield f.load(layout.value, inside)
        elif which == "items":
            yield key_of(f, layout, entry), f.load(layout.value, inside)
        else:
            yield key_of(f, layout, entry)


@contextmanager
def _heap(f: Expressions, value: Value, which: str, owned: bool) -> Generator[Items]:
    layout = value.layout
    assert isinstance(layout, BagLayout)
    with counts(f, _own(f, value) if owned else value) as (item, often):
        count = Value(Number(None, None), often)
        yield count if which == "values" else (item, count) if which == "items" else item


# Operators whose value is iterated and stored nowhere, as loops over their elements.
ITERATIONS: dict[str, Callable[[Expressions, ir.Op, bool], AbstractContextManager[Items]]] = {
    "range": lambda f, e, _: _range(f, e.args),
    "enumerate": lambda f, e, owned: _numbered(f, e.args[0], owned),
    "zip": lambda f, e, owned: _zipped(f, e.args, owned),
    "reversed": lambda f, e, owned: _row(f, _row_of(f, e.args[0], owned), backwards=True),
    "subsets": lambda f, e, owned: _subsets(f, _set_of(f, e.args[0], owned)),
    "keys": lambda f, e, owned: _entries(f, e.args[0], "keys", owned),
    "values": lambda f, e, owned: _entries(f, e.args[0], "values", owned),
    "items": lambda f, e, owned: _entries(f, e.args[0], "items", owned),
}


def one(f: Expressions, items: Items) -> Value:
    """Several values as one tuple."""
    if isinstance(items, Value):
        return items
    layouts = tuple(v.layout for v in items)
    layout = Product(t.Tuple(tuple(type_of(k) for k in layouts)), layouts)
    return product(f, layout, list(items))


def bind(f: Expressions, names: tuple[str, ...], items: Items) -> dict[str, Value]:
    """The names that a clause or loop binds, with their values."""
    if len(names) == 1:
        return {names[0]: one(f, items)}
    if isinstance(items, Value):
        if not isinstance(items.layout, Product):
            raise NotGenerated(f"names for the parts of {type_of(items.layout)}")
        items = tuple(part(f, items, i) for i in range(len(items.layout.items)))
    return dict(zip(names, items, strict=True))


@contextmanager
def clauses(f: Expressions, rows: tuple[ir.Clause, ...], stop: str = "") -> Generator[None]:
    """The loops of a comprehension; inside, its names are bound and its conditions are true.

    With a `stop`, outer loops break after an inner one in which it became true.
    """
    before = dict(f.env)
    flagged = dict(f.flagged)
    with ExitStack() as stack:
        for row in rows:
            if stop and row is not rows[0]:
                stack.callback(f.line, f"if {stop}: break")
            items = stack.enter_context(each(f, row.over))
            bound = bind(f, row.names, items)
            f.env.update(bound)
            for name in bound:
                f.flagged.pop(name, None)
            for condition in row.conditions:
                f.line(f"if not {f.truth(condition)}: continue")
        yield
    f.env.clear()
    f.env.update(before)
    f.flagged.clear()
    f.flagged.update(flagged)


def comprehension(f: Expressions, e: ir.Comp, to: Target) -> Value:
    """A comprehension, a quantifier or a fold."""
    match e.kind:
        case "all" | "any":
            return _quantifier(f, e)
        case "sum":
            return _sum(f, e)
        case "min" | "max":
            return f.module.extreme(f, e)
        case "set":
            return _set(f, e, to)
        case "list" | "tuple":
            return _list(f, e, to)
        case "map":
            return _map(f, e, to)
        case "first":
            raise NotGenerated("the first of a search")


def _quantifier(f: Expressions, e: ir.Comp) -> Value:
    found = f.temporary()
    decided = int(e.kind == "any")
    f.line(f"{found} = {1 - decided}")
    # If the collection has no order, every element has to have a value.
    stops = all(t.ordered(c.over.type) for c in e.clauses)
    stop = "" if not stops else found if decided else f"not {found}"
    with clauses(f, e.clauses, stop):
        test = f.truth(e.element)
        with f.block(f"if {'' if decided else 'not '}{test}:"):
            f.line(f"{found} = {decided}")
            if stops:
                f.line("break")
    return Value(BOOL, found)


def _sum(f: Expressions, e: ir.Comp) -> Value:
    found = f.temporary()
    f.line(f"{found} = 0")
    with clauses(f, e.clauses):
        more = f.integer(e.element)
        made = f.module.added(f, found, more)
        f.line(f"{found} = {made}")
    return Value(Number(None, None), found)


def _set(f: Expressions, e: ir.Comp, to: Target) -> Value:
    if isinstance(to.layout, SetLayout | SparseSet):
        layout = to.layout
    else:
        layout = f.module.set_of(e.type, f.module.probed(f, e.clauses, e.element))
    at = f.region(layout)
    f.blank(at, width(layout))
    with clauses(f, e.clauses):
        put_in(f, at, layout, f.into(e.element, layout.item))
    return f.load(layout, at)


def _list(f: Expressions, e: ir.Comp, to: Target) -> Value:
    if isinstance(to.layout, ListLayout):
        layout = to.layout
    else:
        item = f.module.probed(f, e.clauses, e.element)
        layout = ListLayout(e.type, item, ROOM, ROOM)
    at = f.region(layout)
    f.blank(at, width(layout))
    with clauses(f, e.clauses):
        append(f, at, layout, f.into(e.element, layout.item))
    return f.load(layout, at)


def append(f: Expressions, at: str, layout: ListLayout, value: Value) -> None:
    """Append an item to a list."""
    length = f.hold(f"w[{at}]")
    f.escape_if(f"{length} >= {layout.room}")
    f.store(f.hold(f"{plus(at, 1)} + {length} * {width(layout.item)}"), value)
    f.line(f"w[{at}] = {length} + 1")


def _map(f: Expressions, e: ir.Comp, to: Target) -> Value:
    want = to.layout
    assert e.key is not None
    if not isinstance(want, MapLayout | SparseMap):
        want = f.module.map_of(
            e.type, *(f.module.probed(f, e.clauses, x) for x in (e.key, e.element))
        )
    want = written(want, e.type)
    at = f.region(want)
    f.blank(at, width(want))
    with clauses(f, e.clauses):
        key = f.into(e.key, want.key)
        put_entry(f, at, want, (key, f.into(e.element, want.value)))
    return f.load(want, at)
