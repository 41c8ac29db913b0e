"""States in Parquet files: for each its step, and its words.

    step    the number of the state before, times `STEPS`, plus the rule
    w0, w1  the words of the packed state

A file has groups of `GROUP` rows, so that one state is read without the others.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np

from .arrow_rows import arrow

GROUP = 1 << 16
PLAIN = {"use_dictionary": False, "compression": "none", "write_statistics": False}
STEPS = 1 << 16  # More than a machine has rules.
STEP = 0  # The column of the step; those of the words follow.


def new_file(folder: Path, name: str) -> str:
    """A name that no other file has, whoever makes one."""
    return str(folder / f"{name}.{uuid.uuid4().hex}")


def write(path: str, rows: Any) -> None:
    """Write rows: of each the step, and the words."""
    pa = arrow()
    names = ["step", *(f"w{i}" for i in range(rows.shape[1] - 1))]
    columns = [pa.array(np.ascontiguousarray(column)) for column in rows.T]
    table = pa.Table.from_arrays(columns, names)
    pa.parquet.write_table(table, path, row_group_size=GROUP, **PLAIN)


def words_in(path: str, begin: int = 0, count: int | None = None) -> Any:
    """The words of so many states of a file from that one on; of all without a count."""
    return _read(path, begin, count, 1)


def row_at(path: str, place: int) -> Any:
    """The step and the words of one state."""
    return _read(path, place, 1, 0)[0]


def _read(path: str, begin: int, count: int | None, column: int) -> Any:
    with arrow().parquet.ParquetFile(path) as file:
        end = file.metadata.num_rows if count is None else begin + count
        names = file.schema_arrow.names[column:]
        first = begin // GROUP
        table = file.read_row_groups([*range(first, -(-end // GROUP))], columns=names)
    made = np.empty((table.num_rows, len(names)), np.int64)
    for i, values in enumerate(table.columns):
        made[:, i] = values.to_numpy()
    return made[begin - first * GROUP : end - first * GROUP]
