"""Keys and columns with dots on Spark: the same verdicts as in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayError, property_column, replay_frame
from lawful.checks.replay.mapping import mapping_of
from tests.checks.replay import answers
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.test_keys_with_dots import (
    COLUMNS,
    DOTTED,
    JOINT,
    VERDICTS,
    Sender,
    Sent,
    lines,
    mappings,
    program,
    table,
)

pytestmark = NEEDS_SPARK


@pytest.mark.nightly
def test_spark_reads_keys_with_dots(session: Any, tmp_path: Path) -> None:
    wanted = answers.row_by_row(program(DOTTED), lines(DOTTED), tmp_path)
    assert answers.on_spark(session)(program(DOTTED), lines(DOTTED), tmp_path) == wanted
    path = table(tmp_path, "parquet")
    for paths in (COLUMNS, (*COLUMNS[:3], ("a `b`.c",), ("r.e",))):
        rows = session.read.parquet(str(path))
        rows = rows.withColumn("a `b`.c", rows["`log`.`in.side`"])
        rows = rows.withColumn("r.e", rows["`log`.`a`.`.b`"])
        for more in ({}, {"combine": True}, {"preparation": {"defaults": {"$['x.y']": 0}}}):
            found = replay_frame(rows, program(paths, **more)).verdicts.collect()
            assert {row.instance: row.verdict for row in found} == VERDICTS
        joint = replay_frame(rows, [Sender, Sent], mappings(paths)).verdicts.collect()
        assert {f"{row.machine}.{row.instance}": row.verdict for row in joint} == JOINT
    with pytest.raises(ReplayError, match=r"reads \$\['log.m'\]"):
        replay_frame(rows, program((*COLUMNS[:1], ("log.m",), *COLUMNS[2:])))
    told = mapping_of(
        {
            "instance": "$['conn.id']",
            "seq": "$['log.n']",
            "event": "$['.type']",
            "observed": {"sent": "$['log.n']"},
            "args": {"ack": {"upto": "$['a `b`.c']"}},
        }
    )
    column = property_column(rows, Sender, "ack", told)
    holds = [row[0] for row in rows.select(column).collect()]
    assert sorted(holds, key=str) == [False, *[None] * 5, True]
