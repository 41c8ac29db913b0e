"""The records in a file of a foreign trace, by its format.

A record is a JSON object. The names of columns and attributes are as in the file, but with `_` in
the place of `.`, which separates the names in a path.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lawful.spec.codec.as_json import is_object

from ..rows import Rejected, encodable, object_of, plain
from ..sources import BLANK, UNREADABLE, ReplayError, opened
from . import itf_states, json_documents, logfmt, otlp, xes
from .names import named
from .path_templates import Record
from .preparation_table import Preparation

DEEP = "no JSON: too many brackets in one another"
LONGEST_CELL = 1 << 30  # Characters of a cell of CSV; Python's own limit is 131,072.
Found = Record | Rejected
Numbered = Iterator[tuple[int, Found]]  # Each with its line, or its number in the file, from 1.


def records_of_file(path: str, how: Preparation) -> Numbered:
    """The records of a file, with what its path tells. Raises ReplayError where it is not of the
    format, or the path does not match."""
    told = of_path(path, how)
    try:
        with opened(Path(path)) as file:
            for number, found in READERS[how.format](file.read, file, how):
                yield number, found if isinstance(found, Rejected) else {**found, **told}
    except (*UNREADABLE, ValueError) as error:
        raise ReplayError(f"{path}: {plain(str(error), 200)}") from error
    except RecursionError as error:
        raise ReplayError(f"{path}: {DEEP}") from error


def of_path(path: str, how: Preparation) -> Record:
    """The fields that the path of a file gives each of its records. Raises ReplayError where
    nothing of the pattern is in it."""
    if not how.file:
        return {}
    match = re.search(how.file, Path(path).resolve().as_posix())
    if match is None:
        raise ReplayError(f"{path}: nothing in this path matches `file` of the preparation")
    return {name: value for name, value in match.groupdict().items() if value is not None}


def record_of_line(line: bytes, how: Preparation) -> Found | None:
    """The record of one line; None for a blank line, and for one that is left out."""
    if not line.strip(BLANK):
        return None
    if how.format == "lines":
        return object_of(line)
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return Rejected("not UTF-8", plain(line.decode("latin-1")))
    if how.format == "logfmt":
        found = logfmt.pairs(text)
        return None if isinstance(found, Rejected) and how.pass_unmatched else found
    match = re.fullmatch(how.line, text.rstrip("\r"))
    if match is None:
        return None if how.pass_unmatched else Rejected("no line of the pattern", plain(text))
    return {name: value for name, value in match.groupdict().items() if value is not None}


Reader = Callable[[Callable[[], bytes], Iterator[bytes], Preparation], Numbered]


def _lines(_read: Callable[[], bytes], lines: Iterator[bytes], how: Preparation) -> Numbered:
    plain_lines = enumerate((line.rstrip(b"\n") for line in lines), 1)
    for number, line in _records_of(plain_lines, how.begins) if how.begins else plain_lines:
        found = record_of_line(line, how)
        if found is not None:
            yield number, found


def _records_of(lines: Iterator[tuple[int, bytes]], begins: str) -> Iterator[tuple[int, bytes]]:
    """The records of several lines, each with the number of its first line. Lines before the first
    record are records of one line."""
    begin = re.compile(begins)
    first, record = 0, list[bytes]()
    for number, line in lines:
        kept = line.rstrip(b"\r")
        if begin.match(kept.decode("utf-8", "replace")):
            if record:
                yield first, b"\n".join(record).rstrip(BLANK)
            first, record = number, [kept]
        elif record:
            record.append(kept)
        else:
            yield number, kept
    if record:
        yield first, b"\n".join(record).rstrip(BLANK)


def _csv(_read: Callable[[], bytes], lines: Iterator[bytes], how: Preparation) -> Numbered:
    texts = (line.decode("utf-8", "surrogateescape") for line in lines)
    reader = csv.reader(texts, delimiter=how.delimiter, strict=True)
    head = list(how.columns)
    while True:
        before = csv.field_size_limit(LONGEST_CELL)
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            why = str(error).partition(" - ")[0]  # What follows is for programmers.
            raise ValueError(f"line {reader.line_num}: {why}") from error
        finally:
            csv.field_size_limit(before)  # It is one limit for the whole process.
        if not row:
            continue
        if not head:
            head = row
            if "" in head or len(set(head)) < len(head):
                raise ValueError("the first line has no names of columns, or one of them twice")
            continue
        yield reader.line_num, _cells(head, row, how.delimiter)


def _cells(head: list[str], row: list[str], delimiter: str) -> Found:
    """The record of a row of CSV; an empty cell is no value."""
    line = delimiter.join(row)
    if not encodable(line):
        return Rejected("not UTF-8", plain(line))
    if len(row) != len(head):
        return Rejected(f"{len(row)} cells in place of {len(head)}", plain(line))
    return named((name, cell) for name, cell in zip(head, row, strict=True) if cell)


def _json(read: Callable[[], bytes], _lines: Iterator[bytes], _how: Preparation) -> Numbered:
    records = enumerate(json_documents.records(read()), 1)
    return ((n, each if is_object(each) else _no_object(each)) for n, each in records)


def _no_object(value: Any) -> Rejected:
    return Rejected("not an object", plain(json.dumps(value)))


def _xes(read: Callable[[], bytes], _lines: Iterator[bytes], _how: Preparation) -> Numbered:
    return enumerate(xes.events(io.BytesIO(read())), 1)


def _otlp(read: Callable[[], bytes], _lines: Iterator[bytes], _how: Preparation) -> Numbered:
    return enumerate(otlp.records(read()), 1)


def _itf(read: Callable[[], bytes], _lines: Iterator[bytes], _how: Preparation) -> Numbered:
    return enumerate(itf_states.steps(read()), 1)


READERS: dict[str, Reader] = {
    "lines": _lines,
    "text": _lines,
    "logfmt": _lines,
    "json": _json,
    "csv": _csv,
    "xes": _xes,
    "otlp": _otlp,
    "itf": _itf,
}
