"""The states that a search met lately, in memory: most of what a step leads to is among them.

Machine code expands a block of states and keeps those that are not in the window. When it is full,
what was met since is taken out, and it begins anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled.arrays import filled
from ..compiled.llvm import Native
from ..compiled.memory import Memory
from ..compiled.typed_memory import fill
from ..expansion.successors import Stepping
from ..native import kernel_rows as kernel
from .block_expansion import BlockExpansion

GATHERING = ("batch", "origins", "hashes", "likely", "doubtful")  # The arrays that have them.


class Met(NamedTuple):
    """States that were not in the window, in the order in which they were met: of each the words,
    the number of the state before, and the rule."""

    words: Any
    parents: Any
    rules: Any


class Window(BlockExpansion):
    """At most about `most` states, a power of two. It is FULL where it is to begin anew first."""

    def __init__(self, stepping: Stepping, code: Native, most: int) -> None:
        super().__init__(stepping, code)
        self.most = filled(2 * most)
        self.base = 0  # Numbers of states before are kept as the way from here.
        self.held = Memory(stepping, code)
        self.begin(0)

    def begin(self, base: int) -> None:
        """Forget all states. Those that are expanded have this number or a higher one."""
        self.base = base
        self.taken = 0  # So many were taken out,
        self.count = 0  # of so many.
        a = self.held.arrays
        fill(a.table)
        fill(a.piece_table)
        a.control[kernel.PIECED] = 0

    def release(self) -> None:
        """Forget all states, and give their memory back."""
        self.held = Memory(self.stepping, self.code)
        self.begin(0)

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

    def _has_room(self, more: int) -> bool:
        if 0 < self.count > self.most - more:
            return False
        self.held.grow(self.count, more, more * self.held.shape.pieces)
        return True

    def _keep(self, left: int, first: int) -> None:
        np.asarray(self.arrays.origins)[:left] += first - self.base << 16
        rows = {name: getattr(self.arrays, name) for name in GATHERING}
        held = self.held.arrays._replace(**rows)
        held.control[kernel.LEFT], held.control[kernel.COUNT] = left, self.count
        self.code("collect", held)
        self.count = int(held.control[kernel.COUNT])

    def take(self) -> Met:
        """What was met since the last time."""
        first, more, a = self.taken, self.count - self.taken, self.held.arrays
        words = np.empty((more, self.stepping.words), np.int64)
        self.code("unfold_from", a, words, first, more)
        parents = np.asarray(a.parents)[first : self.count] + np.int64(self.base)
        self.taken = self.count
        return Met(words, parents, np.asarray(a.rules)[first : self.count].copy())
