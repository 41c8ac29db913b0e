"""The picture of a replay's traffic, and its metrics."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay.mapping import mapping_of, read_mapping
from lawful.checks.report import replays
from lawful.checks.report.replay_metrics import metrics
from lawful.checks.report.traffic_picture import Traffic, picture
from lawful.cli import main
from tests.checks.replay.foreign_logs import FOLDER, Connection, Request
from tests.checks.replay.journals import PROGRAM, of, rows, written
from tests.checks.replay.test_foreign_logs import requests

NAMES = ("NEW", "CHECKING", "DECIDED", "CLOSED")


def test_the_picture_of_what_was_seen() -> None:
    seen = Traffic(
        {"register": 9, "decide": 4, "check": 5},
        {"NEW": 9, "CHECKING": 9, "DECIDED": 4},
        {"CHECKING": 2},
    )
    svg = picture(Request.lawful.ir, NAMES, "NEW", seen)
    root = Xml.fromstring(svg)
    texts = ["".join(each.itertext()) for each in root.iter("text")]
    assert texts == [
        *("decide 4", "reinitiate 0", "close 0", "register 9"),
        *("NEW", "9", "CHECKING", "9 · 2 deviating", "check 5", "examine 0"),
        *("DECIDED", "4", "CLOSED", "never"),
    ]
    boxes = [each.get("class") for each in root.iter("rect") if each.get("class") != "heat"]
    assert boxes == ["state", "state wrong", "state", "state unseen"]
    lines = [each for each in root.iter("path") if each.get("class") != "tip"]
    ways = [(each.get("class"), each.get("stroke-width")) for each in lines]
    assert ways == [("way", "4.7"), ("way unseen", "1.2"), ("way unseen", "1.2"), ("way", "6.2")]
    assert picture(Request.lawful.ir, (), "", seen) == ""


def test_the_page_has_the_picture_and_ranks_the_kinds(tmp_path: Path) -> None:
    page = replays.html(replay(*requests(tmp_path, "csv")))
    assert page.count("<svg") == 1
    table = page[page.index("Kinds of problems") : page.index("Coverage of")]
    assert re.findall(r"<td>(\w+)</td><td>(\w*)</td><td>(\w+)</td><td>1</td><td>1</td>", table) == [
        ("refused", "decide", "CHECKING")
    ]
    assert "<script" not in page


def test_metrics(tmp_path: Path) -> None:
    path = FOLDER / "sshd.log"
    program = ReplayProgram((Connection.lawful.ir,), mapping=read_mapping(FOLDER / "sshd.toml"))
    told = metrics(replay([path], program)).splitlines()
    assert told[-1] == "# EOF"
    assert 'lawful_replay_instances{machine="Connection",verdict="fits"} 5' in told
    assert 'lawful_replay_instances{machine="Connection",verdict="deviates"} 0' in told
    assert 'lawful_replay_transitions{machine="Connection",transition="fail"} 5' in told
    assert 'lawful_replay_events{machine="Connection"} 10' in told
    journal = rows()
    of(journal, "a", 2)["output"] = 2
    of(journal, "b", 2)["v"] = 7
    file, out = written(tmp_path / "j.jsonl", [*journal, {"a": 'a"b\\'}]), tmp_path / "m.txt"
    assert (
        main(["replay", str(file), "tests.checks.replay.journals:Worker", "--metrics", str(out)])
        == 2
    )
    found = [each for each in out.read_text(encoding="utf-8").splitlines() if "problems{" in each]
    assert found == [
        'lawful_replay_problems{machine="Worker",verdict="deviates",kind="output",event="take",'
        'state="IDLE"} 1',
        'lawful_replay_problems{machine="Worker",verdict="inconclusive",kind="changed",'
        'event="finish",state="BUSY"} 1',
        'lawful_replay_problems{machine="Worker",verdict="quarantined",kind="quarantined"} 1',
    ]
    assert PROGRAM.mapping is None


def test_labels_of_metrics_are_escaped(tmp_path: Path) -> None:
    mapping = mapping_of({"instance": '$.a"b\\c', "seq": "$.n", "event": "$.e"})
    rows = tmp_path / "r.jsonl"
    rows.write_text('{"n": 1}\n{"n": 1, "e": "leave", "a\\"b\\\\c": "x"}\n', encoding="utf-8")
    told = metrics(replay([rows], ReplayProgram((Connection.lawful.ir,), mapping=mapping)))
    reason = r"no value at $.a\"b\\c"
    assert f'lawful_replay_rejected_rows{{reason="{reason}"}} 1' in told.splitlines()


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), "")


@pytest.mark.nightly
@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
def test_a_browser_shows_the_page(tmp_path: Path) -> None:
    page, shot = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(replays.html(replay(*requests(tmp_path, "csv"))), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=900,1200"]
    for what in ("--dump-dom", f"--screenshot={shot}"):
        done = subprocess.run(
            [CHROMIUM, *flags, what, page.as_uri()], capture_output=True, text=True, check=True
        )
        if what == "--dump-dom":
            assert "1 deviating" in done.stdout and done.stdout.count('<rect class="state') == 4
    assert shot.read_bytes().startswith(b"\x89PNG")
