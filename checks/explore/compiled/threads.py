"""States expanded by several threads at once, which find what one alone finds, in its order.

Machine code runs beside Python. Each thread expands a chunk of states and gathers their successors
in rows of its own; then, when it is the chunk's turn, it keeps them. So chunks are kept in their
order, one at a time, while others are expanded. See `core.work`.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from . import search_kernel
from .state_store import Span, Stopped

if TYPE_CHECKING:
    from .memory import Arrays, Memory

LEAST = 8 * search_kernel.CHUNK  # Fewer states are left to one thread.
SPAN = 1 << 16  # States that each thread expands between two looks at the clock.
GATHERED = 1 << 14  # Successors that a thread has place for.


def processors() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # No such thing on this system.
        return os.cpu_count() or 1


class Crew:
    """So many threads, for the states of one search."""

    def __init__(self, memory: Memory, workers: int) -> None:
        self.memory = memory
        self.workers = workers
        self.pool = ThreadPoolExecutor(workers) if workers > 1 else None
        self.rows: list[Arrays] = []
        self.made_for: Arrays | None = None

    def advance(self, span: Span) -> Stopped | None:
        """Expand states of a span; None where one thread has to do it.

        That is where it is not worth while, where there is no place for what is found, and near a
        limit, so that it is met as one thread meets it.
        """
        if self.pool is None or span.first or span.last - span.next < LEAST:
            return None
        memory = self.memory
        if self.made_for is not memory.arrays:
            self.rows = [
                memory.beside(
                    GATHERED, {search_kernel.WORKER: worker, search_kernel.WORKERS: self.workers}
                )
                for worker in range(self.workers)
            ]
            self.made_for = memory.arrays
        c = memory.arrays.control
        c[search_kernel.BEGIN] = c[search_kernel.NEXT] = span.next
        c[search_kernel.LAST] = min(span.last, span.next + self.workers * SPAN)
        c[search_kernel.COUNT], c[search_kernel.ENOUGH] = (
            span.count,
            min(span.most - 1, c[search_kernel.STATES]),
        )
        c[search_kernel.TURN], c[search_kernel.STATUS] = 0, search_kernel.DONE
        for row in self.rows:
            memory.wind(row)
        list(self.pool.map(memory.code, ["work"] * self.workers, self.rows))
        if c[search_kernel.NEXT] == span.next:
            return None
        return Stopped(
            int(c[search_kernel.NEXT]),
            int(c[search_kernel.COUNT]),
            c[search_kernel.STATUS] == search_kernel.ESCAPED,
        )
