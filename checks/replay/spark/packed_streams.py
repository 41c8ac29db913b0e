"""A stream of typed rows: a shuffle of blocks, and buckets of packed instances.

    rows -> blocks of typed columns (`columnar.blocks`) -> bucket -> transformWithStateInPandas

A micro-batch reads and writes one value of each bucket that has rows, whatever the number of their
instances; only instances with something unusual have values of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..columnar.blocks import BLOCKS, BUCKET, NUMBER, Opener, Packer, WholeInstances
from ..columnar.layout import INSTANCE, layout_of
from ..columnar.regular import arrow_types
from ..flaws.absent_values import Told
from ..parquet import arrow
from ..program import ReplayProgram
from .block_tasks import Pack, Reading, task_number
from .inputs import FRAME, of_frame
from .partitions import RECORD
from .record_frames import frames_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Spark refuses a checkpoint in which a state of this name is a map: so it is in `streaming`, and so
# was that of every stream when none was packed. The instances are in other buckets there.
COLUMNS = "states"
CHUNKS, TEXTS = "chunks", "texts"


def is_packed(program: ReplayProgram) -> bool:
    """Whether instances of the program are packed."""
    from ..packed.plain_machine import plain_machine  # It needs NumPy, as all of a stream does.

    layout = layout_of(program)
    return layout is not None and plain_machine(program, layout) is not None


def packed_stream(rows: DataFrame, program: ReplayProgram, buckets: int) -> DataFrame:
    """The records of a stream of rows, of a program whose instances are packed."""
    how = StreamReading(WholeInstances(tuple(range(buckets))))
    grouped: Any = of_frame(rows, program, how).groupBy(BUCKET)
    out: DataFrame = grouped.transformWithStateInPandas(
        statefulProcessor=packed_processor(program, buckets),
        outputStructType=RECORD,
        outputMode="Update",
        timeMode="None",
    )
    return out


class StreamReading(Reading):
    """How the rows of a stream are read: each task that has some also makes a block for bucket 0,
    so that this bucket sees in each micro-batch that the number of buckets is that of before."""

    def packed(
        self,
        rows: DataFrame,
        program: ReplayProgram,
        pack: type[Pack],
        instance: Column | None = None,
    ) -> DataFrame:
        """Blocks of rows. A stream leaves out no instances, so their column is not needed."""
        assert self.placing is not None
        taken: Any = rows  # Its `mapInArrow` has no types.
        out: DataFrame = taken.mapInArrow(WithFirst(program, pack(program, self.placing)), BLOCKS)
        return out


class WithFirst:
    """Makes blocks, and after them one for bucket 0, which counts no rows."""

    def __init__(self, program: ReplayProgram, pack: Pack) -> None:
        self.program = program
        self.pack = pack

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The blocks."""
        some = False
        for made in self.pack(batches):
            some = True
            yield made
        layout = layout_of(self.program)
        assert layout is not None
        if some:
            first = Packer(arrow_types(layout), WholeInstances((0,)), task_number())
            yield from first.count(FRAME, 0)
            yield from first.flushed()


class SparkStore:
    """The states of a bucket in Spark's state store."""

    def __init__(self, handle: Any) -> None:
        self.kept = handle.getValueState(COLUMNS, "text string, last_rows binary")
        self.chunks = handle.getMapState(CHUNKS, "number long", "rows binary")
        self.texts = handle.getMapState(TEXTS, "instance string", "state string")

    def columns(self) -> tuple[str, bytes] | None:
        """What was kept of the instances."""
        found = self.kept.get()
        return None if found is None else (found[0], bytes(found[1]))

    def keep_columns(self, text: str, last_rows: bytes) -> None:
        """Keep the columns of the instances."""
        self.kept.update((text, last_rows))

    def chunk(self, number: int) -> bytes:
        """A chunk of the log."""
        return bytes(self.chunks.getValue((number,))[0])

    def keep_chunk(self, number: int, data: bytes) -> None:
        """Keep a chunk of the log."""
        self.chunks.updateValue((number,), (data,))

    def drop_chunk(self, number: int) -> None:
        """Drop a chunk of the log."""
        self.chunks.removeKey((number,))

    def text(self, name: str) -> str:
        """The text of an instance; empty where it has none."""
        key = (name,)
        text: str = self.texts.getValue(key)[0] if self.texts.containsKey(key) else ""
        return text

    def keep_text(self, name: str, text: str) -> None:
        """Keep the text of an instance."""
        self.texts.updateValue((name,), (text,))


def packed_processor(program: ReplayProgram, buckets: int) -> Any:
    """The processor of one of so many buckets; its class is made here: pyspark may be missing."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class PackedBuckets(StatefulProcessor):
        """Goes on with the instances of a bucket."""

        def init(self, handle: Any) -> None:
            """Open the states."""
            self.store = SparkStore(handle)

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
            """The records of all instances of the bucket with rows in this micro-batch, and what
            the rows tell."""
            from ..packed.bucket import Bucket
            from ..packed.plain_machine import plain_machine

            layout = layout_of(program)
            machine = None if layout is None else plain_machine(program, layout)
            assert layout is not None and machine is not None
            told = Told(program)
            bucket = Bucket(program, machine, self.store, buckets)
            judged = bucket.judge(_table(rows, arrow_types(layout)), told)
            yield from frames_of(judged, told.counts)

    return PackedBuckets()


def _table(frames: Iterator[Any], types: Any) -> Any:
    """The rows of blocks, in the order in which the tasks read them."""
    pa = arrow()
    blocks = [
        pair
        for frame in frames
        for pair in zip(frame[NUMBER].tolist(), frame["rows"].tolist(), strict=True)
    ]
    blocks.sort(key=lambda pair: pair[0])
    opener = Opener(types)
    table = pa.Table.from_batches([opener.rows(pa.py_buffer(block)) for _, block in blocks])
    at = table.schema.get_field_index(INSTANCE)
    return table.set_column(at, INSTANCE, table.column(at).cast(pa.string()))
