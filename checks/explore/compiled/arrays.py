"""The arrays that machine code works on, all of a search or all of one of its threads."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import kernel_rows as kernel
from .folding import shape

PLACES = 1 << 13  # Of the table at the beginning.
INDEX = 1 << 15  # Likewise of the index of pieces.
LARGE = 1 << 20  # Bytes of an array that is worth pages of its own.
HUGE = 1 << 28  # Of one that is worth large pages; those cost the system several times as much.
NEW = 1 << 12  # New states of a chunk that there is room for, and those of one batch more.
AHEAD = 16  # Times the room that an array asks for: the system gives memory when it is used.


class Arrays(NamedTuple):
    """NumPy arrays in the order in which `kernel_rows` declares them; see there."""

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
    likely: Any
    doubtful: Any
    recent: Any
    opened: Any
    pieces: Any
    piece_table: Any
    ends: Any
    edges: Any
    labels: Any
    marks: Any
    shared: Any
    sums: Any
    earliest: Any
    slots: Any
    fresh: Any

    def with_room(self, words: int, successors: int, gathered: int) -> Arrays:
        """The same with room for the successors of one state, and for so many gathered states."""
        most = gathered + successors
        return self._replace(
            out=_zeros(successors * (words + 1)),
            batch=_zeros(most * words),
            origins=_zeros(most),
            hashes=_zeros(most),
            likely=_zeros(most),
            doubtful=_zeros(most + 1),
            opened=_zeros(words),
        )

    def for_team(self, words: int, successors: int) -> Arrays:
        """With room for what several threads found and did not keep yet."""
        most = NEW + kernel.BATCH + successors
        self.control[kernel.NEW_ROOM] = most
        return self._replace(
            slots=_zeros(kernel.SLOTS * (kernel.SLOT + 2 * len(self.info))),
            fresh=_zeros(kernel.SLOTS * most * (shape(words).root + 2)),
        )

    def of_thread(self, words: int, successors: int) -> Arrays:
        """What one of several threads works on: the states of all and what the others found, and
        else arrays of its own."""
        control = self.control.copy()
        control[kernel.ENOUGH] = kernel.BATCH
        control[kernel.FAILING], control[kernel.FAILED] = 0, 0
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
        return own.with_room(words, successors, kernel.BATCH)


def empty(words: int, cells: Sequence[int], notes: int) -> Arrays:
    """The arrays of a search of states of so many words; `with_room` adds what is missing.

    The steps work on these cells, and note so many numbers of each state.
    """
    folded, piece, _, root = shape(words)
    control, states = _zeros(kernel.CONTROLS), filled(PLACES)
    return Arrays(
        w=np.array(cells, np.int64),
        store=_zeros(states * root),
        table=np.zeros(PLACES, np.uint32),
        parents=np.zeros(states, np.int32),
        rules=np.zeros(states, np.uint16),
        out=_zeros(0),
        info=_zeros(notes),
        totals=_zeros(notes),
        firsts=np.full(notes, -1, np.int64),
        control=control,
        batch=_zeros(0),
        origins=_zeros(0),
        hashes=_zeros(0),
        likely=_zeros(0),
        doubtful=_zeros(0),
        opened=_zeros(0),
        pieces=_zeros(folded * filled(INDEX) * piece),
        piece_table=np.zeros(folded * INDEX, np.uint32),
        recent=np.full(max(words, kernel.RECENT), -1, np.int64),  # No state's word.
        ends=_zeros(0),
        edges=_zeros(0),
        labels=_zeros(0),
        marks=np.zeros(0, np.int8),
        shared=control,
        sums=_zeros(0),
        earliest=_zeros(0),
        slots=_zeros(0),
        fresh=_zeros(0),
    )


def filled(places: int) -> int:
    """How many of the places of a table are taken at most: seven in ten."""
    return places * 7 // 10


def longer(array: Any, size: int) -> Any:
    """So many numbers, the new ones 0: the same array where it has the room, otherwise a copy."""
    whole = array.base if hasattr(array.base, "dtype") else array
    if size > len(whole):
        made = _ahead(size, array.dtype)
        made[: len(array)] = array
        return made
    return whole[:size]


def blank(array: Any, size: int) -> Any:
    """So many numbers, all 0, where the array is if it has the room: memory that was used before
    comes for nothing, new memory does not."""
    made = longer(array, size)
    made[: len(array)] = 0
    return made


def _ahead(size: int, kind: Any) -> Any:
    """Numbers, all 0, with more room behind them where the system promises so much."""
    try:
        return large(AHEAD * size, kind)[:size]
    except (MemoryError, OSError):
        return large(size, kind)


def large(size: int, kind: Any) -> Any:
    """Numbers, all 0. Very many are in large pages where there are such: looking for a place is
    faster then."""
    wanted = size * np.dtype(kind).itemsize
    if wanted < LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(size, kind)
    pages = mmap.mmap(-1, wanted, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if wanted >= HUGE:
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, kind, size)


def _zeros(size: int) -> Any:
    return np.zeros(size, np.int64)
