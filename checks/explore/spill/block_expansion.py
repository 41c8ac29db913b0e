"""The expansion of a block of states by machine code, and where what they lead to goes.

Machine code gathers the states to which those of a block lead, without those that it met a moment
ago. A subclass keeps the gathered states that it does not have.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import numpy as np

from ..compiled.arrays import empty
from ..compiled.llvm import Native
from ..compiled.memory import MOST_ROUNDS, ROUNDS
from ..compiled.typed_memory import ALL_ONES, fill
from ..expansion.successors import Stepping
from ..native import kernel_rows as kernel

GATHERED = 1 << 13  # Steps that machine code gathers before they are looked up.


class Block(NamedTuple):
    """States that are to be expanded: their words, and the number of the first."""

    words: Any
    first: int


class BlockExpansion(abc.ABC):
    """Expands blocks of states, and notes what is found of them."""

    def __init__(self, stepping: Stepping, code: Native) -> None:
        self.stepping = stepping
        self.code = code
        self.rounds = ROUNDS
        self.room = 1 << 8
        s = stepping
        self.arrays = empty(s.words, s.program.begun, s.notes.size)
        self.arrays.control[kernel.UNFOLDED] = 1
        self._make_room()

    @abc.abstractmethod
    def _has_room(self, more: int) -> bool:
        """Whether so many states more can be kept now."""

    @abc.abstractmethod
    def _keep(self, left: int, first: int) -> None:
        """Keep those of so many gathered states that it does not have. Their origins are places in
        a block whose first state has that number."""

    def forget(self) -> None:
        """Forget what was noted of states, and which were met a moment ago."""
        a = self.arrays
        fill(a.totals)
        for held in (a.firsts, a.recent):
            fill(held, ALL_ONES)

    def _make_room(self) -> None:
        self.arrays = self.arrays.with_room(self.stepping.words, self.room, GATHERED)
        self.arrays.control[kernel.PLACES] = self.room
        self.arrays.control[kernel.ENOUGH] = GATHERED

    def expand(self, block: Block, at: int, failing: tuple[int, int] = (0, 0)) -> tuple[int, int]:
        """Expand states of a block from that place on: why it ended, and where.

        DONE at its end; FULL where there is no room; ESCAPED: the state before is left to the
        reference engine; STOPPED: the one before has a note at one of these places.
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

    def scout(self, block: Block, at: int) -> tuple[int, int]:
        """Expand states until machine code comes back, and keep what is not there: why it came
        back, and the next state."""
        a = self.arrays
        c = a.control
        c[kernel.NEXT], c[kernel.LAST] = at, len(block.words)
        a.w[self.stepping.program.rounds] = self.rounds
        firsts = np.asarray(a.firsts)
        unset = firsts < 0
        status = self.code("scout", a)
        firsts[unset & (firsts >= 0)] += block.first  # Machine code numbers those of a block.
        self._keep(int(c[kernel.LEFT]), block.first)
        return status, int(c[kernel.NEXT])
