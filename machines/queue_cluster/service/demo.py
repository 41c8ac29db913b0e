"""A cluster of processes, clients that use it, faults, and a judgement of what the clients saw."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .client import Client, CommandFailed, ConnectionLost
from .exercise import Exercise
from .histories import counts, problems
from .processes import ClusterProcess

NAMES = "ABCDEFG"
STILL = 11.0  # Seconds that a broker stands still: longer than `Config.silence`.


@dataclass(frozen=True)
class Demo:
    """So many brokers, messages in all, kills and stops of a broker; give up after `seconds`."""

    brokers: int = 3
    messages: int = 300
    kills: int = 0
    stops: int = 0
    seed: int = 0
    seconds: float = 60.0
    journals: Path | None = None


@dataclass(frozen=True)
class DemoReport:
    """What the clients saw. `founded`: how many clusters they met; messages of an earlier one are
    gone."""

    problems: list[str]
    counts: Counter[str]
    faults: str
    seconds: float
    founded: int


async def demonstrate(demo: Demo) -> DemoReport:
    """Start the processes, use them, make faults, end them. Errors: OSError."""
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        bus = stack.enter_context(ClusterProcess(["bus"]))
        brokers = [
            stack.enter_context(ClusterProcess(_words(demo, name, bus.port)))
            for name in NAMES[: demo.brokers]
        ]
        ports = [broker.port for broker in brokers]
        met = {await _joined(port) for port in ports}
        exercise = Exercise(ports, ("orders", "bills"), demo.seed)
        exercise.start(publishers=3, consumers=4, messages=demo.messages // 3)
        faults: list[str] = []
        late: list[str] = []
        try:
            async with asyncio.timeout(demo.seconds):
                await _fault(demo, brokers, exercise, faults)
                while exercise.publishing:
                    await asyncio.sleep(0.1)
                exercise.calm()
                while not exercise.complete:
                    await asyncio.sleep(0.1)
        except TimeoutError:
            late.append(f"not all was delivered within {demo.seconds} seconds")
        seconds = time.monotonic() - begun
        met |= {await _joined(port) for port in ports}
        await exercise.end()
    history = exercise.history
    found = [*late, *problems(history)]
    return DemoReport(found, counts(history), ", ".join(faults), seconds, len(met))


def _words(demo: Demo, name: str, bus: int) -> list[str]:
    words = ["broker", name, "--bus", str(bus)]
    if demo.journals is not None:
        demo.journals.mkdir(parents=True, exist_ok=True)
        words += ["--journal", str(demo.journals / f"{name}.jsonl")]
    return words


async def _joined(port: int) -> int:
    """Wait until the broker is a member; the number of its cluster."""
    while True:
        with contextlib.suppress(OSError, ConnectionLost, CommandFailed):
            client = await Client.connect(port)
            client.close()
            return client.cluster
        await asyncio.sleep(0.02)


async def _fault(
    demo: Demo, brokers: list[ClusterProcess], exercise: Exercise, faults: list[str]
) -> None:
    """Kill and stop brokers, one at a time, spread over the run."""
    draw = random.Random(demo.seed)
    plan = ["kill"] * demo.kills + ["stop"] * demo.stops
    draw.shuffle(plan)
    for number, fault in enumerate(plan, 1):
        due = demo.messages * number // (len(plan) + 1)
        while len(exercise.history.sent) < due and exercise.publishing:
            await asyncio.sleep(0.01)
        victim = draw.randrange(len(brokers))
        faults.append(f"{fault} {NAMES[victim]}")
        if fault == "kill":
            brokers[victim].kill()
            await asyncio.sleep(draw.uniform(0.0, 0.3))
            await asyncio.to_thread(brokers[victim].restart)
        else:
            brokers[victim].stop()
            await asyncio.sleep(STILL)
            brokers[victim].resume()
        await _joined(brokers[victim].port)
