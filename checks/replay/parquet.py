"""Journals as Parquet: the columns of `rows`, what has parts of its own as JSON text.

A line that is no row is kept as it is in the column `corrupt`: a conversion drops nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from .rows import RAW, TEXTS, Rejected, Row, columns_of, plain, row_of_columns
from .sources import BLANK, ReplayError, opened, sources

BATCH = 20_000
SPARE = ("universe", "corrupt")  # Columns that a table may lack.
NEEDED = ("v", "seq", *(name for name in (*TEXTS, *RAW) if name not in SPARE))
READ = (*NEEDED, "universe", "corrupt")


def arrow() -> Any:
    """The library, which has no types; ReplayError where it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet  # pyright: ignore[reportUnusedImport]  # it is an attribute then
    except ImportError as error:
        raise ReplayError("Parquet needs pyarrow: pip install 'lawful[spark]'") from error
    return pyarrow


def schema() -> Any:
    """The columns of a journal as a table."""
    pa = arrow()
    texts = [(name, pa.string()) for name in (*TEXTS, *RAW)]
    # Bytes that are no text must come back as they were.
    return pa.schema([("v", pa.int64()), ("seq", pa.int64()), *texts, ("corrupt", pa.binary())])


def to_parquet(paths: Iterable[str | Path], folder: str | Path) -> int:
    """Write journals of JSON lines as Parquet into a folder; how many rows there were."""
    pa = arrow()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = 0
    for number, path in enumerate(sources(paths).lines):
        lines = _lines(Path(path))
        with pa.parquet.ParquetWriter(target / f"part-{number:05}.parquet", schema()) as writer:
            while batch := [columns_of(line) for line in islice(lines, BATCH)]:
                writer.write_table(pa.Table.from_pylist(batch, schema=schema()))
                written += len(batch)
    return written


def _lines(path: Path) -> Iterator[bytes]:
    with opened(path) as file:
        yield from (line.rstrip(b"\n") for line in file if line.strip(BLANK))


def rows_of_table(path: str) -> Iterator[Row | Rejected]:
    """The rows of a Parquet file."""
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(path) as file:
            check_columns(path, {field.name: str(field.type) for field in file.schema_arrow})
            for batch in file.iter_batches(BATCH, columns=_wanted(file.schema_arrow.names)):
                yield from map(row_of_columns, batch.to_pylist())
    except (OSError, pa.ArrowException) as error:
        raise ReplayError(f"{path}: {plain(str(error))}") from error


def length(path: str) -> int:
    """How many rows a Parquet file says it has."""
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(path) as file:
            return int(file.metadata.num_rows)
    except (OSError, pa.ArrowException) as error:
        raise ReplayError(f"{path}: {plain(str(error))}") from error


def _wanted(names: Iterable[str]) -> list[str]:
    return [name for name in names if name in READ]


def check_columns(path: str, types: dict[str, str]) -> None:
    """ReplayError where a table is no journal; `types` are the columns' types by name."""
    missing = [name for name in NEEDED if name not in types]
    if missing:
        raise ReplayError(f"{path}: no journal, for it has no column {', '.join(missing)}")
    for name in NEEDED:
        whole = name in ("v", "seq")
        if ("int" in types[name]) != whole or (not whole and "string" not in types[name]):
            wanted = "whole numbers" if whole else "text"
            raise ReplayError(f"{path}: the column {name} is {types[name]}, and not {wanted}")
