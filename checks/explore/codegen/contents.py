"""Generated code of what sets and maps hold: looking for it, putting it in and taking it out.

A dense set or map has a place for each element within the scope, by the element's code; one that is
not has none. A sparse one has rows of cells, in their order, for the elements that are there.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from ..layout.layouts import (
    MOST_BITS,
    Layout,
    MapLayout,
    Maps,
    SetLayout,
    Sets,
    SparseMap,
    SparseSet,
    before_value,
    elements,
    stride,
    width,
    words,
)
from ..layout.numbering import OUTSIDE
from .codes import code, may_lack, uncode
from .prelude import ESCAPE
from .text import Value, Writer, plus


def outside(f: Writer, storing: bool) -> None:
    """Code for an element that has no code: the step leaves the scope, or the reference engine
    decides."""
    out = f.program.out
    if storing and out:
        f.line(f"w[{out}] = {OUTSIDE}")
    else:
        f.line(f.stop(ESCAPE))


# Sets.


def has_bit(value: Value, number: str) -> str:
    """Whether the element with that code is in a dense set."""
    if value.single:
        return f"{value.text} >> {number} & 1"
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


def put_in(f: Writer, at: str, layout: Sets, item: Value, storing: bool) -> None:
    """An element put into a set at a place; where it is outside the scope, the step leaves it."""
    if isinstance(layout, SparseSet):
        _put_row(f, at, layout, item)
        return
    number = code(f, item)
    with placed_inside(f, number, layout.item, storing):
        set_bit(f, at, layout, number)


@contextmanager
def placed_inside(f: Writer, number: str, item: Layout, storing: bool) -> Generator[None]:
    """The lines for an element that has a code; without one, the step leaves the scope."""
    with ExitStack() as stack:
        if not number.isdigit() and may_lack(item):
            with f.block(f"if {number} < 0:"):
                outside(f, storing)
            stack.enter_context(f.block("else:"))
        yield


def contains(f: Writer, where: Value, item: Value) -> str:
    """Whether an element is in a set, or a key in a map: a test."""
    layout = where.layout
    match layout:
        case SparseSet() | SparseMap():
            return f"{_row_of(f, f.placed(where), layout, item)} >= 0"
        case SetLayout():
            number = code(f, item)
            test = f"{has_bit(where, number)} != 0"
        case MapLayout() if not layout.total:
            number = code(f, item)
            test = f"w[{f.placed(where)} + {number} * {stride(layout)}] != 0"
        case _:
            number, test = code(f, item), "True"
    return test if number.isdigit() else f"{number} >= 0 and {test}"


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
        row = f.hold(_row_of(f, at, layout, item))
        f.line(f"{there} = {row} >= 0")
        f.line(f"if {there}: take_out(w, {at}, {width(layout.item)}, {row})")
        return there
    number = code(f, item)
    word, shift = f"w[{at}]", number
    if words(elements(layout.item)) > 1:
        word, shift = f"w[{at} + {number} // {MOST_BITS}]", f"{number} % {MOST_BITS}"
    f.line(f"{there} = {number} >= 0 and {word} >> ({shift}) & 1 != 0")
    f.line(f"if {there}: {word} ^= 1 << ({shift})")
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
    if words(count) == 1:
        left, low = f.temporary(), f.temporary()
        f.line(f"{left} = {value.text}" if value.single else f"{left} = w[{value.text}]")
        with f.loop(f"while {left} != 0:", count):
            f.line(f"{low} = {left} & -{left}")
            f.line(f"{left} = {left} ^ {low}")
            yield uncode(f, layout.item, f.hold(f"popcount({low} - 1)"))
        return
    i = f.temporary()
    with f.loop(f"for {i} in range({count}):", count):
        f.line(f"if {has_bit(value, i)} == 0: continue")
        yield uncode(f, layout.item, i)


# Maps.


def looked_up(f: Writer, at: str, layout: Maps, key: Value) -> tuple[str, str]:
    """Where the value of a key of a map at a place begins, and a test whether it is there: "True"
    where it always is."""
    if isinstance(layout, SparseMap):
        row = f.hold(_row_of(f, at, layout, key))
        return f.hold(f"{at} + {row} * {stride(layout)} + {1 + width(layout.key)}"), f"{row} >= 0"
    number = code(f, key)
    place = f.hold(f"{at} + {number} * {stride(layout)}")
    tests = [f"{number} >= 0"] if may_lack(layout.key) and not number.isdigit() else []
    if not layout.total:
        tests.append(f"w[{place}] != 0")
    inside = f.hold(plus(place, before_value(layout)))
    return inside, " and ".join(tests) or "True"


def drop(f: Writer, at: str, layout: Maps, inside: str) -> None:
    """Take the entry whose value begins there out of a map at a place."""
    if isinstance(layout, SparseMap):
        size, first = stride(layout), 1 + width(layout.key)
        f.line(f"take_out(w, {at}, {size}, ({inside} - ({at}) - {first}) // {size})")
    else:
        f.blank(f.hold(f"{inside} - {before_value(layout)}"), stride(layout))


def put_entry(f: Writer, at: str, layout: Maps, entry: tuple[Value, Value], storing: bool) -> None:
    """A key of a map at a place gets a value; outside the scope, the step leaves it."""
    key, value = entry
    if isinstance(layout, SparseMap):
        value = f.own(value)
        place = _put_row(f, at, layout, key)
        f.store(f.hold(f"{place} + {width(layout.key)}"), value)
        return
    number = code(f, key)
    with placed_inside(f, number, layout.key, storing):
        place = f.hold(f"{at} + {number} * {stride(layout)}")
        if not layout.total:
            f.line(f"w[{place}] = 1")
        f.store(plus(place, before_value(layout)), value)


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
    count = elements(layout.key)
    with f.loop(f"for {i} in range({count}):", count):
        f.line(f"{place} = {at} + {i} * {stride(layout)}")
        if not layout.total:
            f.line(f"if w[{place}] == 0: continue")
        yield i, plus(place, before_value(layout))


def key_of(f: Writer, layout: Maps, which: str) -> Value:
    """The key of an entry of `entries`."""
    if isinstance(layout, SparseMap):
        return f.load(layout.key, which)
    return uncode(f, layout.key, which)


# Rows of sparse sets and maps.


def _row_of(f: Writer, at: str, layout: SparseSet | SparseMap, item: Value) -> str:
    """The number of the row of an element or key; below 0 where there is none."""
    size, keys = _row(layout)
    return f"in_row(w, {at}, {size}, {keys}, {f.placed(item)})"


def _put_row(f: Writer, at: str, layout: SparseSet | SparseMap, item: Value) -> str:
    """Make sure that there is a row of an element or key; the place where it begins."""
    size, keys = _row(layout)
    given = f.placed(f.own(item))  # Of its own: rows move, and it may stand in one of them.
    row = f.hold(f"in_row(w, {at}, {size}, {keys}, {given})")
    with f.block(f"if {row} < 0:"):
        f.escape_if(f"w[{at}] >= {layout.room}")
        f.line(f"{row} = new_row(w, {at}, {size}, {keys}, {given})")
    return f.hold(f"{plus(at, 1)} + {row} * {size}")


def _row(layout: SparseSet | SparseMap) -> tuple[int, int]:
    """The cells of a row, and how many of them are the element or key."""
    if isinstance(layout, SparseSet):
        return width(layout.item), width(layout.item)
    return stride(layout), width(layout.key)
