"""What the workers of Spark do before the shuffle of typed rows: they make blocks of them.

The functions are objects that can be pickled: they hold the program as IR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..columnar.blocks import BLOCKS, MOST_BUCKETS, Packer
from ..columnar.json_lines import LineDecoder
from ..columnar.layout import Layout, layout_of
from ..columnar.regular import arrow_types
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


def lines_packed(lines: DataFrame, program: ReplayProgram) -> DataFrame:
    """Blocks of the rows in lines: `form`, `line`, `place`."""
    frame: Any = lines  # Its `mapInArrow` has no types.
    out: DataFrame = frame.mapInArrow(DecodeLines(program, buckets_for(lines.sparkSession)), BLOCKS)
    return out


def rows_packed(typed: DataFrame, program: ReplayProgram) -> DataFrame:
    """Blocks of the rows of `typed.of_table`."""
    frame: Any = typed
    out: DataFrame = frame.mapInArrow(PackRows(program, buckets_for(typed.sparkSession)), BLOCKS)
    return out


class DecodeLines:
    """Parses lines into typed columns, and makes blocks of them; the last rows say how much was
    read of each form."""

    def __init__(self, program: ReplayProgram, buckets: int) -> None:
        self.program = program
        self.buckets = buckets

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The blocks."""
        decoder, counter = LineDecoder(_layout(self.program)), LineCounter()
        packer = Packer(decoder.schema, self.buckets, _task())
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

    def __init__(self, program: ReplayProgram, buckets: int) -> None:
        self.program = program
        self.buckets = buckets

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The blocks."""
        pa = arrow()
        types = arrow_types(_layout(self.program))
        packer = Packer(types, self.buckets, _task())
        for batch in batches:
            columns = zip(batch.columns, types.types, strict=True)
            cast = [column.cast(of) for column, of in columns]
            yield from packer.add(pa.Table.from_arrays(cast, schema=types))
        yield from packer.flushed()


def _layout(program: ReplayProgram) -> Layout:
    layout = layout_of(program)
    assert layout is not None
    return layout


def _task() -> int:
    """The number of this task's partition."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
