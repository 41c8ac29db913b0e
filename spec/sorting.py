"""The order in which a loop goes through what has no order, where its outcome could show one."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import ItemsView, Iterable, Mapping, Set, ValuesView
from typing import Any

from .words import Record


def in_order(held: Iterable[Any]) -> Iterable[Any]:
    """The elements, in an order that neither a hash seed nor the collection's past decides.

    Maps are gone through by their keys; what has an order of its own keeps it.
    """
    of: Any = held
    if isinstance(held, ItemsView):
        return sorted(of, key=_of_row)
    if isinstance(held, ValuesView):
        return [of.mapping[key] for key in sorted(of.mapping, key=order_key)]
    return sorted(of, key=order_key) if isinstance(held, Set | Mapping) else of


def _of_row(row: tuple[Any, Any]) -> tuple[str, Any]:
    return order_key(row[0])


def order_key(value: Any) -> tuple[str, Any]:
    """A total order over values of mixed types: by type name, then by value or text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "int", value
    return value.__class__.__name__, _text(value)


def _text(value: Any) -> str:
    """Its `repr`, but with the elements of sets and maps in order."""
    held = value  # Of a type that no test below narrows.
    if isinstance(value, frozenset):
        return f"frozenset({', '.join(sorted(_texts(held)))})"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(_texts(held.items())))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(_texts(held))})"
    if dataclasses.is_dataclass(value):
        fields = (f.name for f in dataclasses.fields(value))
        return f"({', '.join(f'{name}={_text(getattr(value, name))}' for name in fields)})"
    return repr(value)


def _texts(values: Iterable[Any]) -> list[str]:
    return [_text(value) for value in values]


def shown(value: Any) -> str:
    """Its `repr`, the elements of sets and the keys of maps in an order that no hash seed has."""
    held: Any = value
    if isinstance(value, set | frozenset):
        inside = ", ".join(shown(each) for each in in_order(held))
        if not inside:
            return repr(held)
        return f"{{{inside}}}" if isinstance(value, set) else f"frozenset({{{inside}}})"
    if isinstance(value, dict):
        rows = ", ".join(f"{shown(key)}: {shown(held[key])}" for key in in_order(held))
        return f"Counter({{{rows}}})" if isinstance(value, Counter) and rows else f"{{{rows}}}"
    if value.__class__ in (list, tuple):
        inside = ", ".join(map(shown, held))
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(held) == 1 else f"({inside})"
    if isinstance(value, Record):
        fields = ", ".join(f"{n}={shown(getattr(held, n))}" for n in held._fields)
        return f"{type(value).__name__}({fields})"
    return repr(value)
