"""The sample of records from which a mapping is proposed, and the format of their file."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lawful.spec.codec.as_json import is_object

from ..preparation.formats import records_of_file
from ..preparation.path_templates import Record
from ..preparation.preparation_table import Preparation
from ..rows import Rejected, encodable
from ..sources import ReplayError, opened

SAMPLE = 5_000  # Records that are looked at.
DELIMITERS = (",", ";", "\t", "|")


def sample(paths: Sequence[str], how: Preparation) -> list[Record]:
    """Records of all files, equally many of each, with their values by path."""
    each = -(-SAMPLE // len(paths))
    out: list[Record] = []
    for path in paths[:SAMPLE]:
        told = (found for _, found in records_of_file(path, how))
        some = itertools.islice((one for one in told if not isinstance(one, Rejected)), each)
        out += [dict(_flat(one, "$")) for one in some]
    return out


def values_at(records: Sequence[Record], path: str) -> list[Any]:
    """The values of a field, of the records that have it."""
    return [r[path] for r in records if path in r]


def format_of(path: str) -> dict[str, Any]:
    """The format of a file, as keys of a preparation."""
    with opened(Path(path)) as file:
        head = file.read(1 << 16).decode("utf-8", "replace")
    begin = head.lstrip()
    if begin.startswith("<"):
        return {"format": "xes"}
    if '"resourceSpans"' in head or '"resourceLogs"' in head:
        return {"format": "otlp"}
    if begin.startswith("{"):
        return {"format": "itf"} if '"states"' in head and '"vars"' in head else {}
    lines = head.splitlines()[:20]
    for delimiter in DELIMITERS:
        widths = {len(row) for row in csv.reader(lines[:-1] or lines, delimiter=delimiter)}
        if len(widths) == 1 and widths != {1}:
            return {"format": "csv", "delimiter": delimiter}
    raise ReplayError(f"{path}: neither JSON, CSV nor XES; a text log needs a `line` by hand")


def _flat(data: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """The values by path; without those that no path reaches, and texts that TOML cannot hold."""
    for name, value in data.items():
        inner = f"{path}.{name}"
        if "." in name or not encodable(name):
            continue
        if is_object(value):
            yield from _flat(value, inner)
        elif not isinstance(value, str) or encodable(value):
            yield inner, value
