"""Compares what surrounds instances in a service with the same parts of the standard library.

A line has a name, the time of lawful, the other time, and their ratio, all in one process, as
processor time. The other part does less: a lock has no queue, and a timer of asyncio fires no
machine.
"""

from __future__ import annotations

import asyncio
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
from lawful.runtime.deadlines import Deadlines
from lawful.runtime.journal import Journal
from lawful.runtime.runner import Runner
from lawful.runtime.store import Store
from lawful.runtime.tasks import TaskRunner
from lawful.runtime.timers import SimulatedClock

INSTANCES = 10_000


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
    print(f"{'':42}{'ours':>12}{'other':>12}{'ratio':>8}  ns")
    line("an event in a Runner, in a Lock", *in_threads())
    line("an event in a TaskRunner, in asyncio.Lock", *asyncio.run(in_tasks()))
    ours, others = timers(), asyncio.run(handles())
    for name in ours:
        line(f"{name} one of {INSTANCES:,} timers, asyncio's", ours[name], others[name])
    with tempfile.TemporaryDirectory() as folder:
        alone, kept = in_files(Path(folder))
    for name, took in kept.items():
        line(f"an event {name}, alone", took, alone)
    strands()
    return 0


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
    print(f"{name:42}{ours:12,.0f}{other:12,.0f}{ours / other:8.2f}")


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
