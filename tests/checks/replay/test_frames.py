"""Replay of data frames: the verdicts of the local engine, as tables that join with others."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import (
    ReplayError,
    ReplayProgram,
    TraceMapping,
    replay,
    replay_frame,
)
from lawful.checks.replay.parquet import to_parquet
from lawful.checks.replay.problems import COUNTS
from lawful.checks.replay.spark.frames import CACHED_ADAPTIVELY
from lawful.checks.replay.tally import PER_KIND
from tests.checks.replay import test_mapping
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import PROGRAM, Bell, Worker, interleaved, worker, written
from tests.checks.replay.test_spark import spoilt_file
from tests.checks.replay.test_validation import BOTH
from tests.test_docs import ON_SPARK, run_page

pytestmark = NEEDS_SPARK

MAPPING = TraceMapping(
    instance="$.who.name",
    seq="$.at",
    event="$.what",
    skip=("TICK",),
    events={"JOB": "take", "READY": "finish", "TIRED": "lose_patience"},
    args={"take": {"job": {"$": "Job", "size": "$.weight", "tags": {"$set": [1, "$.weight"]}}}},
    parameters={"limit": 2},
)
TOLD = "who struct<name: string>, at long, what string, weight long, comment string"


def collected(frame: Any) -> list[dict[str, Any]]:
    return sorted((row.asDict() for row in frame.collect()), key=str)


def agree(rows: Any, paths: list[Path], program: ReplayProgram) -> dict[str, list[dict[str, Any]]]:
    """The tables of a data frame; they say what the local engine says of the files."""
    frames = replay_frame(rows, program).persist()
    names = ("verdicts", "deviations", "findings", "coverage", "rejected")
    out = {name: collected(getattr(frames, name)) for name in names}
    frames.unpersist()
    answer: Any = replay(paths, program).to_json()
    counts = Counter(row["verdict"] for row in out["verdicts"])
    assert {k: v for k, v in counts.items() if k != "other"} == {
        k: v for k, v in answer["verdicts"].items() if v
    }
    assert len(out["deviations"]) == answer["verdicts"]["deviates"]
    assert {row["instance"]: row["verdict"] for row in out["verdicts"]}.items() >= answer[
        "by_instance"
    ].items()
    for kind in ("transition", "state"):
        several = len(program.machines) > 1
        assert {
            (f"{row['machine']}." if several else "") + row["name"]: row["count"]
            for row in out["coverage"]
            if row["kind"] == kind
        } == answer["coverage"][f"{kind}s"]
    told = {each["reason"]: each["total"] for each in answer["rejected"]["reasons"]}
    assert Counter(row["reason"] for row in out["rejected"]) == told
    counted = Counter[str]()
    for row in out["verdicts"]:
        counted.update({name: row[name] for name in COUNTS})
    assert counted == answer["counts"]
    shown = {(row["instance"], row["seq"], row["kind"]): row for row in out["findings"]}
    assert sum(row["count"] for row in out["findings"]) == sum(
        each["count"] for each in answer["totals"]
    )
    for each in [*answer["deviations"], *answer["not_judged"]]:
        row = shown[each["instance"], each["index"] if each["index"] >= 0 else None, each["kind"]]
        details = json.loads(row["details"])
        # Files tell where a row without a number is; rows of a data frame have no place.
        placed = ("file", "number") if each["index"] < 0 else ()
        for name in ("nearest", "path", "searched", *placed):
            each.pop(name, None)
        assert each == {
            "instance": row["instance"],
            "index": -1 if row["seq"] is None else row["seq"],
            "count": row["count"],
            "kind": row["kind"],
            "event": row["event"],
            "control": row["control"] or "",
            "state": json.loads(row["state"]),
            "clause": row["clause"],
            "legal": row["legal"],
            **details,
        }
    return out


@pytest.mark.nightly
def test_a_table_of_everything_spoilt(session: Any, tmp_path: Path) -> None:
    path = spoilt_file(tmp_path)
    to_parquet([path], tmp_path / "table")
    agree(session.read.parquet(str(tmp_path / "table")), [path], PROGRAM)


@pytest.mark.nightly
def test_every_deviating_instance_is_listed(session: Any, tmp_path: Path) -> None:
    """The counts of `lawful replay` keep a few of each kind; the tables have no limit."""
    journal = interleaved(*(worker(f"w{i}") for i in range(PER_KIND + 4)))
    for row in journal:
        if row["event"] == "take":
            row["output"] = 99
    path = written(tmp_path / "j.jsonl", journal)
    found = agree(session.read.text(str(path)), [path], PROGRAM)
    assert [row["instance"] for row in found["deviations"]] == [
        f"w{i}" for i in range(PER_KIND + 4)
    ]


def test_several_machines_and_the_callers_own_table(session: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", interleaved(worker("a"), worker("b")))
    rows = session.read.text(str(path))
    agree(rows, [path], BOTH)
    owners = session.createDataFrame([("a", "Ada"), ("b", "Bob")], "instance string, owner string")
    verdicts = replay_frame(rows, (Worker, Bell)).verdicts.join(owners, "instance")
    assert sorted((r["owner"], r["verdict"]) for r in verdicts.collect()) == [
        ("Ada", "fits"),
        ("Bob", "fits"),
    ]


@pytest.mark.nightly
def test_any_table_with_a_mapping(session: Any, tmp_path: Path) -> None:
    told = [each for each in test_mapping.lines() if each["what"] != "TICK"]
    path = written(tmp_path / "j.jsonl", told)
    program = ReplayProgram((Worker.lawful.ir,), mapping=MAPPING)
    rows = [
        ((each["who"]["name"],), each["at"], each["what"], each.get("weight"), "unread")
        for each in told
    ]
    found = agree(session.createDataFrame(rows, TOLD), [path], program)
    assert {r["instance"]: r["verdict"] for r in found["verdicts"]} == {"a": "fits", "b": "open"}
    agree(session.read.text(str(path)), [path], program)
    with pytest.raises(ValueError, match="has its own mapping"):
        replay_frame(session.createDataFrame(rows, TOLD), program, MAPPING)


@pytest.mark.nightly
def test_a_mapping_reads_fields_of_maps_and_integers_as_names(session: Any) -> None:
    columns = "who map<string, int>, at int, what string, weight int"
    rows: list[Any] = [
        ({"name": 7}, 1, "JOB", 5),
        ({"name": 7}, 2, "READY", None),
        ({}, 3, "JOB", 5),
    ]
    frames = replay_frame(session.createDataFrame(rows, columns), Worker, MAPPING)
    assert collected(frames.verdicts.select("instance", "verdict", "events")) == [
        {"instance": "7", "verdict": "open", "events": 2}
    ]
    assert [row["reason"] for row in collected(frames.rejected)] == ["no value at $.who.name"]


@pytest.mark.nightly
def test_a_struct_called_value_is_no_line(session: Any) -> None:
    mapping = TraceMapping("$.value.who", "$.value.at", "$.value.what")
    rows = session.createDataFrame(
        [(("a", 1, "ring"),)], "value struct<who: string, at: int, what: string>"
    )
    assert collected(replay_frame(rows, Bell, mapping).verdicts.select("instance", "verdict")) == [
        {"instance": "a", "verdict": "fits"}
    ]


@pytest.mark.nightly
def test_columns_that_are_none_of_the_forms(session: Any) -> None:
    empty = session.createDataFrame(
        [], "who struct<nick: string>, at long, what string, weight int"
    )
    with pytest.raises(ReplayError, match=r"the mapping reads \$\.who\.name; .* has nick"):
        replay_frame(empty, Worker, MAPPING)
    with pytest.raises(ReplayError, match="the data frame: no journal: it has no column v"):
        replay_frame(empty, Worker)


@pytest.mark.nightly
def test_small_partitions_are_brought_together(session: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", worker("a"))
    frames = replay_frame(session.read.text(str(path)), Worker)
    before = session.conf.get(CACHED_ADAPTIVELY)
    kept = frames.persist()
    assert kept.records.rdd.getNumPartitions() == frames.records.rdd.getNumPartitions() == 1
    kept.unpersist()
    assert session.conf.get(CACHED_ADAPTIVELY) == before


@pytest.mark.nightly
def test_nothing_is_read_before_a_result_is_used(session: Any, tmp_path: Path) -> None:
    """Errors of rows come with the action, and no action is taken while frames are made."""
    from pyspark.sql import functions as F

    broken = session.range(1).select(F.raise_error(F.lit("read")).cast("string").alias("value"))
    frames = replay_frame(broken, Worker)
    assert frames.verdicts.columns[:3] == ["instance", "machine", "verdict"]
    with pytest.raises(Exception, match="read"):
        frames.verdicts.collect()


@pytest.mark.nightly
@pytest.mark.parametrize("page", ON_SPARK, ids=lambda page: str(page.name))
def test_pages_about_spark(
    page: Path, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(page, tmp_path, monkeypatch)
