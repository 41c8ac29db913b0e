"""Forms: which layout the values of a container get, by how many its elements may be."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import NamedTuple

from lawful.spec import types as t

from .layouts import (
    MOST_ELEMENTS,
    BagLayout,
    Index,
    Layout,
    ListLayout,
    MachineLayout,
    MapLayout,
    Maps,
    Product,
    SetLayout,
    Sets,
    SparseMap,
    SparseSet,
    Sum,
    card,
    inner,
    width,
)

SPARE = 4  # Elements outside the scope that a dense set or map has room for in a step,
LEAST_SPARE = 2  # and those that it has room for where they take many cells.
SPARE_CELLS = 12


class Form(NamedTuple):
    """Sets and maps over more than `dense` possible elements are sparse, with room for `room`."""

    dense: int = MOST_ELEMENTS
    room: int = 8

    def roomier(self) -> Form:
        """The same with more room; what a state is too crowded for in the end has no code."""
        return Form(self.dense, 4 * self.room)


FORM = Form()


def of_set(form: Form, kind: t.Type, item: Layout, room: int = 0) -> Sets:
    """The layout of a set, sparse where its elements may be too many for a bit each; with room for
    at least so many."""
    if _few(form, item):
        return SetLayout(kind, item, _spare(item, width(item)))
    return SparseSet(kind, item, max(form.room, room))


def of_map(form: Form, kind: t.Type, key: Layout, value: Layout, room: int = 0) -> Maps:
    """The same of a map. A total map has all its keys, and parts have places that stay."""
    total = isinstance(kind, t.Map) and kind.total
    if isinstance(value, MachineLayout):
        return MapLayout(kind, key, value)
    if total or _few(form, key):
        return MapLayout(kind, key, value, _spare(key, width(key) + width(value)))
    return SparseMap(kind, key, value, max(form.room, room))


def of_bag(kind: t.Type, item: Layout, most: int, room: int, declared: int | None) -> BagLayout:
    """The layout of a bag of at most so many in the scope, with room for so many elements."""
    if card(item) is None:
        return BagLayout(kind, item, most, 0, declared, room)
    return BagLayout(kind, item, most, room, declared, _spare(item, width(item)))


def _spare(item: Layout, size: int) -> int:
    """For how many elements, each of so many cells, there is room behind."""
    if not may_lack(item):
        return 0
    return max(LEAST_SPARE, min(SPARE, SPARE_CELLS // max(1, size)))


def _few(form: Form, item: Layout) -> bool:
    count = card(item)
    return count is not None and count <= form.dense


def written(layout: Maps, of: t.Type) -> Maps:
    """The layout for a map of that type where this layout is wanted: total only if the type is."""
    if isinstance(layout, SparseMap):
        return layout
    assert isinstance(layout.type, t.Map)
    total = isinstance(of, t.Map) and of.total  # The type of an empty display may be unknown.
    return (
        layout if layout.total == total else replace(layout, type=replace(layout.type, total=total))
    )


@functools.cache
def may_lack(layout: Layout) -> bool:
    """Whether a value may have no code: an integer or a length in it may be outside the scope."""
    match layout:
        case Index():
            return False
        case SetLayout(spare=room):
            return room > 0
        case Product() | Sum():
            return any(map(may_lack, inner(layout)))
        case MapLayout(value=value, spare=room):
            return room > 0 or may_lack(value)
        case _:
            return True


@functools.cache
def tight(layout: Layout) -> Layout:
    """The same for values within the scope, which nothing changes."""
    match layout:
        case SetLayout(item=item):
            return replace(layout, item=tight(item), spare=0)
        case MapLayout(key=key, value=value):
            return replace(layout, key=tight(key), value=tight(value), spare=0)
        case BagLayout(item=item) if layout.room:
            return replace(layout, item=tight(item), spare=0)
        case SparseMap(key=key, value=value):
            return replace(layout, key=tight(key), value=tight(value))
        case SparseSet(item=item) | ListLayout(item=item) | BagLayout(item=item):
            return replace(layout, item=tight(item))
        case Product(items=items):
            return replace(layout, items=tuple(map(tight, items)))
        case Sum(options=options):
            return replace(layout, options=tuple(map(tight, options)))
        case _:
            return layout
