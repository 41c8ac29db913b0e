"""How long a search would go on in plain Python, by how many new states its latest steps led to."""

from __future__ import annotations

import math
from bisect import bisect_right

LATEST = 0.75  # States that were expanded after this part of them tell what those that wait do.


class Forecast:
    """The forecast of a search that has expanded some of the states that it knows."""

    def __init__(self, expanded: int, count: int) -> None:
        self.expanded, self.counts = [expanded], [count]

    def note(self, expanded: int, count: int) -> None:
        """So many states are expanded now, and so many known."""
        self.expanded.append(expanded)
        self.counts.append(count)

    def left(self, seconds: float, most: int | None = None) -> float:
        """The seconds that the search still takes, if those until the last note were so many, and
        it ends with so many known states.

        Where each of the latest states led to less than one new state, those that wait lead to as
        many others as a geometric series has. Otherwise no other end can be seen.
        """
        begun, expanded, count = self.expanded[0], self.expanded[-1], self.counts[-1]
        if expanded in (begun, count):
            return math.inf if expanded < count else 0.0
        since = bisect_right(self.expanded, begun + LATEST * (expanded - begun)) - 1
        growth = (count - self.counts[since]) / (expanded - self.expanded[since])
        waiting = (count - expanded) / (1 - growth) if growth < 1 else math.inf
        if most is not None and growth > 0:
            waiting = min(waiting, max(0, most - count) / growth)
        return seconds * waiting / (expanded - begun)
