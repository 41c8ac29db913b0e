"""Values of fixed width as components: how many instances hold a value of one type at once.

    Bool -> one array of booleans          Int, Enum, Sort -> one array of 64-bit integers
    Record -> the components of its fields, one after another
    Union -> an array with the index of the option, then the components of all options

A member of an enum is its index, an element of a sort a number that `Symbols` gives its name. The
components of options that a value does not have are zero, so values are equal where all their
components are. A component may be one number or boolean in place of an array of equal ones.
Integers in components are from -`LARGE` to `LARGE`: no sum of a few of them overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.spec import types as t
from lawful.spec.values.world import chosen, encode

from .layout import Unsupported

LARGE = 1 << 52

Array = Any  # Of NumPy; or one boolean or integer.
Components = tuple[Array, ...]
Convert = Callable[[Components], Components]
Symbols = dict[str, int]  # The numbers of the elements of sorts, by name.


def symbol(symbols: Symbols, name: str) -> int:
    """The number of an element; a new one has the next number."""
    return symbols.setdefault(name, len(symbols))


def dtypes(kind: t.Type) -> tuple[type[np.generic], ...]:
    """The types of the components; Unsupported where the type has no fixed width."""
    match kind:
        case t.Bool():
            return (np.bool_,)
        case t.Int() | t.Enum() | t.Sort(growing=False):
            return (np.int64,)
        case t.Nothing():
            return ()
        case t.Record(fields=fields):
            return tuple(d for _, of in fields for d in dtypes(of))
        case t.Union(options=options):
            return (np.int64, *(d for of in options for d in dtypes(of)))
        case _:
            raise Unsupported


def field_span(kind: t.Record, name: str) -> slice:
    """Where the components of a field are among those of its record."""
    at = 0
    for each, of in kind.fields:
        width = len(dtypes(of))
        if each == name:
            return slice(at, at + width)
        at += width
    raise Unsupported


def option_span(kind: t.Union, index: int) -> slice:
    """Where the components of an option are among those of its union."""
    at = 1 + sum(len(dtypes(of)) for of in kind.options[:index])
    return slice(at, at + len(dtypes(kind.options[index])))


def alike(a: t.Type, b: t.Type) -> bool:
    """Whether two types have the same values but for bounds."""
    match a, b:
        case t.Int(), t.Int():
            return isinstance(a, t.Serial) == isinstance(b, t.Serial)
        case (
            (t.Enum(name=one), t.Enum(name=other))
            | (t.Sort(name=one), t.Sort(name=other))
            | (t.Record(name=one), t.Record(name=other))
        ):
            return one == other
        case _:
            return a == b


def option_of(kind: t.Union, option: t.Type) -> int:
    """The index of an option; Unsupported where the union has no such."""
    for i, each in enumerate(kind.options):
        if alike(each, option):
            return i
    raise Unsupported


def zeros(kind: t.Type) -> Components:
    """Components that are all zero."""
    return tuple(dtype(0).item() for dtype in dtypes(kind))


def conversion(source: t.Type, target: t.Type) -> Convert:
    """How a value of one type becomes one of another: an option, a union, a part of a union."""
    if alike(source, target) and not isinstance(source, t.Union):
        return _same
    match source, target:
        case t.Union(), t.Union():
            return _same if source == target else _between(source, target)
        case _, t.Union():
            return _into(source, target)
        case t.Union(), _:
            span = option_span(source, option_of(source, target))
            return lambda of: of[span]
        case _:
            raise Unsupported


def _same(of: Components) -> Components:
    return of


def _into(source: t.Type, target: t.Union) -> Convert:
    index = option_of(target, source)
    span, none = option_span(target, index), zeros(target)
    before, after = (index, *none[1 : span.start]), none[span.stop :]
    return lambda of: (*before, *of, *after)


def _between(source: t.Union, target: t.Union) -> Convert:
    """Options that the target does not have do not occur: a test came before."""
    places: list[slice | Components] = []
    numbers = np.zeros(len(source.options), dtype=np.int64)
    for i, each in enumerate(target.options):
        found = next((n for n, of in enumerate(source.options) if alike(of, each)), None)
        if found is None:
            places.append(zeros(each))
        else:
            numbers[found] = i
            places.append(option_span(source, found))

    def convert(of: Components) -> Components:
        parts = [of[each] if isinstance(each, slice) else each for each in places]
        return (numbers[of[0]], *(component for part in parts for component in part))

    return convert


def components_of(value: Any, kind: t.Type, symbols: Symbols) -> Components:
    """The components of one value; Unsupported for an integer beyond `LARGE`."""
    match kind:
        case t.Bool():
            return (bool(value),)
        case t.Int():
            if not -LARGE <= value <= LARGE:
                raise Unsupported
            return (int(value),)
        case t.Enum(members=members):
            return (members.index(value.name),)
        case t.Sort():
            return (symbol(symbols, str(encode(value, kind))),)
        case t.Record(fields=fields):
            parts = (components_of(getattr(value, n), of, symbols) for n, of in fields)
            return tuple(each for part in parts for each in part)
        case t.Union():
            option = chosen(value, kind)
            return _into(option, kind)(components_of(value, option, symbols))
        case t.Nothing():
            return ()
        case _:
            raise Unsupported


def equal(a: Components, b: Components) -> Array:
    """Where the values are equal."""
    same: Array = True
    for i, (one, other) in enumerate(zip(a, b, strict=True)):
        same = one == other if i == 0 else same & (one == other)
    return same


def selected(test: Array, then: Components, other: Components) -> Components:
    """The first value where the test is true, else the second."""
    rows = zip(then, other, strict=True)
    return tuple(one if one is two else _where(test, one, two) for one, two in rows)


_where: Callable[..., Array] = np.where


def beyond(values: Array, low: int | None, high: int | None) -> Array:
    """Where integers are out of these bounds."""
    if low is None:
        return values > high
    if high is None:
        return values < low
    return (values < low) | (values > high)


def out_of_bounds(of: Components, kind: t.Type) -> Array:
    """Where values break the bounds of their type; False where none can."""
    match kind:
        case t.Int(low=low, high=high) if low is not None or high is not None:
            return beyond(of[0], low, high)
        case t.Record(fields=fields):
            wrong: Array = False
            for name, each in fields:
                wrong = wrong | out_of_bounds(of[field_span(kind, name)], each)
            return wrong
        case t.Union(options=options):
            wrong = False
            for i, each in enumerate(options):
                breaks = out_of_bounds(of[option_span(kind, i)], each)
                if breaks is not False:
                    wrong = wrong | (breaks & (of[0] == i))
            return wrong
        case _:
            return False
