"""The arrays that machine code works on, all of a search or all of one of its threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..native import kernel_rows as kernel
from .folding import shape
from .typed_memory import INT8, INT32, UINT16, UINT32, copied, of_numbers, without_states, zeros

PLACES = 1 << 13  # Of the table at the beginning.
INDEX = 1 << 15  # Likewise of the index of pieces.
NEW = 1 << 12  # New states of a chunk that there is room for, and those of one batch more.


class Arrays(NamedTuple):
    """Integers in memory, in the order in which `kernel_rows` declares them; see there."""

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
            out=zeros(successors * (words + 1)),
            batch=zeros(most * words),
            origins=zeros(most),
            hashes=zeros(most),
            likely=zeros(most),
            doubtful=zeros(most + 1),
            opened=zeros(words),
        )

    def for_team(self, words: int, successors: int) -> Arrays:
        """With room for what several threads found and did not keep yet."""
        most = NEW + kernel.BATCH + successors
        self.control[kernel.NEW_ROOM] = most
        return self._replace(
            slots=zeros(kernel.SLOTS * (kernel.SLOT + 2 * len(self.info))),
            fresh=zeros(kernel.SLOTS * most * (shape(words).root + 2)),
        )

    def of_thread(self, words: int, successors: int) -> Arrays:
        """What one of several threads works on: the states of all and what the others found, and
        else arrays of its own."""
        own = self._replace(
            w=copied(self.w),
            info=zeros(len(self.info)),
            totals=zeros(len(self.totals)),
            firsts=zeros(len(self.firsts)),
            control=copied(self.control),
            recent=without_states(len(self.recent)),
            shared=self.control,
            sums=self.totals,
            earliest=self.firsts,
        )
        return self.grown(own.with_room(words, successors, kernel.BATCH))

    def grown(self, own: Arrays) -> Arrays:
        """What one of several threads works on, now that the states of all stand in these."""
        own.control[:] = self.control
        own.control[kernel.ENOUGH] = kernel.BATCH
        own.control[kernel.FAILING], own.control[kernel.FAILED] = 0, 0
        return own._replace(
            store=self.store,
            table=self.table,
            parents=self.parents,
            rules=self.rules,
            pieces=self.pieces,
            piece_table=self.piece_table,
        )


def empty(words: int, cells: Sequence[int], notes: int) -> Arrays:
    """The arrays of a search of states of so many words; `with_room` adds what is missing.

    The steps work on these cells, and note so many numbers of each state.
    """
    folded, piece, _, root = shape(words)
    control, states = zeros(kernel.CONTROLS), filled(PLACES)
    return Arrays(
        w=of_numbers(cells),
        store=zeros(states * root),
        table=zeros(PLACES, UINT32),
        parents=zeros(states, INT32),
        rules=zeros(states, UINT16),
        out=zeros(0),
        info=zeros(notes),
        totals=zeros(notes),
        firsts=without_states(notes),
        control=control,
        batch=zeros(0),
        origins=zeros(0),
        hashes=zeros(0),
        likely=zeros(0),
        doubtful=zeros(0),
        opened=zeros(0),
        pieces=zeros(folded * filled(INDEX) * piece),
        piece_table=zeros(folded * INDEX, UINT32),
        recent=without_states(max(words, kernel.RECENT)),
        ends=zeros(0),
        edges=zeros(0),
        labels=zeros(0),
        marks=zeros(0, INT8),
        shared=control,
        sums=zeros(0),
        earliest=zeros(0),
        slots=zeros(0),
        fresh=zeros(0),
    )


def filled(places: int) -> int:
    """How many of the places of a table are taken at most: seven in ten."""
    return places * 7 // 10
