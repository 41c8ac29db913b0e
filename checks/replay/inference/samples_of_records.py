"""The sample of records from which a mapping is proposed, and the format of their file."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object

from ..preparation import logfmt
from ..preparation.formats import records_of_file
from ..preparation.path_templates import Record
from ..preparation.preparation_table import Preparation
from ..preparation.record_paths import names_in, path_of
from ..preparation.steps import prepared
from ..rows import Rejected, encodable, loads
from ..sources import ReplayError, opened

SAMPLE = 5_000  # Records that are looked at.
DEEP = 3  # Lists in one another that may hold the records.
LONGEST_NAME = 60  # Characters of the name of a column.
FILE = "(?P<file>[^/]+)$"  # Each file of ITF is one trace.
SYSLOG = re.compile(r"<[0-9]{1,3}>")  # A priority (RFC 5424, section 6.2.1), and no XML.
LIST = re.compile(r"\[\s*[{\]]")  # Of records; a line of text may begin with a time in brackets.
MOSTLY = 5  # Of so many lines of logfmt one may be another, such as one of a stack trace.
VALUE = re.compile(r"^[0-9]+$|[0-9]:[0-5][0-9]")  # What is no name of a column.
DELIMITERS = (",", ";", "\t", "|")


def sample(paths: Sequence[str], how: Preparation) -> list[Record]:
    """Records of all files, equally many of each, with their values by path."""
    each = -(-SAMPLE // len(paths))
    out: list[Record] = []
    for path in paths[:SAMPLE]:
        told = (found for _, found in records_of_file(path, how))
        read = (one for one in told if not isinstance(one, Rejected))
        made = (record for one in read for _, record in prepared(how, one))
        out += [dict(_flat(one, ())) for one in itertools.islice(made, each)]
    return out


def values_at(records: Sequence[Record], path: str) -> list[Any]:
    """The values of a field, of the records that have it."""
    return [r[path] for r in records if path in r]


def formats_of(path: str) -> list[dict[str, Any]]:
    """The formats that a file may have, as keys of a preparation; the likeliest first."""
    with opened(Path(path)) as file:
        head = file.read(1 << 16).decode("utf-8", "replace")
    begin = head.lstrip()
    if begin.startswith("<") and not SYSLOG.match(begin):
        return [{"format": "xes"}]
    if '"resourceSpans"' in head or '"resourceLogs"' in head:
        return [{"format": "otlp"}]
    if begin.startswith("{") and '"states"' in head and '"vars"' in head:
        return [{"format": "itf", "file": FILE}]
    if begin.startswith("{") or LIST.match(begin):
        return [{}] if _of_lines(begin) else [*_documents(path)]
    lines = head.splitlines()[:20]
    some = [line for line in (lines[:-1] or lines) if line.strip()]
    pairs = sum(map(_logfmt, some))
    if some and MOSTLY * pairs >= (MOSTLY - 1) * len(some):
        odd = {} if pairs == len(some) else {"pass_unmatched": True}
        return [{"format": "logfmt", **odd}]
    for delimiter in DELIMITERS:
        rows = [*csv.reader(lines, delimiter=delimiter)]
        whole = rows[:-1] or rows  # The last one may have more lines.
        cells = [len(row) for row in whole if row]  # A blank line is no row, and one may be cut.
        if cells and cells[0] > 1 and 2 * cells.count(cells[0]) > len(cells):
            if not _names(next(filter(None, whole))):
                continue
            return [{"format": "csv", "delimiter": delimiter}]
    raise ReplayError(
        f"{path}: neither JSON, logfmt, XES nor CSV whose first row names its columns; a text log"
        " needs a `line` by hand, and CSV without names `columns`"
    )


def _of_lines(text: str) -> bool:
    """Whether the first line is a JSON object, and there are more."""
    first, more, rest = text.partition("\n")
    try:
        return is_object(loads(first)) and bool(more and rest.strip())
    except (ValueError, RecursionError):
        return False


def _documents(path: str) -> Iterator[dict[str, Any]]:
    """Documents of JSON: the records are in a list, or in lists of its elements; or each is one."""
    how: dict[str, Any] = {"format": "json"}
    record = next((each for _, each in records_of_file(path, Preparation(**how))), None)
    names: list[str] = []
    paths: list[str] = []
    while is_object(record) and len(paths) < DEEP:
        lists = {at: each for at, each in _flat(record, ()) if _objects(each)}
        if not lists:
            break
        at = max(lists, key=lambda each: len(lists[each]))
        names += names_in(at)
        paths.append(path_of(names))
        record = lists[at][0]
        yield how | {"spread": paths[0] if len(paths) == 1 else [*paths]}
    yield how


def _objects(value: Any) -> bool:
    return is_list(value) and bool(value) and all(map(is_object, value))


def _logfmt(line: str) -> bool:
    """Whether a line is logfmt: with two pairs at least, because others may have one by chance."""
    found = logfmt.pairs(line)
    return not isinstance(found, Rejected) and sum(v is not True for v in found.values()) > 1


def _names(row: Sequence[str]) -> bool:
    """Whether the first row of CSV may be the names of columns: none has a time of day in it."""
    plain = all(cell and len(cell) <= LONGEST_NAME and not VALUE.search(cell) for cell in row)
    return plain and len(set(row)) == len(row)


def _flat(data: Mapping[str, Any], outer: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """The values by path; without names and texts that TOML cannot hold."""
    for name, value in data.items():
        inner = (*outer, name)
        if not encodable(name):
            continue
        if is_object(value):
            yield from _flat(value, inner)
        elif not isinstance(value, str) or encodable(value):
            yield path_of(inner), value
