"""Compares a replay of recorded events with what Spark does with the same columns, and with the way
that anyone would write: `applyInPandas` with one machine of the library transitions per instance.

    benchmarks/replay.py [INSTANCES] [EVENTS OF EACH]     (100,000 and 100 where they are not given)

A line has a name, the seconds that passed, the processor time of all processes (the driver, the JVM
and its Python workers), and events a second of processor time. The floor reads, projects, shuffles
and sorts the columns that a replay needs, and drops them. applyInPandas has a tenth of the
instances; the ratios multiply its processor time. A store is written from the JSON lines, sorted;
its replay needs no shuffle. All of Spark runs in one session on `local[2]`, after a tenth was run.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from lawful import Machine, Nat, Param, State, require, terminal, transition
from lawful.checks.replay import (
    ReplayProgram,
    TraceMapping,
    replay,
    replay_frame,
    replay_store,
    write_store,
)
from lawful.checks.replay.parquet import arrow
from lawful.checks.replay.spark.session import session
from lawful.spec.ir import Json

INSTANCES = 100_000
EVENTS = 100
TENTH = 10  # applyInPandas has such a part of the instances.
TICKS = os.sysconf("SC_CLK_TCK")
NAMES = ("OPEN", "ADD", "PAY", "CLOSE")


class Phase(State):
    NEW = "new"
    OPEN = "open"
    DONE = "done"


class Order(Machine):
    """States and counters: what is paid of an order is never more than its price."""

    state: Phase = Phase.NEW
    items: Nat = 0
    price: Nat = 0
    paid: Nat = 0
    limit: Param[Nat] = 1_000_000_000

    @transition(source=Phase.NEW, target=Phase.OPEN)
    def open(self) -> None: ...

    @transition(source=Phase.OPEN)
    def add(self, price: Nat) -> None:
        require(self.items < self.limit)
        self.items += 1
        self.price += price

    @transition(source=Phase.OPEN)
    def pay(self, amount: Nat) -> None:
        require(self.paid + amount <= self.price)
        self.paid += amount

    @transition(source=Phase.OPEN, target=Phase.DONE)
    def close(self) -> None:
        require(self.paid == self.price)

    @terminal
    def closed(self) -> bool:
        return self.state == Phase.DONE


class Book(Machine):
    """Its set grows with each event."""

    seen: set[Nat] = set()

    @transition()
    def add(self, price: Nat) -> None:
        self.seen.add(price)


MAPPING = TraceMapping(
    instance="$.id",
    seq="$.n",
    event="$.what",
    events={"OPEN": "open", "ADD": "add", "PAY": "pay", "CLOSE": "close"},
    args={"add": {"price": "$.price"}, "pay": {"amount": "$.amount"}},
)


def main() -> int:
    given = [int(each) for each in sys.argv[1:]]
    instances, events = (given + [INSTANCES, EVENTS][len(given) :])[:2]
    events -= events % 2  # So that each order is paid.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, lines = folder / "trace.parquet", folder / "trace.jsonl"
        write(instances, events, folder)
        write(instances // TENTH, events, folder / "tenth")
        sizes = " and ".join(f"{path.stat().st_size / 1e6:,.0f} MB" for path in (table, lines))
        print(f"{instances:,} instances of {events} events; Parquet and JSON lines, {sizes}")
        for line in (*here(folder, instances * events), *on_spark(folder, instances, events)):
            print(line, flush=True)
    return 0


def write(instances: int, events: int, folder: Path) -> None:
    """Write the trace twice: in the order of its time, the instances by turns."""
    import numpy as np

    pa = arrow()
    rng = np.random.default_rng(1)
    names = pa.array([f"order-{i:07d}" for i in range(instances)])
    last = np.zeros(instances, dtype=np.int64)
    types = [("id", pa.string()), ("n", pa.int64()), ("what", pa.string())]
    schema = pa.schema([*types, ("price", pa.int64()), ("amount", pa.int64())])
    folder.mkdir(exist_ok=True)
    table, lines = folder / "trace.parquet", (folder / "trace.jsonl").open("w")
    with pa.parquet.ParquetWriter(table, schema) as writer, lines as file:
        for n in range(events):
            kind = 0 if n == 0 else 3 if n == events - 1 else 2 - n % 2
            price = rng.integers(1, 100, size=instances)
            number = {1: price, 2: last}.get(kind)
            last = price
            none = pa.nulls(instances, pa.int64())
            columns = [
                names,
                pa.array(np.full(instances, n, dtype=np.int64)),
                pa.array([NAMES[kind]] * instances),
                pa.array(number) if kind == 1 else none,
                pa.array(number) if kind == 2 else none,
            ]
            batch = pa.Table.from_arrays(columns, schema=schema)
            writer.write_table(batch)
            for row in batch.to_pylist():
                whole = {name: value for name, value in row.items() if value is not None}
                file.write(json.dumps(whole) + "\n")


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


def here(folder: Path, rows: int) -> Iterator[str]:
    """The local engine: both forms, and a container that grows."""
    program = ReplayProgram((Order.lawful.ir,), mapping=MAPPING)
    for path in (folder / "trace.parquet", folder / "trace.jsonl"):
        yield measured(f"one process, {path.suffix}", rows, fits, path, program)[0]
    store = folder / "store"
    traces = [folder / "trace.jsonl"]
    yield measured("a store written in one process", rows, write_store, traces, program, store)[0]
    yield measured("one process, store", rows, fits, store, program)[0]
    book: dict[str, Json] = {"add": {"price": "$.price"}}
    mapping = TraceMapping("$.id", "$.n", "$.what", events={"ADD": "add"}, args=book)
    growing = ReplayProgram((Book.lawful.ir,), mapping=mapping)
    for size in (1_000, 100_000):
        path = folder / f"book-{size}.jsonl"
        times = 200_000 // size
        with path.open("w") as file:
            for i in range(times * size):
                row = {"id": f"b{i // size}", "n": i % size, "what": "ADD", "price": i % size}
                file.write(json.dumps(row) + "\n")
        name = f"one process, sets that grow to {size:,}"
        yield measured(name, times * size, fits, path, growing)[0]


def fits(path: Path, program: ReplayProgram) -> None:
    found = replay([path], program, "local")
    assert found.verdicts["fits"] == found.total.instances, found.verdicts


# On Spark.


def same(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches as they are."""
    return batches


def on_spark(folder: Path, instances: int, events: int) -> Iterator[str]:
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

    for form, read, mine in ((".parquet", table, table), (".jsonl", objects, lines)):
        # What is run first is slower: the JVM compiles it.
        dropped(read(folder / "tenth"), "id")
        verdicts(mine(folder / "tenth"), instances // TENTH)
        floor_line, floor = measured(f"floor, {form}", rows, dropped, read(folder), "id")
        yield floor_line
        eight_line, eight = measured(
            f"floor with a key of 8 bytes, {form}", rows, dropped, hashed(read(folder)), "key"
        )
        yield eight_line
        ours_line, ours = measured(f"replay_frame, {form}", rows, verdicts, mine(folder), instances)
        yield ours_line
        tenth = instances // TENTH
        line, used = measured(
            f"applyInPandas with transitions, {form}, a tenth",
            rows // TENTH,
            by_hand,
            read(folder / "tenth"),
            tenth,
        )
        yield line
        naive = used * TENTH
        yield f"  replay_frame / floor {ours / floor:.2f}, / floor of 8 bytes {ours / eight:.2f}"
        net = (naive - floor) / max(ours - floor, 0.01)
        yield f"  applyInPandas / replay_frame {naive / ours:.1f}, both without the floor {net:.1f}"
    line, stored = measured("store", rows, of_store, folder / "store", instances)
    yield line
    yield f"  replay_frame, .jsonl / store {ours / stored:.1f}"
    spark.stop()


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


def verdicts(rows: Any, instances: int) -> None:
    found = replay_frame(rows, Order, MAPPING).verdicts.groupBy("verdict").count().collect()
    assert [tuple(row) for row in found] == [("fits", instances)], found


class Hand:
    """The same order, with the library transitions."""

    def __init__(self, machine: type[Any]) -> None:
        self.price = self.paid = 0
        rows = [
            {"trigger": "OPEN", "source": "NEW", "dest": "OPEN"},
            {"trigger": "ADD", "source": "OPEN", "dest": None, "after": "more"},
            {
                "trigger": "PAY",
                "source": "OPEN",
                "dest": None,
                "conditions": "is_due",
                "after": "less",
            },
            {"trigger": "CLOSE", "source": "OPEN", "dest": "DONE", "conditions": "is_paid"},
        ]
        states = ["NEW", "OPEN", "DONE"]
        machine(self, states=states, transitions=rows, initial="NEW", auto_transitions=False)

    def more(self, number: int) -> None:
        self.price += number

    def is_due(self, number: int) -> bool:
        return self.paid + number <= self.price

    def less(self, number: int) -> None:
        self.paid += number

    def is_paid(self, _number: int) -> bool:
        return self.paid == self.price


def by_hand(rows: Any, instances: int) -> None:
    """applyInPandas: one machine for each instance, stopped at the first refused event."""

    def judged(frame: Any) -> Any:
        import pandas
        from transitions import Machine as Peer
        from transitions import MachineError

        frame = frame.sort_values("n")
        hand: Any = Hand(Peer)
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
