"""Tasks of Spark that fail after their work and are tried again: nothing counts twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lawful.checks.replay import replay
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import PROGRAM, interleaved, worker, written
from tests.root import ROOT

pytestmark = [*NEEDS_SPARK, pytest.mark.nightly]

# The first attempt of each task fails when all its work is done, and its result is on its way.
SCRIPT = """
import json
import sys

from pyspark import TaskContext
from pyspark.sql import SparkSession

from lawful.checks.replay import replay, replay_frame
from lawful.checks.replay.spark import frames, prepared, tallying
from tests.checks.replay.journals import PROGRAM


def failing(task):
    class Failing(task):
        def __call__(self, batches):
            yield from super().__call__(batches)
            if TaskContext.get().attemptNumber() == 0:
                raise RuntimeError("the first attempt")
    return Failing


for module in (frames, tallying):
    name = "RecordPartition" if module is frames else "TallyPartition"
    setattr(module, name, failing(getattr(module, name)))
session = (
    SparkSession.builder.master("local[2,4]")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "3")
    .config("spark.sql.adaptive.enabled", "false")
    .getOrCreate()
)
answer = replay([sys.argv[1]], PROGRAM, "spark").to_json()
lines = session.read.text(sys.argv[1])
flaky = failing(type("Lines", (), {"__call__": lambda self, batches: batches}))()
found = replay_frame(lines.mapInArrow(flaky, "value string"), PROGRAM).persist()
coverage = {row.name: row["count"] for row in found.coverage.collect()}
sums = found.verdicts.selectExpr("count(*)", "sum(rows)", "sum(events)", "sum(judged)").collect()
rest = [found.deviations.count(), found.rejected.count()]
print(json.dumps([answer, coverage, [*sums[0], *rest]]))
session.stop()
"""


def test_what_failed_tasks_did_does_not_count(tmp_path: Path) -> None:
    journal = interleaved(*(worker(f"w{i}") for i in range(7)))
    next(row for row in journal if row["event"] == "take")["output"] = 99
    path = written(tmp_path / "j.jsonl", [*journal, {}])
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)],
        env={**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer, coverage, sums = json.loads(done.stdout.splitlines()[-1])
    expected = replay([path], PROGRAM).to_json()
    for key in ("seconds", "engine", "remark"):
        del answer[key], expected[key]
    assert answer == json.loads(json.dumps(expected))
    seen = answer["coverage"]
    assert coverage == {**seen["transitions"], **seen["states"]}
    counts = [answer["instances"], answer["rows"], answer["events"], answer["counts"]["judged"]]
    assert sums == [*counts, 1, 1]
    assert done.stderr.count("Lost task") >= 3  # Spark tells the first failure of each stage.
