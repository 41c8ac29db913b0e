"""The message scheduler's service under load: requests a second over TCP on loopback.

Beside it the same service with its machine written by hand (`_scheduler_by_hand`), the service with
its journal on, and a plain `ThreadPoolExecutor` with a blocking socket for each thread. Each peer
runs in a process of its own. The four run by turns; of each the median is printed, and its ratio to
the service. Times are wall time; the last column is processor time of this process for a request.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks._scheduler_by_hand import SchedulerByHand
from lawful.machines.message_scheduler.service import MessageScheduler, scheduler
from lawful.machines.message_scheduler.service.clients import BulkFetcher
from lawful.machines.message_scheduler.service.offering import Message
from lawful.machines.message_scheduler.service.overlay import connected
from lawful.machines.message_scheduler.service.settings import Options
from lawful.machines.message_scheduler.service.wire import (
    LARGEST_HEAD,
    LONGEST_BODY,
    Request,
    encode,
)
from lawful.machines.services import LOOPBACK
from lawful.machines.services.framing import Frames
from lawful.runtime.journal import Journal

REQUESTS = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
ROUNDS = 5
PEERS, CHANNELS, BODY = 4, 2, bytes(100)
Load = Callable[[dict[str, int]], None]


def main() -> int:
    loads: dict[str, Load] = {
        "the service": service,
        "its machine written by hand": by_hand,
        "the service with a journal": journalled,
        "ThreadPoolExecutor": plain,
    }
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in loads}
    with peers() as ports:
        for _ in range(ROUNDS):
            for name, load in loads.items():
                wall, cpu = time.perf_counter(), time.process_time()
                load(ports)
                spent = time.perf_counter() - wall, time.process_time() - cpu
                figures[name].append(spent)
    print(f"{PEERS} peers with {CHANNELS} channels, {REQUESTS} requests of {len(BODY)} bytes,")
    print(f"median of {ROUNDS} rounds, load average {os.getloadavg()[0]:.1f}")
    base = statistics.median(wall for wall, _ in figures["the service"])
    for name, rounds in figures.items():
        wall = statistics.median(wall for wall, _ in rounds)
        cpu = statistics.median(cpu for _, cpu in rounds)
        rate, micros = REQUESTS / wall, cpu / REQUESTS * 1e6
        print(f"{name:<30}{rate:>8,.0f} requests/s  x{base / wall:.2f}  {micros:>7.0f} µs each")
    return 0


def service(ports: dict[str, int], options: Options | None = None) -> None:
    broker = MessageScheduler(options=options)
    wanted = [b"%d" % n for n in range(REQUESTS)]
    fetcher = BulkFetcher(broker, Message("object", BODY, 30.0), wanted, is_right=any_body)
    with connected(broker, ports):
        fetcher.start()
        fetcher.done.wait()
    assert len(fetcher.found) == REQUESTS


def any_body(wanted: bytes, body: bytes) -> bool:
    return wanted in body


def by_hand(ports: dict[str, int]) -> None:
    with mock.patch.object(scheduler, "Scheduler", SchedulerByHand):
        service(ports)


def journalled(ports: dict[str, int]) -> None:
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "j", buffer=64) as journal:
        service(ports, Options(journal=journal))


def plain(ports: dict[str, int]) -> None:
    """As many threads as there are channels, each request on a connection that is free."""
    free: queue.Queue[tuple[socket.socket, Frames]] = queue.Queue()
    for port in [*ports.values()] * CHANNELS:
        free.put((socket.create_connection((LOOPBACK, port)), Frames(LARGEST_HEAD + LONGEST_BODY)))

    def ask(number: int) -> None:
        connection, frames = free.get()
        connection.sendall(encode(Request(number, "object", BODY + b"%d" % number)))
        while not any(content[0] == 3 for content in frames.feed(connection.recv(65_536))):
            pass
        free.put((connection, frames))

    with ThreadPoolExecutor(PEERS * CHANNELS) as pool:
        list(pool.map(ask, range(REQUESTS)))
    while not free.empty():
        free.get()[0].close()


@contextlib.contextmanager
def peers() -> Generator[dict[str, int], None, None]:
    """Peers in processes of their own."""
    with contextlib.ExitStack() as running:
        ports: dict[str, int] = {}
        for name in "ABCDEFGH"[:PEERS]:
            words = ["run", "message_scheduler", "peer", name, "--channels", str(CHANNELS)]
            process = subprocess.Popen(
                [sys.executable, "-m", "lawful", *words], stdout=subprocess.PIPE, text=True
            )
            running.callback(process.communicate)
            running.callback(process.terminate)
            assert process.stdout is not None
            ports[name] = int(process.stdout.readline().split()[-1])
        yield ports


if __name__ == "__main__":
    sys.exit(main())
