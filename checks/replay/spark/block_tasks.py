"""What the workers of Spark do before the shuffle of typed rows: they make blocks of them.

The functions are objects that can be pickled: they hold the program as IR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..columnar.blocks import BLOCKS, MOST_BUCKETS, Packer, Placing, WholeInstances
from ..columnar.foreign_tables import typed_columns
from ..columnar.json_lines import LineDecoder
from ..columnar.layout import Layout, layout_of
from ..columnar.regular import arrow_types
from ..columnar.samples import Sampler
from ..parquet import arrow
from ..preparation.record_paths import names_in
from ..program import ReplayProgram
from .places import LineCounter

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ROWS = 1 << 16  # Rows of a table that are looked at together.
PARTITIONS = "spark.sql.shuffle.partitions"
OF_EACH = 8  # Ranges of a long instance for each partition of a shuffle.
ENOUGH = 512  # Buckets; every partition has one, and as many as all others.


def buckets_for(spark: SparkSession) -> int:
    """How many buckets a shuffle of the session needs."""
    partitions = int(spark.conf.get(PARTITIONS) or 1)
    each = max(1, min(OF_EACH, ENOUGH // partitions))
    return min(max(each * partitions, 64), MOST_BUCKETS)


def placing_for(spark: SparkSession, without: frozenset[str] = frozenset()) -> WholeInstances:
    """Whole instances, in as many buckets as a shuffle of the session needs."""
    return WholeInstances(even_buckets(spark, buckets_for(spark)), without)


def even_buckets(spark: SparkSession, count: int) -> tuple[int, ...]:
    """Buckets of which Spark's hash gives every partition equally many."""
    partitions = int(spark.conf.get(PARTITIONS) or 1)
    found = _known.get((partitions, count))
    if found is None:
        found = _known[partitions, count] = _even(spark, partitions, count)
    return found


_known: dict[tuple[int, int], tuple[int, ...]] = {}


def _even(spark: SparkSession, partitions: int, count: int) -> tuple[int, ...]:
    each = -(-count // partitions)
    most = 8 * (each + 8) * partitions
    query = f"SELECT transform(sequence(0, {most}), b -> pmod(hash(b), {partitions})) AS at"
    (row,) = spark.sql(query).collect()  # Spark computes it while it plans.
    by_partition: list[list[int]] = [[] for _ in range(partitions)]
    for bucket, at in enumerate(row["at"]):
        by_partition[int(at)].append(bucket)
    turns = (by_partition[i % partitions][i // partitions] for i in range(count))
    return tuple(turns)


@dataclass(frozen=True)
class Reading:
    """How rows are read: which of them a shuffle takes (`placing`; None for whole instances), or of
    what share of the rows only the numbers are told (`sample`)."""

    placing: Placing | None = None
    sample: float = 1.0

    def packed(
        self,
        rows: DataFrame,
        program: ReplayProgram,
        pack: type[Pack],
        instance: Column | None = None,
    ) -> DataFrame:
        """Blocks of rows, made by one of the tasks below. `instance` is the column with the names
        of their instances, if there is one: then Spark itself leaves out rows of other instances
        than the shuffle takes."""
        taken: Any = rows  # Its `mapInArrow` has no types.
        out: DataFrame
        if self.sample < 1:
            out = taken.sample(self.sample, seed=0).mapInArrow(pack(program, None), BLOCKS)
            return out
        placing = self.placing or placing_for(rows.sparkSession)
        if instance is not None:
            taken = _of_instances(rows, instance, placing)
        out = taken.mapInArrow(pack(program, placing), BLOCKS)
        return out


def _of_instances(rows: DataFrame, instance: Column, placing: Placing) -> DataFrame:
    """The rows that a shuffle may take, by their instances; those of none stay with the others."""
    from pyspark.sql import functions as F

    if placing.only is not None:
        return rows.where(instance.isin(sorted(placing.only)))
    if placing.without:
        return rows.where(~F.coalesce(instance.isin(sorted(placing.without)), F.lit(False)))
    return rows


ALL = Reading()


class DecodeLines:
    """Parses lines (`form`, `line`, `place`) into typed columns, and makes blocks of them; the last
    rows say how much was read of each form."""

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


class PackTable:
    """Makes blocks of the rows of a table, of which `typed.is_plain` holds. It has the columns that
    the mapping reads, in this order; if there is one more, it says where the rows are."""

    def __init__(self, program: ReplayProgram, placing: Placing | None) -> None:
        self.program = program
        self.placing = placing

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The blocks."""
        layout = _layout(self.program)
        packer = _packer(arrow_types(layout), self.placing)
        names = [names_in(path)[0] for path in layout.mapping.paths]
        count = len(names)
        for table in together(batches):
            place = table.column(count) if table.num_columns > count else None
            where = _nowhere if place is None else _values(place)
            # By their places: a column of the table may have the name of the last one.
            read = table.select([*range(count)]).rename_columns(names)
            yield from packer.add(typed_columns(read, layout, where))
        yield from packer.flushed()


def together(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches as tables of more rows: Spark sends 10,000 at once, each of which costs calls."""
    pa = arrow()
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _nowhere(row: int) -> None:
    """The place of a row of which nothing says where it is."""


def _values(column: Any) -> Callable[[int], str | None]:
    return lambda row: column[row].as_py()


class PackRows:
    """Makes blocks of the rows of `typed.of_table`."""

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


Pack = DecodeLines | PackTable | PackRows


def _layout(program: ReplayProgram) -> Layout:
    layout = layout_of(program)
    assert layout is not None
    return layout


def _packer(types: Any, placing: Placing | None) -> Packer | Sampler:
    return Sampler() if placing is None else Packer(types, placing, task_number())


def task_number() -> int:
    """The number of this task's partition."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
