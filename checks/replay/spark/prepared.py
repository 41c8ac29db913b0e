"""Foreign traces that are prepared, on Spark: the rows of each record, as keyed rows.

Spark splits files of lines; the worker makes the rows of each line. Files of all other formats, and
those whose order matters, are read whole, a task for each: workers need them under their paths.
A row is pickled once and judged as it is, so nothing is parsed twice.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..mapping import TraceMapping
from ..parquet import arrow
from ..prepared_rows import rows_of_file, rows_of_line, rows_of_table_line
from ..program import ReplayProgram
from ..rows import Rejected, Row
from ..sources import ReplayError, numbered
from .partitions import COUNT, KEYED, NAMES, PICKLED
from .places import LineCounter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BATCH = 2000  # Rows in a batch of a file that is read whole.
Each = TypeVar("Each")
Told = tuple[Row | Rejected, str | None]  # A row, and where it is if it is of no instance.


def of_whole_files(spark: SparkSession, paths: list[str], program: ReplayProgram) -> DataFrame:
    """The rows of files, each read by one task."""
    told = [(number, str(Path(path).resolve())) for number, path in numbered(paths)]
    session: Any = spark  # Its types name pandas, which has none.
    files = session.createDataFrame(told, "file long, path string")
    each: DataFrame = files.repartition(len(paths)).mapInArrow(WholeFiles(program), KEYED)
    return each


def of_records(lines: Any, program: ReplayProgram, table: bool) -> DataFrame:
    """The rows of lines, or of rows of a table as JSON: `form`, `line`, `place`."""
    out: DataFrame = lines.mapInArrow(RecordRows(program, table), KEYED)
    return out


class WholeFiles:
    """Makes keyed rows of files."""

    def __init__(self, program: ReplayProgram) -> None:
        self.program = program

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The rows of the files that the batches name."""
        return map(_keyed, in_batches(batches, self._of_file))

    def _of_file(self, path: str, file: int) -> Iterator[Told]:
        url = Path(path).as_uri()
        for row in rows_of_file(path, file, _mapping(self.program)):
            yield row, None if isinstance(row, Row) else f"{row.number - 1} {url}"


def in_batches(
    batches: Iterable[Any], rows_of: Callable[[str, int], Iterator[Each]]
) -> Iterator[list[Each]]:
    """The rows of the files that the batches name, some at a time; `rows_of` reads a file, of which
    it is told the path and the number."""
    for batch in batches:
        for each in batch.to_pylist():
            rows = rows_of(each["path"], each["file"])
            while told := [*islice(rows, BATCH)]:
                yield told


class RecordRows:
    """Makes keyed rows of lines; after each batch a row says how much was read."""

    def __init__(self, program: ReplayProgram, table: bool) -> None:
        self.program = program
        self.table = table

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The rows of the lines."""
        counter, mapping = LineCounter(), _mapping(self.program)
        rows_of = rows_of_table_line if self.table else rows_of_line
        for batch in batches:
            forms, lines = (batch.column(i).to_pylist() for i in range(2))
            made = [rows_of(line, mapping) for line in lines]
            lost = [any(isinstance(row, Rejected) for row in rows) for rows in made]
            where = counter.places(batch.column(2).to_pylist(), forms, lost)
            pairs = zip(made, where, strict=True)
            told = [(row, place) for rows, place in pairs for row in rows]
            read = sum(map(len, lines)) + len(lines)
            yield _keyed(told, (forms[0], read) if forms else None)


def _mapping(program: ReplayProgram) -> TraceMapping:
    if program.mapping is None:
        raise ReplayError("a journal is not prepared")
    return program.mapping


def _keyed(told: list[Told], read: tuple[str, int] | None = None) -> Any:
    """A batch of the schema `KEYED`."""
    columns: list[list[Any]] = [[], [], [], [], []]
    for row, place in told:
        known = isinstance(row, Row)
        instance, seq = (row.instance, row.seq) if isinstance(row, Row) else (None, None)
        values = (instance, seq, PICKLED, pickle.dumps(row), None if known else place)
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    if read is not None:
        for column, value in zip(
            columns, (None, read[1], COUNT, read[0].encode(), None), strict=True
        ):
            column.append(value)
    pa = arrow()
    kinds = (pa.string(), pa.int64(), pa.string(), pa.binary(), pa.string())
    arrays = [pa.array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=NAMES)
