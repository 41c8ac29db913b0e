"""Trace stores on Spark: written after one shuffle, replayed without one.

A task reads whole buckets from files that all workers see, so no row goes through the JVM.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..columnar.blocks import rows_of_blocks
from ..columnar.kernel import Kernel
from ..columnar.layout import layout_of
from ..columnar.regular import arrow_types
from ..columnar.trace_store import (
    BucketWriter,
    TraceStore,
    batches_of_bucket,
    completed,
    stored_layout,
)
from ..parquet import arrow
from ..program import ReplayProgram
from ..sources import Sources
from ..tally import Tallies
from . import inputs
from .partitions import TALLIES, tallied, together
from .session import plain_errors, session
from .shuffle import ordered
from .tallying import check_read

WRITTEN = "name string, rows long, form string, much long"


class WritePartition:
    """Writes one sorted partition as a bucket: a row with its name, and how much was read of each
    form. A file of a task that failed is in no manifest.
    """

    def __init__(self, program: ReplayProgram, folder: Path) -> None:
        self.program = program
        self.folder = folder

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The name of the bucket."""
        from pyspark import TaskContext

        layout = layout_of(self.program)
        context = TaskContext.get()
        assert layout is not None and context is not None
        writer = BucketWriter(self.folder, context.partitionId(), layout)
        read: Counter[str] = Counter()
        for batch in rows_of_blocks(batches, arrow_types(layout), read):
            writer.write(batch)
        name, rows = writer.close()
        told: list[dict[str, Any]] = [{"name": name, "rows": rows}]
        told += [{"form": form, "much": much} for form, much in read.items()]
        pa = arrow()
        types = {"string": pa.string(), "long": pa.int64()}
        columns = (column.split() for column in WRITTEN.split(", "))
        schema = pa.schema([(column, types[kind]) for column, kind in columns])
        yield pa.RecordBatch.from_pylist(told, schema=schema)


def write_on_spark(
    files: Sources, program: ReplayProgram, folder: Path, buckets: int, master: str | None = None
) -> TraceStore:
    """Write a store in the active Spark session, or in a new one."""
    spark = session(master)
    layout = stored_layout(program)
    with plain_errors():
        rows: Any = ordered(inputs.of_files(spark, files, program), buckets)
        done = rows.mapInArrow(WritePartition(program, folder.resolve()), WRITTEN).collect()
        expected = inputs.expected_of(files, program)
    read: Counter[str] = Counter()
    for row in done:
        if row["form"] is not None:
            read[row["form"]] += row["much"]
    check_read(read, expected)
    return completed(folder, layout, [(row["name"], row["rows"]) for row in done if row["name"]])


class TallyBuckets:
    """Counts the verdicts of the buckets whose paths it gets: one row, with its tallies."""

    def __init__(self, program: ReplayProgram) -> None:
        self.program = program

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The tallies, pickled."""
        layout = layout_of(self.program)
        assert layout is not None
        tallies = Tallies(self.program.every)
        for batch in batches:
            for path in batch.column(0).to_pylist():
                for each in Kernel(self.program, layout).judge(batches_of_bucket(path, layout)):
                    tallies.add(each)
        yield tallied(tallies, Counter())


def tally_store_on_spark(
    store: TraceStore, program: ReplayProgram, master: str | None = None
) -> Tallies:
    """Replay a store in the active Spark session, or in a new one: a task for each bucket."""
    store.layout(program)
    spark: Any = session(master)  # Its `mapInArrow` has no types.
    with plain_errors():
        paths = [(str(Path(path).resolve()),) for path in store.paths]
        rows = spark.createDataFrame(paths, "path string").repartition(len(paths))
        found = rows.mapInArrow(TallyBuckets(program), TALLIES).collect()
    return together(row["tallies"] for row in found)[0]
