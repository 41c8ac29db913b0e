"""Blocks of typed rows: what a shuffle carries in place of single rows.

    bucket int, number long, rows binary

A bucket has some instances, each with all its rows; the checksum of a name says which bucket it is
in. A block has rows of one bucket that one task read, by instance, those of one instance in the
order in which it read them. `number` orders the blocks of a bucket: by task, and as that task made
them. So a shuffle moves a few large values, and what comes after it sorts columns.

A block is small, because Spark compresses, copies and sends it: the name of an instance stands once
for all its rows, a column without a value is left out, and integers have as few bytes as the
largest needs.

A task holds `MOST_ROWS` rows or `MOST_BYTES` before it makes blocks of them. A task that sorts
blocks writes a run into a file when it holds `MOST_ROWS` rows, whatever their size.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from ..parquet import arrow
from . import kernel
from .layout import INSTANCE, RAW, SEQ
from .row_order import Runs, in_order, sorted_by

BLOCKS = "bucket int, number long, rows binary"
BUCKET, NUMBER = "bucket", "number"
MOST_ROWS = 1 << 20
MOST_BYTES = 1 << 26
OUT = 1 << 22  # Bytes of blocks in one batch of the result.
MOST_BUCKETS = 1 << 16
# A block: the bytes of the names, how each column is kept, the names, the rows.
NAMES_BYTES = struct.Struct("<I")
NOTHING, WHOLE = 0, 4  # A column without a value, and one as it is; others have 1, 2 or 4 bytes.


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
    only: None = None

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
    """Which rows a shuffle takes, and their buckets: `WholeInstances` or `row_ranges.Ranges`.

    It takes no row of an instance that is none of those in `only` (None for all), or one of those
    in `without`.
    """

    @property
    def only(self) -> frozenset[str] | None: ...

    @property
    def without(self) -> frozenset[str]: ...

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
        if not self.rows:
            return
        pa = arrow()
        table = pa.concat_tables(self.waiting).combine_chunks()
        self.waiting, self.rows, self.bytes = [], 0, 0
        at = table.schema.get_field_index(INSTANCE)
        names = table.column(at).combine_chunks().dictionary_encode()
        table = table.set_column(at, INSTANCE, names)
        buckets, taken = self.placing.placed(table)
        order = sorted_by(buckets, numbers_of(names))
        if taken is not None:
            order = order[taken[order]]
            if not len(order):
                return
        full: list[tuple[int, Any]] = []
        size = 0
        for bucket, block in blocks_of(table, buckets[order], order):
            full.append((bucket, block))
            size += len(block)
            if size >= OUT:
                yield self._batch(full)
                full, size = [], 0
        if full:
            yield self._batch(full)
        self.next += 1

    def _batch(self, blocks: list[tuple[int, Any]]) -> Any:
        pa = arrow()
        columns = [
            pa.array([bucket for bucket, _ in blocks], pa.int32()),
            pa.array([self.next] * len(blocks), pa.int64()),
            pa.array([block for _, block in blocks], pa.binary()),
        ]
        return pa.RecordBatch.from_arrays(columns, names=[BUCKET, NUMBER, "rows"])


def blocks_of(table: Any, buckets: Any, order: Any) -> Iterator[tuple[int, bytes]]:
    """The blocks of rows of a table whose instances are a dictionary, each with its bucket.

    `order` has the indices of the rows by bucket and instance, `buckets` the bucket of each of
    them.
    """
    import numpy as np

    pa = arrow()
    names = table.column(INSTANCE).combine_chunks()
    at = numbers_of(names)[order]
    differs = np.r_[True, buckets[1:] != buckets[:-1]]
    starts = np.flatnonzero(differs)
    runs = np.flatnonzero(differs | np.r_[True, at[1:] != at[:-1]])
    lengths = np.diff(np.r_[runs, len(order)])
    told = names.dictionary.take(pa.array(at[runs], mask=at[runs] < 0))
    heads = pa.record_batch([told, pa.array(lengths.astype(np.int32))], names=["name", "rows"])
    forms, kept = bytearray(), list[Any]()
    taken = pa.array(order)
    for column in table.drop_columns(INSTANCE).columns:
        form, small = _small(column)
        forms.append(form)
        if form != NOTHING:
            kept.append(small.take(taken).combine_chunks())
    rows = pa.RecordBatch.from_arrays(kept, names=[*map(str, range(len(kept)))])
    cuts = [*starts.tolist(), len(order)]
    firsts = runs.searchsorted(cuts).tolist()
    for i, (start, end) in enumerate(pairwise(cuts)):
        head = heads.slice(firsts[i], firsts[i + 1] - firsts[i]).serialize()
        begin = _padded(NAMES_BYTES.pack(head.size) + forms)
        body = rows.slice(start, end - start).serialize()
        yield int(buckets[start]), b"".join((begin, head, body))


def numbers_of(names: Any) -> Any:
    """The indices of a dictionary of names; -1 for none."""
    return names.indices.fill_null(-1).to_numpy(zero_copy_only=False)


def _padded(start: bytes) -> bytes:
    """The bytes, so many that what follows is aligned as Arrow wants it."""
    return start + bytes(-len(start) % 8)


def _small(column: Any) -> tuple[int, Any]:
    """How a column is kept, and the column so."""
    pa = arrow()
    if column.null_count == len(column):
        return NOTHING, column
    if pa.types.is_integer(column.type):
        found = pa.compute.min_max(column).as_py()
        for form, kind in enumerate(_integers(), 1):
            most = 1 << (kind.bit_width - 1)
            if kind.bit_width < column.type.bit_width and (
                -most <= found["min"] and found["max"] < most
            ):
                return form, column.cast(kind)
    return WHOLE, column


def _integers() -> Sequence[Any]:
    pa = arrow()
    return pa.int8(), pa.int16(), pa.int32()


class Opener:
    """Makes rows of blocks again, as batches of a layout's columns with instances as dictionary."""

    def __init__(self, types: Any) -> None:
        pa = arrow()
        self.heads = pa.schema([("name", pa.string()), ("rows", pa.int32())])
        at = types.get_field_index(INSTANCE)
        assert at == 0  # The columns of a block are all others, in order.
        self.types = types.set(at, pa.field(INSTANCE, pa.dictionary(pa.int64(), pa.string())))
        self.kept: dict[bytes, Any] = {}

    def rows(self, block: Any) -> Any:
        """The rows of a block."""
        import numpy as np

        pa = arrow()
        count = len(self.types) - 1
        (names_bytes,) = NAMES_BYTES.unpack_from(block)
        forms = bytes(block[NAMES_BYTES.size : NAMES_BYTES.size + count])
        begin = len(_padded(bytes(NAMES_BYTES.size + count)))
        names = pa.ipc.read_record_batch(block.slice(begin, names_bytes), self.heads)
        told = pa.ipc.read_record_batch(block.slice(begin + names_bytes), self._schema(forms))
        known, lengths = names.column("name"), names.column("rows").to_numpy()
        at = np.arange(len(lengths)).repeat(lengths)
        none = None
        if known.null_count:  # Arrow joins no dictionaries with nulls.
            none = np.repeat(np.asarray(known.is_null()), lengths)
            known = known.fill_null("")
        columns = [pa.DictionaryArray.from_arrays(pa.array(at, mask=none), known)]
        kept = iter(told.columns)
        for form, kind in zip(forms, self.types.types[1:], strict=True):
            column = pa.nulls(len(at), kind) if form == NOTHING else next(kept)
            columns.append(column if column.type == kind else column.cast(kind))
        return pa.RecordBatch.from_arrays(columns, schema=self.types)

    def _schema(self, forms: bytes) -> Any:
        """The types of the columns that are kept."""
        pa = arrow()
        if forms not in self.kept:
            small = (None, *_integers())
            kinds = [
                each if form == WHOLE else small[form]
                for form, each in zip(forms, self.types.types[1:], strict=True)
                if form != NOTHING
            ]
            self.kept[forms] = pa.schema([(str(i), kind) for i, kind in enumerate(kinds)])
        return self.kept[forms]


def rows_of_blocks(batches: Iterable[Any], types: Any, read: Counter[str]) -> Iterator[Any]:
    """The rows of blocks that come bucket by bucket, in order, as sorted batches.

    `read` counts what rows say that was read. Small buckets are sorted together; of one with more
    than `MOST_ROWS` rows, runs are written into files.
    """
    group, opener = _Group(read), Opener(types)
    last = -1
    for batch in batches:
        buckets, blocks = batch.column(0).to_pylist(), batch.column(2)
        for at, bucket in enumerate(buckets):
            if bucket != last and group.rows >= kernel.ROWS:
                yield from group.sorted()
                group = _Group(read)
            last = bucket
            group.add(opener.rows(blocks[at].as_buffer()))
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
        return table.combine_chunks()
