"""Deviations as pytest files: few rows, that fail until the machine fits, from any folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, require, transition
from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay.fold import fold
from lawful.checks.replay.mapping import TraceMapping, mapping_of
from lawful.checks.replay.rows import Row as Recorded
from lawful.checks.replay.rows import row_json, row_of_json
from lawful.checks.replay.studies.trace_shrinking import shrunk
from lawful.checks.report.deviation_tests import deviation_tests
from lawful.cli import main
from lawful.testing import replay_rows
from tests.checks.replay import journals
from tests.checks.replay.journals import PROGRAM, interleaved, job, of, rows, worker, written
from tests.root import ROOT

SOURCE = """
from lawful import Machine, Nat, Param, require, transition


class Window(Machine):
    sent: Nat = 0
    acked: Nat = 0
    most: Param[Nat] = 1

    @transition()
    def send(self) -> Nat:
        require(self.sent - self.acked < self.most, "the window is full")
        self.sent += 1
        return self.sent

    @transition()
    def ack(self, upto: Nat) -> None:
        require(upto <= self.sent, "acknowledges what was never sent")
        self.acked = max(self.acked, upto)
"""
MAPPING = """
instance = "$.conn"
seq = "$.n"
event = "$.e"
[args.ack]
upto = "$.upto"
[parameters]
most = 3
"""


def project(folder: Path) -> list[str]:
    """A machine, its mapping and a trace in a folder of their own, as arguments of `lawful`."""
    (folder / "window.py").write_text(SOURCE, encoding="utf-8")
    (folder / "mapping.toml").write_text(MAPPING, encoding="utf-8")
    told: list[dict[str, Any]] = []
    for n in range(40):
        told.append({"conn": "a", "n": 2 * n, "e": "send"})
        told.append({"conn": "a", "n": 2 * n + 1, "e": "ack", "upto": n + 1 if n != 30 else 99})
    (folder / "t.jsonl").write_text("".join(json.dumps(r) + "\n" for r in told), encoding="utf-8")
    target = f"{folder / 'window.py'}:Window"
    return ["replay", str(folder / "t.jsonl"), target, "--mapping", str(folder / "mapping.toml")]


def pytest_in(folder: Path, file: Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.nightly
def test_the_command_writes_a_test_that_runs_anywhere(tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    assert main([*project(home), "--pytest", str(home / "tests")]) == 2
    (file,) = (home / "tests").iterdir()
    assert file.name == "test_Window_deviation_1.py"
    text = file.read_text(encoding="utf-8")
    assert text.splitlines() == [
        '"""A deviation: instance a, row 61, event ack: acknowledges what was never sent'
        ' (99 <= 31 is false)"""',
        "",
        "from pathlib import Path",
        "",
        "from lawful.testing import replay_rows",
        "",
        'MACHINE = (Path(__file__).parent / "../window.py").resolve()',
        "ROWS = [",
        "    {'instance': 'a', 'seq': 61, 'machine': 'Window', 'event': 'ack', "
        "'args': {'upto': 99}, 'outcome': 'happened'},",
        "]",
        "",
        "",
        "def test_Window_deviation_1() -> None:",
        "    replay_rows(f\"{MACHINE}:Window\", ROWS, parameters={'most': 3})",
    ]
    done = pytest_in(away, file)
    why = "Window: deviates at row 61, event ack: acknowledges what was never sent"
    assert done.returncode == 1 and why in done.stdout
    (home / "window.py").write_text(SOURCE.replace("upto <= self.sent", "True"), encoding="utf-8")
    assert pytest_in(away, file).returncode == 0


def test_a_journal_needs_two_rows(tmp_path: Path) -> None:
    journal = interleaved(worker("a"), worker("b"))
    of(journal, "b", 12)["args"] = {"job": job(0, 4, 7)}
    path = written(tmp_path / "j.jsonl", journal)
    (made,) = deviation_tests([path], replay([path], PROGRAM))
    assert [(row.seq, row.outcome) for row in made.rows] == [(11, "attached"), (12, "done")]
    told: Any = json.loads(json.dumps([row_json(row) for row in made.rows]))
    with pytest.raises(AssertionError, match="Worker: deviates at row 12, event take: an empty"):
        replay_rows(f"{journals.__name__}:Worker", told)
    told[1]["args"] = {"job": job(3, 4, 7)}
    told[1]["changed"]["job"] = job(3, 4, 7)
    replay_rows(f"{journals.__name__}:Worker", told)
    with pytest.raises(AssertionError, match="Worker: no row was judged"):
        replay_rows(f"{journals.__name__}:Worker", [])


def test_the_first_row_may_deviate(tmp_path: Path) -> None:
    journal = rows()
    of(journal, "a", 0)["changed"]["done"] = 3
    path = written(tmp_path / "j.jsonl", journal)
    (made, *_) = deviation_tests([path], replay([path], PROGRAM))
    assert [row.seq for row in made.rows] == [0]


class Lift(Machine):
    floor: Nat = 0
    rides: Nat = 0

    @transition()
    def up(self) -> None:
        self.floor += 1

    @transition()
    def down(self) -> None:
        require(self.rides < 2, "stuck")
        require(self.floor > 0, "at the bottom")
        self.floor -= 1

    @transition()
    def ride(self) -> None:
        require(self.rides < 2, "out of order")
        self.rides += 1


@settings(max_examples=60, deadline=None)
@given(
    events=st.lists(st.sampled_from(["up", "down", "ride"]), max_size=24),
    dense=st.booleans(),
    first=st.integers(0, 2),
)
def test_what_is_left_deviates_as_all_did(events: list[str], dense: bool, first: int) -> None:
    first = first if dense else 0
    mapping = TraceMapping("$.i", "$.n", "$.e", machine="Lift", dense=dense, first=first)
    program = ReplayProgram((Lift.lawful.ir,), mapping=mapping)
    told = [
        Recorded("i", n, "Lift", event=event, outcome="happened")
        for n, event in enumerate(events, first)
    ]
    whole = fold(program, "i", told) if told else None
    finding = whole.finding if whole is not None else None
    if finding is None:
        return
    enough = shrunk(program, told, finding)
    found = fold(program, "i", enough)
    assert finding.key in [each.key for each in found.findings]
    stuck = str(finding.event) == "ride" or "stuck" in finding.clause
    wanted = [*["ride", "ride"] * stuck, finding.event]
    assert [row.event for row in enough] == wanted
    if dense:
        assert [row.seq for row in enough] == [*range(first, first + len(enough))]


def test_a_row_goes_through_json() -> None:
    mapping = mapping_of(
        {"instance": "$.i", "seq": "$.n", "event": "$.e", "time": "$.t", "observed": {"x": "$.x"}}
    )
    data: dict[str, Any] = {"i": "a", "n": 1, "e": "go", "t": 0.1, "x": None}
    for row in (mapping.row_of(data, ""), Recorded("a", 2, transition=None, output=None)):
        assert isinstance(row, Recorded)
        assert row_of_json(json.loads(json.dumps(row_json(row)))) == row


def test_a_test_needs_the_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    home.mkdir()
    arguments = project(home)
    assert main([*arguments, "--store", str(home / "store")]) == 2
    again = ["replay", str(home / "store"), arguments[2], "--pytest", str(home / "tests")]
    assert main(again) == 5
    assert "--pytest needs the traces themselves, not a store" in capsys.readouterr().err
