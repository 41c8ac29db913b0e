"""Data frames of this process, with what the product asks of those of Spark."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from lawful.checks.explore.spark.arrow_rows import batch_of, rows_of

Rows = Sequence[tuple[Any, ...]]


class Frame:
    """Rows, and the partition of each."""

    def __init__(self, session: Session, schema: str, parts: Sequence[Rows]) -> None:
        self.session, self.schema, self.parts = session, schema, parts

    @property
    def columns(self) -> list[str]:
        return [column.split()[0] for column in self.schema.split(", ")]

    def repartitionById(self, tasks: int, column: str) -> Frame:  # as Spark has it
        at = self.columns.index(column)
        self.session.tasks.append(tasks)
        rows = self.collect()
        parts = [[row for row in rows if row[at] % tasks == part] for part in range(tasks)]
        return Frame(self.session, self.schema, parts)

    def sortWithinPartitions(self, column: str) -> Frame:  # as Spark has it
        at = self.columns.index(column)
        parts = [sorted(part, key=lambda row: row[at]) for part in self.parts]
        return Frame(self.session, self.schema, parts)

    def drop(self, name: str) -> Frame:
        kept = [each for each in self.schema.split(", ") if each.split()[0] != name]
        return self._chosen(", ".join(kept))

    def select(self, *names: str) -> Frame:
        kinds = {each.split()[0]: each for each in self.schema.split(", ")}
        return self._chosen(", ".join(kinds[name] for name in names))

    def _chosen(self, schema: str) -> Frame:
        at = [self.columns.index(each.split()[0]) for each in schema.split(", ")]
        parts = [[tuple(row[i] for i in at) for row in part] for part in self.parts]
        return Frame(self.session, schema, parts)

    def mapInArrow(self, task: Any, schema: str) -> Frame:  # as Spark has it
        """The last partition is done first, and each task is pickled: nothing is shared."""
        parts: list[Rows] = []
        for part in reversed(self.parts):
            given = pickle.loads(pickle.dumps(task))
            parts.append([*rows_of(given(self._batches(part)))])
        return Frame(self.session, schema, parts)

    def _batches(self, part: Rows) -> Iterator[Any]:
        for row in part:
            yield batch_of([row], self.schema)

    def collect(self) -> Rows:
        return [row for part in self.parts for row in part]

    def dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.collect()]


class Session:
    """Makes such frames; `tasks` are the numbers of tasks that were asked for."""

    def __init__(self, partitions: int = 2) -> None:
        self.partitions = partitions
        self.tasks: list[int] = []

    @property
    def conf(self) -> Session:
        return self

    def get(self, name: str) -> str:
        assert name == "spark.sql.shuffle.partitions"
        return str(self.partitions)

    def createDataFrame(self, rows: Rows, schema: str) -> Frame:  # as Spark has it
        return Frame(self, schema, [list(rows)])
