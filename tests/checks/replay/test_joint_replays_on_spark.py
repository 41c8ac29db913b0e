"""Several machines with mappings over one log on Spark: the verdicts are those of this process."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import (
    JointProgram,
    Preparation,
    ReplayError,
    replay,
    replay_frame,
    replay_stream,
)
from lawful.checks.replay.spark.streaming import PROVIDER, ROCKS_DB
from tests.checks.replay.answers import Answer, of_records
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import written
from tests.checks.replay.test_joint_replays import (
    LINES,
    LOG,
    MACHINES,
    MAPPINGS,
    PLANTED,
    alone,
    generated,
    joint,
    named,
)

pytestmark = NEEDS_SPARK
OTHERS = ("engine", "seconds", "remark", "rejected")  # A rejected row is shown in its own way.


def on_spark(frame: Any, program: JointProgram) -> dict[str, Answer]:
    """The answer of each machine, without the rejected rows."""
    rows = [row.asDict() for row in replay_frame(frame, program).records.collect()]
    return {
        name: of_records(row for row in rows if row["machine"] == name) for name in program.steppers
    }


def test_a_machine_alone_gives_the_same(session: Any, tmp_path: Path) -> None:
    rows = [json.dumps(row) for row in generated(5, 90)]
    path = written(tmp_path / "log.jsonl", rows)
    program = joint(every=True)
    wanted = alone(path, program)
    lines = session.createDataFrame([(line,) for line in rows], "value string")
    assert on_spark(lines, program) == wanted


def test_one_call_judges_a_table(session: Any) -> None:
    columns = "order string, payment string, by string, n long, type string, cents long"
    names = [each.split()[0] for each in columns.split(", ")]
    table = session.createDataFrame([tuple(map(r.get, names)) for r in LOG], columns)
    found = replay_frame(table, MACHINES, MAPPINGS)
    rows = found.verdicts.collect()
    told: dict[str, dict[str, str]] = {name: {} for name in PLANTED}
    for row in rows:
        told[row.machine][row.instance] = row.verdict
    unquoted = {m: {k.strip('"'): v for k, v in each.items()} for m, each in PLANTED.items()}
    assert told == unquoted
    (first,) = found.deviations.where("machine = 'Order'").collect()
    assert found.explain(first)["path"] == [{"event": "capture", "args": {}}]
    wide = table.withColumn("cents", table.cents.cast("double"))  # No column of a layout.
    again = replay_frame(wide, MACHINES, MAPPINGS)
    assert again.verdicts.where("verdict = 'quarantined'").count() > 1
    with pytest.raises(ReplayError, match=r"the mapping reads \$\.by"):
        replay_frame(table.drop("by"), MACHINES, MAPPINGS)
    session.conf.set(PROVIDER, ROCKS_DB)
    try:
        several: Any = MAPPINGS
        with pytest.raises(ValueError, match="a stream judges by one mapping; run one for"):
            replay_stream(table, MACHINES, several)
    finally:
        session.conf.unset(PROVIDER)
    with pytest.raises(ValueError, match="goes on from states judges by one mapping"):
        replay_frame(table, MACHINES, MAPPINGS, states=table)


def test_files_are_replayed_as_in_this_process(session: Any, tmp_path: Path) -> None:
    del session  # `replay` takes the active one.
    path = written(tmp_path / "shop.jsonl", LINES)
    ways = [MAPPINGS, [dataclasses.replace(m, preparation=Preparation()) for m in MAPPINGS]]
    ways.append(
        [dataclasses.replace(m, seq="", preparation=Preparation(order="file")) for m in MAPPINGS]
    )
    for mappings in ways:
        found = [
            replay([path], joint(mappings, every=True), engine) for engine in ("local", "spark")
        ]
        here, there = (each.to_json() | dict.fromkeys(OTHERS) for each in found)
        assert here == there
        told: list[Any] = [each.to_json()["rejected"] for each in found]
        places = [[reason["places"] for reason in each["reasons"]] for each in told]
        assert places[0] == places[1]
        assert named(found[1].tallies) == PLANTED
