"""Whether a value keeps the bounds of its type, and all values of a bounded type."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .. import types as t
from ..sorting import in_order
from .text import text_of
from .world import FrozenBag, FrozenMap, Token, World, chosen

Sizes = Mapping[str, int]
FEW = 1 << 12  # Values of a type that are kept once they are made, where they are gone through.
MOST = 1 << 22  # Values of a type that are held at once.
COUNTABLE = 1 << 62  # Values of a type that anybody begins to go through.


# Types whose values are never out of bounds.
FREE = frozenset({t.Bool, t.Nothing, t.Enum, t.Literal, t.Sort, t.Opaque, t.Text, t.Float})


def breach(value: Any, type: t.Type) -> str | None:
    """The bound that a value of this type violates, or None; parts are judged field by field."""
    match type:
        case t.Int(low=low, high=high):
            if low is not None and value < low:
                return f"{text_of(value)} is below {text_of(low)}"
            if high is not None and value > high:
                return f"{text_of(value)} is above {text_of(high)}"
            return None
        case t.Clock(most=int() as most) if value > most:
            return f"{text_of(value)} is above {most}"
        case t.Record(fields=fields):
            for name, kind in fields:
                if kind.__class__ not in FREE:
                    found = breach(getattr(value, name), kind)
                    if found is not None:
                        return f".{name}: {found}"
            return None
        case t.Union():
            return breach(value, chosen(value, type))
        case t.Tuple(items=items):
            rows = zip(value, items, strict=True)
            return _first((v, k, f"[{i}]") for i, (v, k) in enumerate(rows))
        case t.Seq(item=item, most=most):
            if most is not None and len(value) > most:
                return f"length {len(value)} is above {most}"
            return _first((v, item, f"[{i}]") for i, v in enumerate(value))
        case t.Set(item=item):
            return _of_any(value, item)
        case t.Bag(item=item, most=most):
            if any(n < 0 for n in value.values()):
                low_count = next(k for k in in_order(value) if value[k] < 0)
                return f"the count of {text_of(low_count)} is below 0"
            if most is not None and sum(value.values()) > most:
                return f"total {text_of(sum(value.values()))} is above {most}"
            return _of_any(value, item)
        case t.Map(key=key, value=of):
            keys = _first((k, key, "") for k in value)
            if keys is None and _first((v, of, "") for v in value.values()) is None:
                return None
            return _first((k, key, " as key") for k in in_order(value)) or _first(
                (value[k], of, f"[{text_of(k)}]") for k in in_order(value)
            )
        case _:
            return None


def _of_any(held: Any, item: t.Type) -> str | None:
    """What is out of bounds in what has no order; of several the first in an order of their own."""
    if item.__class__ in FREE:
        return None
    for value in held:
        if breach(value, item) is not None:
            return _first((v, item, "") for v in in_order(held))
    return None


def _first(rows: Iterable[tuple[Any, t.Type, str]]) -> str | None:
    for value, type, where in rows:
        found = breach(value, type)
        if found is not None:
            return f"{where}: {found}" if where else found
    return None


def belongs(value: Any, type: t.Type) -> bool:
    """Whether a Python value is one of this type, bounds included: a bool is no int."""
    match type:
        case t.Bool():
            kind = isinstance(value, bool)
        case t.Int():
            kind = isinstance(value, int) and not isinstance(value, bool)
        case t.Float():
            kind = isinstance(value, int | float) and not isinstance(value, bool)
        case t.Nothing():
            kind = value is None
        case t.Enum(name=name) | t.Record(name=name) | t.Sort(name=name):
            kind = value.__class__.__name__ == name
        case t.Union(options=options):
            return any(belongs(value, option) for option in options)
        case _:
            kind = _holds_alike(value, type)
    return kind and breach(value, type) is None


def _holds_alike(value: Any, type: t.Type) -> bool:
    """The same of a collection and what is in it."""
    match type:
        case t.Tuple(items=items):
            same = value.__class__ is tuple and len(value) == len(items)
            return same and all(map(belongs, value, items))
        case t.Seq(item=item):
            return value.__class__ in (tuple, list) and all(belongs(x, item) for x in value)
        case t.Set(item=item):
            return value.__class__ in (set, frozenset) and all(belongs(x, item) for x in value)
        case t.Map(key=key, value=of):
            same = issubclass(value.__class__, Mapping)
            return same and all(belongs(k, key) and belongs(v, of) for k, v in value.items())
        case _:
            return True


def bounded(type: t.Type) -> bool:
    """Whether a value of this type can be out of bounds at all."""
    match type:
        case t.Int(low=low, high=high):
            return low is not None or high is not None
        case t.Bag():
            return True
        case t.Record(fields=fields):
            return any(bounded(kind) for _, kind in fields)
        case t.Union(options=kinds) | t.Tuple(items=kinds):
            return any(bounded(kind) for kind in kinds)
        case t.Seq(item=item, most=most):
            return most is not None or bounded(item)
        case t.Set(item=item):
            return bounded(item)
        case t.Map(key=key, value=value):
            return bounded(key) or bounded(value)
        case _:
            return False


class Values:
    """All values of bounded types, each list made once.

    `sizes` are those of sorts and opaques; `elements` their values, where they are known. `serials`
    are the only numbers to try of a width, where not all of them are tried.
    """

    def __init__(
        self,
        world: World,
        sizes: Sizes,
        elements: Mapping[str, tuple[Any, ...]] | None = None,
        serials: Mapping[t.Type, tuple[int, ...]] | None = None,
    ) -> None:
        self.world = world
        self.sizes = sizes
        self.elements = elements or {}
        self.serials = serials or {}
        self._known: dict[t.Type, tuple[Any, ...]] = {}

    def of(self, type: t.Type) -> tuple[Any, ...]:
        """Every value of the type, in a fixed order; TypeError where it has no bounds, ValueError
        where there are too many to be held."""
        if type not in self._known:
            if self.count(type) > MOST:
                raise _too_many(type)
            self._known[type] = tuple(self._all(type))
        return self._known[type]

    def count(self, type: t.Type, most: int = MOST) -> int:
        """How many values a type has; `most` + 1 for all that are more."""
        match type:
            case t.Bool() | t.Timer(ticks=False):
                found = 2
            case t.Clock(most=int() as most):
                found = most + 1
            case t.Serial() if type in self.serials:
                found = len(self.serials[type])
            case t.Int(low=int() as low, high=int() as high):
                found = high - low + 1
            case t.Enum(members=members):
                found = len(members)
            case t.Sort(name=name) | t.Opaque(name=name):
                found = len(self.elements[name]) if name in self.elements else self.sizes[name]
            case t.Record(fields=fields):
                found = math.prod(self.count(kind, most) for _, kind in fields)
            case t.Tuple(items=items):
                found = math.prod(self.count(item, most) for item in items)
            case t.Union(options=options):
                found = sum(self.count(option, most) for option in options)
            case _:
                found = self._contained(type, most)
        return min(found, most + 1)

    def _contained(self, type: t.Type, limit: int) -> int:
        match type:
            case t.Seq(item=item, most=int() as most):
                count = self.count(item, limit)
                return sum(_power(count, length, limit) for length in range(most + 1))
            case t.Set(item=item):
                return _power(2, self.count(item, limit), limit)
            case t.Bag(item=item, most=int() as most):
                return math.comb(self.count(item, limit) + most, most)
            case t.Map(key=key, value=value, total=total):
                base = self.count(value, limit) + (not total)
                return _power(base, self.count(key, limit), limit)
            case _:
                return 1

    def each(self, type: t.Type) -> Iterable[Any]:
        """The same values one after the other, made on demand; only few of them are kept."""
        if type in self._known or self.count(type) <= FEW:
            return self.of(type)
        return self._all(type)

    def all_of(self, type: t.Type) -> Iterable[Any]:
        """The same where all are gone through; ValueError where nobody could: there are more than
        `COUNTABLE`."""
        if self.count(type, COUNTABLE) > COUNTABLE:
            raise _too_many(type)
        return self.each(type)

    def _all(self, type: t.Type) -> Iterator[Any]:
        match type:
            case t.Bool() | t.Timer(ticks=False):
                yield from (False, True)
            case t.Clock(most=int() as most):
                yield from range(most + 1)
            case t.Nothing():
                yield None
            case t.Serial() if type in self.serials:
                yield from self.serials[type]
            case t.Int(low=int() as low, high=int() as high):
                yield from range(low, high + 1)
            case t.Enum(name=name, members=members):
                yield from (self.world.enums[name][m] for m in members)
            case t.Sort(name=name) | t.Opaque(name=name) if name in self.elements:
                yield from self.elements[name]
            case t.Sort(name=name):
                cls = self.world.sorts[name]
                yield from (cls(f"{name}{i + 1}") for i in range(self.sizes[name]))
            case t.Opaque(name=name):
                yield from (Token(name, i) for i in range(self.sizes[name]))
            case t.Record(name=name, fields=fields):
                make = self.world.records[name]
                yield from (make(*args) for args in self._product(k for _, k in fields))
            case t.Union(options=options):
                yield from itertools.chain.from_iterable(map(self.each, options))
            case t.Tuple(items=items):
                yield from self._product(items)
            case _:
                yield from self._containers(type)

    def _product(self, kinds: Iterable[t.Type]) -> Iterator[tuple[Any, ...]]:
        """Every row of values, the last one changing first."""
        columns = tuple(kinds)
        if all(self.count(kind) <= FEW for kind in columns):
            return itertools.product(*map(self.of, columns))
        return self._rows(columns)

    def _rows(self, kinds: tuple[t.Type, ...]) -> Iterator[tuple[Any, ...]]:
        """The same, and no column is kept."""
        if not kinds:
            yield ()
            return
        for value in self.each(kinds[0]):
            for rest in self._rows(kinds[1:]):
                yield (value, *rest)

    def _choices(
        self, value: t.Type, more: tuple[Any, ...], length: int
    ) -> Iterator[tuple[Any, ...]]:
        """Every row of so many values, each of which may be one of `more`, too."""
        if length == 0:
            yield ()
            return
        for first in itertools.chain(more, self.each(value)):
            for rest in self._choices(value, more, length - 1):
                yield (first, *rest)

    def _containers(self, type: t.Type) -> Iterator[Any]:
        match type:
            case t.Seq(item=item, most=int() as most):
                for length in range(most + 1):
                    yield from self._product([item] * length)
            case t.Set(item=item):
                yield from (frozenset(s) for s in _subsets(self.of(item)))
            case t.Bag(item=item, most=int() as most):
                for n in range(most + 1):
                    for chosen_ in itertools.combinations_with_replacement(self.of(item), n):
                        yield FrozenBag({x: chosen_.count(x) for x in chosen_})
            case t.Map(key=key, value=value, total=total):
                keys = self.of(key)
                absent = () if total else (_ABSENT,)
                for row in self._choices(value, absent, len(keys)):
                    rows = zip(keys, row, strict=True)
                    yield FrozenMap((k, v) for k, v in rows if v is not _ABSENT)
            case _:
                raise TypeError(f"{type} has no bounds")


def _too_many(type: t.Type) -> ValueError:
    return ValueError(
        f"{type} has more than {MOST:,} values within the scope: no engine can go through all of "
        "them"
    )


def _power(base: int, exponent: int, most: int) -> int:
    """No more than is needed to know that it is too many."""
    found: int = base ** (exponent if base < 2 else min(exponent, most.bit_length()))
    return found


_ABSENT = object()  # In place of the value of a key that a map does not have.


def _subsets(values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Every subset, in the order of the binary numbers whose bit i tells of element i."""
    flags = itertools.product((False, True), repeat=len(values))
    return (tuple(itertools.compress(values, row[::-1])) for row in flags)
