"""Rows of Python values as batches of Arrow, which the tasks of Spark take and give.

A schema is text as Spark writes it: `number int, machine string`, with one blank after each comma
between columns and none inside a type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Row = tuple[Any, ...]
STRUCTS = "array<struct<"  # The only nested type: `array<struct<name:string,kind:string>>`.


def arrow() -> Any:
    """The library pyarrow, which has no types."""
    import pyarrow
    import pyarrow.parquet  # pyright: ignore[reportUnusedImport]  # it is an attribute then

    return pyarrow


def rows_of(batches: Iterable[Any]) -> Iterator[Row]:
    """The rows of batches, one by one."""
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def batch_of(rows: Sequence[Row], schema: str) -> Any:
    """A batch with these rows."""
    pa = arrow()
    fields = [column.split() for column in schema.split(", ")]
    columns = [[row[i] for row in rows] for i in range(len(fields))]
    arrays = [pa.array(c, _type(kind)) for c, (_, kind) in zip(columns, fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, [name for name, _ in fields])


def _type(kind: str) -> Any:
    pa = arrow()
    if kind.startswith(STRUCTS):
        inner = [field.split(":") for field in kind[len(STRUCTS) : -2].split(",")]
        return pa.list_(pa.struct([(name, _type(of)) for name, of in inner]))
    return {
        "int": pa.int32(),
        "long": pa.int64(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
        "string": pa.string(),
        "binary": pa.binary(),
    }[kind]
