"""A replay of a stream: Structured Streaming keeps the state of each instance.

    keyed lines -> bucket -> transformWithStateInPandas: the records of `partitions`

Spark keeps the states of the instances of a bucket, and writes them into its checkpoint. In each
micro-batch an instance with new rows goes on from its state (`increments.continuation`), and its
records are given again as they are then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lawful.runtime.instance import Machine

from ..increments.continuation import Continuation
from ..mapping import TraceMapping
from ..problems import InstanceVerdict
from ..program import ReplayProgram
from ..rows import Rejected, Row
from ..sources import ReplayError
from .frames import program_of_frame
from .inputs import of_frame
from .partitions import COUNT, RECORD, record_types, records_of, row_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUCKETS = 64
BUCKET = "bucket"
STATES = "states"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def replay_stream(
    rows: DataFrame,
    machines: type[Machine] | Iterable[type[Machine]] | ReplayProgram,
    mapping: TraceMapping | None = None,
    buckets: int = BUCKETS,
) -> DataFrame:
    """Replay a streaming data frame of recorded events; the result is one, too, for `writeStream`
    with the output mode `update`.

    `rows` is as for `replay_frame`. After each micro-batch the result has, of each instance with
    new rows, all that is known of it then: a row with the `record` "instance" (the columns of
    `ReplayFrames.verdicts`), and one with the `record` "finding" for each of its problems. They
    replace the earlier ones of this instance. Rows of no instance have the `record` "rejected".
    `buckets` is fixed for the life of a checkpoint. Raises ReplayError where the session does not
    keep states in RocksDB, which Spark needs for this, and as `replay_frame` does.
    """
    from pyspark.sql import functions as F

    if rows.sparkSession.conf.get(PROVIDER, "") != ROCKS_DB:
        raise ReplayError(f"a replay of a stream needs the setting {PROVIDER} = {ROCKS_DB}")
    program = dataclasses.replace(program_of_frame(machines, mapping), resumable=True)
    keyed = of_frame(rows, program)
    key = F.xxhash64(F.coalesce(F.col("instance").cast("binary"), F.col("line")))
    grouped: Any = keyed.withColumn(BUCKET, F.pmod(key, F.lit(buckets))).groupBy(BUCKET)
    out: DataFrame = grouped.transformWithStateInPandas(
        statefulProcessor=_processor(program),
        outputStructType=RECORD,
        outputMode="Update",
        timeMode="None",
    )
    return out


def _processor(program: ReplayProgram) -> Any:
    """The processor of a bucket; its class is made here, because pyspark may be missing."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class BucketReplay(StatefulProcessor):
        """Goes on with the instances of a bucket."""

        def init(self, handle: Any) -> None:
            """Open the states."""
            self.states = handle.getMapState(STATES, "instance string", "state string")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
            """The records of all instances of the bucket with rows in this batch."""
            import pandas

            frames: Any = pandas  # Its types are partly unknown.
            names = [field.name for field in record_types(_arrow())]
            lines = [line for each in rows for line in each.to_dict("records")]
            told = [record for each in self._judged(lines) for record in records_of(each)]
            if told:
                frame = frames.DataFrame(told, columns=names).astype(object)
                yield frame.where(frame.notna(), None)

        def _judged(self, lines: list[dict[str, Any]]) -> Iterator[InstanceVerdict | Rejected]:
            by_instance: dict[str, list[Row]] = {}
            for line in lines:
                found = (
                    None if line["form"] == COUNT else row_in(line["form"], line["line"], program)
                )
                if isinstance(found, Rejected):
                    yield found
                elif found is not None:
                    by_instance.setdefault(line["instance"], []).append(found)
            for name in sorted(by_instance):
                known = self.states.containsKey((name,))
                text = self.states.getValue((name,))[0] if known else ""
                going_on = Continuation(program, name, text)
                for row in sorted(by_instance[name], key=lambda each: each.seq):
                    going_on.take(row)
                verdict = going_on.end()
                self.states.updateValue((name,), (verdict.snapshot,))
                yield dataclasses.replace(verdict, snapshot="")

    return BucketReplay()


def _arrow() -> Any:
    from ..parquet import arrow

    return arrow()
