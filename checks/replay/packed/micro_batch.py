"""The rows of a micro-batch in one bucket, sorted, each instance after the row that it kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..columnar.batches import rows_in
from ..columnar.layout import INSTANCE, RAW, SEQ
from ..columnar.regular import keys_of
from ..columnar.row_order import sorted_by
from ..parquet import arrow
from ..rows import Rejected, Row
from .packed_instances import PackedInstances
from .plain_machine import PlainMachine
from .row_log import whole_rows


class MicroBatch:
    """A table of a layout's columns, by the numbers of its instances, of which new ones are added
    to those that are kept.

    A segment is an instance with its rows: `starts` and `ends` in `columns`, `numbers` of the
    instances. `new`: which rows are of this micro-batch; another one is the last row of a packed
    instance, before its new ones. `rejected`: the rows of no instance.
    """

    def __init__(self, machine: PlainMachine, kept: PackedInstances, table: Any) -> None:
        self.machine = machine
        self.kept = kept
        self.layout = layout = machine.layout
        table = table.combine_chunks()
        names = table.column(INSTANCE).combine_chunks()
        self.rejected = [*self._rejected(table, names)]
        table = table.filter(names.is_valid())
        self.rows: int = table.num_rows
        if not self.rows:
            return
        encoded = table.column(INSTANCE).combine_chunks().dictionary_encode()
        known = encoded.dictionary.to_pylist()
        self.before = len(kept.names)  # From this number on instances are new.
        kept.add([name for name in known if name not in kept.numbers])
        numbers = np.array([kept.numbers[name] for name in known])
        packed = np.sort(numbers[kept.flags["packed"][numbers]])
        pa = arrow()
        before = kept.last_rows.take(pa.array(packed, pa.int64()))
        nobody = pa.nulls(len(packed), pa.string())
        joined = pa.concat_tables(
            [each.drop_columns(INSTANCE) for each in (whole_rows(before, nobody, layout), table)]
        )
        at = np.r_[packed, numbers[encoded.indices.to_numpy()]]
        seqs = joined.column(SEQ).to_numpy()
        order = sorted_by(at, seqs)
        self.new = order >= len(packed)
        (self.columns,) = joined.take(pa.array(order)).combine_chunks().to_batches()
        at = at[order]
        self.starts = np.flatnonzero(np.r_[True, at[1:] != at[:-1]])
        self.ends = np.r_[self.starts[1:], len(at)]
        self.numbers = at[self.starts]
        self.keys = keys_of(self.columns, self.starts, layout)
        self.place = {number: i for i, number in enumerate(self.numbers.tolist())}

    def _rejected(self, table: Any, names: Any) -> Iterator[Rejected]:
        """The rows of no instance; one with a number says how much was read."""
        pc = arrow().compute
        if names.null_count:
            none = table.filter(pc.and_(names.is_null(), table.column(SEQ).is_null()))
            for row in rows_in(none, self.layout):
                if isinstance(row, Rejected):
                    yield row.at("", 0)

    def others(self, segments: Any) -> Any:
        """All segments but these."""
        rest = np.ones(len(self.starts), dtype=bool)
        rest[segments] = False
        return np.flatnonzero(rest)

    def python_rows(self, segments: Any) -> Iterator[Row | Rejected]:
        """The new rows of segments as the row fold takes them, those of an instance in order."""
        wanted = np.zeros(len(self.starts), dtype=bool)
        wanted[segments] = True
        of_row = np.repeat(np.arange(len(self.starts)), self.ends - self.starts)
        at = np.flatnonzero(wanted[of_row] & self.new)
        pa = arrow()
        numbers = self.numbers[of_row[at]].tolist()
        names = pa.array([self.kept.names[number] for number in numbers], pa.string())
        rows = self.columns.take(pa.array(at))
        yield from rows_in(rows.add_column(0, INSTANCE, names), self.layout)

    def last_row(self, number: int, seq: int) -> Any:
        """The columns of the last new row of an instance, which has this number; None where the
        last row is another one, or is not regular."""
        last = self.ends[self.place[number]] - 1
        row = self.columns.slice(last, 1)
        if not self.new[last] or row.column(RAW)[0].is_valid or row.column(SEQ)[0].as_py() != seq:
            return None
        return self.taken([last])

    def taken(self, at: Iterable[int]) -> Any:
        """A table of rows of these indices, with the columns that are kept of a row."""
        pa = arrow()
        names = self.kept.last_rows.column_names
        table = pa.Table.from_batches([self.columns]).select(names)
        return table.take(pa.array(at, pa.int64()))
