"""The states of a search in files, level by level: for more of them than memory holds.

Machine code expands a block of a level. What it leads to and is not in the window of states that
were met lately, is met; at the end of the level, or when the window is full, those that were seen
are dropped (`sorted_runs`). The rest get their numbers in the order in which they were met: the
numbers are those of the search in memory. As long as the window has every state there is, nothing
needs to be dropped.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..checkpoints import Unfit
from ..compiled.llvm import Native
from ..compiled.state_store import Followed, Span, Stopped
from ..compiled.typed_memory import copied, of_numbers
from ..expansion.successors import Stepping
from ..limits import OutOfBudget
from ..native import kernel_rows as kernel
from .block_expansion import Block
from .run_code import run_code
from .sorted_runs import Opened, Run, SortedRuns, remove
from .window import Met, Window

BLOCK = 1 << 14  # States that are expanded between two looks at the clock.
WINDOW = 1 << 21  # States that are in memory, about.
PART = 1 << 20  # States of a file that are looked at at a time.


class Spilled:
    """States by number in files of a folder; see `state_store.Store`."""

    def __init__(self, stepping: Stepping, code: Native, folder: Path) -> None:
        s = self.stepping = stepping
        self.code = code
        self.folder = folder
        self.width = s.words
        self.size = 0  # So many states are in the files.
        self.run_code = run_code(s.words)
        self.window = Window(s, code, self.in_window)
        self.whole = True  # The window has every state.
        self.single: list[tuple[int, ...]] = []  # States taken one by one that are in no run yet.
        self.seen = SortedRuns(self.run_code, self._new_file)
        self.in_snapshot: frozenset[str] = frozenset()  # The files of these runs are to stay.
        self.states, self.before, self.by = (
            _opened(folder / name) for name in ("states", "parents", "rules")
        )

    @property
    def in_window(self) -> int:
        """How many states the window has, about."""
        return WINDOW

    def close(self) -> None:
        """Close the files."""
        for file in (self.states, self.before, self.by):
            file.close()

    def _new_file(self) -> str:
        return str(self.folder / f"seen.{uuid.uuid4().hex}")

    @property
    def compile_seconds(self) -> float:
        return self.code.seconds

    @property
    def totals(self) -> Sequence[int]:
        found: list[int] = self.window.arrays.totals.tolist()
        return found

    @property
    def firsts(self) -> Sequence[int]:
        found: list[int] = self.window.arrays.firsts.tolist()
        return found

    def insert(self, words: tuple[int, ...], number: int, parent: tuple[int, int]) -> bool:
        if self.find(words) >= 0:
            return False
        columns = ([words], [parent[0]], [parent[1]])
        self._append(Met(*(np.array(column, np.int64) for column in columns)))
        if not self.whole:
            self.single.append(words)
        if not self.window.insert(words):
            self._forget()
        return True

    def find(self, words: tuple[int, ...]) -> int:
        """0 for a state that was seen, else -1."""
        if self.window.has(words) or words in self.single:
            return 0
        row = self.run_code.sort(np.array([(0, *words)], np.int64))
        return -1 if self.whole or len(self.seen.unseen(*row)) else 0

    def _append(self, met: Met) -> None:
        for file, column, kind in (
            (self.states, met.words, np.int64),
            (self.before, met.parents, np.int64),
            (self.by, met.rules, np.uint16),
        ):
            data = np.ascontiguousarray(column, kind)
            file.seek(self.size * data.itemsize * (data.size // max(len(data), 1)))
            file.write(data.data)
            file.flush()
        self.size += len(met.words)

    def words_of(self, number: int) -> Sequence[int]:
        found: list[int] = self._words(number, number + 1)[0].tolist()
        return found

    def parent(self, number: int) -> tuple[int, int]:
        (before,) = _read(self.before, np.int64, number, 1).tolist()
        (rule,) = _read(self.by, np.uint16, number, 1).tolist()
        return before, rule

    def _words(self, begin: int, end: int) -> Any:
        """The words of the states from one number to another, a row for each."""
        found = _read(self.states, np.int64, begin * self.width, (end - begin) * self.width)
        return found.reshape(-1, self.width)

    def distinct(
        self, words: Sequence[int], masks: Sequence[int], count: int
    ) -> Iterable[Sequence[int]]:
        raise AssertionError("nobody asks for the values of states in files")

    def by_rule(self, count: int) -> list[int]:
        found = np.zeros(self.stepping.notes.rules, np.int64)
        for at in range(0, count, PART):
            size = min(PART, count - at)
            reached = _read(self.before, np.int64, at, size) >= 0
            taken = _read(self.by, np.uint16, at, size)[reached]
            found += np.bincount(taken, minlength=len(found))
        made: list[int] = found.tolist()
        return made

    # The levels.

    def advance(self, span: Span) -> Stopped:
        """Expand the rest of the level. A limit met on the way takes back what was met."""
        self._settle_singles()
        self._tidy()
        arrays = self.window.arrays
        kept = copied(arrays.totals), copied(arrays.firsts)
        before = self.whole, list(self.seen.runs), list(self.seen.merged)
        try:
            number, escaped = self._expand(span)
            self._keep()
            return Stopped(number, self.size, escaped)
        except OutOfBudget:
            self.window.arrays.totals[:], self.window.arrays.firsts[:] = kept
            self._take_back(span.count, before)
            return Stopped(span.next, span.count)

    def _settle_singles(self) -> None:
        if self.single:
            words = np.array(self.single, np.int64).reshape(-1, self.width)
            self.seen.add([self._sorted(words)[0][:, 1:]])
            self.single.clear()

    def _sorted(self, words: Any) -> tuple[Any, Any]:
        """Rows of these words, each with its place before, and their hashes; see `RunCode`."""
        rows = np.empty((len(words), 1 + self.width), np.int64)
        rows[:, 0], rows[:, 1:] = np.arange(len(words)), words
        return self.run_code.sort(rows)

    def _tidy(self) -> None:
        """Remove runs that stand in others now, but for those that a snapshot names."""
        stay = [run for run in self.seen.merged if run.path in self.in_snapshot]
        remove([run for run in self.seen.merged if run.path not in self.in_snapshot])
        self.seen.merged = stay

    def _take_back(self, count: int, before: tuple[bool, list[Run], list[Run]]) -> None:
        """Have as many states as before, and these runs."""
        whole, runs, merged = before
        self.seen.merged = [*merged, *(run for run in self.seen.runs if run not in runs)]
        self.seen.runs, self.size, self.whole = runs, count, whole
        self._forget()

    def _forget(self) -> None:
        """The window begins anew; from now on there are runs."""
        if self.whole:
            self.whole = False
            for at in range(0, self.size, WINDOW):
                words = self._words(at, min(self.size, at + WINDOW))
                self.seen.add([self._sorted(words)[0][:, 1:]])
        self.window.begin(0)

    def _expand(self, span: Span) -> tuple[int, bool]:
        """Where it ended, and whether the state before is left to the reference engine."""
        notes, number = self.stepping.notes, span.next
        failing = notes.failing if span.first else (0, 0)
        while number < span.last:
            self.stepping.space.budget.look()
            block = Block(self._words(number, min(span.last, number + BLOCK)), number)
            at = 0
            while at < len(block.words):
                status, at = self.window.expand(block, at, failing)
                if status == kernel.FULL:
                    self._keep()
                    self._forget()
                elif status != kernel.DONE:
                    return number + at, status == kernel.ESCAPED
            number += at
        return number, False

    def _keep(self) -> None:
        """The new ones of the states that were met get numbers."""
        met = self.window.take()
        if not self.whole and len(met.words):
            rows, hashes = self._sorted(met.words)
            rows = self.seen.unseen(rows, hashes)
            self.seen.add([rows[:, 1:]])
            new = np.sort(rows[:, 0])
            met = Met(met.words[new], met.parents[new], met.rules[new])
        self._append(met)

    def grow_on(self, count: int) -> None:
        raise AssertionError("a file grows by itself")

    # Snapshots.

    def kept(self, count: int) -> Iterator[tuple[str, Any]]:
        """What a snapshot needs beside the files, which are to stay as they are then."""
        self._settle_singles()
        self.in_snapshot = frozenset(run.path for run in self.seen.runs)
        for file in (self.states, self.before, self.by):
            os.fsync(file.fileno())
        for run in self.seen.runs:
            forced(run.path)
        yield "totals", self.totals
        yield "firsts", self.firsts
        yield "runs", [(run.states, Path(run.path).name) for run in self.seen.runs]
        yield "whole", self.whole

    def go_on(self, count: int, items: Mapping[str, Any]) -> None:
        """Have the states of the files up to that number, and what was kept of them. Raises
        `Unfit` where they are not there."""
        arrays = self.window.arrays
        arrays.totals[:] = of_numbers(items["totals"])
        arrays.firsts[:] = of_numbers(items["firsts"])
        runs = [Run(states, str(self.folder / name)) for states, name in items["runs"]]
        try:
            for run in runs:
                Opened(run, self.width)
        except (OSError, ValueError) as error:
            raise Unfit(f"a file that the snapshot names cannot be read: {error}") from error
        if os.fstat(self.states.fileno()).st_size < count * self.width * 8:
            raise Unfit(f"{self.folder} does not have the states that the snapshot names")
        self._take_back(count, (items["whole"], runs, []))
        self.in_snapshot = frozenset(run.path for run in runs)
        for file in self.folder.glob("seen.*"):
            if str(file) not in self.in_snapshot | {run.path for run in self.seen.runs}:
                file.unlink()

    def follow(self, count: int) -> Iterator[Followed]:
        raise AssertionError("nobody follows the steps of states in files")


def _opened(name: Path) -> BinaryIO:
    """A file to be read and written, which may be there."""
    return open(os.open(name, os.O_RDWR | os.O_CREAT, 0o644), "r+b")


def _read(file: BinaryIO, kind: Any, at: int, count: int) -> Any:
    """So many numbers from a place on."""
    size = np.dtype(kind).itemsize
    file.seek(at * size)
    return np.frombuffer(file.read(count * size), kind)


def forced(path: str) -> None:
    """Force a file to the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
