"""The smallest part of a list of faults with which a run still fails (Zeller and Hildebrandt,
"Simplifying and isolating failure-inducing input", 2002)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def smallest(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """A part of the items, in their order, that fails, and no longer does without any one of them.
    Errors: ValueError if all of them do not fail."""
    if not fails(items):
        raise ValueError("nothing fails")
    found, parts = [*items], 2
    while found:
        size = -(-len(found) // parts)
        for start in range(0, len(found), size):
            rest = found[:start] + found[start + size :]
            if fails(rest):
                found, parts = rest, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(found))
    return found
