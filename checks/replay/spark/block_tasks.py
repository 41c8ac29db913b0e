"""What the workers of Spark do before the shuffle of typed rows: they make blocks of them.

The functions are objects that can be pickled: they hold the program as IR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..columnar.blocks import BLOCKS, MOST_BUCKETS, Packer, Placing, WholeInstances
from ..columnar.json_lines import LineDecoder
from ..columnar.layout import Layout, layout_of
from ..columnar.regular import arrow_types
from ..columnar.samples import Sampler
from ..parquet import arrow
from ..program import ReplayProgram
from .places import LineCounter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
OF_EACH = 8  # Buckets for each partition of a shuffle, so that partitions are about even.


def buckets_for(spark: SparkSession) -> int:
    """How many buckets a shuffle of the session needs."""
    partitions = int(spark.conf.get(PARTITIONS) or 0)
    return min(max(OF_EACH * partitions, 64), MOST_BUCKETS)


def placing_for(spark: SparkSession, without: frozenset[str] = frozenset()) -> WholeInstances:
    """Whole instances, in as many buckets as a shuffle of the session needs."""
    return WholeInstances(buckets_for(spark), without)


@dataclass(frozen=True)
class Reading:
    """How rows are read: which of them a shuffle takes (`placing`; None for whole instances), or of
    what share of the rows only the numbers are told (`sample`)."""

    placing: Placing | None = None
    sample: float = 1.0

    def packed(self, rows: DataFrame, program: ReplayProgram, lines: bool) -> DataFrame:
        """Blocks of rows: of lines (`form`, `line`, `place`), or of rows of `typed.of_table`."""
        taken: Any = rows  # Its `mapInArrow` has no types.
        placing: Placing | None = self.placing or placing_for(rows.sparkSession)
        if self.sample < 1:
            taken, placing = taken.sample(self.sample, seed=0), None
        task = DecodeLines(program, placing) if lines else PackRows(program, placing)
        out: DataFrame = taken.mapInArrow(task, BLOCKS)
        return out


ALL = Reading()


class DecodeLines:
    """Parses lines into typed columns, and makes blocks of them; the last rows say how much was
    read of each form."""

    def __init__(self, program: ReplayProgram, placing: Placing | None) -> None:
        self.program = program
        self.placing = placing

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The blocks."""
        decoder, counter = LineDecoder(_layout(self.program)), LineCounter()
        packer = _packer(decoder.schema, self.placing)
        read: Counter[str] = Counter()
        for batch in batches:
            if not batch.num_rows:
                continue
            form, lines = batch.column(0)[0].as_py(), batch.column(1).to_pylist()
            place = counter.later(batch.column(2))
            read[form] += sum(map(len, lines)) + len(lines)
            yield from packer.add(decoder.batch(lines, place))
        for form, much in read.items():
            yield from packer.count(form, much)
        yield from packer.flushed()


class PackRows:
    """Makes blocks of typed rows that Spark made."""

    def __init__(self, program: ReplayProgram, placing: Placing | None) -> None:
        self.program = program
        self.placing = placing

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The blocks."""
        pa = arrow()
        types = arrow_types(_layout(self.program))
        packer = _packer(types, self.placing)
        for batch in batches:
            columns = zip(batch.columns, types.types, strict=True)
            cast = [column.cast(of) for column, of in columns]
            yield from packer.add(pa.Table.from_arrays(cast, schema=types))
        yield from packer.flushed()


def _layout(program: ReplayProgram) -> Layout:
    layout = layout_of(program)
    assert layout is not None
    return layout


def _packer(types: Any, placing: Placing | None) -> Packer | Sampler:
    return Sampler() if placing is None else Packer(types, placing, _task())


def _task() -> int:
    """The number of this task's partition."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
