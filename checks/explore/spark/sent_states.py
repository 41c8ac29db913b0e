"""What a task sends: rows of the states that its steps lead to, without those that it sent lately.

Which those are is kept in a direct-mapped cache: a state has one place there by its hash, and takes
it from the one before. So some states are sent again, and none is lost. The cache has the same size
however many states there are, and is there while a task expands states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.llvm import Native
from ..expansion.successors import Stepping
from ..spill.block_expansion import BlockExpansion
from ..spill.run_code import run_code
from .level_files import STEPS

CACHE = 1 << 23  # Bytes of the states in the cache of a worker.
SENDING = 1 << 15  # Rows that are sorted by bucket and sent at a time, about.


def cache_of(words: int) -> Any:
    """Empty places for states of so many words."""
    return np.full((max(CACHE // (8 * words), 1), words), -1, np.int64)  # -1 is no state's word.


class SentStates(BlockExpansion):
    """Keeps rows of a step and the words of the state that it leads to, until they are taken. It is
    FULL where they are to be taken first."""

    def __init__(self, stepping: Stepping, code: Native) -> None:
        super().__init__(stepping, code)
        self.run_code = run_code(stepping.words)
        self.rows = self._room_for(SENDING)
        self.recent: Any = None
        self.count = 0

    def forget(self) -> None:
        super().forget()
        self.recent = cache_of(self.stepping.words)
        self.count = 0

    def release(self) -> None:
        """Give back the memory of the cache; `forget` comes before other states are expanded."""
        self.recent = None

    def take(self) -> Any:
        """The rows since the last time; they are gone when more states are expanded."""
        found = self.rows[: self.count]
        self.count = 0
        return found

    def _room_for(self, rows: int) -> Any:
        return np.empty((rows, 1 + self.stepping.words), np.int64)

    def _has_room(self, more: int) -> bool:
        if self.count and self.count + more > len(self.rows):
            return False
        if more > len(self.rows):
            self.rows = self._room_for(more)
        return True

    def _keep(self, left: int, first: int) -> None:
        np.asarray(self.arrays.origins)[:left] += first * STEPS
        self.count = self.run_code.unsent(self.arrays, left, self.recent, self.rows, self.count)
