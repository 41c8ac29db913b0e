"""The states of a search in arrays, for machine code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pickle import PickleBuffer
from typing import Any, NamedTuple

import numpy as np

from lawful.checks.explore.codegen.successors import Stepping

from . import search_kernel
from .llvm import Native
from .plain import ARRAYS, Plain
from .state_store import Span, Stopped
from .threads import Crew

FIRST = 1 << 12  # States that there is place for at the beginning.
SLICE = 1 << 15  # States expanded between two looks at the clock.
# Rounds of long loops between two looks at the clock. A state that needs more gets more, up to so
# many; one that needs more than those is left to the reference engine.
ROUNDS, MOST_ROUNDS = 1 << 22, 1 << 25


class Arrays(NamedTuple):
    """What a search works on, in the order of `core.ROWS`; see there."""

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
    marks: Any
    shared: Any
    sums: Any
    earliest: Any


class Memory:
    """The arrays of a search of states of so many words; they grow by doubling."""

    def __init__(self, stepping: Stepping, code: Native, workers: int = 1) -> None:
        s = self.stepping = stepping
        self.code = code
        self.words = s.words
        self.room = 1 << 8
        self.rounds = ROUNDS
        self.crew = Crew(self, workers)
        self.arrays = Arrays(
            w=np.zeros(s.program.cells, np.int64),
            store=np.zeros(FIRST * s.words, np.int64),
            table=np.zeros(2 * FIRST, np.uint32),
            parents=np.zeros(FIRST, np.int32),
            rules=np.zeros(FIRST, np.uint16),
            out=np.zeros(0, np.int64),
            info=np.zeros(s.layout.size, np.int64),
            totals=np.zeros(s.layout.size, np.int64),
            firsts=np.full(s.layout.size, -1, np.int64),
            control=np.zeros(search_kernel.CONTROLS, np.int64),
            batch=np.zeros(0, np.int64),
            origins=np.zeros(0, np.int64),
            hashes=np.zeros(0, np.int64),
            recent=np.full(max(s.words, search_kernel.RECENT), -1, np.int64),  # No state's word.
            ends=np.zeros(0, np.int64),
            edges=np.zeros(0, np.int64),
            marks=np.zeros(0, np.int8),
            shared=np.zeros(0, np.int64),
            sums=np.zeros(0, np.int64),
            earliest=np.zeros(0, np.int64),
        )
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

    def by_rule(self, count: int) -> list[int]:
        reached = self.arrays.parents[:count] >= 0
        rules = self.arrays.rules[:count][reached]
        found: list[int] = np.bincount(rules, minlength=self.stepping.layout.rules).tolist()
        return found

    def advance(self, span: Span) -> Stopped:
        stopped = self.crew.advance(span)
        if stopped is not None:
            return stopped
        c = self.arrays.control
        last = min(span.last, span.next + SLICE)
        (
            c[search_kernel.NEXT],
            c[search_kernel.LAST],
            c[search_kernel.COUNT],
            c[search_kernel.MOST],
        ) = (
            span.next,
            last,
            span.count,
            span.most,
        )
        c[search_kernel.FAILING], c[search_kernel.FAILED] = (
            self.stepping.layout.failing if span.first else (0, 0)
        )
        self.wind(self.arrays)
        while (status := self.code("search", self.arrays)) == search_kernel.ROOM:
            self.widen()
        count = int(c[search_kernel.COUNT])
        if (
            status == search_kernel.SPENT
            and c[search_kernel.NEXT] == span.next
            and not self._more_rounds()
        ):
            return Stopped(span.next + 1, count, True)
        wanted = self.size(count + self._more(count)) if status == search_kernel.FULL else 0
        return Stopped(int(c[search_kernel.NEXT]), count, status == search_kernel.ESCAPED, wanted)

    def wind(self, arrays: Arrays) -> None:
        """Let the steps that work on these arrays go so many rounds from here."""
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
                store=_longer(self.arrays.store, size * self.words),
                parents=_longer(self.arrays.parents, size),
                rules=_longer(self.arrays.rules, size),
            )
        self.arrays = self.arrays._replace(table=np.zeros(2 * size, np.uint32))
        self._enter(0, count)

    def _enter(self, first: int, count: int) -> None:
        """States that are in the store are in the table too, from the first to so many in all."""
        a = self.arrays
        a.control[search_kernel.MASK] = len(a.table) - 1
        a.control[search_kernel.STATES] = len(a.parents)
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
        most = search_kernel.BATCH + self.room
        self.arrays = self.arrays._replace(
            out=np.zeros(self.room * (self.words + 1), np.int64),
            batch=np.zeros(most * self.words, np.int64),
            origins=np.zeros(2 * most, np.int64),
            hashes=np.zeros(most, np.int64),
        )
        self.arrays.control[search_kernel.PLACES] = self.room

    def beside(self, enough: int, numbers: Mapping[int, int]) -> Arrays:
        """What one of several threads works on: rows of its own, with place to gather enough,
        and the states of all. These numbers are where its `control` has them."""
        a, most = self.arrays, enough + self.room
        control = a.control.copy()
        (
            control[search_kernel.ENOUGH],
            control[search_kernel.FAILING],
            control[search_kernel.FAILED],
        ) = enough, 0, 0
        for at, number in numbers.items():
            control[at] = number
        return a._replace(
            w=np.zeros_like(a.w),
            out=np.zeros_like(a.out),
            info=np.zeros_like(a.info),
            totals=np.zeros_like(a.totals),
            firsts=np.zeros_like(a.firsts),
            control=control,
            batch=np.zeros(most * self.words, np.int64),
            origins=np.zeros(2 * most, np.int64),
            hashes=np.zeros(most, np.int64),
            recent=np.full_like(a.recent, -1),
            shared=a.control,
            sums=a.totals,
            earliest=a.firsts,
        )

    def follow(self, count: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        first, last = self.stepping.layout.marking
        kept = last - first
        c = self.arrays.control
        edges = np.zeros(self.room + int(self.arrays.totals[0]), np.int64)
        self.arrays = self.arrays._replace(
            ends=np.zeros(count, np.int64), edges=edges, marks=np.zeros(count * kept, np.int8)
        )
        c[search_kernel.NEXT], c[search_kernel.FIRST] = 0, first
        c[search_kernel.EDGES] = len(edges)
        self.rounds = MOST_ROUNDS
        while c[search_kernel.NEXT] < count:
            self.stepping.space.budget.look()
            self.wind(self.arrays)
            before = int(c[search_kernel.NEXT])
            c[search_kernel.LAST] = min(count, before + SLICE)
            status = self.code("follow", self.arrays)
            if status == search_kernel.DONE:
                continue
            if status == search_kernel.SPENT:
                if c[search_kernel.NEXT] == before:
                    self._left_out(before)
                continue
            if status == search_kernel.ROOM:
                self.widen()
            edges = _longer(self.arrays.edges, 2 * len(self.arrays.edges) + self.room)
            self.arrays = self.arrays._replace(edges=edges)
            c[search_kernel.EDGES] = len(edges)
        ends, edges, marks = self.arrays.ends, self.arrays.edges, self.arrays.marks
        begin = 0
        for number, end in enumerate(ends.tolist()):
            at = number * kept
            yield edges[begin:end].tolist(), marks[at : at + kept].tolist()
            begin = end

    def _left_out(self, number: int) -> None:
        """A state needs too many rounds to be followed: the search gave it up, too."""
        ends = self.arrays.ends
        ends[number] = ends[number - 1] if number else 0
        self.arrays.control[search_kernel.NEXT] = number + 1


def _longer(array: Any, size: int) -> Any:
    made = np.zeros(size, array.dtype)
    made[: len(array)] = array
    return made
