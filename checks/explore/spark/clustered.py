"""The states of a search whose large levels are jobs: in files that all workers see.

Levels before the first large one are expanded in this process, see `compiled.spilled`. Then the
states move into buckets by hash, and every large level is a job. A new state gets its number by its
bucket, and its place in the file of its level: numbers grow from level to level, so the first
failure is still in the first level that has one.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..checkpoints import Unfit
from ..compiled.llvm import Native
from ..compiled.state_store import Span, Stopped
from ..expansion.successors import Stepping
from ..limits import OutOfBudget
from ..spill.sorted_runs import Run, SortedRuns
from ..spill.spilled import Spilled
from . import level_tasks
from .level_files import STEP, STEPS, new_file, row_at, write
from .level_jobs import LevelJobs
from .level_tasks import FILE, Expansion, buckets_of, by_bucket
from .search_program import Report, SearchProgram
from .session_memory import give_back

HELD = 1 << 18  # States in the window of this process, before levels are jobs.
CHUNK = 1 << 18  # States that move at a time.
FEWEST, MOST = 1 << 18, 1 << 19  # States that a task expands, where a level has so many.


class Part(NamedTuple):
    """A file of states with consecutive numbers."""

    first: int
    size: int
    path: str


class Clustered(Spilled):
    """States by number in files that workers wrote; see `state_store.Store`."""

    def __init__(self, stepping: Stepping, code: Native, folder: Path, jobs: LevelJobs) -> None:
        super().__init__(stepping, code, folder)
        self.jobs = jobs
        self.buckets = jobs.buckets
        self.levels = (folder / "levels").resolve()
        self.moved = -1  # States before this number are in the files of this process.
        self.parts: list[Part] = []
        self.bucket_runs: dict[int, list[Run]] = {}
        self.late: list[tuple[int, ...]] = []  # Steps and words of those in `single`,
        self.late_from = 0  # and the number of the first.
        self.done = -1  # The end of the last level that was a job,
        self.left: list[int] = []  # and its states that are left to the reference engine.
        self.in_levels: set[str] = set()  # The files that a snapshot names.
        self.by_rules = np.zeros(stepping.notes.rules, np.int64)

    @property
    def in_window(self) -> int:
        return HELD

    def insert(self, words: tuple[int, ...], number: int, parent: tuple[int, int]) -> bool:
        if self.moved < 0:
            return super().insert(words, number, parent)
        if self.find(words) >= 0:
            return False
        self.single.append(words)
        self.late.append((parent[0] * STEPS + parent[1], *words))
        self.late_from = number + 1 - len(self.late)
        self.by_rules[parent[1]] += 1
        return True

    def find(self, words: tuple[int, ...]) -> int:
        if self.moved < 0:
            return super().find(words)
        rows, hashes = self.run_code.sort(np.array([(0, *words)], np.int64))
        (bucket,) = buckets_of(hashes, self.buckets).tolist()
        new = len(self._runs_of(bucket).unseen(rows, hashes)) and words not in self.single
        return -1 if new else 0

    def _runs_of(self, bucket: int) -> SortedRuns:
        runs = self.bucket_runs.get(bucket, ())
        for run in runs:
            self.jobs.fetched(run.path)
        return SortedRuns(self.run_code, lambda: new_file(self.levels, "seen"), runs)

    def words_of(self, number: int) -> Sequence[int]:
        return super().words_of(number) if number < self.moved else self._row(number)[1:]

    def parent(self, number: int) -> tuple[int, int]:
        if number < self.moved or self.moved < 0:
            return super().parent(number)
        before, rule = divmod(self._row(number)[STEP], STEPS)
        return before, rule

    def _row(self, number: int) -> list[int]:
        if self.moved < 0:
            return [0, *super().words_of(number)]
        self._settle()
        at = bisect.bisect_right(self.parts, number, key=lambda part: part.first) - 1
        part = self.parts[at]
        row: list[int] = row_at(self.jobs.fetched(part.path), number - part.first).tolist()
        return row

    def by_rule(self, count: int) -> list[int]:
        local = np.array(super().by_rule(count if self.moved < 0 else self.moved), np.int64)
        made: list[int] = (local + self.by_rules).tolist()
        return made

    def advance(self, span: Span) -> Stopped:
        """Expand the rest of the level here, or all of it as a job. A job looks at no limit."""
        if self.moved < 0 and span.last - span.next < self.jobs.least:
            return super().advance(span)
        count = span.count
        if self.done != span.last:
            try:
                self.stepping.space.budget.look()
            except OutOfBudget:
                return Stopped(span.next, span.count)
            if self.moved < 0:
                self._move(span)
            self._settle()
            self._tidy()
            count += self._level(span)
            self.done = span.last
        if self.left:
            return Stopped(self.left.pop(0) + 1, count, escaped=True)
        return Stopped(span.last, count)

    def _move(self, span: Span) -> None:
        """All states into buckets, and those that are to be expanded into files with numbers."""
        self._settle_singles()
        self.levels.mkdir(exist_ok=True)
        for at in range(0, span.count, CHUNK):
            self._bucketed(self._held(at, min(span.count, at + CHUNK)))
        for at in range(span.next, span.last, CHUNK):
            self._numbered(at, self._held(at, min(span.last, at + CHUNK)))
        self.moved, self.whole = span.count, False
        self.seen.merged += self.seen.runs
        self.seen.runs.clear()
        self.window.release()
        give_back()

    def _held(self, begin: int, end: int) -> Any:
        """States that are in the files of this process, without their steps."""
        rows = np.zeros((end - begin, 1 + self.width), np.int64)
        rows[:, 1:] = self._words(begin, end)
        return rows

    def _settle(self) -> None:
        """States that were taken one by one, into files."""
        if self.late:
            rows = np.array(self.late, np.int64)
            self._numbered(self.late_from, rows)
            self._bucketed(rows)
            self.single.clear()
            self.late.clear()

    def _numbered(self, first: int, rows: Any) -> None:
        path = new_file(self.levels, "new")
        write(path, rows)
        self.parts.append(Part(first, len(rows), path))

    def _bucketed(self, rows: Any) -> None:
        for bucket, part in by_bucket(*self.run_code.sort(rows), self.buckets):
            runs = self._runs_of(bucket)
            runs.add([part[:, 1:]])
            self._has_runs(bucket, runs.runs, runs.merged)

    def _has_runs(self, bucket: int, runs: Sequence[Run], merged: Sequence[Run]) -> None:
        self.bucket_runs[bucket] = list(runs)
        self.seen.merged += merged

    def _tidy(self) -> None:
        gone = [run for run in self.seen.merged if run.path not in self.in_snapshot]
        super()._tidy()
        self.jobs.removed(gone)

    def _new(self, seen: dict[int, list[Run]]) -> level_tasks.NewStates:
        return level_tasks.NewStates(self.levels, self.width, seen)

    def _level(self, span: Span) -> int:
        """Run a level as a job, or a small one here: how many states are new."""
        expansion = Expansion(SearchProgram.of(self.stepping), self.buckets)
        spans, new = self._spans(span), self._new(self.bucket_runs)
        if self.jobs.done_here(span.last - span.next):
            told = level_tasks.done_here(spans, expansion, new)
        else:
            told = self.jobs.told(spans, expansion, new)
        files: list[Any] = []
        for kind, text in told:
            if kind == FILE:
                files.append(json.loads(text))
            else:
                self._note(Report(*json.loads(text)))
        self.left.sort()
        number = span.count
        for file in sorted(files, key=lambda each: each["bucket"]):
            runs, merged = ([Run(*run) for run in file[key]] for key in ("runs", "merged"))
            self._has_runs(file["bucket"], runs, merged)
            self.parts.append(Part(number, file["count"], file["path"]))
            self.by_rules[: len(file["rules"])] += file["rules"]
            number += file["count"]
        return number - span.count

    def _note(self, report: Report) -> None:
        arrays = self.window.arrays
        totals, firsts = np.asarray(arrays.totals), np.asarray(arrays.firsts)
        totals += np.array(report.totals)
        told = np.array(report.firsts)
        earlier = (told >= 0) & ((firsts < 0) | (told < firsts))
        firsts[earlier] = told[earlier]
        self.left += report.escaped

    def _spans(self, span: Span) -> list[tuple[int, str, int, int, int]]:
        """The states of the level by file, in pieces, and the task that expands each."""
        states = span.last - span.next
        tasks = -(-states // min(max(states // self.buckets, FEWEST), MOST))
        size = -(-states // tasks)
        found: list[tuple[int, str, int, int, int]] = []
        for part in self.parts:
            begin = max(part.first, span.next)
            end = min(part.first + part.size, span.last)
            while begin < end:
                task = (begin - span.next) // size
                cut = min(end, span.next + (task + 1) * size)
                found.append((task, part.path, begin, begin - part.first, cut - begin))
                begin = cut
        return found

    # Snapshots.

    def kept(self, count: int) -> Iterator[tuple[str, Any]]:
        if self.moved >= 0:
            self._settle()
        runs = [(bucket, run.path) for bucket, runs in self.bucket_runs.items() for run in runs]
        files = [*runs, *((at, part.path) for at, part in enumerate(self.parts))]
        places = self.jobs.kept(file for file in files if file[1] not in self.in_levels)
        self.in_levels, kept = {path for _, path in files}, {path for _, path in runs}
        yield from super().kept(count)
        self.in_snapshot |= kept
        yield "moved", self.moved
        yield "parts", [(part.first, part.size, Path(part.path).name) for part in self.parts]
        yield "buckets", self.buckets
        yield "places", places
        yield (
            "bucket_runs",
            {
                bucket: [(run.states, Path(run.path).name) for run in runs]
                for bucket, runs in self.bucket_runs.items()
            },
        )
        yield "by_rules", self.by_rules.tolist()
        yield "job", (self.done, self.left)

    def go_on(self, count: int, items: Mapping[str, Any]) -> None:
        self.moved, self.buckets = items["moved"], items["buckets"]
        super().go_on(count if self.moved < 0 else self.moved, items)
        self.parts = [
            Part(first, size, str(self.levels / name)) for first, size, name in items["parts"]
        ]
        for bucket, runs in items["bucket_runs"].items():
            self.bucket_runs[bucket] = [Run(run[0], str(self.levels / run[1])) for run in runs]
        self.by_rules[:] = items["by_rules"]
        self.done, left = items["job"]
        self.left = list(left)
        held = {run.path for runs in self.bucket_runs.values() for run in runs}
        self.in_levels = held | {part.path for part in self.parts}
        self.in_snapshot |= held
        for file in self.levels.glob("*.*"):
            if str(file) not in self.in_levels:
                file.unlink()
        self.jobs.go_on(items.get("places", {}))
        for path in self.jobs.lacking(self.in_levels):
            raise Unfit(f"{path}, which the snapshot names, is not there")
