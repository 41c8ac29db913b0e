"""Several threads that expand the states of one search, and find them in the order of one thread.

Machine code runs without Python's lock. Each thread expands a chunk of states and gathers their
successors in arrays of its own. When it is the chunk's turn, the thread adds the successors to the
states of the search. So chunks are added in their order, one at a time, while other threads expand.
See `search_kernel.work`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from . import search_kernel as kernel
from .arrays import Arrays
from .pace import Pace
from .state_store import Span, Stopped

LEAST = 8 * kernel.CHUNK  # Fewer states are left to one thread.
SPAN = 1 << 16  # States that each thread expands between two looks at the clock, at most.
GATHERED = 1 << 14  # Successors that the arrays of a thread have room for.


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # This system does not tell.
        return os.cpu_count() or 1


class Shared(Protocol):
    """The memory of the search, as far as its threads need it."""

    @property
    def arrays(self) -> Arrays:
        """The arrays of the search; others whenever it has grown."""
        ...

    @property
    def code(self) -> Callable[..., int]:
        """Calls a compiled function by its name."""
        ...

    def of_thread(self, gathered: int, number: tuple[int, int]) -> Arrays:
        """Arrays for one thread; see `Arrays.of_thread`."""
        ...

    def allow_rounds(self, arrays: Arrays) -> None:
        """Let long loops of the steps that work on these arrays start to count again."""
        ...


class Workers:
    """The threads of one search."""

    def __init__(self, memory: Shared, count: int) -> None:
        self.memory = memory
        self.count = count
        self.pool = ThreadPoolExecutor(count) if count > 1 else None
        self.pace = Pace(SPAN)
        self.own: list[Arrays] = []
        self.made_for: Arrays | None = None

    def advance(self, span: Span) -> Stopped | None:
        """Expand states of a span; None where one thread has to do it.

        One thread does it where there are few states, where the arrays have no room for what the
        threads find, and near a limit, so that the search stops where one thread stops.
        """
        if self.pool is None or span.first or span.last - span.next < LEAST:
            return None
        memory = self.memory
        if self.made_for is not memory.arrays:
            numbers = [(number, self.count) for number in range(self.count)]
            self.own = [memory.of_thread(GATHERED, number) for number in numbers]
            self.made_for = memory.arrays
        c = memory.arrays.control
        c[kernel.BEGIN] = c[kernel.NEXT] = span.next
        c[kernel.LAST] = min(span.last, span.next + self.count * self.pace.states)
        c[kernel.COUNT] = span.count
        c[kernel.ENOUGH] = min(span.most - 1, c[kernel.STATES])
        c[kernel.TURN], c[kernel.STATUS] = 0, kernel.DONE
        for arrays in self.own:
            memory.allow_rounds(arrays)
        with self.pace.measured():
            list(self.pool.map(memory.code, ["work"] * self.count, self.own))
        if c[kernel.NEXT] == span.next:
            return None
        escaped = c[kernel.STATUS] == kernel.ESCAPED
        return Stopped(int(c[kernel.NEXT]), int(c[kernel.COUNT]), escaped)
