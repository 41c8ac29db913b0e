"""An output or a variable that no row tells is named: its path may be misspelt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, transition
from lawful.checks.replay import ReplayProgram, TraceMapping, joint_program, replay_frame
from lawful.checks.replay import replay as replay_files
from lawful.checks.replay.flaws import absent_values
from lawful.checks.replay.mapping import mapping_of
from lawful.cli import main
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import written
from tests.checks.replay.test_recorded_outputs import MAPPING, Account, lines_of

PUTS = lines_of("a", ("put", 99), ("put", 99))
NAMED = "no row has a value at {} ({}), so nothing was compared with it"


def remark(tmp_path: Path, mapping: TraceMapping, rows: list[dict[str, Any]]) -> str:
    program = ReplayProgram((Account.lawful.ir,), mapping=mapping)
    return replay_files([written(tmp_path / "rows.jsonl", rows)], program).remark


def test_a_misspelt_path_is_named(tmp_path: Path) -> None:
    wrong = replace(MAPPING, output="$.rr")
    assert remark(tmp_path, wrong, PUTS) == NAMED.format("$.rr", "output")
    seen = replace(MAPPING, observed={"sum": "$.s", "last": "$.by"})
    assert remark(tmp_path, seen, PUTS) == NAMED.format("$.s", "observed.sum")
    both = replace(wrong, observed={"sum": "$.s"})
    told = "$.rr (output), $.s (observed.sum)"
    wanted = f"no row has a value at {told}, so nothing was compared with it"
    assert remark(tmp_path, both, PUTS) == wanted


def test_what_some_row_tells_is_not_named(tmp_path: Path) -> None:
    assert remark(tmp_path, MAPPING, PUTS) == ""
    assert remark(tmp_path, MAPPING, lines_of("a", ("put", None), ("put", 1))) == ""
    assert remark(tmp_path, replace(MAPPING, output=None), PUTS) == ""


def test_none_is_compared(tmp_path: Path) -> None:
    """A null says that the output was None, where it may be None."""
    assert remark(tmp_path, MAPPING, lines_of("a", ("reset", None), ("peek", None))) == ""
    assert remark(tmp_path, MAPPING, lines_of("a", ("reset", None), ("one", None))) != ""


def test_only_the_first_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = lines_of("a", *[("put", None)] * 3, ("put", 6))
    assert remark(tmp_path, MAPPING, rows) == ""
    monkeypatch.setattr(absent_values, "MOST", 3)
    found = remark(tmp_path, MAPPING, rows)
    assert found == NAMED.format("$.r", "output").replace("no row", "none of the first 3 rows")


def test_increments_and_prepared_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain: Any = MAPPING.to_json()
    data = {**plain, "output": "$.rr", "preparation": {"casts": {"$.n": "int"}}}
    rows = written(tmp_path / "rows.jsonl", PUTS)
    assert remark(tmp_path, mapping_of(data), PUTS) == NAMED.format("$.rr", "output")
    (tmp_path / "m.json").write_text(json.dumps(data), encoding="utf-8")
    target = "tests.checks.replay.test_recorded_outputs:Account"
    given = ["replay", str(rows), target, "--mapping", str(tmp_path / "m.json")]
    assert main([*given, "--keep", str(tmp_path / "states")]) == 0
    assert NAMED.format("$.rr", "output") in capsys.readouterr().out


class Bank(Machine):
    """It hears the same events as each of its accounts, and answers with their number."""

    heard: Nat = 0

    @transition()
    def put(self) -> Nat:
        self.heard += 1
        return self.heard


BOTH = [Account.lawful.ir, Bank.lawful.ir]
MINE = replace(MAPPING, machine="Account")
THEIRS = TraceMapping("$.bank", "$.n", "$.e", output="$.all", machine="Bank")
TOLD: list[dict[str, Any]] = [{**row, "bank": "x", "all": n} for n, row in enumerate(PUTS, 1)]


def test_each_of_several_machines(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", TOLD)
    for mine, theirs, what in (
        (MINE, THEIRS, ""),
        (replace(MINE, output="$.rr"), THEIRS, "$.rr (output of Account)"),
        (MINE, replace(THEIRS, output="$.al"), "$.al (output of Bank)"),
        (
            replace(MINE, observed={"sum": "$.s"}),
            replace(THEIRS, output="$.al"),
            "$.s (observed.sum of Account), $.al (output of Bank)",
        ),
    ):
        found = replay_files([rows], joint_program(BOTH, [mine, theirs])).remark
        told = f"no row has a value at {what}, so nothing was compared with it"
        assert found == (told if what else "")


COLUMNS = "i string, n long, e string, by long, r long, bank string, all long, rr long, al long"
WRONG = replace(MINE, output="$.rr")


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
def test_data_frames(session: Any) -> None:
    """Lines and tables, as they are and prepared; one machine and several."""
    names = [each.split()[0] for each in COLUMNS.split(", ")]
    table = session.createDataFrame([tuple(map(row.get, names)) for row in TOLD], COLUMNS)
    lines = session.createDataFrame([(json.dumps(row),) for row in TOLD], "value string")
    how: Any = {"preparation": {"casts": {"$.n": "int"}}}
    prepared = mapping_of({**json.loads(json.dumps(WRONG.to_json())), **how})
    for frame in (lines, table):
        for mapping in (WRONG, prepared):
            assert replay_frame(frame, Account, mapping).remark() == NAMED.format("$.rr", "output")
        assert replay_frame(frame, Account, MINE).persist().remark() == ""
        both = replay_frame(frame, [Account, Bank], [MINE, replace(THEIRS, output="$.al")])
        assert both.remark() == NAMED.format("$.al", "output of Bank")
