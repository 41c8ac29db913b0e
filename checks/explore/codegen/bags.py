"""Generated code of bags: rows of codes with their counts, and behind them a sparse map."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ..layout.layouts import BagLayout, SparseMap, row_size
from ..layout.numbering import OUTSIDE
from .codes import code, uncode
from .contents import (
    behind,
    either,
    entries,
    key_of,
    looked_up,
    may_be_outside,
    put_entry,
    row_of,
    take_row,
    with_code,
    without_code,
)
from .text import Value, Writer, plus


def count_in(f: Writer, at: str, layout: BagLayout, item: Value) -> str:
    """How often an element is in a bag at a place, by name."""
    number = code(f, item) if layout.room else str(OUTSIDE)
    often = f.hold(f"count_of(w, {at}, {number})" if layout.room else "0 + 0")
    more = behind(layout, at)
    if more is not None and not number.isdigit():
        with f.block(f"if {number} < 0 and w[{more[1]}] != 0:"):
            place, there = looked_up(f, more[1], more[0], item)
            f.line(f"if {there}: {often} = w[{place}]")
    return often


def put_count(f: Writer, at: str, layout: BagLayout, item: Value, count: str) -> None:
    """An element of a bag at a place gets a count; with the count 0 it is not there."""
    number = code(f, item) if layout.room else str(OUTSIDE)
    with with_code(f, number, layout.item):
        f.passing(f"put_count(w, {at}, {layout.room}, {number}, {count})")
    if may_be_outside(number, layout.item):
        with without_code(f):
            more = behind(layout, at)
            if more is not None:
                _put_count(f, more[1], more[0], item, count)


def _put_count(f: Writer, at: str, layout: SparseMap, item: Value, count: str) -> None:
    with f.block(f"if {count} != 0:"):
        put_entry(f, at, layout, (item, Value(layout.value, count)))
    with f.block("else:"):
        row = f.hold(row_of(f, at, layout, item))
        with f.block(f"if {row} >= 0:"):
            take_row(f, at, layout, row)


@contextmanager
def counts(f: Writer, bag: Value) -> Generator[tuple[Value, str]]:
    """A loop over the elements of a bag, each with its count by name."""
    layout = bag.layout
    assert isinstance(layout, BagLayout)
    i, more = f.temporary(), behind(layout, bag.text)
    if more is not None and not layout.room:
        with entries(f, Value(*more)) as (which, inside):
            yield key_of(f, more[0], which), f.hold(f"w[{inside}]")
        return
    length = f"w[{bag.text}]"
    last = length if more is None else f"{length} + w[{more[1]}]"
    with f.loop(f"for {i} in range({last}):", layout.room + layout.spare):
        place = f.hold(f"{plus(bag.text, 1)} + 2 * {i}")
        if more is None:
            item = uncode(f, layout.item, f.hold(f"w[{place}]"))
            yield item, f.hold(f"w[{place} + 1]")
            return
        size = row_size(more[0])
        row = f.hold(f"{plus(more[1], 1)} + ({i} - {length}) * {size}")
        item = either(f, layout.item, (f"{i} < {length}", f"w[{place}]"), row)
        f.line(f"{place} = {place} + 1 if {i} < {length} else {row} + {size - 1}")
        yield item, f.hold(f"w[{place}]")
