"""The report of a replay: what it says, and that nothing in a journal can speak in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay.mapping import mapping_of
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


NO_NAME = "no instance: instance is null or missing, not a text"


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


def test_what_is_told_with_its_count_is_not_told_again(tmp_path: Path) -> None:
    """Each problem is counted once: in the line of its kind, or among those that have no line."""
    mapping = mapping_of({"instance": "$.i", "seq": "$.n", "event": "$.e"})
    program = ReplayProgram((Bell.lawful.ir,), mapping=mapping)
    for instances, ends in ((1, "(3 times)"), (5, "and 6 more")):
        lines = [{"i": f"{i}", "n": n, "e": "rings"} for i in range(instances) for n in range(3)]
        told = replays.text(replay([written(tmp_path / "j.jsonl", lines)], program)).splitlines()
        assert told[-2].endswith(ends)


def test_an_empty_name_is_told(tmp_path: Path) -> None:
    mapping = mapping_of({"instance": "$.i", "seq": "$.n", "event": "$.e"})
    program = ReplayProgram((Bell.lawful.ir,), mapping=mapping)
    rows = written(tmp_path / "j.jsonl", [{"i": "", "n": 1, "e": "rings"}])
    assert 'instance "", row 1: cannot be replayed: ' in replays.text(replay([rows], program))


def test_what_was_never_done_is_told(tmp_path: Path) -> None:
    result = replay([written(tmp_path / "j.jsonl", worker("a", 0, 1))], PROGRAM)
    told = replays.text(result)
    assert "0 of 4 transitions covered; never: take, finish_job, finish_all, lose_patience" in told
    assert "1 of 3 states covered; never: BUSY, OVER" in told
    page = replays.html(result)
    assert page.count('<tr class="never">') == 6 and '<tr class=""><td>IDLE</td>' in page


def told_by(page: str) -> list[str]:
    """The texts of the page after its title and its style sheet."""
    texts = [each for each in (" ".join(word.split()) for word in read(page).words) if each]
    return texts[2:]


def between(words: list[str], first: str, last: str) -> str:
    start = words.index(first)
    return " | ".join(words[start : words.index(last, start)])


def test_the_whole_page_of_two_deviations(tmp_path: Path) -> None:
    journal = [*worker("a"), *worker("b")]
    of(journal, "a", 4)["output"] = 7
    of(journal, "b", 12)["args"] = {"job": job(0, 4, 7)}
    page = replays.html(replay([written(tmp_path / "j.jsonl", [*journal, {}])], PROGRAM))
    words = told_by(page)
    assert words[1] == "2 instances deviate"
    assert "inconclusive | 0 | the rows have too little information" in between(
        words, "Verdicts", "Kinds of problems"
    )
    assert between(words, "4 of 4 transitions", "First of each kind") == (
        "4 of 4 transitions | take | 10 | finish_job | 10 | finish_all | 2 | lose_patience | 2 | "
        "3 of 3 states | IDLE | 18 | BUSY | 10 | OVER | 4 | "
        "Seconds since the row before, at most 5 % too high | "
        "Times | Median | 90 % | 99 % | Most | "
        "finish_all | 2 | 0.505 | 0.505 | 0.505 | 0.505 | "
        "finish_job | 10 | 0.505 | 0.505 | 0.505 | 0.505 | "
        "lose_patience | 2 | 0.505 | 0.505 | 0.505 | 0.505 | "
        "take | 10 | 0.505 | 0.505 | 0.505 | 0.505"
    )
    assert re.findall(r'style="(?:flex|width):([^"]*)"', page) == [
        *("2", "100.0%", "100.0%", "20.0%", "20.0%"),
        *("100.0%", "55.6%", "22.2%"),
    ]
    assert between(words, "Difference", "caller") == (
        "Difference | In the row | In the machine | output | 7 | 2 | State before the event | "
        'state | IDLE | job | null | done | 1 | sizes | {"$map": [[1, 1]]} | patience | false | '
        "Events possible in this state: | take"
    )
    around = between(words, "Rows around it", "refused").split(" | ")
    assert around == ["Rows around it", "Row", "Event", "Outcome", "1", around[-1]]
    assert "The row: | args" in between(words, "The row:", "Difference")
    legal = 'take(job={"$": "Job", "size": 1, "tags": {"$set": [4, 7]}})'
    assert f"Nearest possible event: {legal}" in words
    assert "No way to it found in 14 states" in words
    assert words[words.index("Rejected rows") :] == [
        *("Rejected rows", "1 row", f": {NO_NAME}, for example", "{}"),
        *(f"({tmp_path}/j.jsonl:35)", "All instances", "deviates", "a", "deviates", "b"),
    ]


def test_the_page_says_what_was_not_judged(tmp_path: Path) -> None:
    def first(journal: list[Row]) -> str:
        return told_by(replays.html(replay([written(tmp_path / "j.jsonl", journal)], PROGRAM)))[1]

    spoilt = worker("a")
    of(spoilt, "a", 4)["v"] = 7
    assert first(spoilt) == "Some instances could not be judged"
    assert first([*worker("a"), {}]) == "Some instances could not be judged"
    assert first(worker("a")) == "All instances agree with their machine"
    assert first(worker("a")[:1]).startswith("No verdict: no event was judged")
    nameless = [row | {"v": 7} for row in worker("b")]
    result = replay([written(tmp_path / "j.jsonl", [*worker("a"), *nameless])], PROGRAM)
    assert between(told_by(replays.html(result)), "unknown machine", "Kinds of problems") == (
        "unknown machine | 1 | quarantined instances whose rows do not name their machine"
    )


def test_a_long_page_says_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = [*worker("a"), *worker("b")]
    of(journal, "a", 4)["output"] = 7
    of(journal, "b", 12)["args"] = {"job": job(0, 4, 7)}
    for name, most in (("LISTED", 1), ("KINDS", 1), ("LONGEST", 10)):
        monkeypatch.setattr(replays, name, most)
    words = told_by(replays.html(replay([written(tmp_path / "j.jsonl", journal)], PROGRAM)))
    assert words[-4:] == ["All instances", "deviates", "a", "and 1 more"]
    assert "and 1 more kinds" in words and '{"$map": [ ...' in words
