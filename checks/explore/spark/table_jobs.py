"""A level as a job whose files are in tables, for workers that have no folder in common.

A worker takes the files that it needs from rows into a temporary folder, does there what
`level_tasks` does in a folder that all see, and sends the files that it made as rows. So the states
that were seen travel to their buckets with those that are sent, in each level.
"""

from __future__ import annotations

import copy
import itertools
import json
import operator
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..spill.sorted_runs import Run
from .arrow_rows import Row, batch_of, rows_of
from .file_tables import TABLE, TOLD, FileTables, pieces, put_together
from .level_jobs import LEAST, LevelJobs, Span
from .level_tasks import FILE, SENT, SPANS, Expansion, NewStates

SENT_OR_SEEN = f"{SENT}, name string, piece int"
SEEN_ROW = -1  # The kind of a row with a piece of a run; it comes before those of `level_tasks`.


class FetchedExpansion:
    """Expands the states of whole files, which come as rows of `FILES` sorted by name and piece."""

    def __init__(self, expansion: Expansion, spans: Mapping[str, Sequence[int]]) -> None:
        self.expansion = expansion
        self.spans = spans  # By the name of a file: first, begin and count of `SPANS`.

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of `SENT_OR_SEEN`."""
        with tempfile.TemporaryDirectory(prefix="lawful-expand-") as folder:
            for batch in self.expansion(self._spans(batches, Path(folder))):
                yield batch_of([(*row, None, 0) for row in rows_of([batch])], SENT_OR_SEEN)

    def _spans(self, batches: Iterable[Any], folder: Path) -> Iterator[Any]:
        for name, rows in itertools.groupby(rows_of(batches), operator.itemgetter(1)):
            path = put_together(folder / name, (row[3] for row in rows))
            yield batch_of([(0, str(path), *self.spans[name])], SPANS)
            path.unlink()


class FetchedNewStates:
    """Keeps the new states of buckets whose runs come as rows before those that were sent."""

    def __init__(self, new: NewStates) -> None:
        self.new = new

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of `TABLE`. What comes is sorted by bucket, kind, name and piece."""
        for bucket, rows in itertools.groupby(rows_of(batches), operator.itemgetter(0)):
            with tempfile.TemporaryDirectory(prefix="lawful-keep-") as folder:
                for row in self._told(bucket, rows, Path(folder)):
                    yield batch_of([row], TABLE)

    def _told(self, bucket: int, rows: Iterable[Row], folder: Path) -> Iterator[Row]:
        sent: list[Row] = []
        for name, those in itertools.groupby(rows, operator.itemgetter(3)):
            if name is None:
                sent += (row[:3] for row in those)
            else:
                put_together(folder / name, (row[2] for row in those))
        new, made = self._in(folder, bucket), set[str]()
        for kind, told in new.told(sent):
            text = told
            if kind == FILE:
                file = json.loads(told)
                made |= {file["path"], *(path for _, path in file["runs"])}
                text = json.dumps(self._renamed(file)).encode()
            yield TOLD, bucket, "", 0, None, kind, text
        for path in sorted(made - {run.path for run in new.seen[bucket]}):
            yield from pieces(bucket, Path(path))

    def _in(self, folder: Path, bucket: int) -> NewStates:
        """The task with its files in that folder."""
        new = copy.copy(self.new)
        new.folder = folder
        runs = self.new.seen.get(bucket, ())
        new.seen = {bucket: [Run(run.states, str(folder / Path(run.path).name)) for run in runs]}
        return new

    def _renamed(self, file: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is told of a file, with the names that files have in the folder of the driver."""

        def named(path: str) -> str:
            return str(self.new.folder / Path(path).name)

        runs = {
            key: [(states, named(path)) for states, path in file[key]] for key in ("runs", "merged")
        }
        return {**file, "path": named(file["path"]), **runs}


class TableJobs(LevelJobs):
    """Jobs whose files are in tables in a folder of any file system that the session knows."""

    def __init__(self, session: Any, folder: str, least: int = LEAST) -> None:
        super().__init__(session, least)
        self.tables = FileTables(session, folder)

    def begin(self) -> None:
        self.tables.begin()

    def done_here(self, states: int) -> bool:
        """No: the files of a level are not in this process."""
        return False

    def told(
        self, spans: Sequence[Span], expansion: Expansion, new: NewStates
    ) -> Sequence[tuple[int, bytes]]:
        seen = [(bucket, run.path) for bucket, runs in new.seen.items() for run in runs]
        self.tables.save([*((task, path) for task, path, *_ in spans), *seen])
        rows = self._sent(spans, expansion)
        if seen:
            columns = ("bucket", f"{SEEN_ROW} as kind", "content as rows", "name", "piece")
            held = self.tables.files([Path(path).name for _, path in seen])
            rows = rows.union(held.selectExpr(*columns))
        shares = min(1 + spans[-1][0], expansion.buckets)
        by_bucket = rows.repartitionById(shares, "bucket")
        by_bucket = by_bucket.sortWithinPartitions("bucket", "kind", "name", "piece")
        table = self.tables.write(by_bucket.mapInArrow(FetchedNewStates(new), TABLE))
        told = self.tables.told_in(table)
        for name in _files_of(told):
            self.tables.table_of.setdefault(name, table)
        return told

    def _sent(self, spans: Sequence[Span], expansion: Expansion) -> Any:
        """The rows that are sent when whole files are expanded, a task for each where it can be."""
        by_name: dict[str, list[int]] = {}
        for _, path, first, begin, count in spans:  # Those of a file follow one another.
            numbers = by_name.setdefault(Path(path).name, [first, begin, 0])
            numbers[2] += count
        files = self.tables.files([*by_name])
        tasks = min(len(by_name), expansion.buckets)
        dealt = files.repartitionById(tasks, "bucket").sortWithinPartitions("name", "piece")
        return dealt.mapInArrow(FetchedExpansion(expansion, by_name), SENT_OR_SEEN)

    def fetched(self, path: str) -> str:
        return self.tables.fetched(path)

    def lacking(self, paths: Iterable[str]) -> Sequence[str]:
        return self.tables.lacking(paths)

    def kept(self, files: Iterable[tuple[int, str]]) -> Mapping[str, str]:
        self.tables.save(files)
        return dict(self.tables.table_of)

    def go_on(self, places: Mapping[str, str]) -> None:
        self.tables.table_of.update(places)

    def removed(self, runs: Iterable[Run]) -> None:
        self.tables.remove(Path(run.path).name for run in runs)

    def end(self) -> None:
        """Remove the tables; where Spark cannot, warn: the answer of the search is not lost."""
        try:
            self.tables.delete(self.tables.folder)
        except Exception as error:
            first = str(error).partition("\n")[0]
            warnings.warn(f"{self.tables.folder} was not removed: {first}", stacklevel=2)


def _files_of(told: Iterable[tuple[int, bytes]]) -> Iterator[str]:
    """The names of the files of buckets that have new states."""
    for kind, text in told:
        if kind == FILE:
            file = json.loads(text)
            for path in (file["path"], *(path for _, path in file["runs"])):
                yield Path(path).name
