"""Which values a type can have at some place: bounds of integers and lengths, intersected and
united.

An extent is a type whose integers and lengths have the known bounds; None is an unknown bound. It
contains at least the possible values, perhaps more.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from lawful.spec import types as t


def covers(wide: t.Type, narrow: t.Type) -> bool:
    """Whether every value of `narrow` is one of `wide`; both are extents of one declared type."""
    match wide, narrow:
        case t.Int(), t.Int():
            low = wide.low is None or (narrow.low is not None and wide.low <= narrow.low)
            high = wide.high is None or (narrow.high is not None and narrow.high <= wide.high)
            return empty(narrow) or (low and high)
        case t.Record(), t.Record():
            rows = zip(wide.fields, narrow.fields, strict=True)
            return all(covers(one, other) for (_, one), (_, other) in rows)
        case _, t.Union(options=options):
            return all(covers(wide, option) for option in options)
        case t.Union(options=options), _:
            return any(covers(option, narrow) for option in options if _alike(option, narrow))
        case t.Tuple(items=one), t.Tuple(items=other):
            return all(map(covers, one, other))
        case t.Map(), t.Map():
            return covers(wide.key, narrow.key) and covers(wide.value, narrow.value)
        case t.Set(), t.Set():
            return covers(wide.item, narrow.item)
        case t.Seq() | t.Bag(), t.Seq() | t.Bag():
            short = wide.most is None or (narrow.most is not None and narrow.most <= wide.most)
            return short and (narrow.most == 0 or covers(wide.item, narrow.item))
        case _:
            return True


def empty(kind: t.Int) -> bool:
    """Whether no integer is within the bounds."""
    return kind.low is not None and kind.high is not None and kind.low > kind.high


def _alike(one: t.Type, other: t.Type) -> bool:
    """Whether they may be the same alternative of a union."""
    if isinstance(one, t.Record) and isinstance(other, t.Record):
        return one.name == other.name
    return isinstance(one, other.__class__) or isinstance(other, one.__class__)


def met(one: t.Type, other: t.Type) -> t.Type:
    """An extent of the values that are of both; of the form of the first."""
    match one, other:
        case t.Serial(), _:
            return one
        case t.Int(), t.Int():
            low, high = _both(max, one.low, other.low), _both(min, one.high, other.high)
            return t.Int(low, high, one.name)
        case t.Union(options=options), _:
            kept = [
                functools.reduce(
                    met, [each for each in t.options(other) if _alike(option, each)], option
                )
                for option in options
                if any(_alike(option, each) for each in t.options(other))
            ]
            return t.union(tuple(kept)) if kept else one
        case _, t.Union(options=options):
            fitting = [option for option in options if _alike(one, option)]
            return met(one, fitting[0]) if len(fitting) == 1 else one
        case _:
            return _inside(met, one, other) or one


def joined(one: t.Type, other: t.Type) -> t.Type | None:
    """An extent of the values that are of either; None where none is known."""
    match one, other:
        case t.Int(), t.Int():
            low = None if None in (one.low, other.low) else _both(min, one.low, other.low)
            high = None if None in (one.high, other.high) else _both(max, one.high, other.high)
            return t.Int(low, high, one.name)
        case (t.Union(), _) | (_, t.Union()):
            return _either(t.options(one), t.options(other))
        case _ if not _alike(one, other):
            return _either((one,), (other,))
        case _:
            return _inside(joined, one, other) or (one if one == other else None)


def _either(one: tuple[t.Type, ...], other: tuple[t.Type, ...]) -> t.Type | None:
    found: list[t.Type] = list(one)
    for option in other:
        at = next((i for i, each in enumerate(found) if _alike(each, option)), None)
        if at is None:
            found.append(option)
            continue
        both = joined(found[at], option)
        if both is None:
            return None
        found[at] = both
    return t.union(tuple(found))


def _both(choose: Callable[[int, int], int], one: int | None, other: int | None) -> int | None:
    """The one that is known, or of two that are the one that `choose` chooses."""
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)


Combine = Callable[[t.Type, t.Type], t.Type | None]


def _each(
    combine: Combine, ones: Sequence[t.Type], others: Sequence[t.Type]
) -> tuple[t.Type, ...] | None:
    found = [combine(one, other) for one, other in zip(ones, others, strict=True)]
    known = tuple(kind for kind in found if kind is not None)
    return known if len(known) == len(found) else None


def _inside(combine: Combine, one: t.Type, other: t.Type) -> t.Type | None:
    """The first with what is inside of both combined; None where they have not the same form."""
    match one, other:
        case t.Record(), t.Record() if one.name == other.name:
            kinds = _each(combine, [k for _, k in one.fields], [k for _, k in other.fields])
            if kinds is None:
                return None
            names = (name for name, _ in one.fields)
            return t.Record(one.name, tuple(zip(names, kinds, strict=True)))
        case t.Tuple(), t.Tuple() if len(one.items) == len(other.items):
            kinds = _each(combine, one.items, other.items)
            return None if kinds is None else t.Tuple(kinds)
        case t.Map(), t.Map():
            kinds = _each(combine, (one.key, one.value), (other.key, other.value))
            return None if kinds is None else replace(one, key=kinds[0], value=kinds[1])
        case t.Set(), t.Set():
            item = combine(one.item, other.item)
            return None if item is None else replace(one, item=item)
        case t.Seq() | t.Bag(), t.Seq() | t.Bag() if one.__class__ is other.__class__:
            item = combine(one.item, other.item)
            lengths = combine(t.Int(0, one.most), t.Int(0, other.most))
            if item is None or not isinstance(lengths, t.Int):
                return None
            return replace(one, item=item, most=lengths.high)
        case _:
            return None


def unbounded(kind: t.Type) -> t.Type:
    """A type without the bounds of its integers and lengths: a value that is not stored may exceed
    them."""
    match kind:
        case t.Serial():
            return kind
        case t.Int():
            return t.INT
        case t.Record(name=name, fields=fields):
            return t.Record(name, tuple((n, unbounded(k)) for n, k in fields))
        case t.Union(options=options):
            return t.Union(tuple(map(unbounded, options)))
        case t.Tuple(items=items):
            return t.Tuple(tuple(map(unbounded, items)))
        case t.Seq(item=item) | t.Bag(item=item):
            return replace(kind, item=unbounded(item), most=None)
        case t.Set(item=item) | t.Iter(item=item):
            return replace(kind, item=unbounded(item))
        case t.Map(key=key, value=value):
            return replace(kind, key=unbounded(key), value=unbounded(value))
        case _:
            return kind


def element(kind: t.Type) -> t.Type | None:
    """The extent of a collection's elements."""
    match kind:
        case t.Tuple(items=items):
            return united(items)
        case _:
            return t.element(kind)


def united(kinds: Iterable[t.Type]) -> t.Type | None:
    """An extent of the values of any of them; None where none is known."""
    found: t.Type | None = None
    for i, kind in enumerate(kinds):
        found = kind if i == 0 else None if found is None else joined(found, kind)
    return found


# Intervals.


def plus(one: int | None, other: int | None) -> int | None:
    """The sum of two bounds on one side; None where one is not known."""
    return None if one is None or other is None else one + other


def arithmetic(op: str, args: Sequence[t.Int]) -> t.Int | None:
    """The interval of a result, from those of the operands; None for other operations."""
    lows, highs = [a.low for a in args], [a.high for a in args]
    match op, args:
        case "add", [a, b]:
            return t.Int(plus(a.low, b.low), plus(a.high, b.high))
        case "neg", [a]:
            return t.Int(_negated(a.high), _negated(a.low))
        case "sub", [a, b]:
            return t.Int(plus(a.low, _negated(b.high)), plus(a.high, _negated(b.low)))
        case "mod", [_, t.Int(low=int() as low, high=int() as high)] if low > 0:
            return t.Int(0, high - 1)
        case "min", _:
            return t.Int(_if_all(min, lows), _of_known(min, highs))
        case "max", _:
            return t.Int(_of_known(max, lows), _if_all(max, highs))
        case _:
            return None


def _negated(bound: int | None) -> int | None:
    return None if bound is None else -bound


def _if_all(choose: Callable[[Iterable[int]], int], bounds: list[int | None]) -> int | None:
    known = [bound for bound in bounds if bound is not None]
    return choose(known) if len(known) == len(bounds) else None


def _of_known(choose: Callable[[Iterable[int]], int], bounds: list[int | None]) -> int | None:
    known = [bound for bound in bounds if bound is not None]
    return choose(known) if known else None
