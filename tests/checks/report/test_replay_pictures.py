"""The picture of a replay's traffic, and its metrics."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from lawful import Machine, State, transition
from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay.mapping import mapping_of, read_mapping
from lawful.checks.report import replays
from lawful.checks.report.replay_metrics import metrics
from lawful.checks.report.sequence_picture import sequence
from lawful.checks.report.traffic_picture import Traffic, picture
from lawful.cli import main
from lawful.machines.unicast.declaration import SenderEntryFixed
from tests.checks.replay.foreign_logs import FOLDER, Connection, Request
from tests.checks.replay.journals import PROGRAM, job, of, rows, worker, written
from tests.checks.replay.test_foreign_logs import requests
from tests.root import unconfined

RANKED = [
    "deviates output finish BUSY 2 10",
    "inconclusive output finish BUSY 1 5",
    "deviates output finish IDLE 2 2",
    "inconclusive output finish IDLE 1 1",
    "quarantined quarantined a row of another format version than 1, 2, 3: v is a whole number 1 1",
]
TAKE = '{} take(job={{"$": "Job", "size": {}, "tags": {{"$set": {}}}}})'
DRAWN = [
    ("caller", "name"),
    ("instance a", "name"),
    (TAKE.format("1 ", 0, []), "refused"),
    (TAKE.format("2 ", 1, [0, 7]), ""),
    ("3  finish()", "wrong"),
    ("99", "wrong"),
    (TAKE.format("4 ", 2, [1, 7]), ""),
    ("5  lose_patience()", ""),
    (TAKE.format("6 ", 9, []), ""),
]
BADGES = [
    ("IDLE", "12", " · 2 deviating"),
    ("BUSY", "17", " · 10 deviating"),
    ("OVER", "3", ""),
]
ENTRY = ("OPEN", "CLOSING", "CLOSED")
NAMES = ("NEW", "CHECKING", "DECIDED", "CLOSED")


def size(root: Xml.Element) -> tuple[float, float]:
    """The width and the height of a picture, which is in a box that can be scrolled."""
    (svg,) = root
    _, _, wide, high = map(float, svg.get("viewBox", "").split())
    return wide, high


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


class Stage(State):
    A = "a"
    B = "b"
    C = "c"


class Rounds(Machine):
    """A way back that passes the state between, and a transition with two ways."""

    state: Stage = Stage.A

    @transition(source=Stage.A, target=Stage.B)
    def first(self) -> None: ...

    @transition(source=(Stage.B, Stage.C))
    def stay(self) -> None: ...

    @transition(source=Stage.B, target=Stage.C)
    def second(self) -> None: ...

    @transition(source=Stage.C, target=Stage.A)
    def back(self) -> None: ...


@pytest.mark.parametrize(("count", "text"), [(2_000, "stay 2,000 in all"), (0, "stay 0")])
def test_a_count_of_several_ways_says_so(count: int, text: str) -> None:
    """`stay` begins in two states, and a replay counts it from both together."""
    seen = Traffic({"first": 7, "stay": count}, {}, {})
    root = Xml.fromstring(picture(Rounds.lawful.ir, ("A", "B", "C"), "A", seen))
    texts = ["".join(each.itertext()) for each in root.iter("text") if not each.get("class")]
    assert [t for t in texts if t.startswith("first")] == ["first 7"]
    every = ["".join(each.itertext()) for each in root.iter("text")]
    assert [t for t in every if t.startswith("stay")] == [text, text]


def test_a_way_back_runs_below_the_states_that_it_passes() -> None:
    svg = picture(Rounds.lawful.ir, ("A", "B", "C"), "A", Traffic({"back": 1}, {}, {}))
    root = Xml.fromstring(svg)
    (box,) = (r for r in root.iter("rect") if r.get("x") == "320" and r.get("class") != "heat")
    low = float(box.get("y", "")) + float(box.get("height", ""))
    (y1, my, y2) = next(
        tuple(float(n) for n in re.findall(r"[-\d.]+", each.get("d", ""))[1::2])
        for each in root.iter("path")
        if each.get("class") == "way"
    )
    names = {"".join(e.itertext()): float(e.get("y", "")) for e in root.iter("text")}
    assert low < names["stay 0"] < (y1 + 2 * my + y2) / 4 < names["back 1"]
    assert names["back 1"] < size(root)[1]


def test_ways_beside_the_last_column_are_within_the_picture() -> None:
    """Of the sender of unicast two states of the last column lead to one another."""
    seen = Traffic({"send": 2_000, "close": 2}, {"OPEN": 2_354, "CLOSING": 3}, {"OPEN": 1})
    root = Xml.fromstring(picture(SenderEntryFixed.lawful.ir, ENTRY, "CLOSED", seen))
    wide = size(root)[0]
    beyond: list[str] = []
    for each in root.iter("path"):
        if each.get("class") != "tip":
            x1, _, mx, _, x2, _ = (float(n) for n in re.findall(r"[-\d.]+", each.get("d", "")))
            ways = [(1 - t) ** 2 * x1 + 2 * t * (1 - t) * mx + t**2 * x2 for t in (0, 0.25, 0.5, 1)]
            beyond += [each.get("d", "")] if max(ways) > wide else []
    for each in root.iter("text"):
        text = "".join(each.itertext())
        letters = len(text) / (2 if each.get("text-anchor") == "middle" else 1)
        beyond += [text] if float(each.get("x", "")) + 6 * letters > wide else []
    assert beyond == []


def test_names_of_ways_in_one_column_are_beside_its_states() -> None:
    """Ways there and back between two states of the last column: no name is on a state."""
    seen = Traffic({"send": 2_000, "expire": 3}, {"OPEN": 2_354, "CLOSING": 3}, {})
    root = Xml.fromstring(picture(SenderEntryFixed.lawful.ir, ENTRY, "CLOSED", seen))
    right = max(
        float(each.get("x", "")) + float(each.get("width", "")) for each in root.iter("rect")
    )
    ways = [each for each in root.iter("text") if float(each.get("x", "")) > right]
    assert ways and {each.get("text-anchor") for each in ways} == {"start"}


def test_the_page_has_the_picture_and_ranks_the_kinds(tmp_path: Path) -> None:
    page = replays.html(replay(*requests(tmp_path, "csv")))
    assert page.count('<svg class="traffic"') == 1
    table = page[page.index("Kinds of problems") : page.index("Coverage of")]
    assert re.findall(r"<td>(\w+)</td><td>(\w*)</td><td>(\w+)</td><td>1</td><td>1</td>", table) == [
        ("refused", "decide", "CHECKING")
    ]
    assert "<script" not in page


def test_kinds_are_ranked_and_red_counts_deviations_alone(tmp_path: Path) -> None:
    journal = [row for name in ("a", "b", "c") for row in worker(name)]
    for row in journal:
        if row["event"] == "finish" and row["outcome"] == "done":
            row["output"] = 99  # In BUSY five times, and once in IDLE.
    of(journal, "c", 2)["v"] = 7  # What follows it is not certain: inconclusive, and not red.
    page = replays.html(replay([written(tmp_path / "j.jsonl", journal)], PROGRAM))
    table = page[page.index("Kinds of problems") : page.index("Coverage of")]
    cells = re.findall(r"<tr><td>.*?</tr>", table)
    assert [" ".join(re.sub(r"<[^>]*>", " ", each).split()) for each in cells] == RANKED
    below = r"</text><text[^>]*>([^<]*)(?:<tspan[^>]*>([^<]*))?"
    assert re.findall(rf'text-anchor="middle">(\w+){below}', page) == BADGES
    assert "<h2></h2>" not in page


def test_names_in_the_picture_are_escaped() -> None:
    evil = "<b>&\"'"
    machine = Request.lawful.ir
    rows = tuple(replace(row, name=evil) for row in machine.transitions)
    seen = Traffic({evil: 1}, {evil: 1}, {evil: 1})
    svg = picture(replace(machine, transitions=rows), (*NAMES, evil), "NEW", seen)
    texts = ["".join(each.itertext()) for each in Xml.fromstring(svg).iter("text")]
    assert texts.count(evil) == 1 and f"{evil} 1 in all" in texts
    assert "<b>" not in svg


def test_each_kind_of_deviation_has_a_sequence_diagram(tmp_path: Path) -> None:
    journal = [row for name in ("a", "b") for row in worker(name)]
    for row in journal:
        if row["event"] == "finish" and row["seq"] == 3:
            row["output"] = 99
    of(journal, "a", 12)["args"] = {"job": job(0, 4, 7)}
    page = replays.html(replay([written(tmp_path / "j.jsonl", journal)], PROGRAM))
    pictures = [
        Xml.fromstring(each) for each in re.findall(r'<svg class="sequence".*?</svg>', page)
    ]
    assert len(pictures) == 2  # Both instances have the first kind of deviation.
    told = [[("".join(t.itertext()), t.get("class")) for t in p.iter("text")] for p in pictures]
    assert told[0] == DRAWN
    lines = [each.get("class") for each in pictures[1].iter("line")]
    rest = ["call", "call", "call", "call wrong refused", "call wrong", "call", "call refused"]
    assert lines == ["life", "life", *rest, "call"]


def test_names_in_a_sequence_diagram_are_escaped() -> None:
    evil = '<script>"&'
    row = {"seq": 1, "event": evil, "args": {evil: evil}}
    finding: dict[str, Any] = {
        **{"instance": evil, "index": 2, "event": evil, "kind": "output"},
        "row": {"args": {evil: [evil]}, "output": evil},
        "around": {"before": [row], "after": [row]},
    }
    svg = sequence(finding)
    texts = ["".join(each.itertext()) for each in Xml.fromstring(svg).iter("text")]
    assert texts[1] == f"instance {evil}" and texts[4] == json.dumps(evil)
    assert "<script" not in svg
    assert sequence({**finding, "around": None}) == sequence({**finding, "event": None}) == ""


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


def test_metrics_have_a_sample_where_nothing_was_rejected(tmp_path: Path) -> None:
    mapping = mapping_of({"instance": "$.a", "seq": "$.n", "event": "$.e"})
    rows = tmp_path / "r.jsonl"
    rows.write_text('{"n": 1, "e": "leave", "a": "x"}\n', encoding="utf-8")
    told = metrics(replay([rows], ReplayProgram((Connection.lawful.ir,), mapping=mapping)))
    assert "lawful_replay_rejected_rows 0" in told.splitlines()


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
            unconfined([CHROMIUM, *flags, what, page.as_uri()]),
            capture_output=True,
            text=True,
            check=True,
        )
        if what == "--dump-dom":
            assert "1 deviating" in done.stdout and done.stdout.count('<rect class="state') == 4
    assert shot.read_bytes().startswith(b"\x89PNG")
