"""Replay on sessions that are not in this process: Spark Connect, and executors of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import interleaved, worker, written
from tests.root import ROOT

pytestmark = [*NEEDS_SPARK, pytest.mark.nightly]

SCRIPT = """
import sys

from pyspark.sql import SparkSession

from lawful.checks.replay import TraceMapping, replay_frame
from tests.checks.replay.journals import Bell, Worker

session = {session}.getOrCreate()
frames = replay_frame(session.read.text(sys.argv[1]), Worker).persist()
print(type(session).__module__)
print(sorted((row.instance, row.verdict) for row in frames.verdicts.collect()))
print(sorted((row.instance, row.seq) for row in frames.deviations.collect()))
print({{row.name: row["count"] for row in frames.coverage.collect()}}["take"])
print(frames.rejected.count())
session.conf.set("spark.sql.session.timeZone", "America/New_York")
table = session.sql({table!r})
rung = replay_frame(table, Bell, TraceMapping("$.at", "$.n", "$.e", output="$.r"))
print(sorted(row.instance for row in rung.verdicts.collect()))
print(rung.remark())
session.stop()
"""
# Two instants with one local time; no row has an output.
TABLE = """
SELECT timestamp'2026-11-01 05:30:00Z' AS at, 1L AS n, 'ring' AS e, CAST(NULL AS bigint) AS r
UNION ALL SELECT timestamp'2026-11-01 06:30:00Z', 2L, 'ring', NULL
"""
SESSIONS = {
    "pyspark.sql.connect.session": 'SparkSession.builder.remote("local[2]")',
    "pyspark.sql.session": """(
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
    )""",
}


@pytest.mark.parametrize("module", SESSIONS)
def test_the_same_verdicts(module: str, tmp_path: Path) -> None:
    journal = interleaved(worker("a"), worker("b"))
    spoilt = next(row for row in journal if row["instance"] == "b" and row["event"] == "take")
    spoilt["output"] = 99
    path = written(tmp_path / "j.jsonl", [*journal, {}])
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(session=SESSIONS[module], table=TABLE), str(path)],
        env={**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == [
        module,
        "[('a', 'fits'), ('b', 'deviates')]",
        f"[('b', {spoilt['seq']})]",
        "12",
        "1",
        "['2026-11-01T05:30:00.000000Z', '2026-11-01T06:30:00.000000Z']",
        "no row has a value at $.r (output), so nothing was compared with it",
    ]
