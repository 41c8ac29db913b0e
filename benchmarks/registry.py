"""A million instances in one store, ten thousand of them in memory: what opening, restoring one,
and each that is in memory cost. The goals stand beside the figures.

The database is made by SQL from one instance, with the checksums of each row; a process of its own
then opens it. Times are processor time, but where the disk is waited for.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks.service import Bell
from lawful.runtime.databases.tables import beginning, sum_of_snapshot
from lawful.runtime.registry import Registry
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock

INSTANCES = 1_000_000
ALIVE = 10_000
FIRST = 1_000
DUE = 1_000
INSERT = """
INSERT INTO snapshot(name, seq, time, wall, data, started, version, chain, sum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def main() -> int:
    if len(sys.argv) == 3:
        measure(Path(sys.argv[1]), int(sys.argv[2]))
        return 0
    instances = int(sys.argv[1]) if len(sys.argv) == 2 else INSTANCES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bells.db"
        fill(path, instances)
        print(f"a store of {instances:,} instances, {path.stat().st_size / 1e6:,.0f} MB")
        command = [sys.executable, __file__, str(path), str(instances)]
        return subprocess.run(command, check=False).returncode


def fill(path: Path, instances: int) -> None:
    """Make the store: the timers end in 30 years, those of the first instances at once."""
    with Store(path) as store:
        for name, seconds in (("soon", 0), ("late", 10**9)):
            store.add(Bell(clock=SimulatedClock()), name).start(seconds)
        store.snapshot_all()
        db = store.transactions.database.connection  # Events would take long.
        query = "SELECT seq, time, wall, data, started, version, due, snapshot.name FROM snapshot"
        found = db.execute(f"{query} JOIN instance USING (name, seq)").fetchall()
        made = {name: (rest, due) for *rest, due, name in found}
        db.execute("BEGIN")
        for number in range(instances):
            columns, due = made["soon" if number < DUE else "late"]
            row = f"{number}", *columns
            chain = beginning(row[0], "Bell")
            head = row[0], "Bell", columns[0], chain, due, due
            db.execute("INSERT INTO instance VALUES (?, ?, ?, ?, ?, ?)", head)
            whole = (*row, chain, sum_of_snapshot("Bell", row, chain))
            db.execute(INSERT, whole)
        db.execute("DELETE FROM snapshot WHERE name IN ('soon', 'late')")
        db.execute("DELETE FROM instance WHERE name IN ('soon', 'late')")
        db.execute("COMMIT")


def measure(path: Path, instances: int) -> None:
    gc.collect()
    bare = resident()
    began = time.perf_counter()
    store = Store(path, synchronous="NORMAL")
    line("open", time.perf_counter() - began, "s", 2)
    bells = Registry(store, Bell, most=ALIVE)
    began = time.process_time()
    found = list(store.due(Bell, time.time()))
    line(f"ask for the {len(found):,} that are due", time.process_time() - began, "s", None)
    took: list[float] = []
    shared = 0
    for number in range(ALIVE):
        if number == FIRST:  # What all instances share is in memory then, SQLite's pages too.
            gc.collect()
            shared = resident()
        began = time.process_time()
        with bells.use(str(DUE + number * 89 % (instances - DUE))):
            took.append(time.process_time() - began)
    took.sort()
    line("restore one, the median", took[len(took) // 2] * 1e3, "ms", 2)
    line("restore one, the slowest of a hundred", took[len(took) * 99 // 100] * 1e3, "ms", None)
    gc.collect()
    whole = resident()
    line(f"memory with {len(bells):,} alive", whole / 1e6, "MB", 100 + len(bells) / 1e3)
    line("memory before the store was opened", bare / 1e6, "MB", None)
    line(f"memory with {FIRST:,} alive", shared / 1e6, "MB", None)
    each = (whole - shared) / (ALIVE - FIRST)
    line("for each further one that is alive", each, "bytes", 1000)
    began = time.process_time()
    fired = bells.fire_due(lambda name, each: None)
    took_all = time.process_time() - began
    line(f"fire {fired:,} that are due, each", took_all / max(fired, 1) * 1e3, "ms", None)


def resident() -> int:
    """The memory of this process, in bytes."""
    with Path("/proc/self/status").open(encoding="ascii") as status:
        row = next(row for row in status if row.startswith("VmRSS"))
    return int(row.split()[1]) * 1024


def line(name: str, value: float, unit: str, goal: float | None) -> None:
    at_most = "" if goal is None else f"  goal: at most {goal:g}"
    print(f"{name:42}{value:12,.3f} {unit}{at_most}")


if __name__ == "__main__":
    sys.exit(main())
