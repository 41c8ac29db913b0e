"""The states that were seen, in files, sorted by their hashes: a set with little memory.

A run is a file of the words of its states, numbers of 64 bits, in the order of their hashes. A new
run is merged with the one before it while that is not twice as long, so that there are few. Each
state is in one run.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .run_code import RunCode, look_at, looking

PART = 1 << 20  # Bytes of a run that are in memory at a time, about.


class Run(NamedTuple):
    """How many states there are in which file."""

    states: int
    path: str


class Opened:
    """A run as an array of shape (states, words), read where it is looked at."""

    def __init__(self, run: Run, words: int) -> None:
        with open(run.path, "rb") as file:
            self._pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.words = np.frombuffer(self._pages, np.int64).reshape(-1, words)
        if len(self.words) != run.states:
            raise ValueError(f"{run.path} has {len(self.words)} states in place of {run.states}")

    def forget(self) -> None:
        """What was read is not kept in memory any more."""
        self._pages.madvise(mmap.MADV_DONTNEED)


class SortedRuns:
    """The states of some runs, which are not changed; `named` gives the files of new ones."""

    def __init__(self, code: RunCode, named: Callable[[], str], runs: Iterable[Run] = ()) -> None:
        self.code = code
        self.runs = list(runs)
        self.merged: list[Run] = []  # Runs that stand in others now.
        self._named = named

    def unseen(self, rows: Any, hashes: Any) -> Any:
        """Those of sorted rows that are in no run, in place."""
        marks: Any = np.zeros(len(rows), np.int8)
        for run in self.runs:
            opened, control = Opened(run, self.code.words), looking(run.states)
            for first, last in _spans(len(rows), opened.words.nbytes):
                look_at(control, first, last)
                self.code.mark((rows, hashes), opened.words, marks, control)
                opened.forget()
        return self.code.unmarked(rows, marks)

    def add(self, parts: Iterable[Any]) -> None:
        """Take new states: their words in parts, sorted throughout."""
        run = self._written(parts)
        if run.states:
            self.runs.append(run)
        while len(self.runs) > 1 and self.runs[-2].states < 2 * self.runs[-1].states:
            one, other = (Opened(run, self.code.words) for run in self.runs[-2:])
            self.merged += self.runs[-2:]
            self.runs[-2:] = [self._written(self._both(one, other))]

    def _both(self, one: Opened, other: Opened) -> Iterator[Any]:
        room = max(PART // (8 * self.code.words), 1)
        for part in self.code.merged(one.words, other.words, room):
            yield part
            one.forget()
            other.forget()

    def _written(self, parts: Iterable[Any]) -> Run:
        path, states = self._named(), 0
        with open(path, "wb") as file:
            for words in parts:
                states += len(words)
                file.write(np.ascontiguousarray(words).data)
        return Run(states, path)


def remove(runs: Sequence[Run]) -> None:
    """Remove the files of runs."""
    for run in runs:
        Path(run.path).unlink(missing_ok=True)


def _spans(rows: int, size: int) -> Iterator[tuple[int, int]]:
    """So many rows in pieces, for each of which a part of a run of so many bytes is read."""
    pieces = 1 + size // PART
    for piece in range(pieces):
        yield piece * rows // pieces, (piece + 1) * rows // pieces
