"""Increments on Spark: the states and verdicts of this process."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayError, replay_frame, replay_increment
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import PROGRAM, interleaved, of, rows, worker, written

pytestmark = NEEDS_SPARK
RESUMABLE = dataclasses.replace(PROGRAM, resumable=True)


@pytest.mark.nightly
def test_two_days(session: Any, tmp_path: Path) -> None:
    wrong = worker("y")
    of(wrong, "y", 2)["output"] = 9
    lines = interleaved(rows(), wrong, worker("z"))
    cut = len(lines) // 2
    table, told, found = None, dict[str, str](), 0
    for number, day in enumerate((lines[:cut], [*lines[cut - 9 :], *lines[:3]])):
        path = written(tmp_path / f"{number}.jsonl", day)
        here = replay_increment([path], PROGRAM, told)
        text = session.createDataFrame([(json.dumps(row),) for row in day], "value string")
        there = replay_frame(text, RESUMABLE, states=table)
        kept = {row.instance: row.state for row in there.states.collect()}
        assert kept == here.states
        judged = {row.instance: row.verdict for row in there.verdicts.collect()}
        tallies = here.tallies.machines.values()
        assert judged == {k: v for tally in tallies for k, v in tally.named.items()}
        found = there.findings.count()
        table = session.createDataFrame([*kept.items()], "instance string, state string")
        told = dict(here.states)
    whole = session.createDataFrame([(json.dumps(row),) for row in lines], "value string")
    assert found == replay_frame(whole, PROGRAM).findings.count() > 0
    with pytest.raises(ReplayError, match="states have the columns instance and state"):
        replay_frame(whole, PROGRAM, states=whole)
