"""Many checks, and many mutants, each as one job of a Spark session: equal to the answers here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lawful import Scope
from lawful.checks.explore.spark.check_frames import (
    BoundedCheck,
    check_frame,
    results,
    results_frame,
)
from lawful.checks.mutation.mutant_frames import mutant_frame
from lawful.cli import main
from tests.checks.explore.spark.test_check_frames import comparable, in_this_process
from tests.checks.explore.spark.test_clustered import SYSTEMS, lowered
from tests.checks.mutation.test_survey import surveyed
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.classics.peterson import Peterson
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase
from tests.machines.test_large import named

pytestmark = [*NEEDS_SPARK, pytest.mark.nightly]  # `make test` has the same without a session.


def test_every_classic_and_system_as_one_job(session: Any) -> None:
    machines = [*(row.machine for row in CLASSICS), *map(named, SYSTEMS)]
    checks = [BoundedCheck(lowered(cls)[1], lowered(cls)[0].expects) for cls in machines]
    found = results(results_frame(session, checks))
    for cls, check, result in zip(machines, checks, found, strict=True):
        assert comparable(result) == comparable(in_this_process(check, cls))


def test_it_is_one_job(session: Any) -> None:
    """Spark counts the shuffle that deals the questions out as a job of its own."""
    tracker = session.sparkContext.statusTracker()
    session.sparkContext.setJobGroup("many", "checks")
    scopes = [Scope(RM=size) for size in (1, 2, 3)]
    found = check_frame(session, TwoPhase, scopes).collect()
    assert {row["scope"]: row["distinct"] for row in found} == {
        '{"RM": "1"}': 12,
        '{"RM": "2"}': 56,
        '{"RM": "3"}': 288,
    }
    assert len(tracker.getJobIdsForGroup("many")) == 2
    session.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def test_the_mutants_of_a_machine_as_one_job(session: Any) -> None:
    rows = mutant_frame(session, Peterson).collect()
    here = surveyed(Peterson)
    assert [(row["outcome"], row["by"]) for row in sorted(rows)] == [
        (each.outcome, each.by) for _, each in here.judged
    ]


def test_the_commands(session: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """They use the active session. The answers are those of the commands without Spark."""
    assert session is not None
    check = ["check", "tests.classics.two_phase:TwoPhase", "--vary", "RM=1/2/3", "--json", "-"]
    lint = ["lint", "tests.classics.peterson", "--mutants", "all", "--json", "-"]
    for command in (check, lint):
        answers: list[Any] = []
        for engine in ([], ["--engine", "spark"]):
            assert main([*command, *engine]) == 0
            answers.append(json.loads(capsys.readouterr().out))
        for row in (row for answer in answers for row in answer["machines"]):
            for changing in ("engine", "seconds", "compile_seconds", "total_seconds"):
                row.pop(changing, None)
            row.get("mutants", {}).pop("engines", None)
        assert answers[0] == answers[1]
