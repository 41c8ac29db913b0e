"""On two executors, with every level as a job, a search has the answer of the one in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.checks.explore.spark.executors import MACHINES
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.root import ROOT

pytestmark = [*NEEDS_SPARK, pytest.mark.nightly]


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    """A row for each machine, from a process of its own."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.checks.explore.spark.executors", str(ROOT)],
        env={**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row.pop("name"): row for row in found}


@pytest.mark.parametrize("name", MACHINES)
def test_two_executors_have_the_answer_of_one_process(name: str, rows: dict[str, Any]) -> None:
    row = rows[name]
    assert (row["executors"], row["same"]) == (2, True)
    assert 0 < row["states_of_jobs"] <= row["distinct"]
