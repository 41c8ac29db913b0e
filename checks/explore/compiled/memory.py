"""The states of a search in memory that machine code reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pickle import PickleBuffer
from typing import Any

from ..expansion.successors import Stepping
from ..native import kernel_rows as kernel
from .arrays import Arrays, empty, filled
from .folding import shape
from .llvm import Native
from .pace import Pace
from .plain import ARRAYS, Plain
from .state_store import Followed, Span, Stopped
from .threads import Workers
from .typed_memory import (
    INT8,
    INT32,
    INT64,
    UINT16,
    blank,
    copied,
    longer,
    of_numbers,
    viewed,
    zeros,
)

SLICE = 1 << 15  # States expanded between two looks at the clock, at most.
# Rounds of long loops between two looks at the clock. A state that needs more gets more, up to so
# many; one that needs more than those is left to the reference engine.
ROUNDS, MOST_ROUNDS = 1 << 20, 1 << 25


class Memory:
    """The arrays of a search of states of so many words; they grow by doubling."""

    def __init__(self, stepping: Stepping, code: Native, workers: int = 1) -> None:
        s = self.stepping = stepping
        self.code = code
        self.words = s.words
        self.shape = shape(s.words)
        self.room = 1 << 8
        self.rounds = ROUNDS
        self.pace = Pace(SLICE)
        self.threads = Workers(self, workers)
        self.arrays = empty(s.words, s.program.begun, s.notes.size)
        self._make_room()
        self._sized()
        self._enter_pieces(0)

    @classmethod
    def taking(cls, plain: Plain, code: Native, workers: int = 1) -> Memory:
        """All that plain Python has found so far; so many threads go on from it."""
        made, count = cls(plain.stepping, code, workers), len(plain.parents)
        made._fill(of_numbers(plain.store), count)
        a = made.arrays
        a.parents[:count] = of_numbers(plain.parents, INT32)
        a.rules[:count] = of_numbers(plain.rules, UINT16)
        a.totals[:], a.firsts[:] = of_numbers(plain.totals), of_numbers(plain.firsts)
        return made

    @classmethod
    def beside(cls, known: Memory, stepping: Stepping, code: Native, count: int) -> Memory:
        """So many states of another store, for steps that lead to no state."""
        made = cls(stepping, code)
        made.arrays = made.arrays._replace(store=known.arrays.store, pieces=known.arrays.pieces)
        made.arrays.control[kernel.STATES] = count + made.room + 1  # Nothing is written there.
        return made

    def _fill(self, words: Any, count: int) -> None:
        """States with these words, all different, are there."""
        self.grow(0, 2 * count, count * self.shape.pieces)
        self.code("fill", self.arrays, words, count)
        self.code("enter", self.arrays, of_numbers(range(count)), count)

    @property
    def compile_seconds(self) -> float:
        return self.code.seconds

    @property
    def totals(self) -> Sequence[int]:
        found: list[int] = self.arrays.totals.tolist()
        return found

    @property
    def firsts(self) -> Sequence[int]:
        found: list[int] = self.arrays.firsts.tolist()
        return found

    def insert(self, words: tuple[int, ...], number: int, parent: tuple[int, int]) -> bool:
        if number >= self.most or self._few_pieces(1):
            self.grow(number, number, self.shape.pieces)
        row = of_numbers(words)
        return self.code("insert", self.arrays, row, *parent, number) > number

    def find(self, words: tuple[int, ...]) -> int:
        """The number of a state, or -1 where it is not there."""
        return self.code("find", self.arrays, of_numbers(words), 0)

    def words_of(self, number: int) -> Sequence[int]:
        row = zeros(self.words)
        self.code("unfold", self.arrays, row, 0, number)
        found: list[int] = row.tolist()
        return found

    def parent(self, number: int) -> tuple[int, int]:
        return int(self.arrays.parents[number]), int(self.arrays.rules[number])

    def distinct(
        self, words: Sequence[int], masks: Sequence[int], count: int
    ) -> Iterable[Sequence[int]]:
        import numpy as np  # Only for coverage: its import takes as long as many a search.

        columns = [self._column(at, count) & mask for at, mask in zip(words, masks, strict=True)]
        if len(columns) == 1:
            return [(held,) for held in np.unique(columns[0]).tolist()]
        kept: Any = np.stack(columns, axis=1) if columns else None
        found: list[list[int]] = np.unique(kept, axis=0).tolist() if columns else [[]]
        return found

    def _column(self, word: int, count: int) -> Any:
        """One of the words of so many states."""
        folded, piece, _, root = self.shape
        import numpy as np

        rows = np.asarray(self.arrays.store)[: count * root].reshape(count, root)
        if not folded:
            return rows[:, word]
        part, at = divmod(word, piece)
        numbers = rows[:, part >> 1] >> 32 * (part & 1) & kernel.LOW
        return np.asarray(self.arrays.pieces).reshape(-1, piece)[numbers, at]

    def by_rule(self, count: int) -> list[int]:
        row = zeros(self.stepping.notes.rules)
        self.code("reached", self.arrays, row, count)
        found: list[int] = row.tolist()
        return found

    def advance(self, span: Span) -> Stopped:
        stopped = self.threads.advance(span)
        if stopped is not None:
            return stopped
        c = self.arrays.control
        last = min(span.last, span.next + self.pace.states)
        c[kernel.NEXT], c[kernel.LAST] = span.next, last
        c[kernel.COUNT], c[kernel.MOST] = span.count, span.most
        c[kernel.FAILING], c[kernel.FAILED] = self.stepping.notes.failing if span.first else (0, 0)
        self.allow_rounds(self.arrays)
        with self.pace.measured():
            while (status := self.code("search", self.arrays)) == kernel.ROOM:
                self.widen()
        count = int(c[kernel.COUNT])
        if status == kernel.SPENT and c[kernel.NEXT] == span.next and not self._more_rounds():
            return Stopped(span.next + 1, count, True)
        wanted = self.size(self.most + 1) if status == kernel.FULL else 0
        return Stopped(int(c[kernel.NEXT]), count, status == kernel.ESCAPED, wanted)

    def allow_rounds(self, arrays: Arrays) -> None:
        """Let long loops of the steps that work on these arrays start to count again."""
        arrays.w[self.stepping.program.rounds] = self.rounds

    def _more_rounds(self) -> bool:
        """Whether a state may have more rounds than were too few for it."""
        if self.rounds >= MOST_ROUNDS:
            return False
        self.rounds *= 2
        return True

    def _more(self, count: int) -> int:
        """So many states more there is to be room for, where there is none for those of a step."""
        return self.room + 1 if count + self.room > self.most else 0

    def grow_on(self, count: int) -> None:
        states = kernel.BATCH + self.room
        self.grow(count, self._more(count), self._few_pieces(states) * states * self.shape.pieces)

    def _few_pieces(self, states: int) -> bool:
        """Whether there may be no room for the pieces of so many states more."""
        c, (folded, _, pieces, _) = self.arrays.control, self.shape
        return bool(folded and c[kernel.PIECED] + states * pieces > c[kernel.PIECE_ROOM])

    @property
    def most(self) -> int:
        """So many states have room now."""
        return int(self.arrays.control[kernel.STATES])

    def grow(self, count: int, more: int, pieces: int) -> None:
        """Place for so many states more than there are, and for so many pieces more."""
        while filled(len(self.arrays.table)) < count + more:
            self._double()
        if self.shape.folded:
            self._grow_pieces(pieces)

    def _double(self) -> None:
        """Twice the places of the table, and place for so many states."""
        a, places = self.arrays, 2 * len(self.arrays.table)
        size = filled(places)
        shares = self.threads.shares(len(a.table))
        left = [zeros(n) for n in self.threads.each("crowded", [(a, *share) for share in shares])]
        behind = [self.code("full_before", a, first) for first, _ in shares]
        a = self.arrays = a._replace(
            store=longer(a.store, size * self.shape.root),
            parents=longer(a.parents, size),
            rules=longer(a.rules, size),
            table=longer(a.table, places),
        )
        parts = zip(left, shares, behind, strict=True)
        self.threads.each("split", [(a, row, *share, full) for row, share, full in parts])
        self._sized()
        own = self.threads.arrays if len(shares) > 1 else [a]
        self.threads.each("enter", [(x, row, len(row)) for x, row in zip(own, left, strict=True)])

    def _sized(self) -> None:
        """The table has this size now."""
        a = self.arrays
        a.control[kernel.MASK] = len(a.table) - 1
        a.control[kernel.STATES] = filled(len(a.table))

    def _grow_pieces(self, more: int) -> None:
        a = self.arrays
        count, places = int(a.control[kernel.PIECED]), len(a.piece_table)
        while filled(places) < count + more:
            places *= 2
        if places > len(a.piece_table):
            self.arrays = a._replace(
                pieces=longer(a.pieces, filled(places) * self.shape.piece),
                piece_table=blank(a.piece_table, places),
            )
            self._enter_pieces(count)

    def _enter_pieces(self, count: int) -> None:
        a = self.arrays
        a.control[kernel.PIECE_MASK] = len(a.piece_table) - 1
        a.control[kernel.PIECE_ROOM] = filled(len(a.piece_table))
        self.code("enter_pieces", a, count)

    def size(self, count: int) -> int:
        """The bytes of so many states, once the arrays have grown to hold them."""
        a, places = self.arrays, len(self.arrays.table)
        while filled(places) < count:
            places *= 2
        row = self.shape.root * a.store.itemsize + a.parents.itemsize + a.rules.itemsize
        pieces = a.control[kernel.PIECED] * self.shape.piece * a.pieces.itemsize
        return int(count * row + places * a.table.itemsize + pieces + a.piece_table.nbytes)

    def kept(self, count: int) -> Iterator[tuple[str, Any]]:
        a = self.arrays
        store = zeros(count * self.words)
        self.code("unfold_all", a, store, count)
        rows = (store, a.parents[:count], a.rules[:count])
        for name, array in zip(ARRAYS, (*rows, a.totals, a.firsts), strict=True):
            yield name, PickleBuffer(array)

    def go_on(self, count: int, items: Mapping[str, Any]) -> None:
        self._fill(copied(viewed(items["store"], INT64)), count)
        for name in ARRAYS:
            if name != "store":
                array = getattr(self.arrays, name)
                kept = viewed(items[name], array.format)
                array[: len(kept)] = kept

    def widen(self) -> None:
        """Twice the room for the successors of one state."""
        self.room *= 2
        self._make_room()

    def _make_room(self) -> None:
        self.arrays = self.arrays.with_room(self.words, self.room, kernel.BATCH)
        self.arrays.control[kernel.PLACES] = self.room

    def for_team(self, count: int) -> Sequence[Arrays]:
        """The arrays of so many threads."""
        self.arrays = self.arrays.for_team(self.words, self.room)
        return [self.arrays.of_thread(self.words, self.room) for _ in range(count)]

    def follow(self, count: int) -> Iterator[Followed]:
        first, last = self.stepping.notes.marking
        kept = last - first
        c = self.arrays.control
        edges = zeros(self.room + int(self.arrays.totals[0]))
        labelled = self.stepping.labelled
        self.arrays = self.arrays._replace(
            ends=zeros(count),
            edges=edges,
            labels=zeros(len(edges) * labelled),
            marks=zeros(count * kept, INT8),
        )
        self.arrays.w[self.stepping.following] = 1
        c[kernel.NEXT], c[kernel.FIRST] = 0, first
        c[kernel.EDGES] = len(edges)
        self.rounds = MOST_ROUNDS
        while c[kernel.NEXT] < count:
            self.stepping.space.budget.look()
            self.allow_rounds(self.arrays)
            before = int(c[kernel.NEXT])
            c[kernel.LAST] = min(count, before + self.pace.states)
            with self.pace.measured():
                status = self.code("follow", self.arrays)
            if status == kernel.DONE:
                continue
            if status == kernel.SPENT:
                if c[kernel.NEXT] == before:
                    self._left_out(before)
                continue
            if status == kernel.ROOM:
                self.widen()
            edges = longer(self.arrays.edges, 2 * len(self.arrays.edges) + self.room)
            labels = longer(self.arrays.labels, len(edges) * labelled)
            self.arrays = self.arrays._replace(edges=edges, labels=labels)
            c[kernel.EDGES] = len(edges)
        self.arrays.w[self.stepping.following] = 0
        a, begin = self.arrays, 0
        for number, end in enumerate(a.ends.tolist()):
            marks = a.marks[number * kept : (number + 1) * kept].tolist()
            yield Followed(a.edges[begin:end].tolist(), a.labels[begin:end].tolist(), marks)
            begin = end

    def _left_out(self, number: int) -> None:
        """A state needs too many rounds to be followed: the search gave it up, too."""
        ends = self.arrays.ends
        ends[number] = ends[number - 1] if number else 0
        self.arrays.control[kernel.NEXT] = number + 1
