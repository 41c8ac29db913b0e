"""A sample of rows: which instances are long, and which numbers their rows have."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..parquet import arrow
from .layout import INSTANCE, SEQ

MOST_NUMBERS = 4000  # Numbers of one instance that a task tells.
RARE = 1 / 4096  # An instance with a smaller share of a task's rows is not told.


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows of one task: how many there are, and of each long instance how many, and some of
    their numbers in order."""

    rows: int
    instances: dict[str, tuple[int, list[int]]]


class Sampler:
    """Takes tables as a `blocks.Packer` does, and makes one block: a pickled `Sample`."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def add(self, table: Any) -> Iterator[Any]:
        """Take the rows of a table; there is no block before the end."""
        self.waiting.append(table.select([INSTANCE, SEQ]))
        return iter(())

    def count(self, form: str, much: int) -> Iterator[Any]:
        """How much was read of a form of lines is not told by a sample."""
        return iter(())

    def flushed(self) -> Iterator[Any]:
        """The block, in a batch of the schema `blocks.BLOCKS`."""
        if not self.waiting:
            return
        pa = arrow()
        pc = pa.compute
        table = pa.concat_tables(self.waiting)
        table = table.filter(pc.and_(table.column(0).is_valid(), table.column(1).is_valid()))
        long: dict[str, tuple[int, list[int]]] = {}
        for each in pc.value_counts(table.column(INSTANCE)).to_pylist():
            name, count = each["values"], each["counts"]
            if count > table.num_rows * RARE:
                seqs = table.filter(pc.equal(table.column(INSTANCE), name)).column(SEQ)
                ordered = sorted(seqs.to_pylist())
                long[name] = count, ordered[:: -(-count // MOST_NUMBERS)]
        block = pickle.dumps(Sample(table.num_rows, long))
        columns = [pa.array([0], pa.int32()), pa.array([0], pa.int64())]
        columns.append(pa.array([block], pa.binary()))
        yield pa.RecordBatch.from_arrays(columns, names=["bucket", "number", "rows"])


def together(samples: Iterable[Sample]) -> Sample:
    """The samples of all tasks as one; a number of a task that left some out counts as several."""
    rows, counts, numbers = 0, dict[str, int](), dict[str, list[int]]()
    for sample in samples:
        rows += sample.rows
        for name, (count, seqs) in sample.instances.items():
            counts[name] = counts.get(name, 0) + count
            times = round(count / len(seqs))
            numbers.setdefault(name, []).extend(seq for seq in seqs for _ in range(times))
    return Sample(rows, {name: (counts[name], sorted(numbers[name])) for name in counts})
