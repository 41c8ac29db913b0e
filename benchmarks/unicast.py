"""Reliable unicast under load: messages a second over UDP on 127.0.0.1, beside TCP.

Two endpoints share one process and one event loop; one sends to the other. Beside them a stream of
asyncio over TCP, on which each message has its length in front, and the endpoints with a journal
each. The runs are made by turns; of each the median is printed, and its ratio to the service. Times
are wall time; the last column is processor time of the process for a message.

There is no endpoint with machines written by hand. So the processor time inside of the machines'
events is measured, and printed as a share of all processor time: with machines that cost nothing
the service would need less by that share and no more.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks._stopwatch import measured_events
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.service import Unicast
from lawful.machines.unicast.service.settings import Config, Options
from lawful.runtime.journal import Journal

MESSAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
ROUNDS, BYTES = 5, 100
# As many messages are under way as are sent between two acks; the document has half a second.
CONFIG = Config(ack_interval=0.005, xmit_interval=0.02, window=512)
MACHINES = (SenderEntryFixed, ReceiverEntryFixed)


@dataclass
class Taken:
    """Seconds in which all messages have come, and processor seconds of that."""

    wall: float
    processor: float
    share: float = 0.0  # Of the machines.
    events: int = 0


def main() -> int:
    print(f"{MESSAGES} messages of {BYTES} bytes, median of {ROUNDS} rounds,")
    print(f"load average {os.getloadavg()[0]:.1f}")
    kinds: dict[str, Callable[[], Taken]] = {
        "the service": lambda: taken(exchanged(None)),
        "the service, its machines measured": watched,
        "the service with journals": with_journals,
        "a stream of asyncio over TCP": lambda: taken(streamed()),
    }
    rows: dict[str, list[Taken]] = {name: [] for name in kinds}
    for _ in range(ROUNDS):
        for name, run in kinds.items():
            rows[name].append(run())
    service = statistics.median(each.wall for each in rows["the service"])
    for name, runs in rows.items():
        wall = statistics.median(each.wall for each in runs)
        processor = statistics.median(each.processor for each in runs)
        print(
            f"{name:<36}{MESSAGES / wall:>8,.0f} messages/s  {service / wall:>5.2f}"
            f"  {processor / MESSAGES * 1e6:>6,.0f} µs"
        )
    measured = rows["the service, its machines measured"]
    share = statistics.median(each.share for each in measured)
    events = measured[0].events / MESSAGES
    print(f"the machines: {share:.0%} of the processor time, {events:.1f} events a message")
    return 0


def taken(work: Coroutine[object, object, float]) -> Taken:
    began = time.process_time()
    wall = asyncio.run(work)
    return Taken(wall, time.process_time() - began)


def watched() -> Taken:
    """A run in which the events of the machines are measured."""
    with measured_events(MACHINES, time.thread_time) as watch:
        run = taken(exchanged(None))
    return Taken(run.wall, run.processor, watch.spent / run.processor, watch.events)


def with_journals() -> Taken:
    """A run in which each endpoint keeps a journal."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        journals = [stack.enter_context(Journal(Path(folder) / name, buffer=64)) for name in "AB"]
        return taken(exchanged(journals))


def payload(number: int) -> bytes:
    return number.to_bytes(8, "big").ljust(BYTES)


async def exchanged(journals: list[Journal] | None) -> float:
    """Seconds in which all messages are sent and delivered once, in order."""
    first, second = (None, None) if journals is None else journals
    async with (
        await Unicast.open("A", CONFIG, Options(journal=first)) as a,
        await Unicast.open("B", CONFIG, Options(journal=second)) as b,
    ):
        a.connect("B", b.address)
        b.connect("A", a.address)

        async def send() -> None:
            for number in range(MESSAGES):
                await a.send("B", payload(number))

        began = time.perf_counter()
        sending = asyncio.create_task(send())
        number = 0
        async for _, got in b.receive():
            assert got == payload(number)
            number += 1
            if number == MESSAGES:
                break
        await sending
        return time.perf_counter() - began


async def streamed() -> float:
    """The same over TCP."""
    all_came = asyncio.Event()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for number in range(MESSAGES):
            length = int.from_bytes(await reader.readexactly(4), "big")
            assert await reader.readexactly(length) == payload(number)
        writer.close()
        all_came.set()

    async with await asyncio.start_server(take, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        began = time.perf_counter()
        for number in range(MESSAGES):
            writer.write(BYTES.to_bytes(4, "big") + payload(number))
            await writer.drain()
        await all_came.wait()
        seconds = time.perf_counter() - began
        writer.close()
        return seconds


if __name__ == "__main__":
    raise SystemExit(main())
