"""What `replay.py` measures of streams: micro-batches of many instances, each going on from its
state, beside the way that anyone would write, one pickled machine of the library transitions for
each instance; and beside Spark alone, which parses and shuffles the rows and keeps a value of each
bucket."""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks._traces import MAPPING, Order, lines_of
from lawful.checks.replay import ReplayProgram, replay_stream
from lawful.checks.replay.columnar.blocks import BUCKET
from lawful.checks.replay.spark.inputs import of_frame
from lawful.checks.replay.spark.streaming import BUCKETS, PROVIDER, ROCKS_DB

INSTANCES = 12_000
EACH = 5  # Events of each instance in a micro-batch.
WARM = 4  # Micro-batches that are not measured: the JVM compiles what it runs first.
MEASURED = 4
TASKS = 4  # Of a shuffle.
COLUMNS = "id string, n long, what string, price long, amount long"
Times = list[float]


def on_streams(
    spark: Any, folder: Path, processor_time: Callable[[], float], hand: Callable[[], Any]
) -> Iterator[tuple[str, float]]:
    """The mean processor time of a micro-batch, by its name: Spark alone, `replay_stream`, and by
    hand."""
    spark.conf.set(PROVIDER, ROCKS_DB)
    spark.conf.set("spark.sql.shuffle.partitions", str(TASKS))
    _write(folder / "in")
    ways: dict[str, Callable[[Any], Any]] = {
        "a stream, Spark alone": spark_alone,
        "a stream, replay_stream": ours,
        "a stream, transformWithStateInPandas by hand": functools.partial(by_hand, hand=hand),
    }
    for name, made in ways.items():
        lines = spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder / "in"))
        times: Times = []
        _run(made(lines), folder / name, times, processor_time)
        yield name, (times[-1] - times[WARM - 1]) / MEASURED


def _run(found: Any, kept: Path, times: Times, processor_time: Callable[[], float]) -> None:
    """Run a stream over all files; `times` gets the processor time after each of them."""

    def noted(batch: Any, _number: int) -> None:
        wrong = batch.where("verdict not in ('open', 'fits')").count()
        assert not wrong, wrong
        times.append(processor_time())

    writer = found.writeStream.outputMode("update").option("checkpointLocation", str(kept))
    writer.foreachBatch(noted).trigger(availableNow=True).start().awaitTermination()


def _write(folder: Path) -> None:
    """A file for each micro-batch; the order in which Spark reads them is that of their times."""
    folder.mkdir(parents=True)
    batches = WARM + MEASURED
    for number in range(batches):
        path = folder / f"{number}.jsonl"
        with path.open("w") as file:
            for at in range(number * EACH, (number + 1) * EACH):
                file.writelines(lines_of(INSTANCES, at, batches * EACH))
        os.utime(path, (number, number))


def ours(lines: Any) -> Any:
    return replay_stream(lines, Order, MAPPING)


def spark_alone(lines: Any) -> Any:
    """The same blocks and buckets; nothing is judged."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Nothing(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.kept = handle.getValueState("kept", "rows binary")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
            import pandas

            _ = self.kept.get()
            self.kept.update((b"".join(block for frame in rows for block in frame["rows"]),))
            count = INSTANCES // BUCKETS
            yield pandas.DataFrame({"id": ["?"] * count, "verdict": ["open"] * count})

    program = ReplayProgram((Order.lawful.ir,), mapping=MAPPING)
    blocks: Any = of_frame(lines, program)
    schema = "id string, verdict string"
    grouped = blocks.groupBy(BUCKET)
    return grouped.transformWithStateInPandas(Nothing(), schema, "Update", "None")


def by_hand(lines: Any, hand: Callable[[], Any]) -> Any:
    """One machine of the library transitions for each instance, kept pickled."""
    from pyspark.sql import functions as F
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class OneMachine(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.kept = handle.getValueState("machine", "pickled binary")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
            import pandas
            from transitions import MachineError

            frame: Any = pandas.concat([*rows]).sort_values("n")
            kept = self.kept.get()
            machine = pickle.loads(kept[0]) if kept else hand()
            verdict = "open"
            number = frame["price"].fillna(frame["amount"]).fillna(0).astype(int)
            for what, each in zip(frame["what"], number, strict=True):
                try:
                    if not machine.trigger(what, each):
                        verdict = "deviates"
                        break
                except MachineError:
                    verdict = "deviates"
                    break
            self.kept.update((pickle.dumps(machine),))
            yield pandas.DataFrame({"id": [key[0]], "verdict": [verdict]})

    parsed = lines.select(F.from_json("value", COLUMNS).alias("row")).select("row.*")
    schema = "id string, verdict string"
    return parsed.groupBy("id").transformWithStateInPandas(OneMachine(), schema, "Update", "None")
