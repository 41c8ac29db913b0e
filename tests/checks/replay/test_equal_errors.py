"""What is wrong with a file, or with a mapping for it, is said alike here and on Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import Engine, ReplayError, ReplayProgram, replay
from lawful.checks.replay.mapping import mapping_of
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.test_redelivered_rows import MAPPING, Door

pa: Any = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyarrow.orc")

ROWS = [{"i": "a", "n": 1, "e": "set", "to": True}]
Make = Callable[[Path], object]


def parquet(path: Path) -> None:
    pa.parquet.write_table(pa.Table.from_pylist(ROWS), path)


def nested(path: Path) -> None:
    pa.parquet.write_table(pa.Table.from_pylist([{**ROWS[0], "i": {"conn": "a"}}]), path)


def cut(path: Path) -> None:
    parquet(path)
    path.write_bytes(path.read_bytes()[:-9])


def orc(path: Path) -> None:
    pa.orc.write_table(pa.Table.from_pylist(ROWS), path)


def text(content: str) -> Make:
    return lambda path: path.write_text(content, encoding="utf-8")


LINES = text(json.dumps(ROWS[0]) + "\n")
CUT = "{}: no whole Parquet file: its footer is missing, or it was cut"
NO_JOURNAL = "{}: a journal is no ORC file; to replay it needs a mapping"
BY_FILE = {"seq": None, "preparation": {"order": "file"}}
# How the file is made, its name, what the mapping says (a journal has none), and the error.
CASES: dict[str, tuple[Make, str, dict[str, Any] | None, str]] = {
    "no such column": (
        parquet,
        "t.parquet",
        {"instance": "$.id"},
        "the mapping reads $.id; {} has i, n, e, to: write i",
    ),
    "no such column of ORC": (
        orc,
        "t.orc",
        {"instance": "$.zone"},
        "the mapping reads $.zone; {} has i, n, e, to",
    ),
    "no such field": (
        nested,
        "t.parquet",
        {"instance": "$.i.con"},
        "the mapping reads $.i.con; {} has conn: write conn",
    ),
    "no fields": (
        parquet,
        "t.parquet",
        {"instance": "$.i.conn"},
        "the mapping reads $.i.conn; {} has no fields",
    ),
    "no order": (
        parquet,
        "t.parquet",
        BY_FILE,
        '{} has no order of rows; order = "file" is for files of lines',
    ),
    "cut": (
        cut,
        "t.parquet",
        {},
        CUT,
    ),
    "another path": (
        LINES,
        "t.jsonl",
        {"preparation": {"file": "(?P<pod>zzz)"}},
        "{}: nothing in this path matches `file` of the preparation",
    ),
    "a column twice": (
        text("i,n,e,e\na,1,put,1\n"),
        "t.csv",
        {"preparation": {"format": "csv"}},
        "{}: the first line has no names of columns, or one of them twice",
    ),
    "all left out": (
        LINES,
        "t.jsonl",
        {"preparation": {"when": {"$.zzz": 1}, "pass_unmatched": True}},
        "the log has no row but those that the mapping leaves out by when and pass_unmatched",
    ),
    "no XES": (
        text("<log><trace>"),
        "t.xes",
        {"preparation": {"format": "xes"}},
        "{}: no XES: no element found: line 1, column 12",
    ),
    "no journal": (
        orc,
        "t.orc",
        None,
        NO_JOURNAL,
    ),
}


def said(case: str, folder: Path, engine: Engine) -> None:
    make, name, more, told = CASES[case]
    path = folder / name
    make(path)
    data: Any = {**json.loads(json.dumps(MAPPING.to_json())), **(more or {})}
    mapping = None if more is None else mapping_of(data)
    with pytest.raises(ReplayError) as error:
        replay([path], ReplayProgram((Door.lawful.ir,), mapping=mapping), engine)
    assert str(error.value) == told.format(path)


@pytest.mark.parametrize("case", CASES)
def test_in_this_process(case: str, tmp_path: Path) -> None:
    said(case, tmp_path, "local")


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("case", CASES)
def test_on_spark(case: str, tmp_path: Path) -> None:
    said(case, tmp_path, "spark")
