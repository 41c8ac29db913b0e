"""The rows of foreign traces that are prepared: of whole files, lines, and rows of tables.

Both engines read with this module, so they find the same rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from .mapping import TraceMapping
from .preparation.formats import Found, record_of_line, records_of_file
from .preparation.instance_names import key_of
from .preparation.masks import WITHHELD
from .preparation.path_templates import Record
from .preparation.preparation_table import Preparation
from .preparation.row_numbers import position
from .rows import Rejected, Row, object_of
from .sources import ReplayError, remote

# A prepared record, and its row; a record that is no row has none of its own.
Pair = tuple[Record, Row | Rejected]


def rows_of_file(path: str, file: int, mapping: TraceMapping) -> Iterator[Row | Rejected]:
    """The rows of a file; `file` is its number among the files of the replay. ReplayError where it
    cannot be read."""
    return (row for _, row in pairs_of_file(path, file, mapping))


def pairs_of_file(path: str, file: int, mapping: TraceMapping) -> Iterator[Pair]:
    """The same with the records of the rows."""
    how = mapping.preparation
    assert isinstance(how, Preparation)
    if remote(path):
        raise ReplayError(f"{path}: {FAR.format(how.format)}")
    for number, found in records_of_file(path, how):
        for data, row in pairs_of_record(found, mapping, position(file, number)):
            yield data, row if isinstance(row, Row) else row.at(path, number)


ONE_TYPE = ("text", "logfmt", "csv", "xes")  # All values of a key have one type.
FAR = "a remote file of the format {} is read whole; copy it to this computer"


def rows_of_line(line: bytes, mapping: TraceMapping) -> list[Row | Rejected]:
    """The rows of one line, wherever it stands."""
    how = mapping.preparation
    assert isinstance(how, Preparation)
    found = record_of_line(line, how)
    return [] if found is None else [row for _, row in pairs_of_record(found, mapping, 0)]


def rows_of_table_line(line: bytes, mapping: TraceMapping) -> list[Row | Rejected]:
    """The rows of a row of a table, as a JSON object."""
    return [row for _, row in pairs_of_table_line(line, mapping)]


def pairs_of_table_line(line: bytes, mapping: TraceMapping) -> Iterator[Pair]:
    """The same with the records of the rows."""
    return pairs_of_record(object_of(line), mapping, 0, line.decode())


def pairs_of_record(
    found: Found, mapping: TraceMapping, place: int, line: str | None = None
) -> Iterator[Pair]:
    """The rows of a record, with the records that became them; `line` is the row of a table that
    it is.

    In a column of a table, in an attribute of XES, and where all values are texts, keys have one
    type; so no two of them look alike, and none needs quotes.
    """
    for data, row in made_of_record(found, mapping, place, line):
        if row is not None:
            yield data, row


def made_of_record(
    found: Found, mapping: TraceMapping, place: int, line: str | None = None
) -> Iterator[tuple[Record, Row | Rejected | None]]:
    """The same, also with records that are left out, because their event is skipped."""
    how = mapping.preparation
    private = how is not None and how.private
    if isinstance(found, Rejected):
        yield {}, dataclasses.replace(found, text=WITHHELD) if private else found
        return
    text: object = WITHHELD if private else found if line is None else line
    quoted = line is None and (how is None or how.format not in ONE_TYPE)
    for data in mapping.prepared(found, place):
        row = mapping.row_of(data, text)
        yield data, row if quoted or not isinstance(row, Row) else _with_key(row)


def _with_key(row: Row) -> Row:
    name = str(key_of(row.instance))
    return row if name == row.instance else dataclasses.replace(row, instance=name)


def check_order(mapping: TraceMapping | None, what: str) -> None:
    """ReplayError for what only files have, where rows are of none: an order, a path, and lines
    one after another."""
    how = None if mapping is None else mapping.preparation
    if how is not None and how.order == "file":
        raise ReplayError(f'{what} has no order of rows; order = "file" is for files of lines')
    if how is not None and how.file:
        raise ReplayError(f"{what} has no path of a file, which `file` of the preparation reads")
    if how is not None and how.begins:
        raise ReplayError(f"{what} has rows in place of lines, which `begins` brings together")
