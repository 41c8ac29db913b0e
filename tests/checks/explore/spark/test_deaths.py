"""An executor or the driver is killed in the middle of a search: the answer is the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks.explore.spark.test_clustered import comparable, in_memory
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.classics.two_phase import TwoPhase
from tests.root import ROOT

pytestmark = [*NEEDS_SPARK, pytest.mark.nightly]

SCRIPT = """
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from lawful.checks.explore import Limits
from lawful.checks.explore.checkpoints import Snapshots
from lawful.checks.explore.spark import clustered
from tests.checks.explore.spark.deaths import Deaths
from tests.checks.explore.spark.test_clustered import comparable, on_jobs
from tests.classics.two_phase import TwoPhase

root, master, folder, expansion, new, driver = sys.argv[1:]
Deaths.flags = Path(folder)
Deaths.expansion, Deaths.new, Deaths.driver = int(expansion), int(new), int(driver)
clustered.FEWEST = 7  # A level has several tasks.
Snapshots.due = lambda _: True  # And a snapshot.
session = (
    SparkSession.builder.master(master)
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "4")
    .config("spark.executorEnv.PYTHONPATH", root)
    .getOrCreate()
)
found = on_jobs(TwoPhase, Deaths(session, 0), Limits(resume=Path(folder, "kept")))
print(comparable(found))
print(Deaths.jobs)
session.stop()
"""
LEVELS = 11  # Of the machine.


def searched(
    master: str, folder: Path, expansion: int = 0, new: int = 0, driver: int = 0
) -> subprocess.CompletedProcess[str]:
    """A search in a process of its own, which dies as `Deaths` says."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, ROOT, master, folder, *map(str, (expansion, new, driver))],
        env={**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )


def answer(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_an_executor_is_killed_in_either_task(tmp_path: Path) -> None:
    done = searched("local-cluster[2,1,1024]", tmp_path, expansion=4, new=7)
    assert answer(done) == [str(comparable(in_memory(TwoPhase))), str(LEVELS)]
    assert (tmp_path / "expansion").exists() and (tmp_path / "new").exists()


def test_the_driver_is_killed_and_the_search_goes_on(tmp_path: Path) -> None:
    killed = searched("local[2]", tmp_path, driver=6)
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "")
    done = searched("local[2]", tmp_path)
    # The sixth job is done again: it was in no snapshot.
    assert answer(done) == [str(comparable(in_memory(TwoPhase))), str(LEVELS - 5)]
