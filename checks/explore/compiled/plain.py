"""The states of a search in Python lists and a dict, with the generated steps as plain Python.

It needs neither a compiler nor NumPy. Up to some tens of thousands of states nothing is faster.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..codegen import prelude
from ..expansion.successors import Stepping
from ..limits import OutOfBudget
from .state_store import Span, Stopped

SLICE = 1 << 8  # States expanded between two looks at the clock.
# What snapshots keep, and as which kind of integers.
ARRAYS = {"store": "q", "parents": "i", "rules": "H", "totals": "q", "firsts": "q"}


def copy(w: list[int], to: int, of: int, count: int) -> None:
    """See `prelude.copy`."""
    w[to : to + count] = w[of : of + count]


def clear(w: list[int], at: int, count: int) -> None:
    """See `prelude.clear`."""
    w[at : at + count] = [0] * count


def same(w: list[int], a: int, b: int, count: int) -> int:
    """See `prelude.same`."""
    return int(w[a : a + count] == w[b : b + count])


def in_row(w: list[int], at: int, size: int, item: int) -> int:
    """See `prelude.in_row`."""
    wanted, first = w[item : item + size], at + 1
    for i in range(w[at]):
        if w[first : first + size] == wanted:
            return i
        first += size
    return -1


# What Python does faster in its own way, by the names that it has in the prelude.
FASTER: dict[str, Callable[..., int | None]] = {
    "copy": copy,
    "clear": clear,
    "same": same,
    "in_row": in_row,
    "popcount": int.bit_count,
}


def interpreted(source: str, ask: Callable[[], None] | None = None) -> Callable[..., int]:
    """`expand` as plain Python, over lists of integers; long loops ask in each round."""
    namespace: dict[str, Any] = {f.__name__: f for f in prelude.FUNCTIONS}
    namespace.update(FASTER)

    def spent(_w: list[int], _at: int, _rounds: int) -> int:
        if ask is not None:
            ask()
        return 0

    namespace["spent"] = spent
    exec(compile(source, "<steps>", "exec"), namespace)  # Text that `codegen` wrote.
    made: Callable[..., int] = namespace["expand"]
    return made


class Expanding:
    """Expands states, with room enough for their successors."""

    def __init__(self, stepping: Stepping) -> None:
        self.stepping = stepping
        self.expand = interpreted(stepping.program.source, stepping.space.ask)
        self.cells = [0] * stepping.program.cells
        self.room = 1 << 8
        self.out = [0] * (self.room * (stepping.words + 1))

    def expanded(self, store: Sequence[int], at: int) -> tuple[list[int], int]:
        """The notes of the steps about that state, and the number of its successors in `out`."""
        while True:
            info = [0] * self.stepping.notes.size
            n = self.expand(self.cells, store, at, self.out, info, self.room)
            if n >= 0:
                return info, n
            self.room *= 2
            self.out = [0] * (self.room * (self.stepping.words + 1))


class Plain:
    """States one after another in `store`; `index` has the numbers by their words."""

    compile_seconds = 0.0

    def __init__(self, stepping: Stepping) -> None:
        self.stepping = stepping
        self.words = stepping.words
        self.steps = Expanding(stepping)
        self.store: list[int] = []
        self.index: dict[int | tuple[int, ...], int] = {}
        self.parents: list[int] = []
        self.rules: list[int] = []
        self.totals = [0] * stepping.notes.size
        self.firsts = [-1] * stepping.notes.size
        self.followed: dict[int, tuple[list[int], list[int]]] = {}

    def insert(self, words: tuple[int, ...], number: int, parent: tuple[int, int]) -> bool:
        key = words if self.words > 1 else words[0]
        if self.index.setdefault(key, number) != number:
            return False
        self.store += words
        self.parents.append(parent[0])
        self.rules.append(parent[1])
        return True

    def find(self, words: tuple[int, ...]) -> int:
        return self.index.get(words if self.words > 1 else words[0], -1)

    def words_of(self, number: int) -> Sequence[int]:
        return self.store[number * self.words : (number + 1) * self.words]

    def parent(self, number: int) -> tuple[int, int]:
        return self.parents[number], self.rules[number]

    def distinct(
        self, words: Sequence[int], masks: Sequence[int], count: int
    ) -> Iterable[Sequence[int]]:
        end, step = count * self.words, self.words
        pairs = zip(words, masks, strict=True)
        columns = [[held & mask for held in self.store[at:end:step]] for at, mask in pairs]
        return set(zip(*columns, strict=True)) if columns else [()]

    def by_rule(self, count: int) -> list[int]:
        found = [0] * self.stepping.notes.rules
        for before, rule in zip(self.parents, self.rules, strict=True):
            if before >= 0:
                found[rule] += 1
        return found

    def advance(self, span: Span) -> Stopped:
        notes = self.stepping.notes
        fails = range(*notes.failing)
        count, number = span.count, span.next
        last = min(span.last, number + SLICE)
        while number < last and count < span.most:
            try:
                self.stepping.space.ask()
                info, n = self.steps.expanded(self.store, number * self.words)
            except OutOfBudget:
                break
            number += 1
            if info[1]:
                return Stopped(number, count, True)
            failed = False
            for i, noted in enumerate(info):
                if noted:
                    self.totals[i] += noted
                    if self.firsts[i] < 0:
                        self.firsts[i] = number - 1
                    failed = failed or i in fails
            keys = self._keys(n)
            count = self._kept(number - 1, keys, count)
            if notes.marks:
                targets = [self.index[key] for key in keys]
                self.followed[number - 1] = targets, info[notes["mark"] :]
            if failed and span.first:
                break
        return Stopped(number, count)

    def _keys(self, n: int) -> list[Any]:
        """The n states in `out`, as they are in the index."""
        out, words = self.steps.out, self.words
        if words == 1:
            return out[:n]
        return list(zip(*(out[i : n * words : words] for i in range(words)), strict=True))

    def _kept(self, number: int, keys: list[Any], count: int) -> int:
        """The successors of a state, those in `out`: how many states there are with them."""
        index, first = self.index, self.steps.room * self.words
        for e, key in enumerate(keys):
            if key not in index:
                index[key] = count
                count += 1
                if self.words == 1:
                    self.store.append(key)
                else:
                    self.store += key
                self.parents.append(number)
                self.rules.append(self.steps.out[first + e])
        return count

    def grow_on(self, count: int) -> None:
        raise AssertionError("a list grows by itself")

    def kept(self, count: int) -> Iterator[tuple[str, Any]]:
        for name, code in ARRAYS.items():
            yield name, array(code, getattr(self, name)).tobytes()

    def go_on(self, count: int, items: Mapping[str, Any]) -> None:
        for name, code in ARRAYS.items():
            setattr(self, name, list(array(code, bytes(items[name]))))
        store, words = self.store, self.words
        if words == 1:
            self.index = {key: number for number, key in enumerate(store)}
        else:
            columns = (store[i::words] for i in range(words))
            self.index = {key: number for number, key in enumerate(zip(*columns, strict=True))}

    def follow(self, count: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        index, (first, last) = self.index, self.stepping.notes.marking
        for number in range(count):
            self.stepping.space.ask()
            if number in self.followed:
                yield self.followed[number]
                continue
            info, n = self.steps.expanded(self.store, number * self.words)
            known = [] if info[1] else [index[key] for key in self._keys(n) if key in index]
            yield known, info[first:last]
