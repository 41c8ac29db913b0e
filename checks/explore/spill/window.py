"""The states that a search met lately, in memory: most of what a step leads to is among them.

Machine code expands a block of states and keeps those that are not in the window. When it is full,
what was met since is taken out, and it begins anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled import kernel_rows as kernel
from ..compiled.arrays import empty, filled
from ..compiled.llvm import Native
from ..compiled.memory import MOST_ROUNDS, ROUNDS, Memory
from ..expansion.successors import Stepping

GATHERED = 1 << 13  # Steps that machine code gathers before they are looked up.
GATHERING = ("batch", "origins", "hashes", "likely", "doubtful")  # The arrays that have them.


class Met(NamedTuple):
    """States that were not in the window, in the order in which they were met: of each the words,
    the number of the state before, and the rule."""

    words: Any
    parents: Any
    rules: Any


class Block(NamedTuple):
    """States that are to be expanded: their words, and the number of the first."""

    words: Any
    first: int


class Window:
    """At most about `most` states, a power of two."""

    def __init__(self, stepping: Stepping, code: Native, most: int) -> None:
        self.stepping = stepping
        self.code = code
        self.most = filled(2 * most)
        self.base = 0  # Numbers of states before are kept as the way from here.
        self.rounds = ROUNDS
        self.room = 1 << 8
        s = stepping
        self.arrays = empty(s.words, s.program.begun, s.notes.size)  # Of the expansion.
        self.arrays.control[kernel.UNFOLDED] = 1
        self._make_room()
        self.held = Memory(stepping, code)
        self.begin(0)

    def begin(self, base: int) -> None:
        """Forget all states. Those that are expanded have this number or a higher one."""
        self.base = base
        self.taken = 0  # So many were taken out,
        self.count = 0  # of so many.
        a = self.held.arrays
        a.table[:], a.piece_table[:], a.control[kernel.PIECED] = 0, 0, 0

    def release(self) -> None:
        """Forget all states, and give their memory back."""
        self.held = Memory(self.stepping, self.code)
        self.begin(0)

    def forget(self) -> None:
        """Forget what was noted of states, too."""
        a = self.arrays
        a.totals[:], a.firsts[:], a.recent[:] = 0, -1, -1

    def _make_room(self) -> None:
        self.arrays = self.arrays.with_room(self.stepping.words, self.room, GATHERED)
        self.arrays.control[kernel.PLACES] = self.room
        self.arrays.control[kernel.ENOUGH] = GATHERED

    def has(self, words: tuple[int, ...]) -> bool:
        """Whether a state is there."""
        return self.held.find(words) >= 0

    def insert(self, words: tuple[int, ...]) -> bool:
        """A state that is not there is there, and was taken out, as all others were; False where
        there is no room."""
        if not self._has_room(1):
            return False
        self.held.insert(words, self.count, (0, 0))
        self.count += 1
        self.taken = self.count
        return True

    def expand(self, block: Block, at: int, failing: tuple[int, int] = (0, 0)) -> tuple[int, int]:
        """Expand states of a block from that place on: why it ended, and where.

        DONE at its end; FULL where the window is to begin anew first; ESCAPED: the state before is
        left to the reference engine; STOPPED: the one before has a note at one of these places.
        """
        self.arrays.control[kernel.FAILING], self.arrays.control[kernel.FAILED] = failing
        self.arrays = self.arrays._replace(store=np.ascontiguousarray(block.words).reshape(-1))
        while at < len(block.words):
            if not self._has_room(GATHERED + self.room):
                return kernel.FULL, at
            begun = at
            status, at = self.scout(block, at)
            if status == kernel.ROOM:
                self.room *= 2
                self._make_room()
            elif status == kernel.SPENT and at == begun:
                if self.rounds >= MOST_ROUNDS:
                    return kernel.ESCAPED, at + 1
                self.rounds *= 2
            elif status in (kernel.ESCAPED, kernel.STOPPED):
                return status, at
        return kernel.DONE, at

    def _has_room(self, more: int) -> bool:
        """Whether there is place for so many states more, which the window may grow for."""
        if 0 < self.count > self.most - more:
            return False
        self.held.grow(self.count, more, more * self.held.shape.pieces)
        return True

    def scout(self, block: Block, at: int) -> tuple[int, int]:
        """Expand states until machine code comes back, and keep what is not there: why it came
        back, and the next state."""
        a = self.arrays
        c = a.control
        c[kernel.NEXT], c[kernel.LAST] = at, len(block.words)
        a.w[self.stepping.program.rounds] = self.rounds
        unset = a.firsts < 0
        status = self.code("scout", a)
        a.firsts[unset & (a.firsts >= 0)] += block.first  # Machine code numbers those of a block.
        left = int(c[kernel.LEFT])
        a.origins[:left] += block.first - self.base << 16
        rows = {name: getattr(a, name) for name in GATHERING}
        held = self.held.arrays._replace(**rows)
        held.control[kernel.LEFT], held.control[kernel.COUNT] = left, self.count
        self.code("collect", held)
        self.count = int(held.control[kernel.COUNT])
        return status, int(c[kernel.NEXT])

    def take(self) -> Met:
        """What was met since the last time."""
        first, more, a = self.taken, self.count - self.taken, self.held.arrays
        words = np.empty((more, self.stepping.words), np.int64)
        self.code("unfold_from", a, words, first, more)
        parents = a.parents[first : self.count] + np.int64(self.base)
        self.taken = self.count
        return Met(words, parents, a.rules[first : self.count].copy())
