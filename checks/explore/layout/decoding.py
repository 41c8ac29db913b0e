"""Decoding: cells back to values. Each layout gets one function that reads its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Protocol

from lawful.spec import types as t
from lawful.spec.values.world import FrozenBag, FrozenMap, World

from ...reference.states import PartState
from .layouts import (
    MOST_BITS,
    BagLayout,
    Index,
    Layout,
    ListLayout,
    MachineLayout,
    MapLayout,
    Number,
    Product,
    SetLayout,
    SparseMap,
    SparseSet,
    Sum,
    elements,
    key_count,
    offsets,
    spare,
    spare_at,
    stride,
    width,
)


class Elements(Protocol):
    """What decoding needs to know of a machine within its scope; `codec.Codec` provides it."""

    world: World

    def universe(self, kind: t.Type) -> Sequence[Any]:
        """All values of a finite type, in their order."""
        ...

    def coded(self, layout: Layout, number: int) -> Any:
        """The value of a layout that has this code."""
        ...


Read = Callable[[Sequence[int], int], Any]  # The cells, and where those of the value begin.


def reader(codec: Elements, layout: Layout) -> Read:
    """A function that reads a value of this layout, whose cells begin at a given position."""
    match layout:
        case Number():
            return lambda held, at: held[at]
        case Index(type=of, values=given):
            values = given or codec.universe(of)
            return lambda held, at: values[held[at]]
        case Product(type=of, items=items):
            row = _in_a_row(codec, items)
            if not isinstance(of, t.Record):
                return row
            record = codec.world.records[of.name]
            return lambda held, at: record(*row(held, at))
        case Sum(options=options):
            return _sum(codec, options)
        case MachineLayout(fields=fields):
            row = _in_a_row(codec, [k for _, k in fields])
            return lambda held, at: PartState(row(held, at))
        case SetLayout():
            return _subset(codec, layout)
        case MapLayout():
            return _table(codec, layout)
        case ListLayout(item=item):
            return _row(codec, item)
        case SparseSet(item=item):
            row = _row(codec, item)
            return lambda held, at: frozenset(row(held, at))
        case SparseMap(key=key, value=value):
            row = _row(codec, Product(t.Tuple(()), (key, value)))
            return lambda held, at: FrozenMap(row(held, at))
        case BagLayout():
            return _bag(codec, layout)


def _in_a_row(codec: Elements, layouts: Sequence[Layout]) -> Read:
    reads = [(reader(codec, k), i) for k, i in zip(layouts, offsets(layouts), strict=True)]
    return lambda held, at: tuple([read(held, at + i) for read, i in reads])


def _sum(codec: Elements, options: Sequence[Layout]) -> Read:
    reads = [(reader(codec, k), i) for k, i in zip(options, offsets(options, 1), strict=True)]

    def read(held: Sequence[int], at: int) -> Any:
        of, i = reads[held[at]]
        return of(held, at + i)

    return read


def _subset(codec: Elements, layout: SetLayout) -> Read:
    item, behind = layout.item, spare(layout)
    bits = [(i, i // MOST_BITS, i % MOST_BITS) for i in range(elements(item))]
    more, begin = None if behind is None else reader(codec, behind), spare_at(layout)

    def read(held: Sequence[int], at: int) -> Any:
        found = [codec.coded(item, i) for i, word, bit in bits if held[at + word] >> bit & 1]
        if more is not None and held[at + begin]:
            found += more(held, at + begin)
        return frozenset(found)

    return read


def _bag(codec: Elements, layout: BagLayout) -> Read:
    item, behind, begin = layout.item, spare(layout), spare_at(layout)
    more = None if behind is None else reader(codec, behind)

    def read(held: Sequence[int], at: int) -> Any:
        rows = range(at + 1, at + 1 + 2 * held[at], 2)
        found = {codec.coded(item, held[i]): held[i + 1] for i in rows}
        if more is not None and held[at + begin]:
            found.update(more(held, at + begin))
        return FrozenBag(found)

    return read


def _table(codec: Elements, layout: MapLayout) -> Read:
    value, step = reader(codec, layout.value), stride(layout)
    keys = range(key_count(layout.key))
    shift = not layout.total  # A value without fields takes no cell.
    behind, begin = spare(layout), spare_at(layout)
    more = None if behind is None else reader(codec, behind)

    def read(held: Sequence[int], at: int) -> Any:
        there = keys if layout.total else compress(keys, [held[at + i * step] for i in keys])
        rows = [(codec.coded(layout.key, i), value(held, at + i * step + shift)) for i in there]
        if more is not None and held[at + begin]:
            rows += more(held, at + begin).items()
        return FrozenMap(rows)

    return read


def _row(codec: Elements, item: Layout) -> Read:
    value, size = reader(codec, item), width(item)
    return lambda held, at: tuple([value(held, at + 1 + i * size) for i in range(held[at])])
