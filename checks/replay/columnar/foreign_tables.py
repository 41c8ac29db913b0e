"""Parquet tables of any form as the columns of a layout."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object

from ..mapping import TraceMapping
from ..parquet import arrow
from ..prepared_rows import Pair, check_order, pairs_of_table_line
from ..rows import Rejected, Row, plain
from ..sources import ReplayError
from .layout import BOOLEAN, EVENT, INSTANCE, LONG, SEQ, STRING, Layout
from .regular import arrow_types, marked

ROWS = 1 << 18  # Rows that are read at once.


def batches_of_table(path: str, layout: Layout) -> Iterator[Any]:
    """The rows of a Parquet file. ReplayError where it cannot be read, or lacks a mapped column."""
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(path) as file:
            wanted = checked(path, file.schema_arrow, layout.mapping)
            before = 0
            for batch in file.iter_batches(ROWS, columns=wanted):
                table = pa.Table.from_batches([batch])
                yield _columns(table, layout, places(path, before))
                before += batch.num_rows
    except (OSError, pa.ArrowException) as error:
        raise ReplayError(f"{path}: {plain(str(error))}") from error


def rows_of_table(path: str, mapping: TraceMapping) -> Iterator[Row | Rejected]:
    """The rows of a Parquet file, as the row fold takes them."""
    return (row for _, row in pairs_of_table(path, mapping))


def pairs_of_table(path: str, mapping: TraceMapping) -> Iterator[Pair]:
    """The same with the records of the rows."""
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(path) as file:
            check_order(mapping, path)
            prepared = mapping.preparation is not None
            wanted = None if prepared else checked(path, file.schema_arrow, mapping)
            batches = file.iter_batches(ROWS, columns=wanted)
            lines = (line for batch in batches for line in lines_of(batch))
            for number, line in enumerate(lines, 1):
                for data, row in pairs_of_table_line(line, mapping):
                    yield data, row if isinstance(row, Row) else row.at(path, number)
    except (OSError, pa.ArrowException) as error:
        raise ReplayError(f"{path}: {plain(str(error))}") from error


def places(path: str, before: int) -> Callable[[int], str]:
    """Where the rows of a part of a file are, after so many: the number from 1, and the file."""
    return lambda i: f"{before + i + 1} {path}"


def checked(path: str, schema: Any, mapping: TraceMapping) -> list[str]:
    """The columns of a table that the mapping reads; ReplayError where one is not there."""
    pa = arrow()
    for each in mapping.paths:
        fields, names = {field.name: field.type for field in schema}, each[2:].split(".")
        for name in names:
            if name not in fields:
                there = ", ".join(fields) or "no fields"
                raise ReplayError(f"the mapping reads {each}; {path} has {there}")
            kind = fields[name]
            fields = {f.name: f.type for f in kind} if pa.types.is_struct(kind) else {}
    wanted = list(dict.fromkeys(each[2:].split(".")[0] for each in mapping.paths))
    for name in wanted:
        _check_type(f"{path}: the column {name}", schema.field(name).type)
    return wanted


def _check_type(what: str, kind: Any) -> None:
    """ReplayError for a type whose JSON form only Spark knows."""
    is_ = arrow().types
    if is_.is_struct(kind):
        for field in kind:
            _check_type(f"{what}.{field.name}", field.type)
    elif is_.is_list(kind) or is_.is_large_list(kind) or is_.is_dictionary(kind):
        _check_type(what, kind.value_type)
    elif not (
        is_.is_integer(kind)
        or is_.is_floating(kind)
        or is_.is_boolean(kind)
        or is_.is_string(kind)
        or is_.is_large_string(kind)
        or is_.is_null(kind)
    ):
        raise ReplayError(f"{what} is {kind}, which only the Spark engine reads; cast it to text")


def _columns(table: Any, layout: Layout, place: Callable[[int], str]) -> Any:
    m = layout.mapping
    pa = arrow()
    columns = {
        INSTANCE: _instance(_at(table, m.instance)),
        SEQ: _lossless(_at(table, m.seq), LONG),
        EVENT: _lossless(_at(table, m.event), STRING),
    }
    columns.update({path: _lossless(_at(table, path), of) for path, of in layout.types.items()})
    if not table.num_rows:
        return arrow_types(layout).empty_table()
    return marked(layout, columns, lambda: pa.array(lines_of(table), pa.binary()), place)


def _at(table: Any, path: str) -> Any:
    pc = arrow().compute

    outer, *inner = path[2:].split(".")
    column = table.column(outer).combine_chunks()
    return pc.struct_field(column, inner) if inner else column


def _instance(column: Any) -> Any:
    """The names of instances; null where a row has none."""
    pa = arrow()
    if pa.types.is_integer(column.type):
        return column.cast(pa.string())
    return _lossless(column, STRING)


def _lossless(column: Any, kind: str) -> Any:
    """A column of this type; null where the value is of another one."""
    pa = arrow()
    is_ = pa.types
    found = column.type
    if is_.is_dictionary(found):
        column = column.dictionary_decode()
        found = column.type
    fits = {
        LONG: is_.is_integer(found) and found != pa.uint64(),
        STRING: is_.is_string(found) or is_.is_large_string(found),
        BOOLEAN: is_.is_boolean(found),
    }
    wanted = {LONG: pa.int64(), STRING: pa.string(), BOOLEAN: pa.bool_()}[kind]
    return column.cast(wanted) if fits[kind] else pa.nulls(len(column), wanted)


def lines_of(table: Any) -> list[bytes]:
    """Each row as a line of JSON, in the form that Spark's `to_json` gives it."""
    rows = map(_json, table.to_pylist())
    return [json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() for row in rows]


def _json(value: Any) -> Any:
    if is_object(value):
        return {name: _json(each) for name, each in value.items()}
    if is_list(value):
        return [_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value
