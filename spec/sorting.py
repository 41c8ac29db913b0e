"""The order in which a loop visits an unordered collection if its outcome could depend on the
order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, ItemsView, Iterable, Mapping, Set, ValuesView
from operator import itemgetter
from typing import Any

LONG = 2000  # Bits; all Pythons have a `repr` of such integers.


def in_order(held: Iterable[Any]) -> Iterable[Any]:
    """The elements in an order that depends neither on a hash seed nor on the collection's history.

    Maps are visited by their keys; an ordered collection keeps its order.
    """
    of: Any = held
    if isinstance(held, ItemsView):
        plain = _integers(map(_key, of))
        return sorted(of, key=_key if plain else _of_row)
    if isinstance(held, ValuesView):
        return [of.mapping[key] for key in in_order(of.mapping)]
    if isinstance(held, Set | Mapping):
        return sorted(of, key=None if _integers(of) else order_key)
    return held


_key: Callable[[tuple[Any, Any]], Any] = itemgetter(0)
_INTEGERS = {int}


def _integers(keys: Iterable[Any]) -> bool:
    """Whether all of these are integers, which are in order as they are; asked without a call for
    each."""
    return set(map(type, keys)) == _INTEGERS


def _of_row(row: tuple[Any, Any]) -> tuple[str, Any]:
    return order_key(row[0])


def order_key(value: Any) -> tuple[str, Any]:
    """A total order over values of mixed types: by type name, then by value or text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "int", value
    return value.__class__.__name__, _text(value)


def _text(value: Any) -> str:
    """Its `repr`, but with the elements of sets and maps in order."""
    held = value  # Its type is one that no test below narrows.
    if isinstance(value, frozenset):
        return f"frozenset({', '.join(sorted(_texts(held)))})"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(_texts(held.items())))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(_texts(held))})"
    if dataclasses.is_dataclass(value):
        fields = (f.name for f in dataclasses.fields(value))
        return f"({', '.join(f'{name}={_text(getattr(value, name))}' for name in fields)})"
    if value.__class__ is int and held.bit_length() > LONG:
        from .integer_texts import written  # Few integers are so large.

        return written(held)
    return repr(value)


def _texts(values: Iterable[Any]) -> list[str]:
    return [_text(value) for value in values]
