"""Data frames of this process, with what the product asks of those of Spark."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
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

    def sortWithinPartitions(self, *columns: str) -> Frame:  # as Spark has it
        at = [self.columns.index(column) for column in columns]
        parts = [
            sorted(part, key=lambda row: [_nulls_first(row[i]) for i in at]) for part in self.parts
        ]
        return Frame(self.session, self.schema, parts)

    def drop(self, name: str) -> Frame:
        kept = [each for each in self.schema.split(", ") if each.split()[0] != name]
        return self.chosen(", ".join(kept))

    def select(self, *names: str) -> Frame:
        kinds = {each.split()[0]: each for each in self.schema.split(", ")}
        return self.chosen(", ".join(kinds[name] for name in names))

    def selectExpr(self, *texts: str) -> Frame:  # as Spark has it
        """Of expressions there are columns and whole numbers, each perhaps with another name."""
        kinds = {each.split()[0]: each.split()[1] for each in self.schema.split(", ")}
        told = [text.split(" as ") for text in texts]
        schema = ", ".join(f"{each[-1]} {kinds.get(each[0], 'int')}" for each in told)
        at = [self.columns.index(each[0]) if each[0] in kinds else None for each in told]

        def row_of(row: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(
                int(each[0]) if i is None else row[i] for i, each in zip(at, told, strict=True)
            )

        return Frame(self.session, schema, [[row_of(row) for row in part] for part in self.parts])

    def union(self, other: Frame) -> Frame:
        assert [each.split()[1] for each in self.schema.split(", ")] == [
            each.split()[1] for each in other.schema.split(", ")
        ]
        return Frame(self.session, self.schema, [*self.parts, *other.parts])

    def hint(self, name: str) -> Frame:
        assert name == "broadcast"
        return self

    def join(self, other: Frame, column: str, how: str) -> Frame:
        assert how == "leftsemi" and other.columns == [column]
        at, wanted = self.columns.index(column), {row[0] for row in other.collect()}
        parts = [[row for row in part if row[at] in wanted] for part in self.parts]
        return Frame(self.session, self.schema, parts)

    @property
    def write(self) -> Frame:
        return self

    def partitionBy(self, column: str) -> Frame:  # as Spark has it
        assert self.columns[0] == column
        return self

    def parquet(self, table: str) -> None:
        """Keep the rows in the session, by the folder that Spark would have for each `of`."""
        rest = ", ".join(self.schema.split(", ")[1:])
        for row in self.collect():
            folder = f"{table}/of={row[0]}"
            self.session.folders.setdefault(folder, (rest, []))[1].append(row[1:])

    def chosen(self, schema: str) -> Frame:
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
        self.folders: dict[str, tuple[str, list[tuple[Any, ...]]]] = {}

    @property
    def conf(self) -> Session:
        return self

    def get(self, name: str) -> str:
        assert name == "spark.sql.shuffle.partitions"
        return str(self.partitions)

    def createDataFrame(self, rows: Rows, schema: str) -> Frame:  # as Spark has it
        return Frame(self, schema, [list(rows)])

    @property
    def read(self) -> Reader:
        return Reader(self)

    @property
    def sparkContext(self) -> Any:  # as Spark has it
        fs = SimpleNamespace(Path=functools.partial(Directory, self))
        jvm = SimpleNamespace(
            org=SimpleNamespace(apache=SimpleNamespace(hadoop=SimpleNamespace(fs=fs)))
        )
        return SimpleNamespace(_jvm=jvm, _jsc=SimpleNamespace(hadoopConfiguration=lambda: None))


class Reader:
    """Reads the rows that were kept, in the columns of a schema."""

    def __init__(self, session: Session, wanted: str = "") -> None:
        self.session, self.wanted = session, wanted

    def schema(self, wanted: str) -> Reader:
        return Reader(self.session, wanted)

    def parquet(self, *folders: str) -> Frame:
        lacking = [folder for folder in folders if folder not in self.session.folders]
        if lacking:
            raise FileNotFoundError(2, "no such table", lacking[0])
        tables = [self.session.folders[folder] for folder in folders]
        parts = [
            Frame(self.session, kinds, [rows]).chosen(self.wanted).parts[0]
            for kinds, rows in tables
        ]
        return Frame(self.session, self.wanted, parts)


class Directory:
    """A path and its file system at once."""

    def __init__(self, session: Session, folder: str) -> None:
        self.session, self.folder = session, folder

    def getFileSystem(self, settings: None) -> Directory:  # as Hadoop has it
        return self

    def mkdirs(self, path: Directory) -> None:
        """Folders need not be made."""

    def delete(self, path: Directory, whole: bool) -> None:
        assert path is self and whole
        folders = self.session.folders
        for each in [each for each in folders if each.startswith(self.folder)]:
            del folders[each]


def _nulls_first(value: Any) -> tuple[bool, Any]:
    return (False, 0) if value is None else (True, value)
