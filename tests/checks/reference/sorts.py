"""The elements of sorts for twins: while a twin runs, a sort has as many as the scope says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lawful.spec import words


def ring(element: Any) -> list[Any]:
    sort: Any = element.__class__
    return [*sort]


def rank(element: Any, /) -> int:
    return ring(element).index(element)


class elements:  # used as a function
    """Inside, iterating a sort gives as many elements as the scope says."""

    def __init__(self, known: Mapping[str, tuple[str, ...]]) -> None:
        self.known = known
        self.meta: Any = type(words.Sort)

    def __enter__(self) -> None:
        known = self.known

        def each(cls: Any) -> Iterator[Any]:
            return map(cls, known[cls.__name__])

        def count(cls: Any) -> int:
            return len(known[cls.__name__])

        self.kept = self.meta.__iter__, self.meta.__len__
        self.meta.__iter__ = each
        self.meta.__len__ = count
        for name in ("__lt__", "__le__", "__gt__", "__ge__"):
            setattr(words.OrderedSort, name, _by_rank(name))

    def __exit__(self, *_: object) -> None:
        self.meta.__iter__, self.meta.__len__ = self.kept
        for name in ("__lt__", "__le__", "__gt__", "__ge__"):
            delattr(words.OrderedSort, name)


def _by_rank(name: str) -> Callable[[Any, Any], Any]:
    """A comparison of elements of an ordered sort: that of their ranks."""
    return lambda a, b: getattr(rank(a), name)(rank(b))
