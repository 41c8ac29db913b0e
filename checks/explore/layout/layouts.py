"""Layouts: how the values of a bounded type stand in cells, each cell one 64-bit integer.

    Layout := Number(low, high, least, most)       the integer itself
            | Index(type, count)                   bool, enum, sort, opaque, None: a position
            | Product(type, items)                 record, tuple: the cells of all items in turn
            | Sum(type, options)                   union: which one, then the cells of all options
            | SetLayout(type, item, spare)         one bit for each element of the item's universe
            | MapLayout(type, key, value, spare)   for each key the cells of its value; in a partial
                                                   map, a cell before them says whether it is there
            | SparseSet(type, item, room)          the number of elements, then the elements
            | SparseMap(type, key, value, room)    the number of entries, then (key, value) by key
            | ListLayout(type, item, most, room)   list, tuple[T, ...]: the length, then the items
            | BagLayout(type, item, most, room,    the number of entries, then (code, count) by code
                        spare)
            | MachineLayout(type, fields)          a machine: its variables, then its parameters

Each value has exactly one form: what is absent is blank, every cell 0, and what a sparse set or map
holds is in the order of its cells. A layout is *dense* if its values can be numbered from 0; the
number is the value's *code*. A layout of values that exist only in the middle of a step may have no
bounds: such values have cells, and no code.

In the middle of a step a dense set, map or bag may hold elements outside the scope, which have no
code. They stand behind it, in a sparse one with room for `spare`. In a state this one is empty, and
takes no bits. The elements of a bag that never have codes all stand there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar, overload

from lawful.spec import types as t
from lawful.spec.errors import Unsupported
from lawful.spec.quick_dataclass import dataclass

MOST_BITS = 62  # Of a code, a cell's range or a word of a set; the sign and one more stay free.
MOST_ELEMENTS = 4096  # Of the universe of a set: beyond it, one bit an element is too much.
MOST_PLACES = 1 << 16  # Of the keys of a map that are always there: generated code names each.
MOST_ROOM = 128  # Elements of a sparse set in a state: beyond it, a state is too large.


class NotGenerated(Unsupported):
    """No code is generated for this; the reference engine explores the machine instead."""


class Crowded(NotGenerated):
    """A state has more elements in a sparse set or map than there is room for."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's least and greatest value in a state within the scope."""

    low: int
    high: int

    @property
    def bits(self) -> int:
        """How many bits a word needs for it."""
        return (self.high - self.low).bit_length()


class HashedOnce:
    """Has the slot of `hashed_once`."""

    __slots__ = ("known_hash",)

    known_hash: int


H = TypeVar("H", bound=HashedOnce)


def hashed_once(cls: type[H]) -> type[H]:
    """Layouts are deep, and looked up often: each works out its hash once."""
    values = attrgetter(*cls.__slots__)

    def once(self: H) -> int:
        try:
            return self.known_hash
        except AttributeError:
            found = hash(values(self))
            object.__setattr__(self, "known_hash", found)
            return found

    cls.__hash__ = once  # type: ignore[assignment]  # As `dataclass` does.
    return cls


@dataclass(frozen=True, slots=True)
class Number:
    """Integers; `least` and `most` are the declared bounds, which a step must not break."""

    low: int | None
    high: int | None
    least: int | None = None
    most: int | None = None


@hashed_once
@dataclass(frozen=True, slots=True)
class Index(HashedOnce):
    """`values` are given where they are not all that the type has: of floats, those to try."""

    type: t.Type
    count: int
    values: tuple[Any, ...] = ()


@hashed_once
@dataclass(frozen=True, slots=True)
class Product(HashedOnce):
    type: t.Type
    items: tuple[Layout, ...]


@hashed_once
@dataclass(frozen=True, slots=True)
class Sum(HashedOnce):
    type: t.Type
    options: tuple[Layout, ...]


@hashed_once
@dataclass(frozen=True, slots=True)
class SetLayout(HashedOnce):
    type: t.Type
    item: Layout
    spare: int = 0


@hashed_once
@dataclass(frozen=True, slots=True)
class MapLayout(HashedOnce):
    type: t.Type
    key: Layout
    value: Layout
    spare: int = 0

    @property
    def total(self) -> bool:
        """Whether every key is always there."""
        return isinstance(self.type, t.Map) and self.type.total


@hashed_once
@dataclass(frozen=True, slots=True)
class SparseSet(HashedOnce):
    """`seldom`: it stands behind a dense one, and in most steps nothing is there."""

    type: t.Type
    item: Layout
    room: int
    seldom: bool = False


@hashed_once
@dataclass(frozen=True, slots=True)
class SparseMap(HashedOnce):
    """Always partial: a total map has each of its keys."""

    type: t.Type
    key: Layout
    value: Layout
    room: int
    seldom: bool = False


@hashed_once
@dataclass(frozen=True, slots=True)
class ListLayout(HashedOnce):
    """`most` items in the scope, `declared` by MaxLen, `room` in the middle of a step."""

    type: t.Type
    item: Layout
    most: int
    room: int
    declared: int | None = None


@hashed_once
@dataclass(frozen=True, slots=True)
class BagLayout(HashedOnce):
    type: t.Type
    item: Layout
    most: int
    room: int
    declared: int | None = None
    spare: int = 0


@hashed_once
@dataclass(frozen=True, slots=True)
class MachineLayout(HashedOnce):
    type: t.Type
    fields: tuple[tuple[str, Layout], ...]


Dense = SetLayout | MapLayout | BagLayout
Sparse = SparseSet | SparseMap
Sets = SetLayout | SparseSet
Maps = MapLayout | SparseMap
Containers = Sets | Maps | ListLayout | BagLayout
Layout = Number | Index | Product | Sum | Containers | MachineLayout
BOOL = Index(t.BOOL, 2)
NONE = Index(t.NOTHING, 1)
INTEGER = Number(None, None)
VOID = Index(t.Unknown(), 0)  # The elements of an empty display, whose type nobody knows.


def hull(*layouts: Layout) -> Layout:
    """Integers as wide as all of these."""
    numbers = [k for k in layouts if isinstance(k, Number)]
    lows, highs = [k.low for k in numbers], [k.high for k in numbers]
    low = None if None in lows else min(x for x in lows if x is not None)
    high = None if None in highs else max(x for x in highs if x is not None)
    return Number(low, high)


def inner(layout: Layout) -> tuple[Layout, ...]:
    """The layouts inside it whose cells follow one another."""
    match layout:
        case Product(items=items) | Sum(options=items):
            return items
        case MachineLayout(fields=fields):
            return tuple(of for _, of in fields)
        case _:
            raise AssertionError(layout)


@functools.cache
def width(layout: Layout) -> int:
    """How many cells a value has."""
    match layout:
        case Number() | Index():
            return 1
        case Product() | MachineLayout():
            return sum(map(width, inner(layout)))
        case Sum(options=options):
            return 1 + sum(map(width, options))
        case SetLayout() | MapLayout() | BagLayout():
            behind = spare(layout)
            return spare_at(layout) + (0 if behind is None else width(behind))
        case ListLayout(item=item, room=room) | SparseSet(item=item, room=room):
            return 1 + room * width(item)
        case SparseMap(room=room):
            return 1 + room * stride(layout)


@overload
def spare(layout: SetLayout) -> SparseSet | None: ...
@overload
def spare(layout: MapLayout | BagLayout) -> SparseMap | None: ...
def spare(layout: Dense) -> Sparse | None:
    """The layout of what stands behind a dense set or map, if anything does."""
    if not layout.spare:
        return None
    match layout:
        case SetLayout(item=item):
            return SparseSet(layout.type, item, layout.spare, True)
        case MapLayout(key=key, value=value):
            return SparseMap(layout.type, key, value, layout.spare, True)
        case BagLayout(item=item, most=most):
            return SparseMap(layout.type, item, Number(0, most), layout.spare, layout.room > 0)


def spare_at(layout: Dense) -> int:
    """The cells of a dense set, map or bag before what stands behind it."""
    match layout:
        case SetLayout(item=item):
            return words(elements(item))
        case MapLayout(key=key):
            return key_count(key) * stride(layout)
        case BagLayout(room=room):
            return 1 + 2 * room


@functools.cache
def one_cell(layout: Layout) -> bool:
    """Whether one cell determines the value; a container always has a place."""
    match layout:
        case ListLayout() | BagLayout() | MapLayout() | SparseSet() | SparseMap():
            return False
        case MachineLayout():
            return False
        case Product(items=items):
            return width(layout) == 1 and all(one_cell(item) for item in items if width(item))
        case _:
            return width(layout) == 1


def row_size(layout: Sparse) -> int:
    """The cells of one row of a sparse set or map."""
    return stride(layout) if isinstance(layout, SparseMap) else width(layout.item)


def words(count: int) -> int:
    """How many words a set over so many elements has."""
    return max(1, -(-count // MOST_BITS))


def stride(layout: Maps) -> int:
    """The cells of one key of a map."""
    return width(layout.value) + before_value(layout)


def before_value(layout: Maps) -> int:
    """The cells of one key of a map that are before its value."""
    return width(layout.key) if isinstance(layout, SparseMap) else int(not layout.total)


def elements(layout: Layout) -> int:
    """The size of a universe; NotGenerated where it is without bounds or too large."""
    return _at_most(MOST_ELEMENTS, card(layout))


def key_count(key: Layout) -> int:
    """The same of the keys of a map, each of which has its place."""
    return _at_most(MOST_PLACES, card(key))


def _at_most(most: int, count: int | None) -> int:
    if count is None or count > most:
        raise NotGenerated(f"a place for each of {_number(count)} values")
    return count


def rounds(layout: Layout) -> int:
    """The number of values that a loop goes through; NotGenerated where nobody knows it."""
    count = card(layout)
    if count is None:
        raise NotGenerated(f"a loop over {_number(count)} values")
    return count


def _number(count: int | None) -> str:
    return "unboundedly many" if count is None else str(count)


@functools.cache
def card(layout: Layout) -> int | None:
    """The number of values; None if they have no code."""
    match layout:
        case Number(low=low, high=high):
            return None if low is None or high is None else _within([high - low + 1], sum)
        case Index(count=count):
            return count
        case Product(items=items):
            return _within([card(item) for item in items], math.prod)
        case Sum(options=options):
            return _within([card(option) for option in options], sum)
        case SetLayout(item=item):
            values = card(item)
            return None if values is None or values > MOST_BITS else 2**values
        case MapLayout(key=key, value=value):
            keys, values = card(key), card(value)
            if keys is None or values is None or keys > MOST_BITS:
                return None
            return _within([values + (not layout.total)] * keys, math.prod)
        case ListLayout(item=item, most=most):
            values = card(item)
            return None if values is None else _within(longer(values, most), sum)
        case SparseSet() | SparseMap() | BagLayout() | MachineLayout():
            return None


def longer(count: int, most: int) -> list[int]:
    """How many lists of each length there are, with so many different items."""
    return [count**length for length in range(most + 1)]


def _within(counts: Sequence[int | None], of: object) -> int | None:
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return None
    total = math.prod(known) if of is math.prod else sum(known)
    return total if total <= 2**MOST_BITS else None


@functools.cache
def cells(layout: Layout) -> tuple[Cell, ...]:
    """The cells of a value in a state within the scope; NotGenerated where one has no bounds."""
    match layout:
        case Number(low=low, high=high):
            if low is None or high is None:
                raise NotGenerated("an integer without bounds in a state")
            return (Cell(low, high),)
        case Index(count=count):
            return (Cell(0, count - 1),)
        case Product() | MachineLayout():
            return tuple(chain.from_iterable(map(cells, inner(layout))))
        case Sum(options=options):
            tag = Cell(0, len(options) - 1)
            return (tag, *chain.from_iterable(map(_or_blank, options)))
        case SetLayout(item=item):
            made = tuple(_word(elements(item), i) for i in range(words(elements(item))))
            return (*made, *(Cell(0, 0),) * (width(layout) - len(made)))
        case MapLayout(key=key, value=value):
            one = cells(value) if layout.total else (Cell(0, 1), *_or_blank(value))
            made = one * key_count(key)
            return (*made, *(Cell(0, 0),) * (width(layout) - len(made)))
        case ListLayout(item=item, most=most, room=room):
            gap = (Cell(0, 0),) * (width(item) * (room - most))
            return (Cell(0, most), *_or_blank(item) * most, *gap)
        case SparseSet(item=item, room=room):
            return (Cell(0, room), *_or_blank(item) * room)
        case SparseMap(key=key, value=value, room=room):
            return (Cell(0, room), *(*_or_blank(key), *_or_blank(value)) * room)
        case BagLayout(item=item, most=most, room=room):
            if room:
                row = (Cell(0, (card(item) or 1) - 1), Cell(0, most))
                made = (Cell(0, most), *row * most)
            else:
                made = (Cell(0, 0), Cell(0, most), *(*_or_blank(item), Cell(0, most)) * most)
            return (*made, *(Cell(0, 0),) * (width(layout) - len(made)))


def _or_blank(layout: Layout) -> tuple[Cell, ...]:
    return tuple(Cell(min(c.low, 0), max(c.high, 0)) for c in cells(layout))


def _word(count: int, number: int) -> Cell:
    left = count - number * MOST_BITS
    return Cell(0, 2 ** min(left, MOST_BITS) - 1)


def blank(layout: Layout) -> tuple[int, ...]:
    """The cells of an absent value."""
    return (0,) * width(layout)


def offsets(layouts: Iterable[Layout], start: int = 0) -> tuple[int, ...]:
    """The position of each of these layouts if their cells follow one another."""
    found: list[int] = []
    for layout in layouts:
        found.append(start)
        start += width(layout)
    return tuple(found)
