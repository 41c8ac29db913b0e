"""Values that differ, if only in their texts; entries of two containers that are different objects,
found by C code alone where most agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, count, islice
from operator import is_, is_not
from typing import Any

from .text import shown

_NOWHERE = object()


def unlike(one: Any, other: Any) -> bool:
    """Whether two values differ, or are equal and have different texts: `Decimal("1.0")` and
    `Decimal("1.00")`."""
    return one is not other and (one != other or shown(one) != shown(other))


def unlike_keys(old: Mapping[Any, Any], new: Mapping[Any, Any]) -> Iterator[Any]:
    """The keys of `new` whose values are not the same object in `old`. A copy of a dict has the
    order of its keys, and a new key is the last one: then C code alone compares the entries."""
    some = min(len(old), len(new))
    if all(map(is_, new, old)):
        yield from compress(new, map(is_not, new.values(), old.values()))
        yield from islice(new, some, None)
    else:
        yield from (k for k, v in new.items() if old.get(k, _NOWHERE) is not v)


def unlike_span(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int]:
    """How many items at the beginning, and then at the end, are the same objects in both."""
    some = min(len(old), len(new))
    at = next(compress(count(), map(is_not, old, new)), some)
    back = map(is_not, reversed(old), reversed(new))
    return at, min(next(compress(count(), back), some), some - at)
