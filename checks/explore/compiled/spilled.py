"""The states of a search in files, level by level: for more of them than memory holds.

Machine code expands a block of a level, and what it leads to is gathered. At the end of the level
equal states are dropped, then those that were seen (`sorted_runs`). The rest get their numbers in
the order in which they were met: the numbers are those of the search in memory. A level with many
steps is gathered in files, one for each range of hashes, and each is looked up alone.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..expansion.successors import Stepping
from ..limits import OutOfBudget
from . import kernel_rows as kernel
from .arrays import empty
from .llvm import Native
from .memory import MOST_ROUNDS, ROUNDS
from .sorted_runs import SortedRuns, hashed, mapped
from .state_store import Followed, Span, Stopped

BLOCK = 1 << 14  # States that are expanded between two looks at the clock.
GATHERED = 1 << 16  # Steps that machine code gathers before it comes back.
HELD = 1 << 21  # Steps of a level that are held in memory; more are put in files.
RANGES = 32  # Of hashes: a large level has so many files.
HASH, ORDER, PARENT, RULE, WORDS = range(5)  # The columns of what is gathered.


def _file(name: Path) -> BinaryIO:
    """A new file, to be written and read."""
    return open(name, "wb+")


class Gathered:
    """What a level leads to: in memory, or in a file for each range of hashes."""

    def __init__(self, folder: Path, words: int) -> None:
        self.folder = folder
        self.columns = WORDS + words
        self.count = 0
        self.rows: list[Any] = []
        self.held = 0
        self.files: list[BinaryIO] = []
        self.opened = ExitStack()

    def add(self, parents: Any, rules: Any, words: Any) -> None:
        """Take steps: the state and the rule of each, and the words of the state it leads to."""
        made = np.empty((len(words), self.columns), np.int64)
        made[:, HASH] = hashed(words).view(np.int64)
        made[:, ORDER] = np.arange(self.count, self.count + len(words))
        made[:, PARENT], made[:, RULE], made[:, WORDS:] = parents, rules, words
        self.rows.append(made)
        self.count += len(words)
        self.held += len(words)
        if self.held > HELD:
            self._spill()

    def _spill(self) -> None:
        if not self.files:
            for number in range(RANGES):
                file = self.opened.enter_context(_file(self.folder / f"level.{number}"))
                self.files.append(file)
        rows = np.concatenate(self.rows)
        ranges = rows[:, HASH].view(np.uint64) >> np.uint64(64 - RANGES.bit_length() + 1)
        for number, file in enumerate(self.files):
            rows[ranges == number].tofile(file)
        self.rows, self.held = [], 0

    def parts(self) -> Iterator[Any]:
        """The steps by ranges of hashes, the lower first."""
        if not self.files:
            if self.rows:
                yield np.concatenate(self.rows)
            return
        if self.rows:
            self._spill()
        for file in self.files:
            file.seek(0)
            yield np.fromfile(file, np.int64).reshape(-1, self.columns)

    def close(self) -> None:
        """Remove the files."""
        self.opened.close()
        for file in self.files:
            Path(file.name).unlink()


def first_of_each(rows: Any) -> Any:
    """Of equal states the first one that was met; the rest sorted by hash."""
    hashes = rows[:, HASH].view(np.uint64)
    keys = [rows[:, ORDER], *rows[:, WORDS:].T, hashes]
    rows = rows[np.lexsort(keys)]
    new = np.ones(len(rows), bool)
    same = rows[1:, HASH] == rows[:-1, HASH]
    new[1:] = ~(same & (rows[1:, WORDS:] == rows[:-1, WORDS:]).all(axis=1))
    return rows[new]


def in_order(parts: Sequence[Any], count: int) -> Iterator[Any]:
    """Rows of several parts, each sorted by `ORDER`, so many places of that at a time."""
    for low in range(0, count, HELD):
        cut: list[Any] = []
        for rows in parts:
            column = rows[:, ORDER]
            begin, end = (bisect.bisect_left(column, at) for at in (low, low + HELD))
            cut.append(rows[begin:end])
        rows = np.concatenate(cut) if cut else np.zeros((0, WORDS), np.int64)
        yield rows[np.argsort(rows[:, ORDER])]


class Spilled:
    """States by number in files of a folder; see `state_store.Store`."""

    def __init__(self, stepping: Stepping, code: Native, folder: Path) -> None:
        self.stepping = stepping
        self.code = code
        self.folder = folder
        self.width = stepping.words
        self.room = 1 << 8
        self.rounds = ROUNDS
        self.arrays = empty(self.width, stepping.program.begun, stepping.notes.size)
        self._make_room()
        self.arrays.control[kernel.UNFOLDED] = 1
        self.seen = SortedRuns(folder, self.width)
        self.single: dict[tuple[int, ...], int] = {}  # Taken one by one, in no run yet.
        self.opened = ExitStack()
        self.states = self.opened.enter_context(_file(folder / "states"))
        self.before = self.opened.enter_context(_file(folder / "parents"))
        self.by = self.opened.enter_context(_file(folder / "rules"))

    def close(self) -> None:
        """Close the files."""
        self.opened.close()

    def _make_room(self) -> None:
        self.arrays = self.arrays.with_room(self.width, self.room, GATHERED)
        self.arrays.control[kernel.PLACES] = self.room
        self.arrays.control[kernel.ENOUGH] = GATHERED

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
        if self.find(words) >= 0:
            return False
        self.single[words] = number
        row = np.array([words], np.int64)
        self._append(row, np.array([parent[0]]), np.array([parent[1]]))
        return True

    def find(self, words: tuple[int, ...]) -> int:
        """0 for a state that was seen, or its number where that is known; else -1."""
        if words in self.single:
            return self.single[words]
        row = np.array([words], np.int64)
        return 0 if self.seen.holds(hashed(row), row)[0] else -1

    def _append(self, words: Any, parents: Any, rules: Any) -> None:
        for file, column, kind in (
            (self.states, words, np.int64),
            (self.before, parents, np.int64),
            (self.by, rules, np.uint16),
        ):
            file.seek(0, 2)
            file.write(np.ascontiguousarray(column, kind).tobytes())
            file.flush()

    def words_of(self, number: int) -> Sequence[int]:
        found: list[int] = self._read(self.states, np.int64, number * self.width, self.width)
        return found

    def parent(self, number: int) -> tuple[int, int]:
        (before,) = self._read(self.before, np.int64, number, 1)
        (rule,) = self._read(self.by, np.uint16, number, 1)
        return before, rule

    def _read(self, file: BinaryIO, kind: Any, at: int, count: int) -> list[int]:
        size = np.dtype(kind).itemsize
        file.seek(at * size)
        found: list[int] = np.frombuffer(file.read(count * size), kind).tolist()
        return found

    def distinct(
        self, words: Sequence[int], masks: Sequence[int], count: int
    ) -> Iterable[Sequence[int]]:
        raise AssertionError("nobody asks for the values of states in files")

    def by_rule(self, count: int) -> list[int]:
        found = np.zeros(self.stepping.notes.rules, np.int64)
        before = mapped(self.folder / "parents", np.int64)
        rules = mapped(self.folder / "rules", np.uint16)
        for at in range(0, count, HELD):
            end = min(count, at + HELD)
            taken = rules[at:end][before[at:end] >= 0]
            found += np.bincount(taken, minlength=len(found))
        made: list[int] = found.tolist()
        return made

    def advance(self, span: Span) -> Stopped:
        """Expand the rest of the level. A limit met on the way takes back what was gathered."""
        self._settle_singles()
        kept = self.arrays.totals.copy(), self.arrays.firsts.copy()
        gathered = Gathered(self.folder, self.width)
        try:
            number, escaped = self._expand(span, gathered)
            return Stopped(number, span.count + self._take(gathered), escaped)
        except OutOfBudget:
            self.arrays.totals[:], self.arrays.firsts[:] = kept
            return Stopped(span.next, span.count)
        finally:
            gathered.close()

    def _settle_singles(self) -> None:
        if self.single:
            words = np.array(list(self.single), np.int64).reshape(-1, self.width)
            hashes = hashed(words)
            order = np.argsort(hashes)
            self.seen.add([(hashes[order], words[order])])
            self.single.clear()

    def _expand(self, span: Span, gathered: Gathered) -> tuple[int, bool]:
        """Where it ended, and whether the state before is left to the reference engine."""
        c, number = self.arrays.control, span.next
        c[kernel.FAILING], c[kernel.FAILED] = self.stepping.notes.failing if span.first else (0, 0)
        while number < span.last:
            self.stepping.space.budget.look()
            size = min(BLOCK, span.last - number)
            self.states.seek(number * self.width * 8)
            block = np.frombuffer(self.states.read(size * self.width * 8), np.int64)
            first = number
            self.arrays = self.arrays._replace(store=block)
            while number < first + size:
                begun = number
                status, number = self._scout(number, (first, size), gathered)
                if status == kernel.ROOM:
                    self.room *= 2
                    self._make_room()
                elif status == kernel.SPENT and number == begun:
                    if self.rounds >= MOST_ROUNDS:
                        return number + 1, True
                    self.rounds *= 2
                elif status in (kernel.ESCAPED, kernel.STOPPED):
                    return number, status == kernel.ESCAPED
        return number, False

    def _scout(self, number: int, block: tuple[int, int], gathered: Gathered) -> tuple[int, int]:
        """Expand states of a block until machine code comes back: why, and the next state."""
        a, (first, size) = self.arrays, block
        c = a.control
        c[kernel.NEXT], c[kernel.LAST] = number - first, size
        a.w[self.stepping.program.rounds] = self.rounds
        unset = a.firsts < 0
        status = self.code("scout", a)
        a.firsts[unset & (a.firsts >= 0)] += first  # Machine code numbers the states of a block.
        left = int(c[kernel.LEFT])
        words = a.batch[: left * self.width].reshape(left, self.width)
        origins = a.origins[: 2 * left].reshape(left, 2)
        gathered.add(origins[:, 0] + first, origins[:, 1], words)
        return status, first + int(c[kernel.NEXT])

    def _take(self, gathered: Gathered) -> int:
        """Keep the new ones of what was gathered: how many these are."""
        parts: list[Any] = []
        seen: list[tuple[Any, Any]] = []
        for number, every in enumerate(gathered.parts()):
            rows = first_of_each(every)
            hashes = np.ascontiguousarray(rows[:, HASH]).view(np.uint64)
            new = rows[~self.seen.holds(hashes, rows[:, WORDS:])]
            seen.append(self._kept(f"new.{number}", new))
            parts.append(self._kept_whole(f"met.{number}", new[np.argsort(new[:, ORDER])]))
        for rows in in_order(parts, gathered.count):
            self._append(rows[:, WORDS:], rows[:, PARENT], rows[:, RULE])
        self.seen.add(seen)
        return sum(map(len, parts))

    def _kept(self, name: str, rows: Any) -> tuple[Any, Any]:
        """Hashes and words in a file."""
        found = self._kept_whole(name, np.delete(rows, (ORDER, PARENT, RULE), axis=1))
        return np.ascontiguousarray(found[:, 0]).view(np.uint64), found[:, 1:]

    def _kept_whole(self, name: str, rows: Any) -> Any:
        """Rows in a file, where they are many."""
        if len(rows) < HELD // RANGES:
            return rows
        file = self.folder / name
        with open(file, "wb") as into:
            rows.tofile(into)
        found = mapped(file, np.int64).reshape(rows.shape)
        file.unlink()  # The system keeps what is mapped until nobody looks at it.
        return found

    def grow_on(self, count: int) -> None:
        raise AssertionError("a file grows by itself")

    def kept(self, count: int) -> Iterator[tuple[str, Any]]:
        raise AssertionError("nobody keeps a snapshot of states in files")

    def go_on(self, count: int, items: Mapping[str, Any]) -> None:
        raise AssertionError("nobody keeps a snapshot of states in files")

    def follow(self, count: int) -> Iterator[Followed]:
        raise AssertionError("nobody follows the steps of states in files")
