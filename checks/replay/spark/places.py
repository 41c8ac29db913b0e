"""The places of lines that belong to no instance, on Spark.

Spark gives a task a part of a file, and says at which byte the part begins. The task counts the
lines of the part. A place is a text: "BYTE FILE" before they are counted, then "BYTE+LINE FILE",
with lines from 1. The place of a row of a table is "ROW FILE", with rows from 0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ..problems import Finding
from ..sources import BZIP2, Sources, remote
from ..tally import Findings

if TYPE_CHECKING:
    from pyspark.sql import Column

PLACE = "lawful place"  # The column of a data frame that says where its rows are.
TABLES = ("table", "far table")  # The forms of lines that are rows of a journal's table.


def place(position: str) -> Column:
    """The column `PLACE` of rows read from files; `position` is a field of Spark's `_metadata`."""
    from pyspark.sql import functions as F

    return F.concat_ws(" ", f"_metadata.{position}", "_metadata.file_path").alias(PLACE)


class LineCounter:
    """Counts the lines of each part of a file, through all batches of a task."""

    def __init__(self) -> None:
        self.part: str | None = None
        self.line = 0

    def later(self, parts: Any) -> Callable[[int], str | None]:
        """The same for a batch of lines: a function that gives the place of line `i`."""
        first, last = parts[0].as_py(), parts[-1].as_py()
        if first == last:  # All of one part: those of a part stand together.
            begun = self.line if first == self.part else 0
            self.part, self.line = first, begun + len(parts)
            return lambda i: None if first is None else _numbered(first, begun + i + 1)
        told = self.places(parts.to_pylist(), [""] * len(parts), [True] * len(parts))
        return told.__getitem__

    def places(
        self, parts: Sequence[str | None], forms: Sequence[str], lost: Sequence[bool]
    ) -> list[str | None]:
        """The places of the lines that are `lost`; None for all others."""
        out: list[str | None] = [None] * len(parts)
        for i, part in enumerate(parts):
            if part is None:
                continue
            if part != self.part:
                self.part, self.line = part, 0
            self.line += 1
            if lost[i] and forms[i] in TABLES:
                out[i] = part
            elif lost[i]:
                out[i] = _numbered(part, self.line)
        return out


def _numbered(part: str, line: int) -> str:
    byte, _, file = part.partition(" ")
    return f"{byte}+{line} {file}"


def read(text: str) -> tuple[str, int, int]:
    """The file of a place, the byte at which its part begins, and the line or row in this part,
    from 1; the byte is 0 for a row."""
    position, _, file = text.partition(" ")
    byte, plus, line = position.partition("+")
    return (file, int(byte), int(line)) if plus else (file, 0, int(byte) + 1)


def located(found: Findings, files: Sources) -> Findings:
    """Rejected rows with the file as it was given, and the number of the line in the whole file."""
    given = {str(Path(each).resolve()): each for each in (*files.lines, *files.tables)}
    return found.changed(lambda finding: _located(finding, given))


def _located(finding: Finding, given: dict[str, str]) -> Finding:
    text = str(finding.details.get("file", ""))
    if not text:
        return finding
    url, byte, line = read(text)
    path = url if remote(url) and not url.startswith("file:") else unquote(urlsplit(url).path)
    file = given.get(str(Path(path).resolve()), path)
    # A part of a file of bzip2 begins at a packed byte, before which nobody has counted lines.
    number = 0 if byte and file.endswith(BZIP2) else line + _lines_before(file, byte)
    return replace(finding, index=number, details={"file": file})


@functools.lru_cache(maxsize=1000)
def _lines_before(path: str, byte: int) -> int:
    """The number of lines before the first one of a part that begins at this byte.

    A part begins with the first line that begins after its first byte: Spark gives a line that
    begins at this byte to the part before.
    """
    if byte == 0 or remote(path):
        return 0
    count, left = 1, byte
    with Path(path).open("rb") as file:
        while left and (chunk := file.read(min(left, 1 << 20))):
            count += chunk.count(b"\n")
            left -= len(chunk)
    return count
