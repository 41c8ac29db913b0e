"""The arrays of a search, and the states in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pickle import PickleBuffer
from typing import Any

import numpy as np

from ..boxes import State
from ..explored import Parent
from ..reference import Done
from ..space import Space
from . import core
from .slots import unpack
from .stepping import Stepping

FIRST = 1 << 12  # States that there is place for at the beginning.
ARRAYS = ("store", "parents", "rules", "totals", "firsts", "control")  # Kept in snapshots.


class States(Sequence[State]):
    """Packed states as values, unpacked when they are asked for."""

    def __init__(self, stepping: Stepping, store: Any, count: int) -> None:
        self.stepping = stepping
        self.store = store
        self.size = count

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, number: Any) -> Any:
        if not -self.size <= number < self.size:
            raise IndexError(number)
        s = self.stepping
        at = number % self.size * s.words
        return s.codec.decode(s.whole, unpack(s.slots, self.store[at : at + s.words]))


class Parents(Sequence[Parent]):
    """Where each state was first reached from; the arguments are found again when asked for."""

    def __init__(self, space: Space, states: States, arrays: core.Arrays) -> None:
        self.space = space
        self.states = states
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, number: Any) -> Any:
        before, rule = int(self.arrays.parents[number]), int(self.arrays.rules[number])
        if before < 0:
            return -1, -1, ()
        state = self.states[number]
        for edge in self.space.edges(self.states[before]):
            same = edge.rule == rule and edge.cut is None
            if same and isinstance(edge.outcome, Done) and edge.outcome.state == state:
                return before, rule, edge.args
        raise AssertionError(f"no step leads from state {before} to state {number}")


class Memory:
    """The arrays of a search of states of so many words; they grow by doubling."""

    def __init__(self, stepping: Stepping) -> None:
        s = stepping
        self.words = s.words
        self.room = 1 << 8
        self.arrays = core.Arrays(
            w=np.zeros(s.program.cells, np.int64),
            store=np.zeros(FIRST * s.words, np.int64),
            table=np.zeros(2 * FIRST, np.int32),
            parents=np.zeros(FIRST, np.int32),
            rules=np.zeros(FIRST, np.uint16),
            out=np.zeros(self.room * (s.words + 1), np.int64),
            info=np.zeros(s.layout.size, np.int64),
            totals=np.zeros(s.layout.size, np.int64),
            firsts=np.full(s.layout.size, -1, np.int64),
            escapes=np.zeros(1 << 10, np.int64),
            control=np.zeros(8, np.int64),
            places=np.zeros(self.room, np.int64),
            heads=np.zeros(self.room, np.int64),
        )

    def insert(self, words: tuple[int, ...], number: int, parent: tuple[int, int]) -> bool:
        """Whether a state is new; if so it has this number now."""
        if 2 * (number + 1) > len(self.arrays.table) or number >= len(self.arrays.parents):
            self.grow(number, number)
        a = self.arrays
        place = self.find(words)
        if place >= 0:
            return False
        a.store[number * self.words : (number + 1) * self.words] = words
        a.parents[number], a.rules[number] = parent
        a.table[-1 - place] = number + 1
        return True

    def find(self, words: tuple[int, ...]) -> int:
        """The number of a state, or -1 - the place in the table that it would have."""
        a = self.arrays
        return int(core.find(a.table, a.store, self.words, np.array(words, np.int64), 0))

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
        self.arrays = self.arrays._replace(table=np.zeros(2 * size, np.int32))
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
        """What of so many states has to be kept in a file; the table is made of it again."""
        a = self.arrays
        yield "room", self.room
        rows: tuple[Any, ...] = (a.store[: count * self.words], a.parents[:count], a.rules[:count])
        for name, array in zip(ARRAYS, (*rows, a.totals, a.firsts, a.control), strict=True):
            yield name, PickleBuffer(array)

    def go_on(self, count: int, items: Mapping[str, Any]) -> None:
        """The arrays as they were kept."""
        while self.room < items["room"]:
            self.widen()
        self.grow(0, count)
        for name in ARRAYS:
            array = getattr(self.arrays, name)
            kept = np.frombuffer(items[name], array.dtype)
            array[: len(kept)] = kept
        core.rebuild(self.arrays.table, self.arrays.store, self.words, count)

    def widen(self) -> None:
        """Twice the room for the successors of one state."""
        self.room *= 2
        self.arrays = self.arrays._replace(
            out=np.zeros(self.room * (self.words + 1), np.int64),
            places=np.zeros(self.room, np.int64),
            heads=np.zeros(self.room, np.int64),
        )

    def graph(self, count: int, edges: int, marks: int) -> core.Graph:
        """Place for the edges and the marks of all states."""
        return core.Graph(
            np.zeros(count, np.int64), np.zeros(edges + self.room, np.int64),
            np.zeros(count * marks, np.int8),
        )

    def by_rule(self, count: int, rules: int) -> list[int]:
        """How many states each rule was the first to reach."""
        reached = self.arrays.parents[:count] >= 0
        found = np.bincount(self.arrays.rules[:count][reached], minlength=rules)
        return [int(n) for n in found]


def _longer(array: Any, size: int) -> Any:
    made = np.zeros(size, array.dtype)
    made[: len(array)] = array
    return made
