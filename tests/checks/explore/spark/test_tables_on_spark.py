"""Files in tables of a file system that no process has mounted, with executors of Spark.

`viewfs` is a file system of Hadoop that shows others under names of its own.
"""

from __future__ import annotations

import os
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

from pyspark.sql import SparkSession

from lawful.checks.explore.spark.table_jobs import TableJobs
from tests.checks.explore.spark.test_clustered import comparable, on_jobs
from tests.classics.two_phase import TwoPhase

root, folder = sys.argv[1:]
session = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.hadoop.fs.viewfs.mounttable.states.link./kept", f"file://{folder}")
    .config("spark.executorEnv.PYTHONPATH", root)
    .getOrCreate()
)
print(comparable(on_jobs(TwoPhase, TableJobs(session, "viewfs://states/kept", 0))))
try:
    on_jobs(TwoPhase, TableJobs(session, "unknown://states/kept", 0))
except Exception as error:
    print('No FileSystem for scheme "unknown"' in str(error))
session.stop()
"""


def test_the_answer_is_that_of_the_search_in_memory(tmp_path: Path) -> None:
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, ROOT, tmp_path],
        env={**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == [str(comparable(in_memory(TwoPhase))), "True"]
    assert [*tmp_path.iterdir()] == []
