"""The service of the read-only windows under load: requests a second, within one process.

Beside it the same service with its machines written by hand (`_windows_by_hand`), the service with
its journal on, and a plain `ThreadPoolExecutor` whose tasks take a readers-writer lock. Three of
four requests read, one writes; so many are under way at once. The four run by turns, once with
requests that do nothing else, and once with requests that take a millisecond; of each the median is
printed, and its ratio to the service. Times are wall time; the last column is processor time of the
process for a request.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks._windows_by_hand import TransactionByHand, WindowByHand
from lawful.machines.read_only_windows.service import (
    Answer,
    Config,
    Kind,
    Options,
    WindowedExecutor,
    executor,
    settings,
)
from lawful.machines.read_only_windows.service.scripts import Script, Step, run
from lawful.machines.read_only_windows.service.table import GuardedTable
from lawful.machines.services.threads import SystemThreads
from lawful.runtime.journal import Journal

REQUESTS = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
ROUNDS, READERS, UNDER_WAY = 5, 3, 64
LONG = 30_000  # Milliseconds: nobody is stopped, however busy the machine is.
CONFIG = Config(
    read_only_transaction_num_threads=READERS,
    read_only_transaction_threshold=8,
    read_write_window_time=20,
    read_only_window_time=60_000,
    max_read_only_transaction_time=LONG,
    max_write_time=LONG,
)
Load = Callable[[Script, Script], None]


def main() -> int:
    loads: dict[str, Load] = {
        "the service": service,
        "its machines written by hand": by_hand,
        "the service with a journal": journalled,
        "ThreadPoolExecutor": plain,
    }
    print(f"{REQUESTS} requests, {UNDER_WAY} under way, {READERS} readers,")
    print(f"median of {ROUNDS} rounds, load average {os.getloadavg()[0]:.1f}")
    for work in (0, 1):
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in loads}
        pause = (Step("work", number=work),) if work else ()
        read, write = (*pause, Step("get", "n")), (*pause, Step("add", "n", number=1))
        for _ in range(ROUNDS):
            for name, load in loads.items():
                wall, cpu = time.perf_counter(), time.process_time()
                load(read, write)
                figures[name].append((time.perf_counter() - wall, time.process_time() - cpu))
        print(f"each takes {work} ms:")
        base = statistics.median(wall for wall, _ in figures["the service"])
        for name, rounds in figures.items():
            wall = statistics.median(wall for wall, _ in rounds)
            cpu = statistics.median(cpu for _, cpu in rounds)
            rate, micros = REQUESTS / wall, cpu / REQUESTS * 1e6
            print(f"{name:<30}{rate:>8,.0f} requests/s  x{base / wall:.2f}  {micros:>7.0f} µs each")
    return 0


def service(read: Script, write: Script, options: Options | None = None) -> None:
    table = GuardedTable(SystemThreads())
    windowed = WindowedExecutor(CONFIG, table, options)
    free, failed = threading.Semaphore(UNDER_WAY), list[str]()

    def answered(answer: Answer) -> None:
        if answer.outcome != "answered":
            failed.append(answer.error)
        free.release()

    for number in range(REQUESTS):
        free.acquire()
        kind = Kind.READ if number % 4 else Kind.WRITE
        windowed.submit(kind, read if number % 4 else write, answered)
    for _ in range(UNDER_WAY):
        free.acquire()
    written = windowed.call(Kind.GET, (Step("get", "n"),)).values
    windowed.shutdown()
    assert (failed, written) == ([], (REQUESTS // 4,))


def by_hand(read: Script, write: Script) -> None:
    with (
        mock.patch.object(settings, "WindowFixed", WindowByHand),
        mock.patch.object(executor, "Transaction", TransactionByHand),
    ):
        service(read, write)


def journalled(read: Script, write: Script) -> None:
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "j", buffer=64) as journal:
        service(read, write, Options(journal=journal))


def plain(read: Script, write: Script) -> None:
    """As many threads as the service has, the one that writes included."""
    table, lock = GuardedTable(SystemThreads()), ReadersWriterLock()

    def sleep(milliseconds: int) -> None:
        time.sleep(milliseconds / 1_000)

    def reads() -> None:
        with lock.reading(), table.reading() as view:
            run(read, view, sleep)

    def writes() -> None:
        with lock.writing(), table.writing() as view:
            run(write, view, sleep)

    free = threading.Semaphore(UNDER_WAY)
    with ThreadPoolExecutor(READERS + 1) as pool:
        for number in range(REQUESTS):
            free.acquire()
            pool.submit(reads if number % 4 else writes).add_done_callback(lambda _: free.release())
    with table.reading() as view:
        assert view.get("n") == REQUESTS // 4


class ReadersWriterLock:
    """Many may read, one may write; who wants to write goes before those that come later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._writing = False
        self._wanting = 0

    @contextlib.contextmanager
    def reading(self) -> Generator[None, None, None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._writing and not self._wanting)
            self._readers += 1
        yield
        with self._changed:
            self._readers -= 1
            self._changed.notify_all()

    @contextlib.contextmanager
    def writing(self) -> Generator[None, None, None]:
        with self._changed:
            self._wanting += 1
            self._changed.wait_for(lambda: not self._writing and not self._readers)
            self._wanting -= 1
            self._writing = True
        yield
        with self._changed:
            self._writing = False
            self._changed.notify_all()


if __name__ == "__main__":
    sys.exit(main())
