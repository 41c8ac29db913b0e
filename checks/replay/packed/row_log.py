"""The log of a bucket: the rows of its packed instances, as far as they are remembered.

A micro-batch adds a chunk, and reads none. When there are `MOST_CHUNKS`, they become one, and rows
that no instance remembers any more are left out. Only what is asked of single instances reads them:
a row that may have come before, or the rows around a deviation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from ..columnar.batches import rows_in
from ..columnar.layout import INSTANCE, PLACE, RAW, SEQ, Layout
from ..columnar.regular import arrow_types
from ..columnar.row_order import sorted_by
from ..parquet import arrow
from ..problems import AROUND
from ..rows import Row
from .packed_instances import PackedInstances, stream_of, table_of

NUMBER = "number"  # Of an instance in its bucket.
MOST_CHUNKS = 32
EXPLAINED = AROUND + 2  # Rows that explain a deviation: those before it, the row and a held one.


class Chunks(Protocol):
    """Where the chunks are kept, by their numbers."""

    def chunk(self, number: int) -> bytes: ...

    def keep_chunk(self, number: int, data: bytes) -> None: ...

    def drop_chunk(self, number: int) -> None: ...


class RowLog:
    """The rows that instances of a bucket remember; at least so many each."""

    def __init__(self, kept: PackedInstances, chunks: Chunks, remembered: int) -> None:
        self.kept = kept
        self.chunks = chunks
        self.most = max(remembered, EXPLAINED)
        self.whole: Any = None

    def add(self, rows: Any) -> None:
        """Add a table of rows, those of an instance in order."""
        kept = self.kept
        number = kept.chunks[-1] + 1 if kept.chunks else 0
        self.chunks.keep_chunk(number, stream_of(rows))
        kept.chunks.append(number)
        self.whole = None
        if len(kept.chunks) >= MOST_CHUNKS:
            self._join()

    def rows_of(self, numbers: Iterable[int]) -> dict[int, list[Row]]:
        """The rows of packed instances, each in order."""
        wanted = [*numbers]
        out: dict[int, list[Row]] = {number: [] for number in wanted}
        if not (wanted and self.kept.chunks):
            return out
        layout = self.kept.machine.layout
        table = self._read()
        pa = arrow()
        theirs = pa.compute.is_in(table.column(NUMBER), pa.array(wanted, pa.int64()))
        table = table.filter(theirs)
        at = table.column(NUMBER).to_pylist()
        names = pa.array([self.kept.names[number] for number in at], pa.string())
        rows = rows_in(whole_rows(table, names, layout), layout)
        for number, row in zip(at, rows, strict=True):
            if isinstance(row, Row) and row.seq > self.kept.counts["since"][number]:
                out[number].append(row)
        return out

    def _read(self) -> Any:
        """All rows of the log, in order."""
        if self.whole is None:
            read = [table_of(self.chunks.chunk(number)) for number in self.kept.chunks]
            table = arrow().concat_tables(read).combine_chunks()
            at, seqs = (table.column(name).to_numpy() for name in (NUMBER, SEQ))
            self.whole = table.take(arrow().array(sorted_by(at, seqs)))
        return self.whole

    def _join(self) -> None:
        """Make one chunk of all, of the rows that are remembered."""
        kept, table = self.kept, self._read()
        at, seqs = (table.column(name).to_numpy() for name in (NUMBER, SEQ))
        since, packed = kept.counts["since"], kept.flags["packed"]
        alive = packed[at] & (seqs > since[at])
        at, seqs, table = at[alive], seqs[alive], table.filter(arrow().array(alive))
        of_each = np.bincount(at, minlength=len(kept.names))
        ends = np.cumsum(of_each)
        forgotten = np.arange(len(at)) < ends[at] - self.most
        long = np.flatnonzero(of_each > self.most)
        since[long] = seqs[ends[long] - self.most - 1]
        kept.flags["based"][long] = False
        for number in kept.chunks:
            self.chunks.drop_chunk(number)
        kept.chunks = [kept.chunks[-1] + 1]
        self.chunks.keep_chunk(kept.chunks[0], stream_of(table.filter(arrow().array(~forgotten))))
        self.whole = None


def whole_rows(table: Any, names: Any, layout: Layout) -> Any:
    """Rows of a log with all columns of a layout; `names` are those of their instances."""
    pa = arrow()
    schema = arrow_types(layout)
    none = (RAW, PLACE)
    columns = [
        names
        if each.name == INSTANCE
        else pa.nulls(len(names), each.type)
        if each.name in none
        else table.column(each.name)
        for each in schema
    ]
    return pa.table(columns, schema=schema)
