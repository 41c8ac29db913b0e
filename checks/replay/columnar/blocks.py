"""Blocks of typed rows: what a shuffle carries in place of single rows.

    bucket int, number long, rows binary

A bucket has some instances, each with all its rows; the checksum of a name says which bucket it is
in. A block has rows of one bucket that one task read, in the order in which it read them, as a
record batch of Arrow with the columns of the layout. `number` orders the blocks of a bucket: by
task, and as that task made them. So a shuffle moves a few large values, and what comes after it
sorts columns.

A task holds `MOST_ROWS` rows or `MOST_BYTES` before it makes blocks of them. A task that sorts
blocks writes a run into a file when it holds `MOST_ROWS` rows, whatever their size.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ..parquet import arrow
from . import kernel
from .layout import INSTANCE, RAW, SEQ
from .row_order import Runs, in_order

BLOCKS = "bucket int, number long, rows binary"
BUCKET, NUMBER = "bucket", "number"
MOST_ROWS = 1 << 20
MOST_BYTES = 1 << 26
OUT = 1 << 22  # Bytes of blocks in one batch of the result.
MOST_BUCKETS = 1 << 16


def buckets_of(names: Any, buckets: int) -> Any:
    """The bucket of each row, of the names of their instances. Rows of none are spread evenly."""
    import numpy as np

    encoded = names.dictionary_encode()
    known = [zlib.crc32(name.encode()) % buckets for name in encoded.dictionary.to_pylist()]
    indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    found = np.array([*known, 0], dtype=np.uint16)[indices]
    if names.null_count:
        none = np.flatnonzero(indices == -1)
        found[none] = none % buckets
    return found


@dataclass(frozen=True)
class WholeInstances:
    """Every instance is in one of the buckets, with all its rows. Rows of those `without` are left
    out."""

    buckets: tuple[int, ...]
    without: frozenset[str] = frozenset()

    def placed(self, table: Any) -> tuple[Any, Any]:
        """The bucket of each row, and which rows are taken; None for all of them."""
        names = table.column(INSTANCE).combine_chunks()
        taken = None
        if self.without:
            pa = arrow()
            out = pa.compute.is_in(names, pa.array(sorted(self.without), pa.string()))
            taken = ~out.to_numpy(zero_copy_only=False)
        import numpy as np

        numbers = np.array(self.buckets, dtype=np.int64)
        return numbers[buckets_of(names, len(self.buckets))], taken


class Placing(Protocol):
    """Which rows a shuffle takes, and their buckets: `WholeInstances` or `row_ranges.Ranges`."""

    def placed(self, table: Any) -> tuple[Any, Any]:
        """The bucket of each row, and which rows are taken; None for all of them."""
        ...


class Packer:
    """Makes blocks of the tables that it gets. `task` is the number of the task, of all that read.

    A row with a number and no instance says how much was read of a form of lines: see `count`.
    """

    def __init__(self, types: Any, placing: Placing, task: int) -> None:
        self.types = types
        self.placing = placing
        self.next = task << 32
        self.waiting: list[Any] = []
        self.rows = self.bytes = 0

    def add(self, table: Any) -> Iterator[Any]:
        """Take the rows of a table; the blocks that are full."""
        self.waiting.append(table)
        self.rows += table.num_rows
        self.bytes += table.nbytes
        if self.rows >= MOST_ROWS or self.bytes >= MOST_BYTES:
            yield from self.flushed()

    def count(self, form: str, much: int) -> Iterator[Any]:
        """Say how much was read of a form of lines."""
        told = [{SEQ: much, RAW: form.encode()}]
        yield from self.add(arrow().Table.from_pylist(told, schema=self.types))

    def flushed(self) -> Iterator[Any]:
        """The blocks of all rows that were taken, in batches of the schema `BLOCKS`."""
        import numpy as np

        if not self.rows:
            return
        pa = arrow()
        table = pa.concat_tables(self.waiting).combine_chunks()
        self.waiting, self.rows, self.bytes = [], 0, 0
        buckets, taken = self.placing.placed(table)
        order = np.argsort(buckets, kind="stable")
        if taken is not None:
            order = order[taken[order]]
            if not len(order):
                return
        (rows,) = table.take(pa.array(order)).combine_chunks().to_batches()
        del table
        ordered = buckets[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]).tolist()
        full: list[tuple[int, Any]] = []
        size = 0
        for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
            block = rows.slice(start, end - start).serialize()
            full.append((int(ordered[start]), block))
            size += block.size
            if size >= OUT:
                yield self._batch(full)
                full, size = [], 0
        if full:
            yield self._batch(full)
        self.next += 1

    def _batch(self, blocks: list[tuple[int, Any]]) -> Any:
        import numpy as np

        pa = arrow()
        ends = np.cumsum([0, *(rows.size for _, rows in blocks)], dtype=np.int32)
        whole = np.empty(ends[-1], dtype=np.uint8)
        for (_, rows), start, end in zip(
            blocks, ends[:-1].tolist(), ends[1:].tolist(), strict=True
        ):
            whole[start:end] = np.frombuffer(rows, dtype=np.uint8)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(whole)]
        columns = [
            pa.array([bucket for bucket, _ in blocks], pa.int32()),
            pa.array([self.next] * len(blocks), pa.int64()),
            pa.Array.from_buffers(pa.binary(), len(blocks), buffers),
        ]
        return pa.RecordBatch.from_arrays(columns, names=[BUCKET, NUMBER, "rows"])


def rows_of_blocks(batches: Iterable[Any], types: Any, read: Counter[str]) -> Iterator[Any]:
    """The rows of blocks that come bucket by bucket, in order, as sorted batches.

    `read` counts what rows say that was read. Small buckets are sorted together; of one with more
    than `MOST_ROWS` rows, runs are written into files.
    """
    pa = arrow()
    group = _Group(read)
    last = -1
    for batch in batches:
        buckets, blocks = batch.column(0).to_pylist(), batch.column(2)
        for at, bucket in enumerate(buckets):
            if bucket != last and group.rows >= kernel.ROWS:
                yield from group.sorted()
                group = _Group(read)
            last = bucket
            group.add(pa.ipc.read_record_batch(blocks[at].as_buffer(), types))
    yield from group.sorted()


class _Group:
    """The rows of whole buckets."""

    def __init__(self, read: Counter[str]) -> None:
        self.read = read
        self.rows = self.held = 0
        self.blocks: list[Any] = []
        self.runs: Runs | None = None

    def add(self, block: Any) -> None:
        self.blocks.append(block)
        self.rows += block.num_rows
        self.held += block.num_rows
        if self.held >= MOST_ROWS:
            self.runs = self.runs or Runs()
            self.runs.add(self._taken(), kernel.ROWS)

    def sorted(self) -> Iterator[Any]:
        """The rows, sorted."""
        if self.runs is not None:
            if self.blocks:
                self.runs.add(self._taken(), kernel.ROWS)
            yield from self.runs.merged(kernel.ROWS)
        elif self.blocks:
            yield from in_order(self._taken(), kernel.ROWS)

    def _taken(self) -> Any:
        """The blocks that are held, without the rows that say how much was read."""
        pa = arrow()
        pc = pa.compute
        table = pa.Table.from_batches(self.blocks)
        self.blocks, self.held = [], 0
        if table.column(INSTANCE).null_count:
            counts = pc.and_(table.column(INSTANCE).is_null(), table.column(SEQ).is_valid())
            for row in table.filter(counts).to_pylist():
                self.read[row[RAW].decode()] += row[SEQ]
            table = table.filter(pc.invert(counts))
        return table
