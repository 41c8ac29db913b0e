"""The files of a replay: lines (plain or packed), Parquet, ORC, and folders of these.

This module decides for all engines which files are read and how. A path without any row is an
error before an engine starts, so that no verdict rests on nothing.

Engines must read a file alike, or it is refused here. Spark silently skips files whose names begin
with `_` or `.`, unpacks by the name, and drops a byte order mark; so the first are errors, and a
journal with a mark or packed by bzip2 is one. Other programs write such files, so as `foreign` ones
they are read without the mark, and unpacked. In a folder, a hidden file is left out only if its
ending is none of a journal: `_SUCCESS`, `.part-0.parquet.crc`.

Files that were rotated are read from the oldest on. Journals number them upwards: `j.jsonl.1` is
the oldest. Foreign ones are numbered as logrotate does it: `access.log.1` is the newest but one;
with dates, as in `access.log-20260312`, the earliest is the oldest.
"""

from __future__ import annotations

import bz2
import filecmp
import gzip
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from .rows import Rejected, Row, RowOf, decoded

# Hadoop, with which Spark reads, unpacks files with these endings; the local engine does not.
PACKED = (".deflate", ".lz4", ".snappy", ".zst", ".zstd")
BZIP2 = ".bz2"
UNPACKED = (".gz", BZIP2)  # The local engine unpacks these.
HIDDEN = (".", "_")
MARK = b"\xef\xbb\xbf"  # The byte order mark: Hadoop drops it, JSON does not allow it.
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # The marks of files that are not UTF-8.
LINES = (".jsonl", ".ndjson", ".json", ".log", ".txt", ".csv", ".tsv", ".xes", ".out")
ROTATED = re.compile(r"\.([0-9]+)$|-([0-9]{8,14})$")  # By a number, or a date.
TABLES = (".parquet", ".orc")
PARQUET, ORC = b"PAR1", b"ORC"
BLANK = b" \t\r\n"
UNREADABLE = (OSError, EOFError, zlib.error)  # What reading a file raises; packed ones, too.
PACKING = 10  # So many bytes of lines are a byte of a packed file, about.


class ReplayError(Exception):
    """A replay cannot be done; the message, one line, says which file or program is at fault."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The files to read: JSON lines, and tables."""

    lines: tuple[str, ...]
    tables: tuple[str, ...]

    @property
    def size(self) -> int:
        """About how many bytes of lines the files on this computer have, unpacked."""
        paths = [Path(each) for each in (*self.lines, *self.tables) if not remote(each)]
        packed = {path for path in paths if path.suffix.lower() in (*UNPACKED, *TABLES)}
        return sum(path.stat().st_size * (PACKING if path in packed else 1) for path in paths)

    @property
    def numbered(self) -> list[tuple[int, str]]:
        """The files of lines, each with its number; a file that is given twice has one."""
        return numbered(self.lines)

    @property
    def distinct(self) -> tuple[str, ...]:
        """The files of lines by their numbers, each once."""
        first: dict[int, str] = {}
        for number, path in self.numbered:
            first.setdefault(number, path)
        return tuple(first.values())

    @property
    def some_remote(self) -> bool:
        """Whether a file is on another system."""
        return any(map(remote, (*self.lines, *self.tables)))


def numbered(paths: Iterable[str]) -> list[tuple[int, str]]:
    """The files, each with its number among those that are not one, from 0. A file that is given
    twice, by whatever path, has one: rows by their place in the files are then rows that come
    again."""
    numbers: dict[str, int] = {}
    keys = ((each, each if remote(each) else str(Path(each).resolve())) for each in paths)
    return [(numbers.setdefault(key, len(numbers)), each) for each, key in keys]


def copies(paths: Iterable[str]) -> tuple[str, str] | None:
    """The first two files of this computer that are not one, and have the same bytes."""
    sizes: dict[int, list[Path]] = {}
    for path in dict.fromkeys(Path(each).resolve() for each in paths if not remote(each)):
        known = sizes.setdefault(path.stat().st_size, [])
        for other in known:
            if filecmp.cmp(other, path, shallow=False):
                return str(other), str(path)
        known.append(path)
    return None


def remote(path: str) -> bool:
    """Whether the path is a URL of another system: `hdfs://...`, `s3a://...`."""
    return "://" in path


def sources(paths: Iterable[str | Path], foreign: bool = False, some: bool = True) -> Sources:
    """The files under the paths that have rows, `foreign` ones of other programs. ReplayError where
    one is missing or of another format, or where none has a row and there have to be `some`."""
    given = [str(path) for path in paths]
    if not given:
        raise ReplayError("no trace is given")
    lines: list[str] = []
    tables: list[str] = []
    for each in given:
        if remote(each):
            _check_name(each.rstrip("/").rpartition("/")[2], each)
            (tables if each.rstrip("/").endswith(TABLES) else lines).append(each)
            continue
        found = [path for path in _files(Path(each), foreign) if _has_rows(path)]
        for path in found:
            (tables if _is_table(path) else lines).append(str(path))
            _check_end(path)
    if (
        some and not lines and not tables
    ):  # One of several may be empty, as a log just after its rotation.
        raise ReplayError(f"{given[0]}: has no row")
    for each in lines:
        if not remote(each):
            _check_beginning(Path(each), foreign)
    return Sources(tuple(_oldest_first(lines) if foreign else lines), tuple(tables))


def _files(path: Path, foreign: bool) -> list[Path]:
    if not path.exists():
        raise ReplayError(f"{path}: there is no such file")
    if not path.is_dir():
        _check_name(path.name, path)
        _check_packing(path, foreign)
        return [_readable(path)]
    inside = sorted((each for each in path.rglob("*") if each.is_file()), key=_age)
    found: list[Path] = []
    for each in inside:
        inner = each.relative_to(path)
        if _plain_name(each).endswith((*LINES, *TABLES)):
            for part in inner.parts:
                _check_name(part, each)
            _check_packing(each, foreign)
            found.append(_readable(each))
        elif not any(part.startswith(HIDDEN) for part in inner.parts):
            raise ReplayError(
                f"{each}: neither lines nor a table by its name; name the files to replay"
            )
    return found


def _unpacked_name(path: Path) -> str:
    """The name without the ending of packing."""
    return path.stem if path.suffix in UNPACKED else path.name


def _plain_name(path: Path) -> str:
    """The name without the endings of packing and rotation: `j.jsonl` of `j.jsonl.1.gz`."""
    return ROTATED.sub("", _unpacked_name(path))


def _age(path: Path, newest: int = 1) -> tuple[Path, float]:
    """The sort key of a file: `j.jsonl.1`, `j.jsonl.2`, ..., `j.jsonl`, oldest first.

    In this order few rows wait in memory for earlier ones. With -1 as `newest` the largest number
    is the oldest.
    """
    match = ROTATED.search(_unpacked_name(path))
    if match is None:
        return path.with_name(_plain_name(path)), math.inf
    rank = newest * int(match[1]) if match[1] else int(match[2].ljust(14, "0"))
    return path.with_name(_plain_name(path)), rank


def _oldest_first(lines: list[str]) -> list[str]:
    """The files in the order in which they are given; but those of one log, oldest first."""
    first: dict[Path, int] = {}
    keys: dict[str, tuple[int, float]] = {}
    for number, each in enumerate(lines):
        log, age = (Path(each), 0.0) if remote(each) else _age(Path(each), -1)
        keys[each] = first.setdefault(log, number), age
    return sorted(lines, key=keys.__getitem__)


def _check_name(name: str, path: str | Path) -> None:
    if name.startswith(HIDDEN) or name.endswith("._COPYING_"):
        rule = "Spark skips names that begin with _ or . or end with ._COPYING_"
        raise ReplayError(f"{path}: rename it, or move it out of the folder: {rule}")


def _check_packing(path: Path, foreign: bool) -> None:
    name = path.name.lower()
    if name.endswith(PACKED) or (name.endswith(BZIP2) and not (foreign and path.suffix == BZIP2)):
        raise ReplayError(f"{path}: unpack it, or pack it with gzip, as .gz")


def _check_beginning(path: Path, foreign: bool) -> None:
    """ReplayError for a file that begins with the mark of another encoding than UTF-8 (an XML
    parser knows it), and for a journal with a byte order mark, which JSON does not allow."""
    begin = beginning(path)
    if begin == MARK and not foreign:
        raise ReplayError(f"{path}: begins with a byte order mark (BOM); write it without")
    if begin.startswith(UTF_16) and not _plain_name(path).endswith(".xes"):
        raise ReplayError(f"{path}: is UTF-16 by its first bytes; write it as UTF-8")


def beginning(path: Path) -> bytes:
    """The first bytes of a file, unpacked: as many as a byte order mark has."""
    with _unpacked(path) as file:
        return file.read(len(MARK))


def _readable(path: Path) -> Path:
    try:
        with path.open("rb"):
            return path
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror or error}") from error


def _is_table(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == PARQUET or is_orc(str(path))


def _check_end(path: Path) -> None:
    """ReplayError for a Parquet file that does not end as such a file does: a footer, its length,
    and the bytes with which it begins. Engines say this in words of their own."""
    with path.open("rb") as file:
        if file.read(len(PARQUET)) != PARQUET:
            return
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        end = file.read()
    footer = int.from_bytes(end[:4], "little")
    if size < 12 or end[4:] != PARQUET or footer > size - 12:
        raise ReplayError(f"{path}: no whole Parquet file: its footer is missing, or it was cut")


def is_orc(path: str) -> bool:
    """Whether a file is a table of ORC: by its name if it is remote, else by how it begins and ends
    (ORC specification v1, "File Tail")."""
    if remote(path):
        return path.rstrip("/").endswith(".orc")
    with open(path, "rb") as file:
        if file.read(len(ORC)) != ORC:
            return False
        file.seek(-1 - len(ORC), os.SEEK_END)
        return file.read(len(ORC)) == ORC


def _has_rows(path: Path) -> bool:
    """Whether the file has anything but white space."""
    try:
        with opened(path) as file:
            return any(chunk.strip(BLANK) for chunk in iter(lambda: file.read(1 << 16), b""))
    except UNREADABLE as error:
        raise ReplayError(f"{path}: {error}") from error


def opened(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked where they are packed, without a byte order mark."""
    marked = beginning(path) == MARK
    file = _unpacked(path)
    if marked:
        file.read(len(MARK))
    return file


def _unpacked(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if path.suffix == BZIP2:
        return cast(IO[bytes], bz2.open(path, "rb"))
    return path.open("rb")


def rows_of_lines(path: str, row_of: RowOf) -> Iterator[Row | Rejected]:
    """The rows of a file of JSON lines; blank lines are skipped."""
    if remote(path):
        raise ReplayError(f"{path}: only the Spark engine reads remote files")
    try:
        with opened(Path(path)) as file:
            for number, line in enumerate(file, 1):
                if line.strip(BLANK):
                    row = decoded(line.rstrip(b"\n"), row_of)
                    if row is not None:
                        yield row if isinstance(row, Row) else row.at(path, number)
    except UNREADABLE as error:
        raise ReplayError(f"{path}: {error}") from error
