"""Compares a replay of recorded events with what Spark does with the same columns, and with the way
that anyone would write: `applyInPandas` with one machine of the library transitions per instance.

    benchmarks/replay.py [--events 10000000] [--each 100]     (events in all, and of each instance)

A line has a name, the seconds that passed, the processor time of all processes (the driver, the JVM
and its Python workers), and events a second of processor time. The floor reads, projects, shuffles
and sorts the columns that a replay needs, and drops them. applyInPandas has a tenth of the
instances; the ratios multiply its processor time. A store is written from the JSON lines, sorted;
its replay needs no shuffle. The skewed trace has as many events, of which one instance has 60 %; it
is replayed in 16 partitions, by a machine with counters and by one with few states, whose long
instance is split: the longest task by the mean is that of the worst stage, of those whose tasks
take 50 ms or more in the mean, each the median of three runs. All of Spark runs in one session
on `local[2]`, after a tenth was run. A stream gets 12,000 instances in micro-batches of 5 events of
each; the first four warm up, and the mean of the next four is told (`_streams`). The table at the
end has each ratio beside its goal. 10 million events take some ten minutes, the streams four more.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks._order_by_hand import OrderByHand
from benchmarks._states import states
from benchmarks._streams import on_streams
from benchmarks._traces import MAPPING, Basket, Book, Order, write, write_skewed
from lawful.checks.replay import (
    ReplayProgram,
    TraceMapping,
    replay,
    replay_frame,
    replay_store,
    write_store,
)
from lawful.checks.replay.spark.session import session
from lawful.runtime.instance import Machine
from lawful.spec.ir import Json

SHARE = 0.6  # Of the events of the skewed trace, in one instance.
PARTITIONS = 16
AGAIN = 3  # Of a task in so many further runs of the skewed trace the median is taken.
SHORT = 50  # Milliseconds: where the mean is less, what differs is the machine.
TENTH = 10  # applyInPandas has such a part of the instances.
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ratio:
    """A figure of the table at the end, and what it has to be."""

    name: str
    figure: float
    goal: float
    least: bool = True  # Otherwise at most.

    def row(self) -> str:
        """A line of the table."""
        met = self.figure >= self.goal if self.least else self.figure <= self.goal
        word = "at least" if self.least else "at most"
        goal = f"{word} {self.goal:,g}"
        return f"  {self.name:52}{self.figure:14,.2f}  {goal:18}{'met' if met else 'missed'}"


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="ratios of replays to their peers")
    parser.add_argument("--events", type=int, default=10_000_000, help="events in all")
    parser.add_argument("--each", type=int, default=100, help="events of each instance")
    asked = parser.parse_args(given)
    each = asked.each - asked.each % 2  # So that each order is paid.
    instances = asked.events // each
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(instances, each, folder)
        write(instances // TENTH, each, folder / "tenth")
        others = int(instances * (1 - SHARE))
        many = (instances - others) * each
        write_skewed(many, others, each, folder / "skewed")
        table, lines = folder / "trace.parquet", folder / "trace.jsonl"
        sizes = " and ".join(f"{path.stat().st_size / 1e6:,.0f} MB" for path in (table, lines))
        print(f"{instances:,} instances of {each} events; Parquet and JSON lines, {sizes}")
        ratios: list[Ratio] = []
        for found in chain(here(folder, instances * each), on_spark(folder, instances, each)):
            if isinstance(found, Ratio):
                ratios.append(found)
            else:
                print(found, flush=True)
        print("\nratios, of processor time where nothing else is said")
        for ratio in ratios:
            print(ratio.row())
    return 0


# Measuring.


_seen: dict[int, int] = {}  # What each process had used when it was last seen; some have ended.


def processor_time() -> float:
    """The seconds that this process and all under it have used."""
    parents: dict[int, tuple[int, int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has ended.
        parents[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:13]))

    def under(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid][0]
        return pid == os.getpid()

    _seen.update({pid: used for pid, (_, used) in parents.items() if under(pid)})
    return sum(_seen.values()) / TICKS


def measured(name: str, rows: int, run: Callable[..., Any], *args: Any) -> tuple[str, float]:
    """A line, and the processor time."""
    begun, used = time.perf_counter(), processor_time()
    run(*args)
    passed, used = time.perf_counter() - begun, processor_time() - used
    rate = f"{rows / max(used, 0.01):12,.0f} /s"
    return f"{name:48}{passed:9.1f} s{used:9.1f} s{rate}", used


# In this process.


def here(folder: Path, rows: int) -> Iterator[str | Ratio]:
    """The local engine: both forms, and a container that grows."""
    program = ReplayProgram((Order.lawful.ir,), mapping=MAPPING)
    rates: dict[str, float] = {}
    skewed = folder / "skewed" / "trace.parquet"
    for name, path in (
        ("one process, .parquet", folder / "trace.parquet"),
        ("one process, .jsonl", folder / "trace.jsonl"),
        ("one process, .parquet, 60 % in one instance", skewed),
    ):
        line, used = measured(name, rows, fits, path, program)
        rates[name] = rows / used
        yield line
    yield Ratio("one process from Parquet, events/s", rates["one process, .parquet"], 300_000)
    store = folder / "store"
    traces = [folder / "trace.jsonl"]
    engine = "local"  # By itself it would be Spark, for large traces.
    stored = traces, program, store, engine
    yield measured("a store written in one process", rows, write_store, *stored)[0]
    yield measured("one process, store", rows, fits, store, program)[0]
    book: dict[str, Json] = {"add": {"price": "$.price"}}
    mapping = TraceMapping("$.id", "$.n", "$.what", events={"ADD": "add"}, args=book)
    growing = ReplayProgram((Book.lawful.ir,), mapping=mapping)
    costs: list[float] = []
    for size in (1_000, 100_000):
        path = folder / f"book-{size}.jsonl"
        times = 200_000 // size
        with path.open("w") as file:
            for i in range(times * size):
                row = {"id": f"b{i // size}", "n": i % size, "what": "ADD", "price": i % size}
                file.write(json.dumps(row) + "\n")
        name = f"one process, sets that grow to {size:,}"
        line, used = measured(name, times * size, fits, path, growing)
        costs.append(used)
        yield line
    yield f"  an event in a set of 100,000 / in one of 1,000 {costs[1] / costs[0]:.2f}"
    from transitions import Machine as Peer

    yield from states(folder, OrderByHand(Peer))


def fits(path: Path, program: ReplayProgram) -> None:
    found = replay([path], program, "local")
    assert found.verdicts["fits"] == found.total.instances, found.verdicts


# On Spark.


def same(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches as they are."""
    return batches


def on_spark(folder: Path, instances: int, events: int) -> Iterator[str | Ratio]:
    """The floor, this library's replay, and applyInPandas; then their ratios."""
    spark = session("local[2]")
    few: Any = spark.range(1000).repartition(2)  # Its `mapInArrow` has no types.
    few.mapInArrow(same, "id long").count()
    rows = instances * events
    columns = "id string, n long, what string, price long, amount long"

    def lines(folder: Path) -> Any:
        return spark.read.text(str(folder / "trace.jsonl"), lineSep="\n")

    def table(folder: Path) -> Any:
        return spark.read.parquet(str(folder / "trace.parquet"))

    def objects(folder: Path) -> Any:
        return spark.read.schema(columns).json(str(folder / "trace.jsonl"))

    ours = 0.0
    for form, read, mine in ((".parquet", table, table), (".jsonl", objects, lines)):
        # What is run first is slower: the JVM compiles it.
        tenth = instances // TENTH
        dropped(read(folder / "tenth"), "id")
        verdicts(mine(folder / "tenth"), tenth)
        line, floor = measured(f"floor, {form}", rows, dropped, read(folder), "id")
        yield line
        short = hashed(read(folder))
        line, eight = measured(f"floor with a key of 8 bytes, {form}", rows, dropped, short, "key")
        yield line
        line, ours = measured(f"replay_frame, {form}", rows, verdicts, mine(folder), instances)
        yield line
        name = f"applyInPandas with transitions, {form}, a tenth"
        rows_by_hand = read(folder / "tenth")
        line, used = measured(name, rows // TENTH, by_hand, rows_by_hand, tenth)
        yield line
        naive = used * TENTH
        net = (naive - floor) / max(ours - floor, 0.01)
        yield Ratio(f"{form}: replay_frame / floor", ours / floor, 1.5, least=False)
        yield f"  {form}: replay_frame / floor with a key of 8 bytes {ours / eight:.2f}"
        yield Ratio(f"{form}: applyInPandas / replay_frame", naive / ours, 5)
        yield Ratio(f"{form}: the same, both without the floor", net, 20)
    few_traces, few_stored = folder / "tenth" / "trace.jsonl", folder / "tenth" / "store"
    write_store([few_traces], ReplayProgram((Order.lawful.ir,), mapping=MAPPING), few_stored)
    of_store(few_stored, instances // TENTH)
    line, stored = measured("store", rows, of_store, folder / "store", instances)
    yield line
    yield Ratio("replay_frame of .jsonl / of the store", ours / stored, 4)
    yield from on_skew(spark, folder, instances, events)
    yield from of_streams(spark, folder / "stream")
    spark.stop()


def of_streams(spark: Any, folder: Path) -> Iterator[str | Ratio]:
    """A micro-batch of a stream, and its ratios."""
    from transitions import Machine as Peer

    used: list[float] = []
    for name, seconds in on_streams(
        spark, folder, processor_time, functools.partial(OrderByHand, Peer)
    ):
        yield f"{f'{name}, a micro-batch':60}{seconds:7.2f} s"
        used.append(seconds)
    alone, ours, naive = used
    yield f"  replay_stream / Spark alone {ours / alone:.2f}"
    yield Ratio("a stream by hand, one state an instance / replay_stream", naive / ours, 10)


def on_skew(spark: Any, folder: Path, instances: int, events: int) -> Iterator[str | Ratio]:
    """A replay of the trace in which one instance has most events, and of the even one."""
    rows = instances * events
    whole, skewed = (
        spark.read.parquet(str(of / "trace.parquet")) for of in (folder, folder / "skewed")
    )
    count = 1 + int(instances * (1 - SHARE))
    spark.conf.set("spark.sql.shuffle.partitions", str(PARTITIONS))
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    for machine, what in ((Order, "counters"), (Basket, "few states")):
        line, even = measured(
            f"replay_frame, {what}, even", rows, verdicts, whole, instances, machine
        )
        yield line
        line, used = measured(
            f"replay_frame, {what}, skewed", rows, verdicts, skewed, count, machine
        )
        yield line
        yield Ratio(f"{what}: rate with 60 % in one instance / even", even / used, 0.5)
        runs: list[list[list[float]]] = []
        for number in range(AGAIN):  # The run above has started the workers.
            spark.sparkContext.setJobGroup(f"{what} {number}", what)
            verdicts(skewed, count, machine)
            runs.append(stages_of(spark, f"{what} {number}"))
        name, longest = f"{what}: the longest task / the mean", longest_task(runs)
        if machine is Basket:
            yield Ratio(name, longest, 1.5, least=False)
        else:
            yield f"  {name} {longest:.2f}"
        spark.sparkContext.setJobGroup("rest", "rest")


def longest_task(runs: Sequence[list[list[float]]]) -> float:
    """The longest task by the mean of its stage: the largest such ratio of the stages whose tasks
    are long enough to be compared. Of each task the median of several runs counts."""
    ratios: list[float] = []
    for stage in zip(*runs, strict=True):
        tasks = [statistics.median(times) for times in zip(*stage, strict=True)]
        if statistics.mean(tasks) >= SHORT:
            ratios.append(max(tasks) / statistics.mean(tasks))
    return max(ratios, default=float("nan"))  # Of too few events no task is long.


def stages_of(spark: Any, group: str) -> list[list[float]]:
    """The milliseconds of the tasks of each stage of a group of jobs that has all partitions."""
    context = spark.sparkContext
    store = context._jsc.sc().statusStore()
    tracker = context.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(group))
    found: list[list[float]] = []
    for stage in sorted({number for job in jobs if job is not None for number in job.stageIds}):
        tasks = store.taskList(stage, 0, 1000)
        rows = [tasks.apply(i) for i in range(tasks.size())]
        done = sorted(
            (row.index(), row.duration().get()) for row in rows if row.duration().isDefined()
        )
        if len(done) >= PARTITIONS:
            found.append([float(time) for _, time in done])
    return found


def of_store(folder: Path, instances: int) -> None:
    found = replay_store(folder, Order, "spark")
    assert found.verdicts["fits"] == instances, found.verdicts


def hashed(rows: Any) -> Any:
    from pyspark.sql import functions as F

    return rows.select(F.xxhash64("id").alias("key"), "n", "what", "price", "amount")


def dropped(rows: Any, key: str) -> None:
    """Shuffle and sort the rows, and drop them."""
    sorted_ = rows.repartition(key).sortWithinPartitions(key, "n")
    sorted_.write.format("noop").mode("overwrite").save()


def verdicts(rows: Any, instances: int, machine: type[Machine] = Order) -> None:
    found = replay_frame(rows, machine, MAPPING).verdicts.groupBy("verdict").count().collect()
    assert [tuple(row) for row in found] == [("fits", instances)], found


def by_hand(rows: Any, instances: int) -> None:
    """applyInPandas: one machine for each instance, stopped at the first refused event."""

    def judged(frame: Any) -> Any:
        import pandas
        from transitions import Machine as Peer
        from transitions import MachineError

        frame = frame.sort_values("n")
        hand: Any = OrderByHand(Peer)
        verdict = "fits"
        number = frame["price"].fillna(frame["amount"]).fillna(0).astype(int)
        for what, each in zip(frame["what"], number, strict=True):
            try:
                if not hand.trigger(what, each):
                    verdict = "deviates"
                    break
            except MachineError:
                verdict = "deviates"
                break
        return pandas.DataFrame({"id": [frame["id"].iloc[0]], "verdict": [verdict]})

    found = rows.groupBy("id").applyInPandas(judged, "id string, verdict string")
    counted = found.groupBy("verdict").count().collect()
    assert [tuple(row) for row in counted] == [("fits", instances)], counted


if __name__ == "__main__":
    sys.exit(main())
