"""The report of a replay: what it says, and that nothing in a journal can speak in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.report import replays
from tests.checks.replay.journals import (
    PROGRAM,
    Bell,
    Recorder,
    Row,
    Worker,
    job,
    of,
    rows,
    tampered,
    worker,
    written,
)

VOID = {"meta", "br", "hr", "img"}
EVIL = '<script>alert("x")</script><img src=http://evil/>&amp;'


class Balanced(HTMLParser):
    """Collects tags and text, and fails on what is not closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert not parser.open
    return parser


def test_the_page_tells_the_divergence(tmp_path: Path) -> None:
    journal = rows()
    of(journal, "a", 4)["output"] = 7
    of(journal, "c", 4)["v"] = 7
    result = replay([written(tmp_path / "j.jsonl", [*journal, {}])], PROGRAM)
    page = read(replays.html(result))
    told = " ".join(" ".join(page.words).split())
    for words in (
        "1 instance deviates",
        "instance a, row 4, event take in state IDLE",
        "output is 7 in the row, 2 in the machine",
        "Events possible in this state: take",
        "another format version",
        "no instance",
        "Bell: 4 rows in 1 instance, not replayed",
        "4 of 4 transitions",
    ):
        assert words in told


def test_the_page_is_alone_and_escapes_everything(tmp_path: Path) -> None:
    recorder = Recorder(EVIL)
    recorder.take("take", job=job(1))
    recorder.rows[1]["after"] = EVIL
    recorder.rows[1]["changed"][EVIL] = EVIL
    other = Recorder(EVIL + "2")
    other.rows[0]["v"] = EVIL
    bells = [row | {"machine": EVIL, "instance": "m"} for row in Recorder("m").rows]
    journal = [*recorder.rows, *other.rows, *bells, {"instance": 3, "x": EVIL}]
    result = replay([written(tmp_path / "j.jsonl", journal)], PROGRAM)
    page = replays.html(result)
    tags = read(page).tags
    assert not tags & {"script", "img", "link", "iframe", "object"}
    assert page.count("<script") == 0 and "&lt;script&gt;" in page
    assert not re.search(r"""(src|href|url\(|@import)""", page.replace("src=http://evil/", ""))


def test_all_kinds_of_findings_are_told(tmp_path: Path) -> None:
    journals: list[Row] = []
    for case in tampered():
        journal = rows()
        case.spoil(journal)
        journals += [row | {"instance": f"{case.name}/{row['instance']}"} for row in journal]
    program = ReplayProgram((Worker.lawful.ir, Bell.lawful.ir))
    result = replay([written(tmp_path / "j.jsonl", journals)], program)
    read(replays.html(result))
    lines = replays.text(result).splitlines()
    assert lines[0].startswith("Worker ") and lines[4].startswith("Bell ")
    assert lines[3].startswith("  deviations: 44, rows that do not fit an uncertain state: 82, ")
    assert (
        "instance arg/a, row 2, event take in state IDLE: the machine refuses it: an empty job "
        "(0 > 0 is false)"
    ) in lines
    assert any(re.fullmatch(r"and \d+ more", line) for line in lines)
    assert lines[-1].startswith("replayed by the local engine")


def test_what_was_never_done_is_told(tmp_path: Path) -> None:
    result = replay([written(tmp_path / "j.jsonl", worker("a", 0, 1))], PROGRAM)
    told = replays.text(result)
    assert "0 of 4 transitions covered; never: take, finish_job, finish_all, lose_patience" in told
    assert "1 of 3 states covered; never: BUSY, OVER" in told
    assert "never" in replays.html(result)
