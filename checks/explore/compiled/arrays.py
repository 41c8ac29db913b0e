"""The arrays that machine code works on, all of a search or all of one of its threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import search_kernel as kernel

STATES = 1 << 12  # States that the arrays have room for at the beginning.


class Arrays(NamedTuple):
    """NumPy arrays in the order in which `search_kernel` declares them; see there."""

    w: Any
    store: Any
    table: Any
    parents: Any
    rules: Any
    out: Any
    info: Any
    totals: Any
    firsts: Any
    control: Any
    batch: Any
    origins: Any
    hashes: Any
    recent: Any
    ends: Any
    edges: Any
    labels: Any
    marks: Any
    shared: Any
    sums: Any
    earliest: Any

    def with_room(self, words: int, successors: int, gathered: int) -> Arrays:
        """The same with room for the successors of one state, and for so many gathered states."""
        most = gathered + successors
        return self._replace(
            out=_zeros(successors * (words + 1)),
            batch=_zeros(most * words),
            origins=_zeros(2 * most),
            hashes=_zeros(most),
        )

    def of_thread(
        self, words: int, successors: int, gathered: int, number: tuple[int, int]
    ) -> Arrays:
        """What one of several threads works on: the states of all, and else arrays of its own.

        `number` is the thread's and how many threads there are. The thread stops to expand when it
        has gathered so many successors.
        """
        control = self.control.copy()
        control[kernel.ENOUGH], control[kernel.FAILING], control[kernel.FAILED] = gathered, 0, 0
        control[kernel.WORKER], control[kernel.WORKERS] = number
        own = self._replace(
            w=self.w.copy(),
            info=np.zeros_like(self.info),
            totals=np.zeros_like(self.totals),
            firsts=np.zeros_like(self.firsts),
            control=control,
            recent=np.full_like(self.recent, -1),
            shared=self.control,
            sums=self.totals,
            earliest=self.firsts,
        )
        return own.with_room(words, successors, gathered)


def empty(words: int, cells: Sequence[int], notes: int) -> Arrays:
    """The arrays of a search of states of so many words; `with_room` adds what is missing.

    The steps work on these cells, and note so many numbers of each state.
    """
    return Arrays(
        w=np.array(cells, np.int64),
        store=_zeros(STATES * words),
        table=np.zeros(2 * STATES, np.uint32),
        parents=np.zeros(STATES, np.int32),
        rules=np.zeros(STATES, np.uint16),
        out=_zeros(0),
        info=_zeros(notes),
        totals=_zeros(notes),
        firsts=np.full(notes, -1, np.int64),
        control=_zeros(kernel.CONTROLS),
        batch=_zeros(0),
        origins=_zeros(0),
        hashes=_zeros(0),
        recent=np.full(max(words, kernel.RECENT), -1, np.int64),  # No state's word.
        ends=_zeros(0),
        edges=_zeros(0),
        labels=_zeros(0),
        marks=np.zeros(0, np.int8),
        shared=_zeros(0),
        sums=_zeros(0),
        earliest=_zeros(0),
    )


def longer(array: Any, size: int) -> Any:
    """A copy of so many numbers, the new ones 0."""
    made = np.zeros(size, array.dtype)
    made[: len(array)] = array
    return made


def _zeros(size: int) -> Any:
    return np.zeros(size, np.int64)
