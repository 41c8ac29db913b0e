"""Tables of any form, in Parquet or ORC, as the columns of a layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..flaws.row_texts import no_column
from ..mapping import TraceMapping
from ..parquet import arrow
from ..preparation.record_paths import names_in
from ..prepared_rows import Pair, check_order, pairs_of_table_line
from ..rows import Rejected, Row
from ..sources import ReplayError
from .layout import BOOLEAN, EVENT, INSTANCE, LONG, SEQ, STRING, Layout
from .regular import arrow_types, marked
from .table_files import lines_of, table_file


def batches_of_table(path: str, layout: Layout) -> Iterator[Any]:
    """The rows of a file. ReplayError where it cannot be read, or lacks a mapped column."""
    pa = arrow()
    with table_file(path) as file:
        wanted = checked(path, file.schema, layout.mapping)
        before = 0
        for batch in file.batches(wanted):
            table = pa.Table.from_batches([batch])
            yield typed_columns(table, layout, places(path, before))
            before += batch.num_rows


def rows_of_table(path: str, mapping: TraceMapping) -> Iterator[Row | Rejected]:
    """The rows of a file, as the row fold takes them."""
    return (row for _, row in pairs_of_table(path, mapping))


def pairs_of_table(path: str, mapping: TraceMapping) -> Iterator[Pair]:
    """The same with the records of the rows."""
    for number, (data, row) in numbered_pairs(path, mapping):
        yield data, row if isinstance(row, Row) else row.at(path, number)


def numbered_pairs(path: str, mapping: TraceMapping) -> Iterator[tuple[int, Pair]]:
    """The same with the number of the row of the table, from 1."""
    with table_file(path) as file:
        check_order(mapping, path)
        prepared = mapping.preparation is not None
        wanted = None if prepared else checked(path, file.schema, mapping)
        lines = (line for batch in file.batches(wanted) for line in lines_of(batch))
        for number, line in enumerate(lines, 1):
            yield from ((number, pair) for pair in pairs_of_table_line(line, mapping))


def places(path: str, before: int) -> Callable[[int], str]:
    """Where the rows of a part of a file are, after so many: the number from 1, and the file."""
    return lambda i: f"{before + i + 1} {path}"


def checked(path: str, schema: Any, mapping: TraceMapping) -> list[str]:
    """The columns of a table that the mapping reads; ReplayError where one is not there."""
    is_ = arrow().types
    for each in mapping.paths:
        inside: Any = schema
        for name in names_in(each):
            if not isinstance(inside, arrow().Schema) and _is_record(inside):
                inside = inside.item_type
                continue
            known = isinstance(inside, arrow().Schema) or is_.is_struct(inside)
            fields = {field.name: field.type for field in inside} if known else {}
            if name not in fields:
                raise ReplayError(no_column(each, name, path, fields))
            inside = fields[name]
    return list(dict.fromkeys(names_in(each)[0] for each in mapping.paths))


def _is_record(kind: Any) -> bool:
    """Whether a type is that of maps of texts: each row has keys of its own."""
    is_ = arrow().types
    key = kind.key_type if is_.is_map(kind) else None
    return key is not None and bool(is_.is_string(key) or is_.is_large_string(key))


def typed_columns(table: Any, layout: Layout, place: Callable[[int], str | None]) -> Any:
    """The columns of a layout, of a table that has what the mapping reads and nothing else;
    `place` says where a row is."""
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
    columns[EVENT] = _without_odd(columns, table, layout)
    return marked(layout, columns, lambda: pa.array(lines_of(table), pa.binary()), place)


def _without_odd(columns: Mapping[str, Any], table: Any, layout: Layout) -> Any:
    """The events; null in a row whose output is of another type than the column has. A column that
    lacks it must not look like one without an output."""
    pc = arrow().compute
    path, events = layout.mapping.output, columns[EVENT]
    if path is None or path not in layout.types:
        return events
    odd = pc.and_(pc.is_valid(_at(table, path)), pc.is_null(columns[path]))
    return pc.if_else(odd, None, events) if pc.any(odd).as_py() else events


def _at(table: Any, path: str) -> Any:
    pc = arrow().compute

    outer, *inner = names_in(path)
    column = table.column(outer).combine_chunks()
    for name in inner:
        if arrow().types.is_map(column.type):
            column = pc.map_lookup(column, arrow().scalar(name, column.type.key_type), "first")
        else:
            column = pc.struct_field(column, [name])  # A text may be a path of Arrow.
    return column


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
