"""The logs of docs/foreign_logs.md: its commands print what the page says."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay.mapping import read_mapping
from lawful.cli import main
from lawful.targets import machine
from tests.checks.replay.foreign_logs import FOLDER
from tests.test_walked_pages import blocks, differs

COMMAND = re.compile(r"lawful (replay .*)")
# A folder with large logs of others; each test says which file it needs.
LARGE = os.environ.get("FOREIGN_LOGS", "")


def saved(folder: Path) -> list[tuple[str, str]]:
    """The folder of a reader who saved the files of the page; each command with what it prints."""
    for path in FOLDER.iterdir():
        shutil.copy(path, folder)
    shown: list[tuple[str, str]] = []
    command = ""
    for name, kind, text in blocks("foreign_logs"):
        if name:
            (folder / name).write_text(text, encoding="utf-8")
        elif kind == "sh":
            command = text.splitlines()[-1]
        else:
            shown.append((command, text))
    raft = (folder / "raft.toml").read_text(encoding="utf-8")
    (folder / "attached.toml").write_text(f"attach = true\n{raft}", encoding="utf-8")
    return shown


def test_the_commands_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = saved(tmp_path)
    monkeypatch.chdir(tmp_path)
    codes: list[int] = []
    for command, text in shown:
        match = COMMAND.fullmatch(command)
        assert match is not None, command
        codes.append(main(match.group(1).split()))
        printed = capsys.readouterr().out
        assert differs(text, printed) is None, f"{differs(text, printed)}\n\n{printed}"
    assert codes == [0, 2, 0, 2, 2, 2, 0]


@pytest.mark.nightly
@pytest.mark.skipif(not LARGE, reason="FOREIGN_LOGS names no folder with flights.csv.zip")
def test_all_flights_from_new_york(tmp_path: Path) -> None:
    saved(tmp_path)
    with zipfile.ZipFile(Path(LARGE) / "flights.csv.zip") as packed:
        packed.extract("flights.csv", tmp_path)
    flight = machine(f"{tmp_path}/flights.py:Flight")
    program = ReplayProgram((flight.lawful.ir,), mapping=read_mapping(tmp_path / "flights.toml"))
    result = replay([tmp_path / "flights.csv"], program)
    assert result.total.verdicts == {"fits": 327_342, "open": 9_430, "deviates": 4}
    departed, arrived = 336_776 - 8_255, 336_776 - 8_713
    assert result.total.transitions == {
        "plan": 336_776,
        "depart": departed,
        "land": 336_776 - 9_430 - 4,
        "divert": 9_430 - 8_713,
    }
    assert result.total.events == 336_776 + departed + arrived
    answer: Any = result.to_json()
    known = {
        '["2013-03-23T23:00:00Z","EV","3805","EWR"]',
        '["2013-05-14T00:00:00Z","EV","4292","EWR"]',
        '["2013-05-25T21:00:00Z","DL","1499","LGA"]',
        '["2013-07-02T19:00:00Z","EV","4667","EWR"]',
    }
    found = {each["instance"] for each in answer["deviations"]}
    assert found and found <= known  # The answer has three of a kind.
