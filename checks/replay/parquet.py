"""Journals as Parquet tables: a column for each field of a row; nested fields are JSON text.

A line that is no row is kept, as bytes, in the column `corrupt`, so a conversion loses nothing.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from .rows import RAW, TEXTS, Rejected, Row, columns_of, plain, row_of_columns
from .sources import BLANK, ReplayError, is_orc, opened, sources

BATCH = 20_000
NO_JOURNAL = "a journal is no ORC file; to replay it needs a mapping"
SPARE = ("universe", "wall", "corrupt")  # Columns that are optional.
NEEDED = ("v", "seq", *(name for name in (*TEXTS, *RAW) if name not in SPARE))
READ = (*NEEDED, "universe", "corrupt")


def arrow() -> Any:
    """The library pyarrow, which has no types. Raises ReplayError where it is not installed."""
    try:
        import pyarrow
        import pyarrow.compute  # pyright: ignore[reportUnusedImport]  # it is an attribute then
        import pyarrow.json  # pyright: ignore[reportUnusedImport]  # it is an attribute then
        import pyarrow.parquet  # pyright: ignore[reportUnusedImport]  # it is an attribute then
    except ImportError as error:
        raise ReplayError("Parquet needs pyarrow: pip install 'lawful[spark]'") from error
    return pyarrow


def arrow_orc() -> Any:
    """The part of pyarrow that reads ORC. It is imported where it is needed, because it is slow."""
    arrow()
    import pyarrow.orc

    return pyarrow.orc


def has_arrow() -> bool:
    """Whether pyarrow and NumPy, which it does not need in all of its versions, are installed."""
    return all(importlib.util.find_spec(name) for name in ("pyarrow", "numpy"))


def schema() -> Any:
    """The Arrow schema of a journal."""
    pa = arrow()
    texts = [(name, pa.string()) for name in (*TEXTS, *RAW)]
    # Binary, because a corrupt line need not be text.
    return pa.schema([("v", pa.int64()), ("seq", pa.int64()), *texts, ("corrupt", pa.binary())])


def to_parquet(paths: Iterable[str | Path], folder: str | Path) -> int:
    """Write journals of JSON lines as Parquet files into a folder; returns the number of rows."""
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
    if is_orc(path):
        raise ReplayError(f"{path}: {NO_JOURNAL}")
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(path) as file:
            check_columns(path, {field.name: str(field.type) for field in file.schema_arrow})
            batches = file.iter_batches(BATCH, columns=_wanted(file.schema_arrow.names))
            every = (columns for batch in batches for columns in batch.to_pylist())
            for number, row in enumerate(map(row_of_columns, every), 1):
                yield row if isinstance(row, Row) else row.at(path, number)
    except (OSError, pa.ArrowException) as error:
        raise ReplayError(f"{path}: {plain(str(error))}") from error


def length(path: str) -> int:
    """The number of rows in a Parquet file, from its metadata."""
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(path) as file:
            return int(file.metadata.num_rows)
    except (OSError, pa.ArrowException) as error:
        raise ReplayError(f"{path}: {plain(str(error))}") from error


def _wanted(names: Iterable[str]) -> list[str]:
    return [name for name in names if name in READ]


def check_columns(path: str, types: dict[str, str]) -> None:
    """ReplayError where a table is no journal; `types` has the types of its columns by name."""
    missing = [name for name in NEEDED if name not in types]
    if missing:
        raise ReplayError(f"{path}: no journal: it has no column {', '.join(missing)}")
    for name in NEEDED:
        whole = name in ("v", "seq")
        if ("int" in types[name]) != whole or (not whole and "string" not in types[name]):
            wanted = "whole numbers" if whole else "text"
            raise ReplayError(f"{path}: the column {name} is {types[name]}, not {wanted}")
