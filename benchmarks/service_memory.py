"""The memory of the five services over a long run: it does not grow with what they have done.

Each service lives in this process and does the same work again and again. After each lap the
objects that Python's collector knows are counted, and the memory of the process is read. The first
lap fills what is filled once. Printed are the growth from the second lap to the last, for each
unit of work, and the laps.
"""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from lawful.machines.message_scheduler.service.clients import BulkFetcher
from lawful.machines.message_scheduler.service.offering import Message
from lawful.machines.message_scheduler.service.overlay import connected
from lawful.machines.message_scheduler.service.scheduler import MessageScheduler
from lawful.machines.object_diffusion.service import node as diffusion
from lawful.machines.object_diffusion.service.pool import SqlitePool
from lawful.machines.object_diffusion.service.settings import Config as DiffusionConfig
from lawful.machines.queue_cluster.service.broker import Broker
from lawful.machines.queue_cluster.service.bus import Bus
from lawful.machines.queue_cluster.service.client import Client, CommandFailed
from lawful.machines.read_only_windows.service import Kind, WindowedExecutor
from lawful.machines.read_only_windows.service.scripts import Step
from lawful.machines.read_only_windows.service.settings import Config as WindowsConfig
from lawful.machines.read_only_windows.service.table import GuardedTable
from lawful.machines.services.threads import SystemThreads
from lawful.machines.unicast.service.endpoint import Unicast
from lawful.machines.unicast.service.settings import Config as UnicastConfig

LAPS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
UNITS = 3_000  # Of a lap.
UNDER_WAY = 32
KEPT = 1_000  # Objects in a pool: far fewer than come.
PAGE = os.sysconf("SC_PAGE_SIZE")


def main() -> int:
    if LAPS < 3:
        sys.exit(f"at least 3 laps, not {LAPS}: growth counts from the second on")
    print(f"{LAPS} laps of {UNITS} messages, requests or objects")
    for name, laps in SERVICES.items():
        found = [measured() for _ in laps()]
        objects, memory = ([row[at] for row in found] for at in (0, 1))
        per = UNITS * (LAPS - 2)
        print(
            f"{name:<20}{(objects[-1] - objects[1]) / per:>8.3f} objects,"
            f" {(memory[-1] - memory[1]) / per:>7.1f} bytes each;"
            f"  MiB: {' '.join(f'{each / 2**20:.1f}' for each in memory)}"
        )
    return 0


def measured() -> tuple[int, int]:
    """The objects that are alive, and the bytes of this process that are in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return len(gc.get_objects()), int(file.read().split()[1]) * PAGE


def peer(stack: ExitStack, *words: str) -> int:
    """Start a peer as a process; its port."""
    call = [sys.executable, "-m", "lawful", "run", *words]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
    stack.callback(process.communicate)
    stack.callback(process.terminate)
    assert process.stdout is not None
    return int(process.stdout.readline().split()[-1])


def in_one_loop(laps: Callable[[], AsyncGenerator[None, None]]) -> Generator[None, None, None]:
    """The laps of a service that is in one event loop."""
    with asyncio.Runner() as runner:
        going = laps()

        async def lap() -> None:
            await anext(going)

        for _ in range(LAPS):
            runner.run(lap())
            yield

        async def end() -> None:
            await anext(going, None)

        runner.run(end())


def unicast() -> Generator[None, None, None]:
    async def laps() -> AsyncGenerator[None, None]:
        brisk = UnicastConfig(xmit_interval=0.01, ack_interval=0.01)
        async with await Unicast.open("A", brisk) as a, await Unicast.open("B", brisk) as b:
            a.connect("B", b.address)
            b.connect("A", a.address)
            came = b.receive()
            for _ in range(LAPS):
                sending = asyncio.create_task(sent(a))
                for _ in range(UNITS):
                    await anext(came)
                await sending
                yield

    async def sent(a: Unicast) -> None:
        for number in range(UNITS):
            await a.send("B", b"%d" % number)
        await a.flushed("B")

    return in_one_loop(laps)


def message_scheduler() -> Generator[None, None, None]:
    with ExitStack() as stack:
        ports = {n: peer(stack, "message_scheduler", "peer", n) for n in "AB"}
        scheduler = MessageScheduler()
        stack.enter_context(connected(scheduler, ports))
        for lap in range(LAPS):
            wanted = [b"%d" % (lap * UNITS + n) for n in range(UNITS)]
            message = Message("object", b"", 30.0)
            fetcher = BulkFetcher(scheduler, message, wanted, is_right=any_body)
            fetcher.start()
            fetcher.done.wait()
            assert len(fetcher.found) == UNITS
            del fetcher, wanted
            yield


def any_body(wanted: bytes, body: bytes) -> bool:
    return wanted in body


def read_only_windows() -> Generator[None, None, None]:
    table = GuardedTable(SystemThreads())
    executor = WindowedExecutor(WindowsConfig(read_only_transaction_num_threads=3), table)
    free = threading.Semaphore(UNDER_WAY)
    for _ in range(LAPS):
        for number in range(UNITS):
            free.acquire()
            kind = Kind.READ if number % 4 else Kind.WRITE
            step = Step("get", "n") if number % 4 else Step("add", "n", number=1)
            executor.submit(kind, (step,), lambda _: free.release())
        for _ in range(UNDER_WAY):
            free.acquire()
        free.release(UNDER_WAY)
        yield
    executor.shutdown()


def queue_cluster() -> Generator[None, None, None]:
    async def laps() -> AsyncGenerator[None, None]:
        bus = Bus()
        port = await bus.open()
        brokers = [Broker(name, port) for name in "AB"]
        publisher, consumer = [await client(await broker.open()) for broker in brokers]
        await publisher.declare("q")
        await consumer.declare("q")
        await consumer.subscribe("q", credit=UNDER_WAY)
        for _ in range(LAPS):
            await asyncio.gather(published(publisher), accepted(consumer))
            yield
        for connected_to in (publisher, consumer):
            connected_to.close()
        for broker in brokers:
            broker.close()
        bus.close()

    return in_one_loop(laps)


async def client(port: int) -> Client:
    """A client of this broker, once that has joined."""
    while True:
        try:
            return await Client.connect(port)
        except CommandFailed:
            await asyncio.sleep(0.01)


async def published(publisher: Client) -> None:
    for first in range(0, UNITS, UNDER_WAY):
        numbers = range(first, min(first + UNDER_WAY, UNITS))
        await asyncio.gather(*(publisher.send("q", b"%d" % n) for n in numbers))


async def accepted(consumer: Client) -> None:
    for _ in range(UNITS):
        message = await consumer.next()
        assert message is not None
        await consumer.accept(message)


def object_diffusion() -> Generator[None, None, None]:
    async def laps() -> AsyncGenerator[None, None]:
        with ExitStack() as stack:
            words = ("--objects", str(UNITS * LAPS))
            ports = {n: peer(stack, "object_diffusion", "peer", n, *words) for n in "AB"}
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            config = DiffusionConfig(most_objects=KEPT)
            node = diffusion.Node(SqlitePool(folder / "pool", most=KEPT), ports, config)
            running = asyncio.create_task(node.run())
            for lap in range(1, LAPS + 1):
                while node.counts["added"] < UNITS * lap:
                    await asyncio.sleep(0.01)
                yield
            node.close()
            await running

    return in_one_loop(laps)


SERVICES: dict[str, Callable[[], Generator[None, None, None]]] = {
    "unicast": unicast,
    "message_scheduler": message_scheduler,
    "queue_cluster": queue_cluster,
    "object_diffusion": object_diffusion,
    "read_only_windows": read_only_windows,
}

if __name__ == "__main__":
    sys.exit(main())
