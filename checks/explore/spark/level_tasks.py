"""The two tasks of a level: states are expanded, and of what they lead to the new ones are kept.

    spans of states -> `Expansion` -> sorted by bucket -> `NewStates` -> what was told

A bucket has the states of a range of hashes. Between the two tasks many rows of a bucket travel as
one binary value, so that Spark moves and sorts few rows.
"""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..spill.run_code import run_code
from ..spill.sorted_runs import Run, SortedRuns
from .arrow_rows import Row, batch_of, rows_of
from .level_files import STEP, STEPS, new_file, words_in, write
from .search_program import SearchProgram, expander_of

SPANS = "task int, path string, first long, begin long, count long"
SENT = "bucket int, kind int, rows binary"
TOLD = "kind int, told binary"
STATES, REPORT, FILE = range(3)  # What a row is.
BLOCK = 1 << 14  # States that are expanded at a time.


def buckets_of(hashes: Any, buckets: int) -> Any:
    """The bucket of each hash; those of higher hashes are not lower."""
    return (hashes >> 31) * buckets >> 32


def by_bucket(rows: Any, hashes: Any, buckets: int) -> Iterator[tuple[int, Any]]:
    """Sorted rows, of each bucket that has some."""
    ends = np.searchsorted(buckets_of(hashes, buckets), np.arange(buckets + 1))
    for bucket in range(buckets):
        if ends[bucket] < ends[bucket + 1]:
            yield bucket, rows[ends[bucket] : ends[bucket + 1]]


class Expansion:
    """Expands spans of states, and sends what they lead to, and a report."""

    def __init__(self, program: SearchProgram, buckets: int) -> None:
        self.program = program
        self.buckets = buckets

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of `SENT`."""
        expander = expander_of(self.program)
        begun = False
        for _, path, first, begin, count in rows_of(batches):
            if not begun:
                expander.begin()
                begun = True
            for at in range(0, count, BLOCK):
                words = words_in(path, begin + at, min(BLOCK, count - at))
                for rows in expander.rows(words, first + at):
                    yield self._sent(rows)
        if begun:
            yield self._sent(expander.sent.take())
            expander.end()
            yield batch_of([(0, REPORT, json.dumps(expander.report).encode())], SENT)

    def _sent(self, rows: Any) -> Any:
        parts = by_bucket(*run_code(rows.shape[1] - 1).sort(rows), self.buckets)
        return batch_of([(bucket, STATES, part.tobytes()) for bucket, part in parts], SENT)


class NewStates:
    """Drops equal states and those that were seen. For the others it writes a file for each bucket,
    and a run, with which older runs may be merged: they stay as they are. The rows of a bucket come
    one after another, so that a worker holds one bucket.

    A file of a task that failed is told nobody."""

    def __init__(self, folder: Path, words: int, seen: Mapping[int, Sequence[Run]]) -> None:
        self.folder = folder
        self.words = words
        self.seen = seen

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of `TOLD` for those of `SENT`."""
        for row in self.told(rows_of(batches)):
            yield batch_of([row], TOLD)

    def told(self, sent: Iterable[Row]) -> Iterator[tuple[int, bytes]]:
        """The reports of the expansion, and a row for each file."""
        for bucket, of_bucket in itertools.groupby(sent, operator.itemgetter(0)):
            met: list[Any] = []
            for _, kind, rows in of_bucket:
                if kind == REPORT:
                    yield REPORT, rows
                else:
                    met.append(np.frombuffer(rows, np.int64))
            if not met:
                continue
            together = np.concatenate(met).reshape(-1, 1 + self.words)
            met.clear()  # They are twice in memory otherwise.
            told = self.kept(bucket, together)
            if told is not None:
                yield FILE, json.dumps(told).encode()

    def kept(self, bucket: int, rows: Any) -> Mapping[str, Any] | None:
        """The files of a bucket with its new states; None where it has none."""
        code = run_code(self.words)
        runs = SortedRuns(code, lambda: new_file(self.folder, "seen"), self.seen.get(bucket, ()))
        rows, hashes = self.once(*code.sort(rows))
        rows = runs.unseen(rows, hashes)
        if not len(rows):
            return None
        path = new_file(self.folder, "new")
        write(path, rows)
        runs.add([rows[:, 1:]])
        return {
            "bucket": bucket,
            "path": path,
            "count": len(rows),
            "rules": np.bincount(rows[:, STEP] % STEPS).tolist(),
            "runs": runs.runs,
            "merged": runs.merged,
        }

    def once(self, rows: Any, hashes: Any) -> tuple[Any, Any]:
        """Each state of sorted rows, once, with its least step."""
        return run_code(self.words).first_of_each(rows, hashes)


def done_here(
    spans: Sequence[tuple[Any, ...]], expansion: Expansion, new: NewStates
) -> Sequence[tuple[int, bytes]]:
    """What the two tasks tell of a level, done in this process. `spans` are rows of `SPANS`."""
    sent = rows_of(expansion([batch_of(spans, SPANS)]))
    return list(new.told(sorted(sent, key=operator.itemgetter(0))))
