"""The node of object diffusion under load: objects a second, over TCP on 127.0.0.1.

Three honest peers offer the same objects to one node, whose pool is a file of SQLite. Beside it the
same node with its machine written by hand (`_registry_by_hand`), and the node with its journal on.
The three run by turns; of each the median is printed, and its ratio to the service. Peers and node
share one process and one event loop, as the peers' machines do in all three. The last column is the
processor time of that process for an object. A last run has ten times as many objects, and prints
what the process grew by.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks._registry_by_hand import RegistryByHand
from lawful.machines.object_diffusion.service import node as node_module
from lawful.machines.object_diffusion.service.node import Node
from lawful.machines.object_diffusion.service.outbound import OutboundPeer
from lawful.machines.object_diffusion.service.pool import SqlitePool
from lawful.machines.object_diffusion.service.settings import Config, Options
from lawful.runtime.journal import Journal

OBJECTS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
ROUNDS, PEERS, BYTES = 5, 3, 1_000
CONFIG = Config(period=0.001)
Load = Callable[[int], None]


def main() -> int:
    loads: dict[str, Load] = {
        "the service": service,
        "its machine written by hand": by_hand,
        "the service with a journal": journalled,
    }
    print(f"{OBJECTS} objects of {BYTES} bytes, {PEERS} peers,")
    print(f"median of {ROUNDS} rounds, load average {os.getloadavg()[0]:.1f}")
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in loads}
    for _ in range(ROUNDS):
        for name, load in loads.items():
            wall, cpu = time.perf_counter(), time.process_time()
            load(OBJECTS)
            figures[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    base = statistics.median(wall for wall, _ in figures["the service"])
    for name, rounds in figures.items():
        wall = statistics.median(wall for wall, _ in rounds)
        cpu = statistics.median(cpu for _, cpu in rounds)
        rate, micros = OBJECTS / wall, cpu / OBJECTS * 1e6
        print(f"{name:<30}{rate:>8,.0f} objects/s  x{base / wall:.2f}  {micros:>7.0f} µs each")
    before = memory()
    service(OBJECTS * 10)
    gc.collect()
    print(f"{OBJECTS * 10} objects: the process grew by {(memory() - before) / 2**20:.1f} MiB")
    return 0


def memory() -> int:
    """The most bytes that the process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def service(objects: int, options: Options | None = None) -> None:
    asyncio.run(downloaded(objects, options))


async def downloaded(objects: int, options: Options | None) -> None:
    """Fill a pool with all objects; each is there once."""
    peers = [OutboundPeer(name) for name in "ABC"[:PEERS]]
    for peer in peers:
        for number in range(objects):
            peer.offer(number.to_bytes(8, "big") * (BYTES // 8))
    ports = {peer.name: await peer.open() for peer in peers}
    with tempfile.TemporaryDirectory() as folder:
        pool = SqlitePool(Path(folder) / "pool.sqlite")
        node = Node(pool, ports, CONFIG, options)
        running = asyncio.create_task(node.run())
        while len(pool) < objects and not running.done():  # Its error is raised below.
            await asyncio.sleep(0.002)
        node.close()
        await running
        for peer in peers:
            peer.close()
        pool.close()
    assert node.counts == {"added": objects, "connected": PEERS, "disconnected": PEERS}


def by_hand(objects: int) -> None:
    with mock.patch.object(node_module, "Registry", RegistryByHand):
        service(objects)


def journalled(objects: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "j", buffer=64) as journal:
        service(objects, Options(journal=journal))


if __name__ == "__main__":
    raise SystemExit(main())
