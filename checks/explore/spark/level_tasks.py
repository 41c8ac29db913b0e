"""The two tasks of a level: states are expanded, and of what they lead to the new ones are kept.

    spans of states -> `Expansion` -> by bucket -> `NewStates` -> what was told

A bucket has the states of a range of hashes. Between the two tasks many rows of a bucket travel as
one binary value, so that Spark moves few rows.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..compiled.sorted_runs import Run, SortedRuns, hashed
from .level_files import STEP, STEPS, arrow, words_in, write
from .search_program import SearchProgram, expander_of

SPANS = "task int, path string, first long, begin long, count long"
SENT = "bucket int, kind int, rows binary"
TOLD = "kind int, told binary"
STATES, REPORT, FILE = range(3)  # What a row is.
HELD = 1 << 20  # Steps that a task holds before it sends them.
BLOCK = 1 << 16  # States that are expanded at a time.


def buckets_of(hashes: Any, buckets: int) -> Any:
    """The bucket of each hash."""
    return (hashes >> np.uint64(32)) * np.uint64(buckets) >> np.uint64(32)


class Expansion:
    """Expands spans of states, and sends what they lead to, and a report."""

    def __init__(self, program: SearchProgram, buckets: int) -> None:
        self.program = program
        self.buckets = buckets

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of `SENT`."""
        expander = expander_of(self.program)
        expander.begin()
        held: list[Any] = []
        for _, path, first, begin, count in _rows(batches):
            for at in range(0, count, BLOCK):
                block = words_in(path, begin + at, min(BLOCK, count - at))
                for parents, rules, words in expander.steps(block, first + at):
                    rows = np.empty((len(words), 1 + words.shape[1]), np.int64)
                    rows[:, STEP], rows[:, 1:] = parents * STEPS + rules, words
                    held.append(rows)
                    if sum(map(len, held)) > HELD:
                        yield self._sent(np.concatenate(held))
                        held = []
        if held:
            yield self._sent(np.concatenate(held))
        told = json.dumps(expander.report).encode()
        yield _batch([(0, REPORT, told)], SENT)

    def _sent(self, rows: Any) -> Any:
        found = buckets_of(hashed(rows[:, 1:]), self.buckets)
        order = np.argsort(found, kind="stable")
        ends = np.searchsorted(found[order], np.arange(self.buckets + 1))
        sent: list[tuple[Any, ...]] = []
        for bucket in range(self.buckets):
            of_bucket = order[ends[bucket] : ends[bucket + 1]]
            if len(of_bucket):
                sent.append((bucket, STATES, rows[of_bucket].tobytes()))
        return _batch(sent, SENT)


class NewStates:
    """Drops equal states and those that were seen, and writes the others as a file for each bucket.

    A file of a task that failed is told nobody."""

    def __init__(self, folder: Path, words: int, seen: Mapping[int, Sequence[str]]) -> None:
        self.folder = folder
        self.words = words
        self.seen = seen

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of `TOLD`: the reports of the expansion, and a row for each file."""
        met: dict[int, list[Any]] = {}
        for bucket, kind, rows in _rows(batches):
            if kind == REPORT:
                yield _batch([(REPORT, rows)], TOLD)
            else:
                met.setdefault(bucket, []).append(np.frombuffer(rows, np.int64))
        for bucket, parts in met.items():
            rows = self.once(np.concatenate(parts).reshape(-1, 1 + self.words))
            rows = self.unseen(rows, self.seen.get(bucket, ()))
            if len(rows):
                path = self.folder / f"{bucket}.{uuid.uuid4().hex}.parquet"
                write(path, rows)
                by_rule = np.bincount(rows[:, STEP] % STEPS).tolist()
                told = {"bucket": bucket, "path": str(path), "count": len(rows), "rules": by_rule}
                yield _batch([(FILE, json.dumps(told).encode())], TOLD)

    def once(self, rows: Any) -> Any:
        """Each state with its least step, sorted by hash."""
        hashes = hashed(rows[:, 1:])
        rows = rows[np.lexsort([rows[:, STEP], *rows[:, 1:].T, hashes])]
        new = np.ones(len(rows), bool)
        new[1:] = (rows[1:, 1:] != rows[:-1, 1:]).any(axis=1)
        return rows[new]

    def unseen(self, rows: Any, paths: Sequence[str]) -> Any:
        """Those that are in none of these files; all are sorted by hash."""
        for path in paths:
            known = SortedRuns(self.folder, self.words)
            words = words_in(path)
            known.runs.append(Run(hashed(words), words, Path(path)))
            rows = rows[~known.holds(hashed(rows[:, 1:]), rows[:, 1:])]
        return rows


def _rows(batches: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _batch(rows: Sequence[tuple[Any, ...]], schema: str) -> Any:
    """A batch of Arrow; `schema` is as Spark writes it."""
    pa = arrow()
    kinds = {"int": pa.int32(), "long": pa.int64(), "string": pa.string(), "binary": pa.binary()}
    fields = [column.split() for column in schema.split(", ")]
    columns = [[row[i] for row in rows] for i in range(len(fields))]
    arrays = [pa.array(c, kinds[kind]) for c, (_, kind) in zip(columns, fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, [name for name, _ in fields])
