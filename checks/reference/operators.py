"""The Python function of each operator, over the immutable values of the reference engine."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lawful.spec import ops
from lawful.spec.values.world import FrozenBag, FrozenMap
from lawful.spec.words import subsets


def freeze_bag(items: Any) -> FrozenBag[Any]:
    """A bag of an iterable's elements, or of a mapping's counts."""
    counts: dict[Any, int] = {}
    if hasattr(items, "items"):
        counts.update((k, n) for k, n in items.items() if n)
    else:
        for item in items:
            counts[item] = counts.get(item, 0) + 1
    return FrozenBag(counts)


def _sorted(items: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(items))


# The Python meaning of the operators, over immutable values.
NAMES: Mapping[str, Any] = {
    "set": frozenset,
    "list": tuple,
    "dict": FrozenMap,
    "Counter": freeze_bag,
    "sorted": _sorted,
    "reversed": reversed,
    "subsets": subsets,
}


def operator(op: str, arity: int) -> Callable[..., Any]:
    """The Python function of an operator over immutable values."""
    return DISPLAYS.get(op) or _meaning(op, arity)


@functools.cache
def _meaning(op: str, arity: int) -> Callable[..., Any]:
    return ops.meaning(op, arity, dict(NAMES))


def _map(*items: Any) -> FrozenMap[Any, Any]:
    return FrozenMap(zip(items[::2], items[1::2], strict=True))


def _slice(of: tuple[Any, ...], low: int | None, high: int | None) -> tuple[Any, ...]:
    return of[low:high]


DISPLAYS: dict[str, Callable[..., Any]] = {
    "set": lambda *items: frozenset(items),
    "list": lambda *items: items,
    "tuple": lambda *items: items,
    "map": _map,
    "slice": _slice,
}
