"""Where journals are: files of JSON lines (also gzipped), Parquet files, folders of either.

Which file is read how is decided here for every engine, and what there is no row in is an error
before any engine starts: no verdict rests on nothing.

Every file is read by every engine in the same way, or refused here. Spark's readers pass over
files whose names begin with `_` or `.`, unpack what a name says is packed, and drop a byte order
mark, all without a word; so such files are errors. In a folder, what begins so is left out only
where no ending says that it holds rows: `_SUCCESS`, `.part-0.parquet.crc`.
"""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from .rows import Rejected, Row, RowOf, decoded

# Hadoop, with which Spark reads, unpacks these by the name, in any case; Python would not.
PACKED = (".bz2", ".deflate", ".lz4", ".snappy", ".zst", ".zstd")
HIDDEN = (".", "_")
MARK = b"\xef\xbb\xbf"  # At a file's beginning Hadoop drops it; in JSON it is not allowed.
LINES = (".jsonl", ".ndjson", ".json", ".log", ".txt")
ROTATED = re.compile(r"\.[0-9]+$")
PARQUET = b"PAR1"
BLANK = b" \t\r\n"


class ReplayError(Exception):
    """There is nothing to replay, or nothing to replay it with; one line says what."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The files to read, by their form."""

    lines: tuple[str, ...]
    tables: tuple[str, ...]

    @property
    def size(self) -> int:
        """The bytes of the files that are on this computer."""
        paths = [Path(each) for each in (*self.lines, *self.tables) if not remote(each)]
        return sum(path.stat().st_size for path in paths)


def remote(path: str) -> bool:
    """Whether this is no path of this computer: `hdfs://...`, `s3a://...`."""
    return "://" in path


def sources(paths: Iterable[str | Path]) -> Sources:
    """The files under the paths; ReplayError for what is missing, empty or of another form."""
    given = [str(path) for path in paths]
    if not given:
        raise ReplayError("no journal is given")
    lines: list[str] = []
    tables: list[str] = []
    for each in given:
        if remote(each):
            _check_name(each.rstrip("/").rpartition("/")[2], each)
            (tables if each.rstrip("/").endswith(".parquet") else lines).append(each)
            continue
        found = _files(Path(each))
        if not any(_has_rows(path) for path in found):
            raise ReplayError(f"{each}: no row in it")
        for path in found:
            (tables if _is_parquet(path) else lines).append(str(path))
    for each in lines:
        if not remote(each):
            _check_beginning(Path(each))
    return Sources(tuple(lines), tuple(tables))


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise ReplayError(f"{path}: there is no such file")
    if not path.is_dir():
        _check_name(path.name, path)
        _check_packing(path)
        return [_readable(path)]
    inside = sorted((each for each in path.rglob("*") if each.is_file()), key=_age)
    found: list[Path] = []
    for each in inside:
        inner = each.relative_to(path)
        if _plain_name(each).endswith((*LINES, ".parquet")):
            for part in inner.parts:
                _check_name(part, each)
            found.append(_readable(each))
        elif not any(part.startswith(HIDDEN) for part in inner.parts):
            raise ReplayError(f"{each}: neither JSON lines nor Parquet; name the files to replay")
    return found


def _plain_name(path: Path) -> str:
    """The name without what packing and rotation put behind it: `j.jsonl` of `j.jsonl.1.gz`."""
    return ROTATED.sub("", path.name.removesuffix(".gz"))


def _age(path: Path) -> tuple[Path, float]:
    """The order of files: of one journal's `j.jsonl.1`, `j.jsonl.2` and so on, `j.jsonl` last, so
    that few rows wait for those before them."""
    number = ROTATED.search(path.name.removesuffix(".gz"))
    return path.with_name(_plain_name(path)), int(number[0][1:]) if number else math.inf


def _check_name(name: str, path: str | Path) -> None:
    if name.startswith(HIDDEN) or name.endswith("._COPYING_"):
        rule = "Spark passes over what begins with _ or ., and over ._COPYING_"
        raise ReplayError(f"{path}: rename it, or move it out of the folder: {rule}")


def _check_packing(path: Path) -> None:
    if path.name.lower().endswith(PACKED):
        raise ReplayError(f"{path}: unpack it, or pack it with gzip, as .gz")


def _check_beginning(path: Path) -> None:
    """No byte order mark: it is a fault of the file, for no row can be told from its first one."""
    with opened(path) as file:
        if file.read(len(MARK)) == MARK:
            raise ReplayError(f"{path}: begins with a byte order mark (BOM); write it without")


def _readable(path: Path) -> Path:
    try:
        with path.open("rb"):
            return path
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror or error}") from error


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == PARQUET


def _has_rows(path: Path) -> bool:
    """Whether there is anything but blanks in the file."""
    try:
        with opened(path) as file:
            return any(chunk.strip(BLANK) for chunk in iter(lambda: file.read(1 << 16), b""))
    except (OSError, EOFError) as error:
        raise ReplayError(f"{path}: {error}") from error


def opened(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked where they are gzipped."""
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def rows_of_lines(path: str, row_of: RowOf) -> Iterator[Row | Rejected]:
    """The rows of a file of JSON lines; blank lines are none."""
    if remote(path):
        raise ReplayError(f"{path}: only the Spark engine reads remote files")
    try:
        with opened(Path(path)) as file:
            for line in file:
                if line.strip(BLANK):
                    yield decoded(line.rstrip(b"\n"), row_of)
    except (OSError, EOFError) as error:
        raise ReplayError(f"{path}: {error}") from error
