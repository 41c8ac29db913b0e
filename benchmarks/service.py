"""Compares what surrounds instances in a service with the same parts of the standard library.

A line has a name, the time of lawful, the other time, and their ratio, all in one process, as
processor time. The other part does less: a lock has no queue, and a timer of asyncio fires no
machine.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks.runtime import other
from lawful import Machine, Nat, Timer, transition
from lawful.runtime.databases.sqlite import opened
from lawful.runtime.databases.tables import COLUMNS, statements
from lawful.runtime.deadlines import Deadlines
from lawful.runtime.journal import Journal
from lawful.runtime.runner import Runner
from lawful.runtime.store import Store
from lawful.runtime.tasks import TaskRunner
from lawful.runtime.timers import SimulatedClock

INSTANCES = 10_000
SOME = 640


class Shelf(Machine):
    held: dict[Nat, Nat] = {}

    @transition()
    def put(self, key: Nat, number: Nat) -> None:
        self.held[key] = number


class Bell(Machine):
    rings: Nat = 0
    wait: Timer = Timer()

    @transition()
    def start(self, seconds: Nat) -> None:
        self.wait.start(seconds)

    @transition()
    def stop(self) -> None:
        self.wait.stop()

    @transition(timer="wait")
    def ring(self) -> Nat:
        self.rings += 1
        return self.rings

    @transition()
    def add(self, number: Nat) -> Nat:
        self.rings += number
        return self.rings


def main() -> int:
    print(f"{'':50}{'ours':>12}{'other':>12}{'ratio':>8}  ns")
    line("an event in a Runner, in a Lock", *in_threads())
    line("an event in a TaskRunner, in asyncio.Lock", *asyncio.run(in_tasks()))
    ours, others = timers(), asyncio.run(handles())
    for name in ours:
        line(f"{name} one of {INSTANCES:,} timers, asyncio's", ours[name], others[name])
    with tempfile.TemporaryDirectory() as folder:
        alone, kept = in_files(Path(folder))
    for name, took in kept.items():
        line(f"an event {name}, alone", took, alone)
    for size in (10, INSTANCES):
        with tempfile.TemporaryDirectory() as folder:
            for name, (took, alone) in rows(Path(folder), size).items():
                line(f"{name}, {size:,} held; observed + ready bytes", took, alone)
    strands()
    return 0


def rows(folder: Path, size: int) -> dict[str, tuple[float, float]]:
    """An event that sets one entry of a map of this size, with its row; and the same event with an
    observer that does nothing, plus the write or the statements with the bytes of such a row."""

    def shelf() -> Shelf:
        return Shelf.lawful.state(held={key: 0 for key in range(size)})

    def events(of: Shelf) -> float:
        def some() -> None:
            for number in range(SOME):
                turn[0] += 1
                of.put(number % size, turn[0])

        return best(some, SOME)

    turn = [0]
    observed, journalled, stored = shelf(), shelf(), shelf()
    observed.lawful.observe(lambda done: None)
    with (
        Journal(folder / "rows.jsonl") as journal,
        Store(folder / "shelves.db", synchronous="NORMAL") as store,
    ):
        journal.attach(journalled, "a")
        store.add(stored, "a")
        kept = events(journalled), events(stored)
        journal.flush()
        with (folder / "rows.jsonl").open("rb") as file:
            text = file.readlines()[-1]
        event = store.events("a")[-1]
    alone = events(observed)
    return {
        "a journal row": (kept[0], alone + written(folder / "ready.jsonl", text)),
        "a store's row": (kept[1], alone + inserted(folder / "ready.db", event)),
    }


def written(path: Path, text: bytes) -> float:
    """The write of ready bytes, 64 at once as a journal does."""
    with path.open("ab", buffering=0) as file:

        def some() -> None:
            for _ in range(SOME // 64):
                file.write(b"".join([text] * 64))

        return best(some, SOME)


def inserted(path: Path, event: dict[str, Any]) -> float:
    """The statements of one event with ready values."""
    db = opened(path, 1.0, "NORMAL")
    db.execute("INSERT INTO instance VALUES ('a', 'Shelf', 0, 'x', NULL, NULL)")
    sql = statements("")
    row = {**event, "args": json.dumps(event["args"])}
    seq = [0]

    def some() -> None:
        for _ in range(SOME):
            before, seq[0] = seq[0], seq[0] + 1
            db.execute("BEGIN IMMEDIATE")
            db.execute(sql.head, (seq[0], "x", None, None, "a", before, "x"))
            db.execute(sql.event, tuple((row | {"seq": seq[0]})[name] for name in COLUMNS))
            db.execute("COMMIT")

    took = best(some, SOME)
    db.close()
    return took


def strands() -> None:
    """Whether another library leaves events in its queue; `LAWFUL_PEERS` as in runtime.py."""
    lost = other("stranded")
    what = "is not installed" if lost is None else f"stranded {lost:.0f} of 2 events"
    print(f"python-statemachine, with an event as its queue is left: {what}")


def in_files(folder: Path) -> tuple[float, dict[str, float]]:
    """An event alone, and with the files written for it, without waiting for the disk."""
    alone, journalled, stored = Bell(), Bell(), Bell()

    def events(bell: Bell) -> float:
        def some() -> None:
            for _ in range(INSTANCES):
                bell.add(1)

        return best(some, INSTANCES)

    with (
        Journal(folder / "rows.jsonl") as journal,
        Store(folder / "bells.db", synchronous="NORMAL") as store,
    ):
        journal.attach(journalled, "a")
        store.add(stored, "a")
        kept = {"in a Journal": events(journalled), "in a Store (NORMAL)": events(stored)}
    return events(alone), kept


def line(name: str, ours: float, other: float) -> None:
    """One comparison."""
    print(f"{name:50}{ours:12,.0f}{other:12,.0f}{ours / other:8.2f}")


def best(call: Callable[[], Any], each: int) -> float:
    """Nanoseconds for each of the `each` operations of a call; the best of some calls."""
    took = float("inf")
    for _ in range(5):
        began = time.process_time()
        call()
        took = min(took, time.process_time() - began)
    return took / each * 1e9


def in_threads() -> tuple[float, float]:
    """Without contention, as in most calls."""
    bell, runner, lock = Bell(), Runner(), threading.Lock()

    def ours() -> None:
        for _ in range(INSTANCES):
            runner.call(bell.add, 1)

    def other() -> None:
        for _ in range(INSTANCES):
            with lock:
                bell.add(1)

    return best(ours, INSTANCES), best(other, INSTANCES)


async def in_tasks() -> tuple[float, float]:
    bell, runner, lock = Bell(), TaskRunner(), asyncio.Lock()

    async def ours() -> None:
        for _ in range(INSTANCES):
            await runner.call(bell.add, 1)

    async def other() -> None:
        for _ in range(INSTANCES):
            async with lock:
                bell.add(1)

    async def took(run: Callable[[], Coroutine[Any, Any, None]]) -> float:
        began = time.process_time()
        await run()
        return (time.process_time() - began) / INSTANCES * 1e9

    return min([await took(ours) for _ in range(5)]), min([await took(other) for _ in range(5)])


def timers() -> dict[str, float]:
    clock, deadlines, heard = SimulatedClock(), Deadlines(), list[Any]()
    bells = [Bell(clock=clock) for _ in range(INSTANCES)]
    for bell in bells:
        deadlines.add(bell, heard.append)

    def start() -> None:
        for i, bell in enumerate(bells):
            bell.start(10 + i % 50)

    def stop() -> None:
        for bell in bells:
            bell.stop()

    found = {"start": best(start, INSTANCES), "stop": best(stop, INSTANCES)}
    start()
    clock.advance(100)
    began = time.process_time()
    fired = deadlines.fire_due(clock.now())
    return found | {"fire": (time.process_time() - began) / fired * 1e9}


async def handles() -> dict[str, float]:
    loop, heard = asyncio.get_running_loop(), list[int]()
    kept: list[asyncio.TimerHandle] = []

    def start() -> None:
        kept.extend(loop.call_later(1_000 + i % 50, heard.append, i) for i in range(INSTANCES))

    def stop() -> None:
        for handle in kept[-INSTANCES:]:
            handle.cancel()

    found = {"start": best(start, INSTANCES), "stop": best(stop, INSTANCES)}
    over = asyncio.Event()
    for i in range(INSTANCES):
        loop.call_later(0, heard.append, i)
    loop.call_later(0, over.set)
    began = time.process_time()
    await over.wait()
    return found | {"fire": (time.process_time() - began) / INSTANCES * 1e9}


if __name__ == "__main__":
    sys.exit(main())
