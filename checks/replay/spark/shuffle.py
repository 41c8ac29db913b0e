"""One shuffle by instance, one sort, one fold: what every replay on Spark does.

    blocks -> repartition(bucket) -> sort(bucket, number) -> mapInArrow: their rows sorted, judged
    keyed lines -> repartition(instance) -> sort(instance, seq) -> mapInArrow: what was found

How many partitions there are is Spark's decision: `spark.sql.shuffle.partitions`, of which adaptive
execution brings small ones together. It never splits one, so an instance stays whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..columnar.blocks import BUCKET, NUMBER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Task = Callable[[Iterable[Any]], Iterator[Any]]


def folded(keyed: DataFrame, task: Task, schema: str) -> DataFrame:
    """The result of a task over the sorted rows of each partition; `keyed` is as in `inputs`."""
    from pyspark.sql import functions as F

    frame: Any = keyed
    if BUCKET in keyed.columns:
        rows = ordered(keyed)
    else:
        # Rows without an instance are distributed by their text, or one task would get them all.
        spread = F.coalesce(F.col("instance").cast("binary"), F.col("line"))
        rows = frame.repartition(spread).sortWithinPartitions("instance", "seq")
    out: DataFrame = rows.mapInArrow(task, schema)
    return out


def ordered(blocks: DataFrame, partitions: int | None = None) -> Any:
    """Blocks, all of a bucket in one partition, in order; its `mapInArrow` has no types."""
    frame: Any = blocks
    by = (BUCKET,) if partitions is None else (partitions, BUCKET)
    return frame.repartition(*by).sortWithinPartitions(BUCKET, NUMBER)
