"""A stream gives the verdicts of a batch, in any order of arrival, and after a restart."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayError, replay, replay_stream
from lawful.checks.replay.spark.streaming import PROVIDER, ROCKS_DB
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import PROGRAM, of, rows, worker, written

pytestmark = [*NEEDS_SPARK, pytest.mark.nightly]


def test_a_stream_in_any_order_with_a_restart(session: Any, tmp_path: Path) -> None:
    wrong = worker("y")
    of(wrong, "y", 2)["output"] = 9
    lines: list[Any] = [*rows(), *wrong, *worker("z")]
    random.Random(5).shuffle(lines)
    lines.append({"no": "instance"})
    cuts = [len(lines) // 3, 2 * len(lines) // 3, len(lines)]
    folder = tmp_path / "in"
    folder.mkdir()
    verdicts: dict[str, str] = {}
    findings: dict[str, set[tuple[Any, ...]]] = {}
    rejected: list[str] = []

    def keep(batch: Any, _number: int) -> None:
        for row in batch.collect():
            if row.record == "rejected":
                rejected.append(row.reason)
            elif row.record == "instance":
                verdicts[row.instance], findings[row.instance] = row.verdict, set()
        for row in batch.where("record = 'finding'").collect():
            findings[row.instance].add((row.kind, row.seq, row.clause))

    with pytest.raises(ReplayError, match="a stream needs the setting"):
        replay_stream(session.readStream.text(str(folder)), PROGRAM)
    session.conf.set(PROVIDER, ROCKS_DB)
    begun = 0
    try:
        for number, cut in enumerate(cuts):
            written(folder / f"{number}.jsonl", lines[begun:cut])
            begun = cut
            found = replay_stream(session.readStream.text(str(folder)), PROGRAM, buckets=4)
            writer = found.writeStream.outputMode("update").trigger(availableNow=True)
            # Each file is a run of its own: it goes on from the checkpoint of the one before.
            query = writer.option("checkpointLocation", str(tmp_path / "kept")).foreachBatch(keep)
            query.start().awaitTermination()
    finally:
        session.conf.unset(PROVIDER)
    whole = replay([folder], PROGRAM)
    tallies = whole.tallies.machines.values()
    assert verdicts == {k: v for tally in tallies for k, v in tally.named.items()}
    assert rejected == ["no instance"]
    answer: Any = whole.to_json()
    told: dict[str, set[tuple[Any, ...]]] = {name: set() for name in verdicts}
    for each in [*answer["deviations"], *answer["not_judged"]]:
        told[each["instance"]].add((each["kind"], each["index"], each["clause"]))
    assert findings == told
    assert json.dumps(sorted(findings["y"])).count("output is 9") == 1
