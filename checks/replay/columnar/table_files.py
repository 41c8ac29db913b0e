"""Files of tables, Parquet and ORC: their columns, and their rows as JSON.

A value has the form that Spark's `to_json` gives it with the options of `spark.inputs`. A time is a
text of ISO 8601 with microseconds, in UTC (with `Z`) where the column has a zone; a decimal is a
number, bytes are base64, a map is an object.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object

from ..parquet import arrow, arrow_orc
from ..rows import plain
from ..sources import ReplayError, is_orc

ROWS = 1 << 18  # Rows that are read at once.


class TableFile:
    """An open file of a table."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.parquet = hasattr(file, "iter_batches")
        self.schema = file.schema_arrow if self.parquet else file.schema

    @property
    def rows(self) -> int:
        """How many rows there are, by what the file says of itself."""
        return int(self.file.metadata.num_rows if self.parquet else self.file.nrows)

    def batches(self, columns: Sequence[str] | None) -> Iterator[Any]:
        """The rows with these columns; with all of them for None."""
        # Arrow takes a name with a dot for that of a field in a column, too.
        whole = columns is None or any("." in name for name in columns)
        read = None if whole else columns
        found: Iterator[Any] = (
            self.file.iter_batches(ROWS, columns=read)
            if self.parquet
            else (self.file.read_stripe(n, columns=read) for n in range(self.file.nstripes))
        )
        yield from found if columns is None else (each.select(columns) for each in found)


@contextmanager
def table_file(path: str) -> Generator[TableFile]:
    """The open file. ReplayError where it, or what is read of it, is no such table."""
    pa = arrow()
    try:
        if is_orc(path):
            with open(path, "rb") as source:
                yield TableFile(arrow_orc().ORCFile(source))
        else:
            with pa.parquet.ParquetFile(path) as file:
                yield TableFile(file)
    except (OSError, pa.ArrowException) as error:
        raise ReplayError(f"{path}: {plain(str(error))}") from error


def rows_in(path: str) -> int:
    """The number of rows in a file. ReplayError where it is no such table."""
    with table_file(path) as file:
        return file.rows


def lines_of(table: Any) -> list[bytes]:
    """Each row of a table, or of a batch of one, as a line of JSON."""
    pa = arrow()
    exact = [_exact(table.column(i)) for i in range(table.num_columns)]
    told = pa.Table.from_arrays(exact, names=table.schema.names)
    rows = map(_json, told.to_pylist(maps_as_pydicts="strict"))
    return [json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() for row in rows]


def _exact(column: Any) -> Any:
    """A column whose values Python reads as Spark writes them: of 32-bit floats the shortest
    decimal, of times no more than microseconds. Raises ArrowInvalid for a finer time."""
    pa = arrow()
    kind = column.type
    if pa.types.is_float32(kind):
        return column.cast(pa.string()).cast(pa.float64())
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return column.cast(pa.timestamp("us", kind.tz))
    return column


def _json(value: Any) -> Any:
    if is_object(value):
        return {str(name): _json(each) for name, each in value.items()}
    if is_list(value):
        return [_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Decimal):
        return int(value) if value.as_tuple().exponent == 0 else float(value)
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value)  # A date, for example.


def _time(when: datetime) -> str:
    if when.tzinfo is None:
        return when.isoformat(timespec="microseconds")
    return when.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
