"""Packed states in files, sorted by hash: whether a state was seen, with little memory.

A run is two files of numbers of 64 bits: the hashes in order, and the words in the same order. A
new run is merged with the one before it while that is not twice as long, so that there are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MERGED = 1 << 20  # Rows of the longer run that are merged at a time.


class Run(NamedTuple):
    """The hashes and the words (one row for each state), and the name of the files."""

    hashes: Any
    words: Any
    name: Path


def hashed(words: Any) -> Any:
    """A hash of each row of words: numbers of 64 bits without a sign."""
    found = np.full(len(words), 0x9E3779B97F4A7C15, np.uint64)
    for column in words.T:
        found ^= column.view(np.uint64) if column.flags.c_contiguous else column.astype(np.uint64)
        found *= np.uint64(0xFF51AFD7ED558CCD)
        found ^= found >> np.uint64(32)
        found *= np.uint64(0xC4CEB9FE1A85EC53)
        found ^= found >> np.uint64(29)
    return found


def mapped(file: Path, kind: Any) -> Any:
    """The numbers of a file, read when they are looked at."""
    if file.stat().st_size == 0:
        return np.zeros(0, kind)
    return np.memmap(file, kind, "r")


class SortedRuns:
    """The states that were seen, each once, in files of a folder."""

    def __init__(self, folder: Path, words: int) -> None:
        self.folder = folder
        self.words = words
        self.runs: list[Run] = []
        self._made = 0

    def holds(self, hashes: Any, words: Any) -> Any:
        """For each row whether it was seen; rows are sorted by hash."""
        found: Any = np.zeros(len(hashes), bool)
        for run in self.runs:
            _mark(found, run, (hashes, words), _places(run.hashes, hashes))
        return found

    def add(self, parts: Sequence[tuple[Any, Any]]) -> None:
        """Take new states: hashes and words in parts, sorted by hash throughout."""
        if not sum(len(hashes) for hashes, _ in parts):
            return
        self.runs.append(self._written(parts))
        while len(self.runs) > 1 and len(self.runs[-2].hashes) < 2 * len(self.runs[-1].hashes):
            one, other = self.runs[-2:]
            self.runs[-2:] = [self._merged(one, other)]
            for run in (one, other):
                for file in _files(run.name):
                    file.unlink()

    def _merged(self, one: Run, other: Run) -> Run:
        longer = max(one, other, key=lambda run: len(run.hashes)).hashes
        bounds = np.array(longer[MERGED::MERGED])
        cuts = [[0, *np.searchsorted(r.hashes, bounds), len(r.hashes)] for r in (one, other)]

        def merged(part: int) -> tuple[Any, Any]:
            spans = [slice(c[part], c[part + 1]) for c in cuts]
            both = list(zip((one, other), spans, strict=True))
            hashes = np.concatenate([run.hashes[span] for run, span in both])
            words = np.concatenate([run.words[span] for run, span in both])
            order = np.argsort(hashes, kind="stable")
            return hashes[order], words[order]

        return self._written(map(merged, range(len(bounds) + 1)))

    def _written(self, parts: Any) -> Run:
        name = self.folder / f"seen.{self._made}"
        self._made += 1
        hash_file, word_file = _files(name)
        with open(hash_file, "wb") as first, open(word_file, "wb") as second:
            for hashes, words in parts:
                hashes.tofile(first)
                words.tofile(second)
        words = mapped(word_file, np.int64).reshape(-1, self.words)
        return Run(mapped(hash_file, np.uint64), words, name)


def _places(held: Any, hashes: Any) -> Any:
    return held.searchsorted(hashes)


def _mark(found: Any, run: Run, rows: tuple[Any, Any], at: Any) -> None:
    """Mark the rows that stand in the run at the first place of their hash, or behind it: several
    states may have one hash."""
    hashes, words = rows
    left = found * 0 == 0
    while left.any():
        left &= at < len(run.hashes)
        left[left] = run.hashes[at[left]] == hashes[left]
        like = left.copy()
        like[left] = (run.words[at[left]] == words[left]).all(axis=1)
        found |= like
        left &= ~like
        at[left] += 1


def _files(name: Path) -> tuple[Path, Path]:
    return name.with_suffix(name.suffix + ".hashes"), name.with_suffix(name.suffix + ".words")
