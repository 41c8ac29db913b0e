"""Long instances on Spark: those with so many of the rows that one task would work much longer.

Where the states of the machine are few (`columnar.chains`), their rows are judged apart, in ranges
of their numbers, before the replay of all other instances:

    a sample of the rows -> the long instances, and ranges of their numbers
    their rows -> repartition(range) -> sort -> mapInArrow: segments, judged from every state
    rows of segments with problems -> repartition(range) -> sort -> mapInArrow: folded

The driver joins what comes back. Each step reads the input again.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..columnar.batches import rows_in
from ..columnar.blocks import rows_of_blocks
from ..columnar.chains import (
    Chain,
    Folded,
    Part,
    PartFold,
    Segment,
    joined,
    splittable,
    with_found,
)
from ..columnar.kernel import in_groups
from ..columnar.layout import Layout, layout_of
from ..columnar.regular import arrow_types
from ..columnar.row_ranges import Range, Ranges, cut
from ..columnar.samples import Sample, together
from ..parquet import arrow
from ..problems import InstanceVerdict
from ..program import ReplayProgram
from ..rows import Rejected
from .block_tasks import OF_EACH, PARTITIONS, Reading, even_buckets, placing_for
from .shuffle import ordered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LONG = 1 << 18  # Rows; an instance with fewer is not worth another pass over the input.
SHARE = 0.01  # Of the rows are in the sample.
PICKLED = "found binary"
FOLDS = 2  # Times that parts are folded: the second time with the row since which states are lost.

Read = Callable[[Reading], "DataFrame"]  # Reads the input, as blocks.


def split(
    spark: SparkSession, read: Read, program: ReplayProgram
) -> tuple[DataFrame, list[InstanceVerdict | Rejected]]:
    """The rows to replay, and what was judged of long instances, which are not among them."""
    found: list[InstanceVerdict | Rejected] = []
    names: set[str] = set()
    if splits(program):
        for chain in _chains(spark, read, program):
            verdict = chain.verdict()
            if verdict is not None:
                names.add(verdict.instance)
                found += [verdict, *chain.rejected]
    return read(Reading(placing_for(spark, frozenset(names)))), found


def splits(program: ReplayProgram) -> bool:
    """Whether long instances of a program can be split."""
    layout = layout_of(program)
    if layout is None or splittable(program) is None or find_spec("numpy") is None:
        return False
    from ..columnar.lanes import lanes_of

    return lanes_of(program, layout) is not None


def _chains(spark: SparkSession, read: Read, program: ReplayProgram) -> list[Chain]:
    """The chains of all long instances, with what was found in their parts."""
    partitions = int(spark.conf.get(PARTITIONS) or 1)
    samples = read(Reading(sample=SHARE)).collect()
    ranges = long_ranges(together(pickle.loads(row["rows"]) for row in samples), partitions)
    if not ranges:
        return []
    segments: list[Segment] = _collected(spark, read, ranges, Segments, program)
    chains = joined(segments, program)
    for _ in range(FOLDS):
        parts = [part for chain in chains for part in chain.parts()]
        if parts:
            where = [part.range for part in parts]
            folded: list[Folded] = _collected(spark, read, where, Folds, program, parts)
            for chain in chains:
                with_found(chain, folded)
    return chains


def long_ranges(sample: Sample, partitions: int) -> list[Range]:
    """Ranges of the instances with more than half of the rows that a partition has on average.

    Each has as many ranges as partitions, or several times as many.
    """
    out: list[Range] = []
    for name, (count, numbers) in sorted(sample.instances.items()):
        share = count / max(sample.rows, 1)
        if partitions > 1 and count >= LONG * SHARE and share > 0.5 / partitions:
            times = max(round(share * OF_EACH), 1)
            out += cut(name, numbers, times * partitions)
    return out


def _collected(
    spark: SparkSession, read: Read, ranges: Sequence[Range], task: Any, *args: Any
) -> list[Any]:
    """What a task finds in the rows of these ranges."""
    where = Ranges(tuple(sorted(ranges)), even_buckets(spark, len(ranges)))
    blocks: Any = ordered(read(Reading(where)))
    rows = blocks.mapInArrow(task(where, *args), PICKLED).collect()
    return [each for row in rows for each in pickle.loads(row["found"])]


class Segments:
    """Judges the rows of ranges from every state: the segments, pickled."""

    def __init__(self, ranges: Ranges, program: ReplayProgram) -> None:
        self.ranges = ranges
        self.program = program

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The segments of each batch."""
        from ..columnar.lanes import lanes_of  # It needs NumPy, which the driver may not have.

        layout = _layout(self.program)
        lanes = lanes_of(self.program, layout)
        assert lanes is not None
        for columns in _sorted(batches, layout):
            yield _pickled([*lanes.segments(columns, self.ranges)])


class Folds:
    """Folds the rows of parts, whose ranges these are."""

    def __init__(self, ranges: Ranges, program: ReplayProgram, parts: Sequence[Part]) -> None:
        self.ranges = ranges
        self.program = program
        self.parts = {part.range: part for part in parts}

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """What was found in each part."""
        layout, states = _layout(self.program), splittable(self.program)
        assert states is not None
        fold: PartFold | None = None
        for columns in _sorted(batches, layout):
            for where, start, end in self.ranges.parts(columns):
                part = self.parts[where]
                if fold is None or fold.part is not part:
                    if fold is not None:
                        yield _pickled([fold.end()])
                    fold = PartFold(self.program, part, states)
                for row in rows_in(columns.slice(start, end - start), layout):
                    fold.take(row)
        if fold is not None:
            yield _pickled([fold.end()])


def _layout(program: ReplayProgram) -> Layout:
    layout = layout_of(program)
    assert layout is not None
    return layout


def _sorted(batches: Iterable[Any], layout: Layout) -> Iterator[Any]:
    return in_groups(rows_of_blocks(batches, arrow_types(layout), Counter()))


def _pickled(found: list[Any]) -> Any:
    pa = arrow()
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(found)], pa.binary())], ["found"])
