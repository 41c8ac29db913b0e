"""The states of a search in Python lists and a dict, with the generated steps as plain Python.

It needs neither a compiler nor NumPy. Up to some tens of thousands of states nothing is faster.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ..codegen import prelude
from ..expansion.successors import RULES, Stepping
from ..limits import OutOfBudget
from .bytecode import bytecode
from .state_store import Followed, Span, Stopped

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


def in_row(w: list[int], at: int, size: int, keys: int, item: int) -> int:
    """See `prelude.in_row`."""
    wanted, first = w[item : item + keys], at + 1
    for i in range(w[at]):
        if w[first : first + keys] == wanted:
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


def interpreted(
    source: str, ask: Callable[[], None] | None = None, name: str = "expand"
) -> Callable[..., int]:
    """A function as plain Python, over lists of integers; long loops ask in each round."""
    namespace: dict[str, Any] = {f.__name__: f for f in prelude.FUNCTIONS}
    namespace.update(FASTER)

    def spent(_w: list[int], _at: int, _rounds: int) -> int:
        if ask is not None:
            ask()
        return 0

    namespace["spent"] = spent
    exec(bytecode(source), namespace)
    made: Callable[..., int] = namespace[name]
    return made


class Expanding:
    """Expands states, with room enough for their successors."""

    def __init__(self, stepping: Stepping) -> None:
        self.stepping = stepping
        self.expand = interpreted(stepping.program.source, stepping.space.ask)
        self.cells = stepping.program.begun
        self.cells[stepping.following] = 1
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
        self.follows = bool(stepping.labelled or stepping.marks)
        self.store: list[int] = []
        self.index: dict[int | tuple[int, ...], int] = {}
        self.parents: list[int] = []
        self.rules: list[int] = []
        self.totals = [0] * stepping.notes.size
        self.firsts = [-1] * stepping.notes.size
        self.followed: dict[int, Followed] = {}

    @cached_property
    def steps(self) -> Expanding:
        """Made when the first state is expanded: Python takes a while to compile them."""
        return Expanding(self.stepping)

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
            for i, noted in enumerate(info[: notes["mark"]]):
                if noted:
                    self.totals[i] += noted
                    if self.firsts[i] < 0:
                        self.firsts[i] = number - 1
                    failed = failed or i in fails
            keys, rules = self._reached(n)
            count = self._kept(number - 1, (keys, rules), count)
            if self.follows:
                self.followed[number - 1] = self._followed(keys, rules, info)
            if failed and span.first:
                break
        return Stopped(number, count)

    def _reached(self, n: int) -> tuple[list[Any], list[int]]:
        """The n states in `out`, as they are in the index, None for that of a step that is cut; and
        the rules of the steps that lead there."""
        out, words = self.steps.out, self.words
        rules = out[self.steps.room * words : self.steps.room * words + n]
        if words == 1:
            keys: list[Any] = out[:n]
        else:
            keys = list(zip(*(out[i : n * words : words] for i in range(words)), strict=True))
        if n and min(rules) < 0:
            keys = [None if rule < 0 else key for key, rule in zip(keys, rules, strict=True)]
        return keys, rules

    def _kept(self, number: int, reached: tuple[list[Any], list[int]], count: int) -> int:
        """The successors of a state: how many states there are with them."""
        index = self.index
        for key, rule in zip(*reached, strict=True):
            if key not in index and key is not None:
                index[key] = count
                count += 1
                if self.words == 1:
                    self.store.append(key)
                else:
                    self.store += key
                self.parents.append(number)
                self.rules.append(rule % RULES)
        return count

    def _followed(self, keys: list[Any], rules: list[int], info: list[int]) -> Followed:
        index, (first, last) = self.index, self.stepping.notes.marking
        targets = array("q", [index.get(key, -1) for key in keys])
        labels = array("q", rules if self.stepping.labelled else ())
        return Followed(targets, labels, info[first:last])

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

    def follow(self, count: int) -> Iterator[Followed]:
        for number in range(count):
            self.stepping.space.ask()
            if number in self.followed:
                yield self.followed[number]
                continue
            info, n = self.steps.expanded(self.store, number * self.words)
            yield self._followed(*self._reached(0 if info[1] else n), info)
