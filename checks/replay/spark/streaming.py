"""A replay of a stream: Structured Streaming keeps the state of each instance.

    keyed lines -> bucket -> transformWithStateInPandas: the records of `partitions`

Where instances can be packed, `packed_streams` replays them. Of all others Spark keeps the states
of the instances of a bucket as texts, and writes them into its checkpoint. In each micro-batch an
instance with new rows goes on from its state (`increments.continuation`), and its records are given
again as they are then. With a watermark a timer of Spark goes on with an instance whose deadline
has passed without a row.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lawful.runtime.instance import Machine

from ..columnar.blocks import MOST_BUCKETS
from ..flaws.absent_values import Told
from ..increments.buckets import check_buckets
from ..increments.continuation import Continuation
from ..mapping import TraceMapping
from ..problems import InstanceVerdict
from ..program import ReplayProgram
from ..rows import Rejected, Row, Seconds
from ..sources import ReplayError
from .frames import program_of_frame
from .inputs import of_frame
from .packed_streams import is_packed, packed_stream
from .partitions import COUNT, KEYED, NAMES, PICKLED, RECORD, row_in
from .record_frames import frames_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUCKETS = 64
BUCKET = "bucket"
STATES, DUE, COUNTED = "states", "due", "buckets"
AT = "at"  # The time of a row, in microseconds since 1970; 0 where it has none.
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def replay_stream(
    rows: DataFrame,
    machines: type[Machine] | Iterable[type[Machine]] | ReplayProgram,
    mapping: TraceMapping | None = None,
    buckets: int = BUCKETS,
    watermark: str | None = None,
) -> DataFrame:
    """Replay a streaming data frame of recorded events; the result is one, too, for `writeStream`
    with the output mode `update`.

    `rows` is as for `replay_frame`. After each micro-batch the result has, of each instance with
    new rows, all that is known of it then: a row with the `record` "instance" (the columns of
    `ReplayFrames.verdicts`), and one with the `record` "finding" for each of its problems. They
    replace the earlier ones of this instance. Rows of no instance have the `record` "rejected".
    Those with the `record` "told" say of an output or variable that the mapping names (`name`) how
    many rows of the micro-batch have it (`count`): their sum is 0 where its path is misspelt.
    `buckets` is fixed for the life of a checkpoint. `watermark` says how late rows may come, by
    the `time` of the mapping, as Spark's `withWatermark` takes it ("10 minutes"); deadlines pass
    with it. Raises ReplayError where the session does not keep states in RocksDB, which Spark
    needs for this, where a watermark has no `time`, and as `replay_frame` does.
    """
    from pyspark.sql import functions as F

    if rows.sparkSession.conf.get(PROVIDER, "") != ROCKS_DB:
        raise ReplayError(f"a replay of a stream needs the setting {PROVIDER} = {ROCKS_DB}")
    program = dataclasses.replace(program_of_frame(machines, mapping), resumable=False)
    if watermark is None and buckets <= MOST_BUCKETS and is_packed(program):
        return packed_stream(rows, program, buckets)
    program = dataclasses.replace(program, resumable=True)
    keyed = of_frame(rows, program)
    if watermark is not None:
        keyed = _with_watermark(keyed, program, watermark)
    key = F.xxhash64(F.coalesce(F.col("instance").cast("binary"), F.col("line")))
    grouped: Any = keyed.withColumn(BUCKET, F.pmod(key, F.lit(buckets))).groupBy(BUCKET)
    out: DataFrame = grouped.transformWithStateInPandas(
        statefulProcessor=bucket_processor(program, watermark is not None, buckets),
        outputStructType=RECORD,
        outputMode="Update",
        timeMode="None" if watermark is None else "EventTime",
    )
    return out


def _with_watermark(keyed: Any, program: ReplayProgram, delay: str) -> DataFrame:
    """The rows, of whose times Spark keeps a watermark.

    Spark drops rows before the watermark if it sees their time. Replay counts them, so their time
    is dropped once the watermark has it.
    """
    from pyspark.sql import functions as F

    if program.mapping is None or program.mapping.time is None:
        raise ReplayError("a watermark needs a mapping with `time`")
    timed = keyed.mapInArrow(TimedRows(program), f"{KEYED}, {AT} long")
    when = timed.withColumn(AT, F.timestamp_micros(AT)).withWatermark(AT, delay)
    out: DataFrame = when.drop(AT)
    return out


class TimedRows:
    """Adds the time of each row. It parses the rows, so later ones need not."""

    def __init__(self, program: ReplayProgram) -> None:
        self.program = program

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches with the rows of lines, pickled, and their times."""
        pa = _arrow()
        types = (pa.string(), pa.int64(), pa.string(), pa.binary(), pa.string(), pa.int64())
        for batch in batches:
            told: list[tuple[Any, ...]] = []
            for name, seq, form, line, place in zip(
                *(batch.column(i).to_pylist() for i in range(5)), strict=True
            ):
                row = None if form == COUNT else row_in(form, line, self.program)
                if row is not None:
                    told.append((name, seq, PICKLED, pickle.dumps(row), place, _micros(row)))
            columns = zip(*told, strict=True) if told else [()] * len(types)
            arrays = [pa.array(each, kind) for each, kind in zip(columns, types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=[*NAMES, AT])


def _micros(row: Row | Rejected) -> int:
    if isinstance(row, Rejected) or row.time is None:
        return 0
    return min(LATEST, math.floor(row.time * 10**6))


LATEST = 253_402_300_799_999_999  # The last microsecond of the year 9999.


def bucket_processor(program: ReplayProgram, timed: bool, buckets: int) -> Any:
    """The processor of one of so many buckets; its class is made here: pyspark may be missing."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class BucketReplay(StatefulProcessor):
        """Goes on with the instances of a bucket."""

        def init(self, handle: Any) -> None:
            """Open the states."""
            self.handle = handle
            self.counted = handle.getValueState(COUNTED, "buckets int")
            self.states = handle.getMapState(STATES, "instance string", "state string")
            if timed:
                self.due = handle.getMapState(DUE, "instance string", "due long")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
            """The records of all instances of the bucket with rows in this batch, and what the
            rows tell."""
            lines = [line for each in rows for line in each.to_dict("records")]
            told = Told(program)
            _check_buckets(self.counted, buckets)
            now = _watermark(timerValues) if timed else None
            yield from frames_of(self._judged(lines, now, told), told.counts)

        def handleExpiredTimer(
            self, key: Any, timerValues: Any, expiredTimerInfo: Any
        ) -> Iterator[Any]:
            """The records of all instances of the bucket whose deadline has passed."""
            now = _watermark(timerValues)
            names = [name for (name,), (due,) in self.due.iterator() if Fraction(due, 1000) <= now]
            yield from frames_of((self._gone_on(name, [], now) for name in sorted(names)), {})

        def _judged(
            self, lines: list[dict[str, Any]], now: Seconds | None, told: Told
        ) -> Iterator[InstanceVerdict | Rejected]:
            by_instance: dict[str, list[Row]] = {}
            for line in (each for each in lines if each["form"] != COUNT):
                found = row_in(line["form"], line["line"], program)
                if isinstance(found, Rejected):
                    yield found
                elif found is not None:
                    told.take(found)
                    by_instance.setdefault(line["instance"], []).append(found)
            for name in sorted(by_instance):
                yield self._gone_on(name, by_instance[name], now)

        def _gone_on(self, name: str, rows: list[Row], now: Seconds | None) -> InstanceVerdict:
            """The verdict on an instance with these rows, too; its state is kept."""
            text = self.states.getValue((name,))[0] if self.states.containsKey((name,)) else ""
            going_on = Continuation(program, name, text, now)
            for row in sorted(rows, key=lambda each: each.seq):
                going_on.take(row)
            verdict = going_on.end()
            self.states.updateValue((name,), (verdict.snapshot,))
            if timed:
                self._wakes(name, going_on.next_deadline)
            return dataclasses.replace(verdict, snapshot="")

        def _wakes(self, name: str, due: Seconds | None) -> None:
            """Have a timer go on with the instance after its deadline."""
            if due is not None:
                after = math.floor(due * 1000) + 1
                self.due.updateValue((name,), (after,))
                self.handle.registerTimer(after)
            elif self.due.containsKey((name,)):
                self.due.removeKey((name,))

    return BucketReplay()


def _check_buckets(counted: Any, buckets: int) -> None:
    """Keep the number of buckets; ReplayError where the checkpoint has another one."""
    before = counted.get()
    if before is None:
        counted.update((buckets,))
    else:
        check_buckets(before[0], buckets)


def _watermark(timers: Any) -> Fraction:
    """The watermark of a micro-batch, in seconds since 1970."""
    return Fraction(timers.getCurrentWatermarkInMs(), 1000)


def _arrow() -> Any:
    from ..parquet import arrow

    return arrow()
