"""Generated code of what sets and maps hold: looking for it, putting it in and taking it out.

A dense set or map has a place for each element within the scope, by the element's code. A sparse
one has rows of cells, in their order, for the elements that are there. Behind a dense one stands a
sparse one, for elements without a code.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import overload

from ..layout.forms import may_lack
from ..layout.layouts import (
    MOST_BITS,
    BagLayout,
    Dense,
    Layout,
    MapLayout,
    Maps,
    SetLayout,
    Sets,
    Sparse,
    SparseMap,
    SparseSet,
    before_value,
    elements,
    key_count,
    one_cell,
    row_size,
    spare,
    spare_at,
    stride,
    width,
    words,
)
from .codes import code, uncode
from .prelude import ESCAPE
from .text import Value, Writer, plus

# Sets.


def has_bit(value: Value, number: str) -> str:
    """Whether the element with that code is in the dense part of a set."""
    assert isinstance(value.layout, SetLayout)
    if value.single:
        return f"{value.text} >> {number} & 1"
    if words(elements(value.layout.item)) == 1:
        return f"w[{value.text}] >> {number} & 1"
    if number.isdigit():
        word, bit = divmod(int(number), MOST_BITS)
        return f"w[{plus(value.text, word)}] >> {bit} & 1"
    return f"w[{value.text} + {number} // {MOST_BITS}] >> {number} % {MOST_BITS} & 1"


def set_bit(f: Writer, at: str, layout: SetLayout, number: str) -> None:
    """The element with that code put into a dense set at a place."""
    if words(elements(layout.item)) == 1:
        f.line(f"w[{at}] |= 1 << {number}")
    else:
        f.line(f"w[{at} + {number} // {MOST_BITS}] |= 1 << {number} % {MOST_BITS}")


@overload
def behind(layout: SetLayout, at: str) -> tuple[SparseSet, str] | None: ...
@overload
def behind(layout: MapLayout | BagLayout, at: str) -> tuple[SparseMap, str] | None: ...
def behind(layout: Dense, at: str) -> tuple[Sparse, str] | None:
    """What stands behind a dense set or map at a place, if anything does: its layout, and where."""
    sparse = spare(layout)
    return None if sparse is None else (sparse, plus(at, spare_at(layout)))


def put_in(f: Writer, at: str, layout: Sets, item: Value) -> None:
    """An element put into a set at a place."""
    if isinstance(layout, SparseSet):
        _put_row(f, at, layout, item)
        return
    number = code(f, item)
    with with_code(f, number, layout.item):
        set_bit(f, at, layout, number)
    if may_be_outside(number, layout.item):
        with without_code(f):
            more = behind(layout, at)
            if more is not None:
                _put_row(f, more[1], more[0], item)


@contextmanager
def with_code(f: Writer, number: str, item: Layout) -> Generator[None]:
    """The lines for an element that has a code."""
    with ExitStack() as stack:
        if may_be_outside(number, item):
            stack.enter_context(f.block(f"if {number} >= 0:"))
        yield


@contextmanager
def without_code(f: Writer) -> Generator[None]:
    """The lines for one that has none, after those of `with_code`; without lines, the reference
    engine decides."""
    with f.block("else:"):
        before = len(f.lines)
        yield
        if len(f.lines) == before:
            f.line(f.stop(ESCAPE))


def may_be_outside(number: str, item: Layout) -> bool:
    return may_lack(item) and not number.isdigit()


def contains(f: Writer, where: Value, item: Value) -> str:
    """Whether an element is in a set, or a key in a map: a test."""
    layout = where.layout
    if isinstance(layout, SparseSet | SparseMap):
        return f"{row_of(f, f.placed(where), layout, item)} >= 0"
    assert isinstance(layout, SetLayout | MapLayout)
    number = code(f, item)
    if isinstance(layout, SetLayout):
        test = f"{has_bit(where, number)} != 0"
    else:
        at = f.placed(where)
        test = "True" if layout.total else f"w[{at} + {number} * {stride(layout)}] != 0"
    if number.isdigit():
        return test
    more = behind(layout, where.text)
    if more is None:
        return f"{number} >= 0 and {test}"
    true = f.temporary()
    f.line(f"{true} = {number} >= 0 and {test}")
    with f.block(f"if {number} < 0 and w[{more[1]}] != 0:"):
        f.line(f"{true} = {row_of(f, more[1], more[0], item)} >= 0")
    return true


def subset(f: Writer, part: Value, whole: Value, disjoint: bool = False) -> str:
    """Whether each element of a set is in another one, or none is: a name."""
    true = f.temporary()
    f.line(f"{true} = 1")
    with members(f, part) as each:
        there = contains(f, whole, each)
        f.line(f"if {there if disjoint else f'not ({there})'}: {true} = 0")
    return true


def take_from(f: Writer, at: str, layout: Sets, item: Value) -> str:
    """Take an element out of a set at a place, if it is there: a name that is true if it was."""
    there = f.temporary()
    if isinstance(layout, SparseSet):
        row = f.hold(row_of(f, at, layout, item))
        f.line(f"{there} = {row} >= 0")
        with f.block(f"if {there}:"):
            take_row(f, at, layout, row)
        return there
    number = code(f, item)
    word, shift = f"w[{at}]", number
    if words(elements(layout.item)) > 1:
        word, shift = f"w[{at} + {number} // {MOST_BITS}]", f"{number} % {MOST_BITS}"
    f.line(f"{there} = {number} >= 0 and {word} >> ({shift}) & 1 != 0")
    f.line(f"if {there}: {word} ^= 1 << ({shift})")
    more = behind(layout, at)
    if more is not None and not number.isdigit():
        with f.block(f"if {number} < 0 and w[{more[1]}] != 0:"):
            f.line(f"{there} = {take_from(f, more[1], more[0], item)}")
    return there


@contextmanager
def members(f: Writer, value: Value) -> Generator[Value]:
    """A loop over the elements of a set, in the order of their cells or codes."""
    layout = value.layout
    if isinstance(layout, SparseSet):
        i, at = f.temporary(), f.placed(value)
        with f.loop(f"for {i} in range(w[{at}]):", layout.room):
            yield f.load(layout.item, f.hold(f"{plus(at, 1)} + {i} * {width(layout.item)}"))
        return
    assert isinstance(layout, SetLayout)
    count = elements(layout.item)
    more = behind(layout, value.text)
    if words(count) > 1:
        i = f.temporary()
        last = count if more is None else f"{count} + w[{more[1]}]"
        with f.loop(f"for {i} in range({last}):", count + layout.spare):
            f.line(f"if {_dense(i, count, more)}{has_bit(value, i)} == 0: continue")
            yield _element(f, layout.item, (f"{i} < {count}", i), more, f"({i} - {count})")
        return
    left, low = f.temporary(), f.temporary()
    f.line(f"{left} = {value.text}" if value.single else f"{left} = w[{value.text}]")
    if more is None:
        with f.loop(f"while {left} != 0:", count):
            f.line(f"{low} = {left} & -{left}")
            f.line(f"{left} = {left} ^ {low}")
            yield uncode(f, layout.item, f.hold(f"popcount({low} - 1)"))
        return
    i = f.temporary()
    f.line(f"{i} = -1")
    with f.loop(f"while {left} != 0 or {i} + 1 < w[{more[1]}]:", count + layout.spare):
        f.line(f"{low} = {left} & -{left}")
        f.line(f"{left} = {left} ^ {low}")
        f.line(f"if {low} == 0: {i} += 1")
        yield _element(f, layout.item, (f"{low} != 0", f"popcount({low} - 1)"), more, i)


def _dense(i: str, count: int, more: object) -> str:
    return "" if more is None else f"{i} < {count} and "


def _element(
    f: Writer, item: Layout, coded: tuple[str, str], more: tuple[Sparse, str] | None, row: str
) -> Value:
    """The element with a code where a test is true, else that of a row behind."""
    test, number = coded
    if more is None:
        return uncode(f, item, number)
    place = f"{plus(more[1], 1)} + {row} * {row_size(more[0])}"
    return either(f, item, (test, number), place)


def either(f: Writer, item: Layout, coded: tuple[str, str], place: str) -> Value:
    """The value with a code where a test is true, else the one at a place."""
    test, number = coded
    single = one_cell(item)
    made = Value(item, f.temporary() if single else f.region(item))
    with f.block(f"if {test}:"):
        of = uncode(f, item, f.hold(number), None if single else made.text)
        if single:
            f.line(f"{made.text} = {of.text}")
    with f.block("else:"):
        if single:
            f.line(f"{made.text} = w[{place}]")
        else:
            f.move(made.text, f.hold(place), width(item))
    return made


# Maps.


def looked_up(f: Writer, at: str, layout: Maps, key: Value) -> tuple[str, str]:
    """Where the value of a key of a map at a place begins, and a test whether it is there: "True"
    where it always is."""
    if isinstance(layout, SparseMap):
        row = f.hold(row_of(f, at, layout, key))
        return f.hold(f"{at} + {row} * {stride(layout)} + {1 + width(layout.key)}"), f"{row} >= 0"
    number = code(f, key)
    place = f.hold(f"{at} + {number} * {stride(layout)}")
    outside = may_lack(layout.key) and not number.isdigit()
    tests = [f"{number} >= 0"] if outside else []
    if not layout.total:
        tests.append(f"w[{place}] != 0")
    inside, there = f.hold(plus(place, before_value(layout))), " and ".join(tests) or "True"
    more = behind(layout, at)
    if more is None or not outside:
        return inside, there
    found = f.temporary()
    f.line(f"{found} = {there}")
    with f.block(f"if {number} < 0 and w[{more[1]}] != 0:"):
        away, there = looked_up(f, more[1], more[0], key)
        f.line(f"{found} = {there}")
        f.line(f"{inside} = {away}")
    return inside, found


def drop(f: Writer, at: str, layout: Maps, inside: str) -> None:
    """Take the entry whose value begins there out of a map at a place."""
    if isinstance(layout, SparseMap):
        first = 1 + width(layout.key)
        row = f.hold(f"({inside} - ({at}) - {first}) // {stride(layout)}")
        take_row(f, at, layout, row)
        return
    more = behind(layout, at)
    if more is None:
        f.blank(f.hold(f"{inside} - {before_value(layout)}"), stride(layout))
        return
    with f.block(f"if {inside} < {more[1]}:"):
        f.blank(f.hold(f"{inside} - {before_value(layout)}"), stride(layout))
    with f.block("else:"):
        drop(f, more[1], more[0], inside)


def put_entry(f: Writer, at: str, layout: Maps, entry: tuple[Value, Value]) -> None:
    """A key of a map at a place gets a value."""
    key, value = entry
    if isinstance(layout, SparseMap):
        value = f.own(value)
        place = _put_row(f, at, layout, key)
        f.store(f.hold(f"{place} + {width(layout.key)}"), value)
        return
    number = code(f, key)
    with with_code(f, number, layout.key):
        place = f.hold(f"{at} + {number} * {stride(layout)}")
        if not layout.total:
            f.line(f"w[{place}] = 1")
        f.store(plus(place, before_value(layout)), value)
    if may_be_outside(number, layout.key):
        with without_code(f):
            more = behind(layout, at)
            if more is not None:
                put_entry(f, more[1], more[0], entry)


@contextmanager
def entries(f: Writer, value: Value) -> Generator[tuple[str, str]]:
    """A loop over the entries of a map: the number or the place of the key, for `key_of`, and
    where the value begins."""
    layout = value.layout
    assert isinstance(layout, MapLayout | SparseMap)
    at, i, place = f.placed(value), f.temporary(), f.temporary()
    if isinstance(layout, SparseMap):
        with f.loop(f"for {i} in range(w[{at}]):", layout.room):
            f.line(f"{place} = {plus(at, 1)} + {i} * {stride(layout)}")
            yield place, plus(place, before_value(layout))
        return
    count = key_count(layout.key)
    more = behind(layout, at)
    last = count if more is None else f"{count} + w[{more[1]}]"
    with f.loop(f"for {i} in range({last}):", count + layout.spare):
        f.line(f"{place} = {at} + {i} * {stride(layout)}")
        if not layout.total:
            f.line(f"if {_dense(i, count, more)}w[{place}] == 0: continue")
        inside, which = plus(place, before_value(layout)), i
        if more is not None:
            row = f"{plus(more[1], 1)} + ({i} - {count}) * {stride(more[0])}"
            which, inside = f.temporary(), f.hold(inside)
            f.line(f"{which} = {i}")
            with f.block(f"if {i} >= {count}:"):
                f.line(f"{which} = -({row})")
                f.line(f"{inside} = {before_value(more[0])} - {which}")
        yield which, inside


def key_of(f: Writer, layout: Maps, which: str) -> Value:
    """The key of an entry of `entries`: where it stands behind, the place is below 0."""
    if isinstance(layout, SparseMap):
        return f.load(layout.key, which)
    if not layout.spare:
        return uncode(f, layout.key, which)
    return either(f, layout.key, (f"{which} >= 0", which), f"-{which}")


# Rows of sparse sets and maps.


def row_of(f: Writer, at: str, layout: Sparse, item: Value) -> str:
    """The number of the row of an element or key; below 0 where there is none."""
    size, keys = row_size(layout), _keys(layout)
    if not layout.seldom:
        return f"in_row(w, {at}, {size}, {keys}, {f.placed(item)})"
    lines = [f"return in_row(w, at, {size}, {keys}, item)"]
    name = f.program.seldom(("row", size, keys), "w, at, item", lines)
    return f"{name}(w, {at}, {f.placed(item)})"


def _put_row(f: Writer, at: str, layout: Sparse, item: Value) -> str:
    """Make sure that there is a row of an element or key; the place where it begins."""
    size, keys, room = row_size(layout), _keys(layout), layout.room
    given = f.placed(f.own(item))  # Of its own: rows move, and it may stand in one of them.
    if not layout.seldom:
        row = f.hold(f"in_row(w, {at}, {size}, {keys}, {given})")
        with f.block(f"if {row} < 0:"):
            f.escape_if(f"w[{at}] >= {room}")
            f.line(f"{row} = new_row(w, {at}, {size}, {keys}, {given})")
        return f.hold(f"{plus(at, 1)} + {row} * {size}")
    lines = [
        f"row = in_row(w, at, {size}, {keys}, item)",
        f"if row < 0 and w[at] >= {room}: return -1",
        f"if row < 0: row = new_row(w, at, {size}, {keys}, item)",
        f"return at + 1 + row * {size}",
    ]
    name = f.program.seldom(("put row", size, keys, room), "w, at, item", lines)
    place = f.hold(f"{name}(w, {at}, {given})")
    f.escape_if(f"{place} < 0")
    return place


def take_row(f: Writer, at: str, layout: Sparse, row: str) -> None:
    """Take a row out of a sparse set or map at a place."""
    size = row_size(layout)
    if not layout.seldom:
        f.line(f"take_out(w, {at}, {size}, {row})")
        return
    lines = [f"return take_out(w, at, {size}, row)"]
    f.line(f"{f.program.seldom(('take row', size), 'w, at, row', lines)}(w, {at}, {row})")


def _keys(layout: Sparse) -> int:
    """The cells of a row that are the element or key."""
    return width(layout.key if isinstance(layout, SparseMap) else layout.item)
