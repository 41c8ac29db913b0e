"""Compares exploration on Spark with the engine in memory, and with what its shuffle alone costs.

    benchmarks/spark_explore.py [MANAGERS]     (9 where it is not given: 10,340,352 states)

The machine is two-phase commit without its properties. A line has a name, the seconds that passed
and generated states a second. The engine in memory has one thread; Spark is `local[2]` with the
settings of `lawful check --engine spark`. The floor is what Spark does with the rows of the jobs of
that search by itself: it shuffles them by state, drops equal ones and those of earlier levels (an
anti join), and writes the rest as Parquet. The rows that tasks sent were kept by a search before,
which is not measured.

Memory is what all processes of the search hold at the most beyond what they held before it, beside
the states packed as words. The last search runs on two executors; the first one that has sent a
row is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
import numpy as np

from benchmarks._models import TwoPhaseAlone
from lawful import Scope
from lawful.checks.explore import CheckResult, Limits, explore
from lawful.checks.explore.check import explore_on_spark
from lawful.checks.explore.spark.level_jobs import LEAST, LevelJobs, Span
from lawful.checks.explore.spark.level_tasks import SENT, SPANS, STATES, Expansion, NewStates
from lawful.checks.explore.spark.session_memory import bounded
from lawful.checks.replay.parquet import arrow
from lawful.checks.replay.spark.session import session, why_no_spark
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

MANAGERS = 9
MASTER = "local[2]"
PAGE = os.sysconf("SC_PAGE_SIZE")
KILLED = "killed"


class KeepsRows(LevelJobs):
    """Makes every level a job, and keeps the rows that its tasks send as Parquet."""

    folder = Path()
    sizes: Sequence[int] = ()  # How many states each level has.

    def told(
        self, spans: Sequence[Span], expansion: Expansion, new: NewStates
    ) -> Sequence[tuple[int, bytes]]:
        """What the tasks told, after their rows were kept."""
        sent = self.session.createDataFrame(spans, SPANS).mapInArrow(expansion, SENT)
        rows = sent.where(f"kind = {STATES}").mapInArrow(Words(new.words), columns(new.words))
        kept = type(self)
        rows.write.parquet(str(kept.folder / f"rows{len(kept.sizes)}"))
        kept.sizes = (*kept.sizes, sum(span[4] for span in spans))
        return super().told(spans, expansion, new)


def columns(words: int) -> str:
    """The schema of rows: the step that led to the state, and its words."""
    return ", ".join(["step long", *(f"w{i} long" for i in range(words))])


class Words:
    """The rows that tasks send, a column for each word."""

    def __init__(self, words: int) -> None:
        self.names = ["step", *(f"w{i}" for i in range(words))]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of `columns`."""
        pa = arrow()
        for batch in batches:
            for rows in batch.column("rows"):
                table = np.frombuffer(rows.as_buffer(), np.int64).reshape(-1, len(self.names))
                arrays = [pa.array(table[:, i]) for i in range(len(self.names))]
                yield pa.RecordBatch.from_arrays(arrays, self.names)


class Kills(LevelJobs):
    """The first worker that has sent rows kills its executor."""

    flag = Path()

    def told(
        self, spans: Sequence[Span], expansion: Expansion, new: NewStates
    ) -> Sequence[tuple[int, bytes]]:
        """What the tasks told, those that ran again among them."""
        dying = Dying(expansion.program, expansion.buckets)
        dying.flag = self.flag
        return super().told(spans, dying, new)


class Dying(Expansion):
    """Kills the JVM above its worker once."""

    flag: Path

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in super().__call__(batches):
            yield batch
            try:
                self.flag.touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(_parent(os.getppid()), 9)


def _parent(pid: int) -> int:
    row = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    return int(row.split()[1])


def main() -> int:
    """Print all lines; the exit code is 1 if counts differ."""
    if why_no_spark():
        print(why_no_spark())
        return 0
    managers = int(sys.argv[1]) if len(sys.argv) > 1 else MANAGERS
    if sys.argv[2:] == [KILLED]:
        return killed(managers)
    spark = session(MASTER, bounded(MASTER))
    on_spark(3, LevelJobs(spark, 0))  # Starts workers and their compilers.
    seconds, mine = timed(lambda: in_memory(managers))
    line("in memory, one thread", seconds, mine.generated)
    idle = Held()
    seconds_on_spark, found = timed(lambda: on_spark(managers, LevelJobs(spark)))
    most = idle.most()
    line("on Spark, local[2]", seconds_on_spark, found.generated)
    if counts(found) != counts(mine):
        print(f"in memory: {counts(mine)}, on Spark: {counts(found)}")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        KeepsRows.folder = Path(folder)
        on_spark(managers, KeepsRows(spark, 0))
        jobs, floor = floor_of(spark, Path(folder), KeepsRows.sizes)
    line(f"floor of {jobs} jobs", floor, found.generated)
    print(f"part of the rate in memory {seconds / seconds_on_spark:8.1%}")
    print(f"part of the floor          {floor / seconds_on_spark:8.1%}")
    packed = found.distinct * 8
    print(f"memory beyond idle {most / 2**20:,.0f} MiB; states as words {packed / 2**20:,.0f} MiB")
    spark.stop()
    again = subprocess.run([sys.executable, __file__, str(managers), KILLED], check=False)
    return again.returncode


def killed(managers: int) -> int:
    """A search on two executors of which one is killed; 1 if its counts differ."""
    from pyspark.sql import SparkSession

    root = str(Path(__file__).parent.parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "32")
        .config("spark.executorEnv.PYTHONPATH", root)
        .getOrCreate()
    )
    with tempfile.TemporaryDirectory() as folder:
        Kills.flag = Path(folder, "flag")
        seconds, found = timed(lambda: on_spark(managers, Kills(spark)))
        died = Kills.flag.exists()
    spark.stop()
    line("on two executors, one is killed", seconds, found.generated)
    same = counts(found) == counts(in_memory(managers))
    print(f"an executor was killed: {died}; the counts are those in memory: {same}")
    return 0 if died and same else 1


def floor_of(spark: Any, folder: Path, sizes: Sequence[int]) -> tuple[int, float]:
    """How many levels are worth a job, and the seconds that Spark takes for their rows."""
    jobs, seconds = 0, 0.0
    seen = str(folder / "seen")
    for level, size in enumerate(sizes):
        began = time.perf_counter()
        rows = spark.read.parquet(str(folder / f"rows{level}"))
        words = rows.columns[1:]
        new = rows.repartition(*words).dropDuplicates(words)
        if level:
            earlier = spark.read.schema(rows.schema).parquet(f"{seen}/*")
            new = new.join(earlier, words, "left_anti").select(rows.columns)
        new.write.parquet(f"{seen}/{level}")
        if size >= LEAST:
            jobs += 1
            seconds += time.perf_counter() - began
    return jobs, seconds


class Held:
    """The memory of this process and those below it, looked at ten times a second."""

    def __init__(self) -> None:
        self.before = self.highest = held(os.getpid())
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look)
        self.thread.start()

    def _look(self) -> None:
        while not self.over.wait(0.1):
            self.highest = max(self.highest, held(os.getpid()))

    def most(self) -> int:
        """The bytes at the most beyond those at first; it stops looking."""
        self.over.set()
        self.thread.join()
        return self.highest - self.before


def held(pid: int) -> int:
    """Bytes that a process and those below it hold; what they share counts in each."""
    try:
        total = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]) * PAGE
        threads = [*Path(f"/proc/{pid}/task").glob("*/children")]
        children = " ".join(each.read_text(encoding="utf-8") for each in threads)
    except OSError:  # It has ended meanwhile.
        return 0
    return total + sum(held(int(child)) for child in children.split())


def lowered(managers: int) -> Any:
    """The machine with so many managers, and where it was found."""
    found = resolve(TwoPhaseAlone)
    return found, lower(found.machine, Scope(RM=managers))


def in_memory(managers: int) -> CheckResult:
    """By one thread of machine code."""
    found, flat = lowered(managers)
    return explore(flat, found.world, found.expects, engine="compiled", limits=Limits(workers=1))


def on_spark(managers: int, jobs: LevelJobs) -> CheckResult:
    """Large levels are jobs."""
    found, flat = lowered(managers)
    return explore_on_spark(flat, found.world, found.expects, jobs)


def counts(found: CheckResult) -> tuple[int, int, int]:
    """Distinct, generated, depth."""
    return found.distinct, found.generated, found.depth


def timed(asked: Any) -> tuple[float, CheckResult]:
    """Seconds on the clock, and the answer."""
    began = time.perf_counter()
    found = asked()
    return time.perf_counter() - began, found


def line(name: str, seconds: float, generated: int) -> None:
    """One search."""
    print(f"{name:34}{seconds:8.1f} s{generated / seconds:14,.0f} generated/s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
