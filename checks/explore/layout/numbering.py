"""Codes: the numbers of the values of a dense layout, from 0, in plain Python.

The codes of items that follow one another are digits, the first item the most significant. A value
outside the scope has the code OUTSIDE. Generated code does the same with integers; see
`codegen.codes`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .layouts import (
    Index,
    Layout,
    ListLayout,
    MapLayout,
    Number,
    Product,
    SetLayout,
    Sum,
    blank,
    card,
    key_count,
    longer,
    offsets,
    spare_at,
    stride,
    width,
)

OUTSIDE = -1


def code(layout: Layout, held: Sequence[int], at: int = 0) -> int:
    """The code of the value whose cells begin there; OUTSIDE where it has none."""
    match layout:
        case Number(low=low, high=high):
            value = held[at]
            assert low is not None and high is not None
            return value - low if low <= value <= high else OUTSIDE
        case Index():
            return held[at]
        case SetLayout() | MapLayout() as dense if dense.spare and held[at + spare_at(dense)]:
            return OUTSIDE
        case SetLayout():
            return held[at]
        case Product(items=items):
            digits = [code(k, held, i) for k, i in zip(items, offsets(items, at), strict=True)]
            return number_of(digits, [card(k) or 0 for k in items])
        case Sum(options=options):
            which = held[at]
            own = code(options[which], held, offsets(options, at + 1)[which])
            return own if own < 0 else own + sum(card(k) or 0 for k in options[:which])
        case MapLayout(value=of):
            starts = range(at, at + spare_at(layout), stride(layout))
            if layout.total:
                return number_of([code(of, held, i) for i in starts], [card(of) or 0])
            digits = [_digit(code(of, held, i + 1)) if held[i] else 0 for i in starts]
            return number_of(digits, [(card(of) or 0) + 1])
        case ListLayout(item=item, most=most):
            if held[at] > most:
                return OUTSIDE
            starts = range(at + 1, at + 1 + held[at] * width(item), width(item))
            count = card(item) or 0
            own = number_of([code(item, held, i) for i in starts], [count])
            return own if own < 0 else own + sum(longer(count, most)[: held[at]])
        case _:
            raise AssertionError(layout)


def _digit(own: int) -> int:
    return own + 1 if own >= 0 else own


def number_of(digits: Sequence[int], bases: Sequence[int]) -> int:
    """The number with these digits, in these bases or in the one base of all."""
    if any(d < 0 for d in digits):
        return OUTSIDE
    found = 0
    for i, digit in enumerate(digits):
        found = found * bases[i if len(bases) > 1 else 0] + digit
    return found


def uncode(layout: Layout, number: int) -> list[int]:
    """The cells of the value with this code."""
    match layout:
        case Number(low=low):
            return [number + (low or 0)]
        case Index():
            return [number]
        case SetLayout():
            return [number, *blank(layout)[1:]]
        case Product(items=items):
            made: list[int] = []
            for item in reversed(items):
                number, digit = divmod(number, card(item) or 1)
                made[:0] = uncode(item, digit)
            return made
        case Sum(options=options):
            which = 0
            while number >= (card(options[which]) or 0):
                number -= card(options[which]) or 0
                which += 1
            parts = [uncode(k, number) if i == which else blank(k) for i, k in enumerate(options)]
            return [which, *(c for part in parts for c in part)]
        case MapLayout(key=key, value=of):
            base = (card(of) or 0) + (not layout.total)
            rows = [_entry(layout, d) for d in _digits(number, base, key_count(key))]
            cells = [c for row in rows for c in row]
            return [*cells, *blank(layout)[len(cells) :]]
        case ListLayout(item=item):
            length, count = 0, card(item) or 0
            while number >= count**length:
                number -= count**length
                length += 1
            digits = _digits(number, count, length)
            made = [length, *(c for d in digits for c in uncode(item, d))]
            return [*made, *blank(layout)[len(made) :]]
        case _:
            raise AssertionError(layout)


def _entry(layout: MapLayout, digit: int) -> Sequence[int]:
    if layout.total:
        return uncode(layout.value, digit)
    return [1, *uncode(layout.value, digit - 1)] if digit else (0, *blank(layout.value))


def _digits(number: int, base: int, count: int) -> list[int]:
    found: list[int] = []
    for _ in range(count):
        number, digit = divmod(number, base)
        found.append(digit)
    return found[::-1]
