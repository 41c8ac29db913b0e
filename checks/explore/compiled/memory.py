"""The states of a search in NumPy arrays, which machine code reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pickle import PickleBuffer
from typing import Any

import numpy as np

from ..expansion.successors import Stepping
from . import search_kernel as kernel
from .arrays import Arrays, empty, longer
from .llvm import Native
from .pace import Pace
from .plain import ARRAYS, Plain
from .state_store import Followed, Span, Stopped
from .threads import Workers

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
        self.room = 1 << 8
        self.rounds = ROUNDS
        self.pace = Pace(SLICE)
        self.threads = Workers(self, workers)
        self.arrays = empty(s.words, s.program.begun, s.notes.size)
        self._make_room()
        self._enter(0, 0)

    @classmethod
    def taking(cls, plain: Plain, code: Native, workers: int = 1) -> Memory:
        """All that plain Python has found so far; so many threads go on from it."""
        made, count = cls(plain.stepping, code, workers), len(plain.parents)
        made.grow(0, 2 * count)
        a = made.arrays
        a.store[: len(plain.store)] = plain.store
        a.parents[:count], a.rules[:count] = plain.parents, plain.rules
        a.totals[:], a.firsts[:] = plain.totals, plain.firsts
        made._enter(0, count)
        return made

    @classmethod
    def beside(cls, known: Memory, stepping: Stepping, code: Native, count: int) -> Memory:
        """So many states of another store, for steps that lead to no state."""
        made = cls(stepping, code)
        made.arrays = made.arrays._replace(store=known.arrays.store)
        made.arrays.control[kernel.STATES] = count + made.room + 1  # Nothing is written there.
        return made

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
        if 2 * (number + 1) > len(self.arrays.table) or number >= len(self.arrays.parents):
            self.grow(number, number)
        a = self.arrays
        if self.find(words) >= 0:
            return False
        a.store[number * self.words : (number + 1) * self.words] = words
        a.parents[number], a.rules[number] = parent
        self._enter(number, number + 1)
        return True

    def find(self, words: tuple[int, ...]) -> int:
        """The number of a state, or -1 where it is not there."""
        return self.code("find", self.arrays, np.array(words, np.int64), 0)

    def words_of(self, number: int) -> Sequence[int]:
        at = number * self.words
        found: list[int] = self.arrays.store[at : at + self.words].tolist()
        return found

    def parent(self, number: int) -> tuple[int, int]:
        return int(self.arrays.parents[number]), int(self.arrays.rules[number])

    def distinct(
        self, words: Sequence[int], masks: Sequence[int], count: int
    ) -> Iterable[Sequence[int]]:
        rows = self.arrays.store[: count * self.words].reshape(count, self.words)
        if len(words) == 1:
            return [(held,) for held in np.unique(rows[:, words[0]] & masks[0]).tolist()]
        kept = rows[:, list(words)] & np.array(masks, np.int64)
        found: list[list[int]] = np.unique(kept, axis=0).tolist() if words else [[]]
        return found

    def by_rule(self, count: int) -> list[int]:
        reached = self.arrays.parents[:count] >= 0
        rules = self.arrays.rules[:count][reached]
        found: list[int] = np.bincount(rules, minlength=self.stepping.notes.rules).tolist()
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
        wanted = self.size(count + self._more(count)) if status == kernel.FULL else 0
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
        return max(self.room, count)

    def grow_on(self, count: int) -> None:
        self.grow(count, self._more(count))

    def grow(self, count: int, more: int) -> None:
        """Place for so many states more than there are."""
        size = len(self.arrays.parents)
        while size < count + more:
            size *= 2
        if size > len(self.arrays.parents):
            self.arrays = self.arrays._replace(
                store=longer(self.arrays.store, size * self.words),
                parents=longer(self.arrays.parents, size),
                rules=longer(self.arrays.rules, size),
            )
        self.arrays = self.arrays._replace(table=np.zeros(2 * size, np.uint32))
        self._enter(0, count)

    def _enter(self, first: int, count: int) -> None:
        """States that are in the store are in the table too, from the first to so many in all."""
        a = self.arrays
        a.control[kernel.MASK] = len(a.table) - 1
        a.control[kernel.STATES] = len(a.parents)
        self.code("enter", self.arrays, first, count)

    def size(self, count: int) -> int:
        """The bytes of the arrays for so many states, once they have grown to hold them."""
        size = len(self.arrays.parents)
        while size < count:
            size *= 2
        a = self.arrays
        row = self.words * a.store.itemsize + a.parents.itemsize + a.rules.itemsize
        return int(size * (row + 2 * a.table.itemsize))

    def kept(self, count: int) -> Iterator[tuple[str, Any]]:
        a = self.arrays
        rows = (a.store[: count * self.words], a.parents[:count], a.rules[:count])
        for name, array in zip(ARRAYS, (*rows, a.totals, a.firsts), strict=True):
            yield name, PickleBuffer(array)

    def go_on(self, count: int, items: Mapping[str, Any]) -> None:
        self.grow(0, count)
        for name in ARRAYS:
            array = getattr(self.arrays, name)
            kept = np.frombuffer(items[name], array.dtype)
            array[: len(kept)] = kept
        self._enter(0, count)

    def widen(self) -> None:
        """Twice the room for the successors of one state."""
        self.room *= 2
        self._make_room()

    def _make_room(self) -> None:
        self.arrays = self.arrays.with_room(self.words, self.room, kernel.BATCH)
        self.arrays.control[kernel.PLACES] = self.room

    def of_thread(self, gathered: int, number: tuple[int, int]) -> Arrays:
        """The arrays of one thread; see `Arrays.of_thread`."""
        return self.arrays.of_thread(self.words, self.room, gathered, number)

    def follow(self, count: int) -> Iterator[Followed]:
        first, last = self.stepping.notes.marking
        kept = last - first
        c = self.arrays.control
        edges = np.zeros(self.room + int(self.arrays.totals[0]), np.int64)
        labelled = self.stepping.labelled
        self.arrays = self.arrays._replace(
            ends=np.zeros(count, np.int64),
            edges=edges,
            labels=np.zeros(len(edges) * labelled, np.int64),
            marks=np.zeros(count * kept, np.int8),
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
