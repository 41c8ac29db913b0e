"""The states of a search in arrays, for machine code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pickle import PickleBuffer
from typing import Any

import numpy as np

from . import core
from .plain import ARRAYS, Plain
from .stepping import Stepping
from .store import Span, Stopped

FIRST = 1 << 12  # States that there is place for at the beginning.
SLICE = 1 << 15  # States expanded between two looks at the clock.


class Memory:
    """The arrays of a search of states of so many words; they grow by doubling."""

    def __init__(self, stepping: Stepping, expand: Callable[..., int]) -> None:
        s = self.stepping = stepping
        self.expand = expand
        self.words = s.words
        self.room = 1 << 8
        self.arrays = core.Arrays(
            w=np.zeros(s.program.cells, np.int64),
            store=np.zeros(FIRST * s.words, np.int64),
            table=np.zeros(2 * FIRST, np.uint32),
            parents=np.zeros(FIRST, np.int32),
            rules=np.zeros(FIRST, np.uint16),
            out=np.zeros(0, np.int64),
            info=np.zeros(s.layout.size, np.int64),
            totals=np.zeros(s.layout.size, np.int64),
            firsts=np.full(s.layout.size, -1, np.int64),
            control=np.zeros(8, np.int64),
            batch=np.zeros(0, np.int64),
            origins=np.zeros(0, np.int64),
            hashes=np.zeros(0, np.uint64),
            recent=np.full(max(s.words, 1 << core.RECENT), -1, np.int64),  # No state's word.
        )
        self._make_room()

    @classmethod
    def taking(cls, plain: Plain, expand: Callable[..., int]) -> Memory:
        """All that plain Python has found so far."""
        made, count = cls(plain.stepping, expand), len(plain.parents)
        made.grow(0, 2 * count)
        a = made.arrays
        a.store[: len(plain.store)] = plain.store
        a.parents[:count], a.rules[:count] = plain.parents, plain.rules
        a.totals[:], a.firsts[:] = plain.totals, plain.firsts
        core.rebuild(a.table, a.store, made.words, count)
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
        core.put(a.table, a.store, self.words, number)
        return True

    def find(self, words: tuple[int, ...]) -> int:
        """The number of a state, or -1 where it is not there."""
        a = self.arrays
        return int(core.find(a.table, a.store, self.words, np.array(words, np.int64), 0))

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
        c = self.arrays.control
        last = min(span.last, span.next + SLICE)
        c[core.NEXT], c[core.LAST], c[core.COUNT], c[core.MOST] = (
            span.next, last, span.count, span.most
        )
        c[core.FAILING], c[core.FAILED] = self.stepping.layout.failing if span.first else (0, 0)
        while (status := core.search(self.expand, self.arrays, self.words)) == core.ROOM:
            self.widen()
        count = int(c[core.COUNT])
        wanted = self.size(count + self._more(count)) if status == core.FULL else 0
        return Stopped(int(c[core.NEXT]), count, status == core.ESCAPED, wanted)

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
        core.rebuild(self.arrays.table, self.arrays.store, self.words, count)

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
        core.rebuild(self.arrays.table, self.arrays.store, self.words, count)

    def widen(self) -> None:
        """Twice the room for the successors of one state."""
        self.room *= 2
        self._make_room()

    def _make_room(self) -> None:
        most = core.BATCH + self.room
        self.arrays = self.arrays._replace(
            out=np.zeros(self.room * (self.words + 1), np.int64),
            batch=np.zeros(most * self.words, np.int64),
            origins=np.zeros(2 * most, np.int64),
            hashes=np.zeros(most, np.uint64),
        )

    def follow(self, count: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        first, last = self.stepping.layout.marking
        kept = last - first
        c = self.arrays.control
        graph = core.Graph(
            np.zeros(count, np.int64), np.zeros(self.room + int(self.arrays.totals[0]), np.int64),
            np.zeros(count * kept, np.int8),
        )
        c[core.NEXT], c[core.LAST], c[core.COUNT] = 0, count, first
        while (status := core.follow(self.expand, self.arrays, graph, self.words)) != core.DONE:
            if status == core.ROOM:
                self.widen()
            graph = graph._replace(edges=_longer(graph.edges, 2 * len(graph.edges) + self.room))
        begin = 0
        for number, end in enumerate(graph.ends.tolist()):
            at = number * kept
            yield graph.edges[begin:end].tolist(), graph.marks[at : at + kept].tolist()
            begin = end


def _longer(array: Any, size: int) -> Any:
    made = np.zeros(size, array.dtype)
    made[: len(array)] = array
    return made
