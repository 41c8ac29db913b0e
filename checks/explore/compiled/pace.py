"""How many states machine code expands between two looks at the clock."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

FIRST = 1 << 10  # States at first: nobody knows yet how long one takes.
SECONDS = 0.25  # What a span of states should take at most.


class Pace:
    """So many `states` that a span of them takes about `SECONDS`, and never more than `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.states = FIRST

    @contextmanager
    def measured(self) -> Generator[None]:
        """Inside, a span is expanded; the next is longer where this one was quick, or shorter."""
        began = time.perf_counter()
        yield
        seconds = time.perf_counter() - began
        if seconds > SECONDS:
            self.states = max(1, int(self.states * SECONDS / seconds))
        elif seconds < SECONDS / 2:
            self.states = min(self.most, 2 * self.states)
