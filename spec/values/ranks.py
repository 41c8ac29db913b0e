"""Ranks: what the order of an ordered sort's elements makes of values that have them inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import types as t


def order_of(
    kind: t.Type, elements: Callable[[t.Type], Sequence[Any] | None]
) -> Callable[[Any], Any]:
    """A function that maps a value of an orderable type to the Python value by which it is
    compared.

    `elements` are those of a sort, in order; ValueError for a value that is not among them. If they
    are None, elements compare by their text.
    """
    match kind:
        case t.Sort():
            return lambda value: _place(elements(kind), value)
        case t.Tuple(items=items):
            inner = [order_of(item, elements) for item in items]
            return lambda value: tuple(f(v) for f, v in zip(inner, value, strict=True))
        case _:
            return lambda value: value


def _place(elements: Sequence[Any] | None, value: Any) -> Any:
    return str(value) if elements is None else elements.index(value)


def ring(elements: Sequence[Any], value: Any, step: int | None) -> Any:
    """The rank of an element, or the element that many steps further round the ring.

    ValueError for a value that is no element.
    """
    rank = elements.index(value)
    return rank if step is None else elements[(rank + step) % len(elements)]
