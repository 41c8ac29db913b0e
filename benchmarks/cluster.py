"""The queue cluster under load: messages a second, and the share of its machines in that time.

A bus and three brokers share one process and one event loop. A publisher sends to one broker, so
many messages under way at once; a consumer takes them from another one, and accepts each. Every
broker's machines handle every message.

There is no other implementation to compare with. So the time inside of the machines' events is
measured, and printed as a share of all time: with machines that cost nothing the cluster would be
faster by that share and no more. The measuring itself counts as time of the machines. Runs without
it, and runs with a journal at each broker, are made by turns; of each the median is printed.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks._stopwatch import Stopwatch, measured_events
from lawful import Machine
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.joining import Updatee, Updater
from lawful.machines.queue_cluster.service.broker import Broker
from lawful.machines.queue_cluster.service.bus import Bus
from lawful.machines.queue_cluster.service.client import Client, CommandFailed
from lawful.machines.queue_cluster.service.node import prepare
from lawful.machines.queue_cluster.service.settings import Options
from lawful.runtime.journal import Journal

MESSAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
ROUNDS, UNDER_WAY, CREDIT, BYTES = 5, 64, 100, 100
MACHINES: tuple[type[Machine], ...] = (Updatee, QueueOwnerFixed, Updater)


def main() -> int:
    prepare()
    print(f"{MESSAGES} messages of {BYTES} bytes, {UNDER_WAY} under way, three brokers,")
    print(f"median of {ROUNDS} rounds, load average {os.getloadavg()[0]:.1f}")
    plain, measured, journalled = list[float](), list[tuple[float, Stopwatch]](), list[float]()
    for _ in range(ROUNDS):
        plain.append(asyncio.run(exchanged(None)))
        measured.append(watched())
        journalled.append(with_journals())
    for name, seconds in {
        "the service": plain,
        "the service, its machines measured": [row[0] for row in measured],
        "the service with journals": journalled,
    }.items():
        middle = statistics.median(seconds)
        print(
            f"{name:<36}{MESSAGES / middle:>7,.0f} messages/s  {middle / MESSAGES * 1e6:>6,.0f} µs"
        )
    shares = [watch.spent / seconds for seconds, watch in measured]
    micros = [watch.spent / watch.events * 1e6 for _, watch in measured]
    events = measured[0][1].events / MESSAGES
    print(
        f"the machines: {statistics.median(shares):.0%} of the time, {events:.1f} events a message,"
        f" {statistics.median(micros):.0f} µs each"
    )
    return 0


def watched() -> tuple[float, Stopwatch]:
    """A run in which the events of the machines are measured."""
    with measured_events(MACHINES) as watch:
        return asyncio.run(exchanged(None)), watch


def with_journals() -> float:
    """A run in which each broker keeps a journal."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        journals = [stack.enter_context(Journal(Path(folder) / name, buffer=64)) for name in "ABC"]
        return asyncio.run(exchanged(journals))


async def exchanged(journals: list[Journal] | None) -> float:
    """Seconds in which all messages are published, delivered once, and accepted."""
    bus = Bus()
    port = await bus.open()
    brokers = list[Broker]()
    ports = list[int]()
    for number, name in enumerate("ABC"):
        options = None if journals is None else Options(journal=journals[number])
        brokers.append(Broker(name, port, options=options))
        ports.append(await brokers[-1].open())
    clients = [await connected(each) for each in ports]
    publisher, consumer = clients[:2]
    await publisher.declare("orders")
    began = time.perf_counter()
    await asyncio.gather(published(publisher), consumed(consumer))
    seconds = time.perf_counter() - began
    for client in clients:
        client.close()
    for broker in brokers:
        broker.close()
    bus.close()
    return seconds


async def connected(port: int) -> Client:
    """A client of this broker, once that has joined."""
    while True:
        try:
            return await Client.connect(port)
        except CommandFailed:
            await asyncio.sleep(0.01)


async def published(client: Client) -> None:
    free = asyncio.Semaphore(UNDER_WAY)

    async def send(number: int) -> None:
        await client.send("orders", number.to_bytes(8, "big").ljust(BYTES))
        free.release()

    async with asyncio.TaskGroup() as group:
        for number in range(MESSAGES):
            await free.acquire()
            group.create_task(send(number))


async def consumed(client: Client) -> None:
    """Messages come in the order in which they were sent."""
    await client.subscribe("orders", credit=CREDIT)
    async with asyncio.TaskGroup() as group:
        for number in range(MESSAGES):
            message = await client.next()
            assert message is not None
            assert int.from_bytes(message.body[:8], "big") == number
            assert not message.redelivered
            group.create_task(client.accept(message))


if __name__ == "__main__":
    raise SystemExit(main())
