"""Several threads that expand the states of one search, and find them in the order of one thread.

Machine code runs without Python's lock; what the threads do is said in `team_kernel`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ..native import kernel_rows as kernel
from .arrays import Arrays
from .pace import Pace
from .state_store import Span, Stopped
from .typed_memory import fill

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

LARGE = 1 << 18  # Places of a table that are worth several threads.
LEAST = 16 * kernel.CHUNK  # Fewer states are left to one thread.
SPAN = 1 << 16  # States that each thread expands between two looks at the clock, at most.


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
    def room(self) -> int:
        """For so many successors of one state there is room."""
        ...

    @property
    def code(self) -> Callable[..., int]:
        """Calls a compiled function by its name."""
        ...

    def for_team(self, count: int) -> Sequence[Arrays]:
        """Arrays for so many threads; see `Arrays.of_thread`."""
        ...

    def allow_rounds(self, arrays: Arrays) -> None:
        """Let long loops of the steps that work on these arrays start to count again."""
        ...


class Workers:
    """The threads of one search."""

    def __init__(self, memory: Shared, count: int) -> None:
        self.memory = memory
        self.count = count
        self.pace = Pace(SPAN)
        self._own: Sequence[Arrays] = []
        self._room = 0  # That each of these has for the successors of one state.
        self._made_for: Arrays | None = None

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        """The threads but this one; most searches end before they are worth their import."""
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(self.count - 1)

    @property
    def arrays(self) -> Sequence[Arrays]:
        """What each thread works on; it is made once, and brought up to date when the search has
        grown."""
        memory = self.memory
        if self._room != memory.room:
            self._own, self._room = memory.for_team(self.count), memory.room
        elif self._made_for is not memory.arrays:
            self._own = [memory.arrays.grown(own) for own in self._own]
        self._made_for = memory.arrays
        return self._own

    def shares(self, places: int) -> Sequence[tuple[int, int]]:
        """From which place of a table to which each thread works; one does all of a small one."""
        count = self.count if places >= LARGE else 1
        ends = [places // kernel.GROUP * i // count * kernel.GROUP for i in range(count + 1)]
        return list(itertools.pairwise(ends))

    def each(self, name: str, given: Sequence[tuple[Any, ...]]) -> list[int]:
        """What the function of this name returns for each of these, by a thread for each."""
        code = self.memory.code
        others = [self.pool.submit(code, name, *own) for own in given[1:]]
        return [code(name, *given[0]), *(other.result() for other in others)]

    def advance(self, span: Span) -> Stopped | None:
        """Expand states of a span; None where one thread has to do it.

        One thread does it where there are few states, where the arrays have no room for what the
        threads find, and near a limit, so that the search stops where one thread stops.
        """
        if self.count == 1 or span.first or span.last - span.next < LEAST:
            return None
        memory = self.memory
        own = self.arrays
        c = memory.arrays.control
        c[kernel.BEGIN] = c[kernel.NEXT] = span.next
        c[kernel.LAST] = min(span.last, span.next + self.count * self.pace.states)
        c[kernel.COUNT] = span.count
        c[kernel.ENOUGH] = min(span.most - 1, c[kernel.STATES])
        c[kernel.TURN], c[kernel.CLAIMED], c[kernel.STATUS] = 0, 0, kernel.DONE
        fill(memory.arrays.slots)
        for arrays in own:
            memory.allow_rounds(arrays)
        with self.pace.measured():
            self.each("work", [(each,) for each in own])
        if c[kernel.NEXT] == span.next:
            return None
        escaped = c[kernel.STATUS] == kernel.ESCAPED
        return Stopped(int(c[kernel.NEXT]), int(c[kernel.COUNT]), escaped)
