"""The order of rows in columns: by instance, then by number; rows that are alike stay in order.

Rows that are too many for memory are sorted in runs, which are files, and the runs are merged.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..parquet import arrow
from .layout import INSTANCE, SEQ


def in_order(table: Any, rows: int) -> Iterator[Any]:
    """Batches of at most so many rows of a table, sorted; rows of no instance come first.

    The names of instances are texts, or a dictionary of them; those of the batches are texts.
    """
    import numpy as np

    pa = arrow()
    encoded = table.column(INSTANCE).combine_chunks().dictionary_encode()
    ranks = pa.compute.rank(encoded.dictionary).to_numpy().astype(np.int64)
    found = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    instances = np.r_[ranks, 0][found]
    seqs = table.column(SEQ).combine_chunks().fill_null(-1).to_numpy(zero_copy_only=False)
    order = sorted_by(instances, seqs)
    at = table.schema.get_field_index(INSTANCE)
    others = table.drop_columns(INSTANCE)
    for start in range(0, len(order), rows):
        part = pa.array(order[start : start + rows])
        names = encoded.take(part).dictionary_decode()
        yield from others.take(part).add_column(at, INSTANCE, names).combine_chunks().to_batches()


def sorted_by(first: Any, second: Any) -> Any:
    """The indices that sort rows by two arrays of integers; the sort is stable.

    Where both numbers and the index of the row fit into 63 bits, one array is sorted, and not an
    index by two: NumPy does that with vectors, many times faster.
    """
    import numpy as np

    rows = len(first)
    if not rows:
        return np.zeros(0, dtype=np.int64)
    # Where the numbers of an array have fewer bits, a shift would lose some.
    first, second = (each.astype(np.int64, copy=False) for each in (first, second))
    (low, span), (least, width) = _span(first), _span(second)
    index = rows.bit_length()
    if span + width + index > 63:
        return np.lexsort((second, first))
    keys = ((first - low) << (width + index)) | ((second - least) << index) | np.arange(rows)
    keys.sort()
    return keys & ((1 << index) - 1)


def _span(values: Any) -> tuple[int, int]:
    """The least value, and the bits of the difference between it and the greatest."""
    low, high = int(values.min()), int(values.max())
    return low, (high - low).bit_length()


class Runs:
    """Sorted runs of rows in a temporary folder, merged part by part.

    A part has about as many rows as a run; only one is in memory.
    """

    SAMPLES = 16  # Rows of each run that parts may begin with.

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="lawful-rows-")
        self.paths: list[Path] = []

    def add(self, table: Any, rows: int) -> None:
        """Sort a table, and write it as a run, in batches of at most so many rows."""
        pa = arrow()
        path = Path(self.folder.name, str(len(self.paths)))
        at = table.schema.get_field_index(INSTANCE)
        schema = table.schema.set(at, pa.field(INSTANCE, pa.string()))
        with pa.ipc.new_file(str(path), schema) as writer:
            for batch in in_order(table, rows):
                writer.write_batch(batch)
        self.paths.append(path)

    def merged(self, rows: int) -> Iterator[Any]:
        """All rows in order, in batches of at most so many; the files are removed then."""
        pa = arrow()
        runs = [pa.ipc.open_file(pa.memory_map(str(path))).read_all() for path in self.paths]
        sizes = [run.num_rows for run in runs]
        keys = [_key(run, i) for run in runs for i in _every(run.num_rows, self.SAMPLES)]
        firsts = sorted(keys)[self.SAMPLES :: self.SAMPLES]
        cuts = [[bisect_left(_Keys(run), first) for run in runs] for first in firsts]
        for begun, ended in pairwise([[0] * len(runs), *cuts, sizes]):
            part = zip(runs, begun, ended, strict=True)
            table = pa.concat_tables(run.slice(start, end - start) for run, start, end in part)
            yield from in_order(table, rows)
        del runs
        self.folder.cleanup()


Key = tuple[bool, str, int]


def _key(run: Any, row: int) -> Key:
    """What orders a row: `in_order` compares the same."""
    name, seq = run.column(INSTANCE)[row].as_py(), run.column(SEQ)[row].as_py()
    return name is not None, name or "", -1 if seq is None else seq


def _every(rows: int, samples: int) -> range:
    """The indices of so many rows, evenly spread."""
    return range(0, rows, max(rows // samples, 1))


class _Keys:
    """The keys of a run, as a sequence."""

    def __init__(self, run: Any) -> None:
        self.run = run

    def __len__(self) -> int:
        rows: int = self.run.num_rows
        return rows

    def __getitem__(self, row: int) -> Key:
        return _key(self.run, row)
