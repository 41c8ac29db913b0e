"""Every classic and a machine of every system on two executors, each level as a job.

Run as a program it prints a line of JSON for each machine. Executors import this package, so that
it is no part of a test's text.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from lawful import Machine
from lawful.checks.explore.spark.level_jobs import LevelJobs, Span
from lawful.checks.explore.spark.level_tasks import Expansion, NewStates
from tests.checks.explore.spark.test_clustered import SYSTEMS, comparable, in_memory, on_jobs
from tests.classics.table import CLASSICS
from tests.machines.test_large import named

MACHINES: dict[str, type[Machine]] = {
    cls.__name__: cls for cls in (*(row.machine for row in CLASSICS), *map(named, SYSTEMS))
}


class Counted(LevelJobs):
    """Counts the states of its jobs."""

    states = 0

    def told(
        self, spans: Sequence[Span], expansion: Expansion, new: NewStates
    ) -> Sequence[tuple[int, bytes]]:
        type(self).states += sum(span[4] for span in spans)
        return super().told(spans, expansion, new)


def main(root: str) -> None:
    """Search each machine in memory and on two executors that import from `root`."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .config("spark.executorEnv.PYTHONPATH", root)
        .getOrCreate()
    )
    for name, cls in MACHINES.items():
        Counted.states = 0
        found, known = on_jobs(cls, Counted(session, 0)), in_memory(cls)
        row = {
            "name": name,
            "executors": executors(session),
            "states_of_jobs": Counted.states,
            "distinct": known.distinct,
            "same": comparable(found) == comparable(known),
        }
        print(json.dumps(row), flush=True)
    session.stop()


def executors(session: Any) -> int:
    """How many executors the session has besides the driver."""
    count: int = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()
    return count - 1


if __name__ == "__main__":
    main(sys.argv[1])
