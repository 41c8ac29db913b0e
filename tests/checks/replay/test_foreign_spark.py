"""Foreign logs on Spark: the same result as in this process."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import Engine, ReplayError, ReplayProgram, replay, replay_frame
from lawful.checks.replay.mapping import mapping_of
from tests.checks.replay import test_foreign_logs as logs
from tests.checks.replay import test_recorded_outputs as outputs
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.foreign_logs import PREPARED, REQUESTED, VERDICTS, Request, Span
from tests.checks.replay.journals import Bell
from tests.checks.replay.test_spark import same

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")
pytestmark = NEEDS_SPARK


@pytest.mark.nightly
@pytest.mark.usefixtures("session")
def test_files_that_are_read_whole_and_lines(tmp_path: Path) -> None:
    assert set(same(*logs.connections(tmp_path))["by_instance"].values()) == {"fits"}
    rows = [f'{{"k": "a", "t": {at}, "e": "{e}"}}\n' for at, e in [(2, "end"), (1, "start")]]
    data = {
        "instance": "$.k",
        "event": "$.e",
        "time": "$.t",
        "preparation": {"order": "time", "ties": ["start"]},
    }
    paths, program = logs.log(tmp_path, "r.jsonl", "".join([*rows, "\n", "x\n"]), Span, data)
    found = same(paths, program)
    assert found["by_instance"] == {"a": "fits"}
    assert found["rejected"]["reasons"][0]["places"] == [{"file": str(paths[0]), "number": 4}]


@pytest.mark.nightly
@pytest.mark.usefixtures("session")
def test_every_format(tmp_path: Path) -> None:
    for form in ("csv", "xes"):
        same(*logs.requests(tmp_path, form))
    same(*logs.spans(tmp_path))
    broken = b"k,e,n\na,start,1\nb,start\nc,\xff,1\n\nd,,1\na,end,2\n"
    (tmp_path / "odd %20.csv").write_bytes(broken)
    how = {"format": "csv", "casts": {"$.n": "int"}}
    program = ReplayProgram(
        (Span.lawful.ir,), mapping=mapping_of(logs.EVENTS | {"preparation": how})
    )
    assert same([tmp_path / "odd %20.csv"], program)["rejected"]["rows"] == 2


@pytest.mark.nightly
def test_a_table_of_the_callers_session(session: Any, tmp_path: Path) -> None:
    """As from ORC, Delta, Iceberg or JDBC: Spark's reader for CSV stands for them."""
    (path,), _ = logs.requests(tmp_path, "csv")
    table = session.read.csv(str(path), header=True, sep=";", inferSchema=True)
    data = {**REQUESTED, "instance": "$.case", "time": "$.at", "preparation": PREPARED}
    mapping = mapping_of(data)
    verdicts = replay_frame(table, Request, mapping).verdicts.collect()
    assert {row.instance: row.verdict for row in verdicts} == VERDICTS
    kept = tmp_path / "r.parquet"
    table.withColumn("at", table["at"].cast("string")).write.parquet(str(kept))
    program = ReplayProgram((Request.lawful.ir,), mapping=mapping_of(data | {"unit": ISO_SPACE}))
    assert same([kept], program)["by_instance"] == VERDICTS
    lines = session.createDataFrame([(json.dumps(row),) for row in ROWS], "value string")
    found = replay_frame(lines, Span, mapping_of(SPREAD)).verdicts.collect()
    assert {row.instance: row.verdict for row in found} == {"a": "fits", "b": "open"}
    how = {"preparation": {"order": "file"}, "seq": None}
    with pytest.raises(ReplayError, match="a data frame has no order of rows"):
        replay_frame(lines, Span, mapping_of(logs.EVENTS | how))


ISO_SPACE = "%Y-%m-%d %H:%M:%S"
ROWS = [{"k": ["a", "b"], "e": "start", "n": 1}, {"k": ["a"], "e": "end", "n": 2}]
SPREAD: dict[str, Any] = logs.EVENTS | {"preparation": {"spread": "$.k"}}


def test_a_remote_file_is_not_read_whole() -> None:
    how = {"format": "csv"}
    program = ReplayProgram(
        (Span.lawful.ir,), mapping=mapping_of(logs.EVENTS | {"preparation": how})
    )
    with pytest.raises(ReplayError, match="a remote file of the format csv is read whole"):
        replay(["s3a://bucket/rows.csv"], program, "local")


@pytest.mark.nightly
@pytest.mark.usefixtures("session")
def test_a_table_with_a_column_of_places(tmp_path: Path) -> None:
    """Its name is that of a column of this project. Rows of no instance say where they are."""
    pa = pytest.importorskip("pyarrow")
    rows = [("a", 1, "start", "x"), ("a", 2, "end", "x"), (None, 1, "start", "x")]
    columns = [*zip(*rows, strict=True)]
    names = ["place", "n", "e", "k"]
    table = pa.table(dict(zip(names, map(list, columns), strict=True)))
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "t.parquet")
    data = {"instance": "$.place", "seq": "$.n", "event": "$.e"}
    program = ReplayProgram((Span.lawful.ir,), mapping=mapping_of(data))
    found = same([tmp_path / "t.parquet"], program)
    assert found["by_instance"] == {"a": "fits"}
    assert found["rejected"]["reasons"][0]["places"][0]["number"] == 3


@pytest.mark.nightly
def test_rows_without_an_output(session: Any, tmp_path: Path) -> None:
    told, wanted = outputs.cases()
    path = outputs.written(tmp_path / "t.jsonl", outputs.without_nulls(told))
    assert same([path], outputs.PROGRAM)["by_instance"] == wanted
    columns = "i string, n long, e string, by long, r "
    for kind, gave in (("long", 7), ("double", 7.0), ("string", "7")):
        rows = [("a", 1, "put", 7, None), ("b", 1, "put", 7, gave), ("c", 1, "reset", 7, gave)]
        table = session.createDataFrame(rows, columns + kind)
        found = replay_frame(table, outputs.PROGRAM).verdicts.collect()
        other = "fits" if kind == "long" else "deviates"
        named = {row.instance: row.verdict for row in found}
        assert named == {"a": "fits", "b": other, "c": "deviates"}


BOTH: tuple[Engine, ...] = ("local", "spark")
BEFORE = dt.datetime(2026, 11, 1, 5, 30)
NAMES: dict[str, Any] = {
    # When clocks went back in New York, two instants have one local time.
    "at": pa.array([BEFORE, BEFORE + dt.timedelta(hours=1)], pa.timestamp("us", "UTC")),
    "local": pa.array([BEFORE, BEFORE + dt.timedelta(microseconds=1)], pa.timestamp("us")),
    "raw": pa.array([b"a", b"\xff"], pa.binary()),
}
SHOWN = {
    "at": {"2026-11-01T05:30:00.000000Z", "2026-11-01T06:30:00.000000Z"},
    "local": {"2026-11-01T05:30:00.000000", "2026-11-01T05:30:00.000001"},
    "raw": {"YQ==", "/w=="},
}


@pytest.mark.parametrize("column", NAMES)
def test_an_instance_that_is_no_text_has_the_name_of_its_json(
    session: Any, column: str, tmp_path: Path
) -> None:
    """Whichever time zone the session has; with typed columns and without."""
    rows = pa.table({column: NAMES[column], "n": [1, 2], "e": ["ring", "ring"]})
    pq.write_table(rows, tmp_path / "t.parquet")
    paths = {"instance": f"$.{column}", "seq": "$.n", "event": "$.e"}
    zone, before = "spark.sql.session.timeZone", session.conf.get("spark.sql.session.timeZone")
    session.conf.set(zone, "America/New_York")
    try:
        for more in ({}, {"combine": True}):
            program = ReplayProgram((Bell.lawful.ir,), mapping=mapping_of({**paths, **more}))
            for engine in BOTH:
                found: Any = replay([tmp_path / "t.parquet"], program, engine).to_json()
                assert set(found["by_instance"]) == SHOWN[column]
            frame = session.read.parquet(str(tmp_path / "t.parquet"))
            verdicts = replay_frame(frame, program).verdicts.collect()
            assert {row.instance for row in verdicts} == SHOWN[column]
    finally:
        session.conf.set(zone, before)
