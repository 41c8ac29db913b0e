"""Measures the memory of exploration on Spark: what all processes hold beyond an idle session.

    benchmarks/spark_memory.py [METERS]     (8 where it is not given: 10^8 states)

The machine has dials that go from 0 to 9 by themselves: 10^METERS states of one word. It is
explored with `--spill` first, in a process of its own, and then on Spark, `local[2]`, with the
settings of `lawful check --engine spark`. The heap is capped, and touched as a whole when the JVM
starts, so that it is a part of what the idle session holds. A session is idle when it has explored
a small machine, whose largest levels were jobs of several tasks: its workers have imported
everything and made machine code. Memory is looked at ten times a second; what processes share
counts in each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks._models import Meters
from benchmarks.spark_explore import Held, counts, line, timed
from lawful import Scope
from lawful.checks.explore import CheckResult, Limits, explore
from lawful.checks.explore.check import explore_on_spark
from lawful.checks.explore.spark import clustered
from lawful.checks.explore.spark.level_jobs import LevelJobs
from lawful.checks.explore.spark.session_memory import JAVA_OPTIONS, bounded
from lawful.checks.replay.spark.session import session, why_no_spark
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

METERS, SMALL = 8, 2
SPILLED = "spilled"
MASTER = "local[2]"
WORD = 8  # Bytes.


def main() -> int:
    """Print all lines; the exit code is 1 if counts differ."""
    if why_no_spark():
        print(why_no_spark())
        return 0
    meters = int(sys.argv[1]) if len(sys.argv) > 1 else METERS
    if sys.argv[2:] == [SPILLED]:
        seconds, found = timed(lambda: spilled(meters))
        line("in files", seconds, found.generated)
        print(*counts(found))
        return 0
    again = [sys.executable, __file__, str(meters), SPILLED]
    told = subprocess.run(again, check=True, capture_output=True, text=True).stdout
    print(told, end="")
    settings = dict(bounded(MASTER))
    heap = settings["spark.driver.memory"]
    settings[JAVA_OPTIONS] += f" -Xms{heap} -XX:+AlwaysPreTouch"
    spark = session(MASTER, settings)
    warmed_up(spark)
    idle = Held()
    seconds, found = timed(lambda: on_spark(meters, LevelJobs(spark)))
    most = idle.most()
    spark.stop()
    line(f"on Spark, {MASTER}", seconds, found.generated)
    packed = found.distinct * WORD
    print(f"idle {idle.before / 2**20:,.0f} MiB, of which the heap is {heap}")
    print(f"beyond idle {most / 2**20:,.0f} MiB; an eighth of the states {packed / 2**23:,.0f} MiB")
    same = " ".join(map(str, counts(found))) == told.splitlines()[-1]
    print(f"the counts are those in files: {same}")
    return 0 if same else 1


def warmed_up(spark: Any) -> None:
    """Have each worker start, import everything and make its code: levels have several tasks."""
    fewest, clustered.FEWEST = clustered.FEWEST, 1
    on_spark(SMALL, LevelJobs(spark, 9))
    clustered.FEWEST = fewest


def lowered(meters: int) -> Any:
    """The machine with so many dials, and where it was found."""
    found = resolve(Meters)
    return found, lower(found.machine, Scope(Meter=meters))


def spilled(meters: int) -> CheckResult:
    """By one thread of machine code, with the states in files."""
    found, flat = lowered(meters)
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(workers=1, spill=Path(folder))
        return explore(flat, found.world, found.expects, engine="compiled", limits=limits)


def on_spark(meters: int, jobs: LevelJobs) -> CheckResult:
    """Large levels are jobs."""
    found, flat = lowered(meters)
    return explore_on_spark(flat, found.world, found.expects, jobs)


if __name__ == "__main__":
    sys.exit(main())
