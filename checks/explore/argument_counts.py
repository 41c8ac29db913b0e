"""How many arguments a search tries for one transition in one state, where these are many."""

from __future__ import annotations

import math
from collections.abc import Iterator

from lawful.spec.values.bounds import COUNTABLE

from .space import Space

MANY = 1_000_000  # Combinations of arguments; the fast engines try as many in about a second.


def many_arguments(space: Space) -> Iterator[tuple[str, int]]:
    """The transitions with more than `MANY` combinations of arguments in a state, each with their
    number.

    A parameter that is a member of a container of the state does not count. If a type has
    more than `COUNTABLE` values, a search refuses it by name: it would never try all of them.
    """
    for rule, row in space.rules:
        counts = [space.values.count(p.type, COUNTABLE) for p in rule.plans if p.over is None]
        if math.prod(counts) > MANY and max(counts) <= COUNTABLE:
            yield row.name, math.prod(counts)
