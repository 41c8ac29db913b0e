"""A row whose place nobody can read quarantines its instance; what deviates may do so for want of
it, so it is no deviation, unless numbers without a gap tell where the row is missing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, transition
from lawful.checks.replay import ReplayError, ReplayProgram, joint_program, replay
from lawful.checks.replay.flaws import unplaced_rows
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.report import replays
from lawful.cli import main
from tests.checks.replay import answers
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.test_foreign_logs import by_instance
from tests.checks.replay.test_tied_rows import Hall, Told, mapping, written

BY_TIME = ReplayProgram((Hall.lawful.ir,), mapping=mapping_of(mapping(None)))
PATHS = {"instance": "$.k", "seq": "$.t", "event": "$.e", "args": {"enter": {"by": "$.by"}}}
NUMBERED = ReplayProgram((Hall.lawful.ir,), mapping=mapping_of(PATHS))
DENSE = ReplayProgram((Hall.lawful.ir,), mapping=mapping_of({**PATHS, "dense": True}))


def rows_of(instance: str, *rows: tuple[Any, str]) -> list[Told]:
    return [{"k": instance, "t": at, "e": event, "by": 1} for at, event in rows]


WRONG = rows_of("wrong", (0, "open"), (1, "open"), (3, "shut"))
UNPLACED = [
    *rows_of("for want", (0, "open"), ("?", "shut"), (2, "open"), (3, "open"), (4, "enter")),
    *rows_of("fits", (0, "open"), ("?", "shut"), ("?", "enter")),
    *rows_of("alone", ("?", "open")),
]
WHY = {
    "order by time": (BY_TIME, "time has another form than its unit says"),
    "numbers": (NUMBERED, "a row without a sequence number"),
}


@pytest.mark.parametrize("form", WHY)
def test_what_a_missing_row_may_explain_is_no_deviation(form: str, tmp_path: Path) -> None:
    program, reason = WHY[form]
    found = replay([written(tmp_path / "r.jsonl", [*WRONG, *UNPLACED])], program)
    unplaced = dict.fromkeys(("for want", "fits", "alone"), "quarantined")
    assert by_instance(found) == {"wrong": "deviates", **unplaced}
    answer: Any = found.to_json()
    assert [each["instance"] for each in answer["deviations"]] == ["wrong"]
    assert found.total.counts["deviations"] == 1
    assert found.total.counts["uncertain"] == 2
    (refused,) = (each for each in answer["not_judged"] if each["kind"] == "refused")
    assert refused["count"] == 2
    unread = [each for each in answer["not_judged"] if each["clause"].startswith(reason)]
    counts = {each["instance"]: each["count"] for each in unread}
    assert counts == {"for want": 1, "fits": 2, "alone": 1}
    ends = "(in a state that is not certain: a row has no place among the others)"
    assert refused["clause"].endswith(ends)


def test_where_numbers_tell_what_is_missing_an_earlier_row_deviates(tmp_path: Path) -> None:
    rows = [
        *rows_of("before", (0, "open"), (1, "open"), ("?", "shut"), (3, "open")),
        *rows_of("for want", (0, "open"), ("?", "shut"), (2, "open")),
    ]
    found = replay([written(tmp_path / "r.jsonl", rows)], DENSE)
    assert by_instance(found) == {"before": "deviates", "for want": "quarantined"}
    assert (found.total.counts["deviations"], found.total.counts["uncertain"]) == (1, 2)


def parts() -> list[list[str]]:
    """The rows in two increments; those without a place are in the first, or in the second."""
    rows: list[Told] = [*WRONG, *UNPLACED]
    for first in ("for want", "fits"):
        rows += [{**row, "k": f"{first} later"} for row in UNPLACED if row["k"] == first]
    out: list[list[str]] = [[], []]
    for row in rows:
        later: bool = row["k"].endswith("later") if row["t"] == "?" else row["t"] > 2
        out[int(later)].append(json.dumps(row))
    return out


@pytest.mark.parametrize("form", WHY)
def test_increments_and_columns(form: str, tmp_path: Path) -> None:
    """The first increment deviates where the row without a place is in the second."""
    program, _ = WHY[form]
    wanted = answers.row_by_row(program, parts(), tmp_path)
    assert wanted.verdicts["for want later"] == "quarantined"
    assert answers.by_increments(program, parts(), tmp_path) == wanted
    assert answers.by_columns(program, parts(), tmp_path) == wanted
    early = answers.by_increments(program, parts()[:1], tmp_path)
    assert early.verdicts["for want later"] == "deviates"


UNKNOWN = [
    *rows_of("strange", (0, "open"), ("?", "ring"), (2, "shut"), (3, "open"), (4, "open")),
    *rows_of("only", ("?", "ring")),
    *rows_of("known", (0, "open"), ("?", "shut")),
]


@pytest.mark.parametrize("form", WHY)
@pytest.mark.parametrize("pass_unknown", [True, False])
def test_an_event_that_is_passed_over_needs_no_place(
    form: str, pass_unknown: bool, tmp_path: Path
) -> None:
    program = dataclasses.replace(WHY[form][0], pass_unknown=pass_unknown)
    lines = [json.dumps(row) for row in UNKNOWN]
    wanted = answers.row_by_row(program, [lines], tmp_path)
    strange = ("deviates", "empty") if pass_unknown else ("quarantined", "quarantined")
    assert wanted.verdicts == {"strange": strange[0], "only": strange[1], "known": "quarantined"}
    assert wanted.sums.get("unknown_events", 0) == 2 * pass_unknown
    assert wanted.sums["events"] == 5 + 2 * pass_unknown
    for cut in (1, 2, 4):
        parts = [lines[:cut], lines[cut:]]
        assert answers.by_increments(program, parts, tmp_path) == wanted
    assert answers.by_columns(program, [lines], tmp_path) == wanted


@pytest.mark.parametrize("form", WHY)
def test_a_row_without_a_place_stops_nothing(form: str, tmp_path: Path) -> None:
    """Until a row with a place has a problem, the others are judged: by all ways the same."""
    program = dataclasses.replace(WHY[form][0], after="stop")
    rows = rows_of("r", ("?", "shut"), (0, "open"), (1, "shut"), (2, "shut"), (3, "open"))
    lines = [json.dumps(row) for row in rows]
    wanted = answers.row_by_row(program, [lines], tmp_path)
    assert wanted.verdicts == {"r": "quarantined"}
    assert (wanted.sums["judged"], wanted.sums["uncertain"], wanted.sums["events"]) == (3, 1, 4)
    late = [[*lines[1:]], lines[:1]]
    for parts in ([lines[:3], lines[3:]], late):
        assert answers.by_increments(program, parts, tmp_path) == wanted
    assert answers.row_by_row(program, late, tmp_path) == wanted


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
@pytest.mark.parametrize("form", WHY)
def test_on_spark(session: Any, form: str, tmp_path: Path) -> None:
    program, _ = WHY[form]
    wanted = answers.row_by_row(program, parts(), tmp_path)
    assert answers.on_spark(session)(program, parts(), tmp_path) == wanted
    assert answers.increments_on_spark(session)(program, parts(), tmp_path) == wanted
    stream = answers.as_stream(session)(program, parts(), tmp_path)
    assert (stream.verdicts, stream.findings) == (wanted.verdicts, wanted.findings)


def test_a_row_without_a_place_is_found_in_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = written(tmp_path / "1.jsonl", WRONG)
    second = written(tmp_path / "2.jsonl", [{"no": "row"}, *UNPLACED])
    found = replay([first, second], NUMBERED)
    answer: Any = found.to_json()
    places = {
        each["instance"]: (each["file"], each["number"])
        for each in answer["not_judged"]
        if each["index"] < 0 and each["kind"] == "quarantined"
    }
    lines = {"for want": 3, "fits": 8, "alone": 10}
    assert places == {name: (str(second), line) for name, line in lines.items()}
    assert f"instance alone, row 10 of {second}: cannot be replayed: " in replays.text(found)
    monkeypatch.setattr(unplaced_rows, "MOST", 8)
    few: Any = replay([first, second], NUMBERED).to_json()
    assert sum("number" in each for each in few["not_judged"]) == 1


@pytest.mark.parametrize("form", [{}, {"preparation": {"defaults": {"$.by": 1}}}])
def test_a_row_without_a_place_is_found_in_its_table(form: dict[str, Any], tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [*WRONG, {"k": "alone", "t": None, "e": "open", "by": 1}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    program = ReplayProgram((Hall.lawful.ir,), mapping=mapping_of({**PATHS, **form}))
    (told,) = not_judged(tmp_path / "t.parquet", program)
    place = str(tmp_path / "t.parquet"), len(rows)
    assert (told["instance"], told["file"], told["number"]) == ("alone", *place)


class Door(Machine):
    """It hears the same log as the hall behind it."""

    opened: Nat = 0

    @transition()
    def open(self) -> None:
        self.opened += 1


def test_a_row_without_a_place_of_several_machines(tmp_path: Path) -> None:
    """In lines and in a table; each machine names its own row."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [*WRONG, *rows_of("alone", (None, "shut"), (None, "open"), (7, "open"))]
    table, lines = tmp_path / "t.parquet", written(tmp_path / "r.jsonl", rows)
    pq.write_table(pa.Table.from_pylist(rows), table)
    skipped: dict[str, Any] = {"elsewhere": ["shut", "enter"], "machine": "Door", "args": {}}
    hall, door = PATHS | {"machine": "Hall"}, PATHS | skipped
    machines = [Hall.lawful.ir, Door.lawful.ir]
    for path in (lines, table):
        program = joint_program(machines, [mapping_of(hall), mapping_of(door)])
        answer: Any = replay([path], program).to_json()
        places = {
            each["machine"]: (each["instance"], each["file"], each["number"])
            for each in answer["not_judged"]
            if each["index"] < 0
        }
        assert places == {
            "Hall": ("alone", str(path), len(WRONG) + 1),
            "Door": ("alone", str(path), len(WRONG) + 2),
        }


def test_a_row_without_a_place_of_an_increment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapping, kept = tmp_path / "m.json", tmp_path / "states"
    mapping.write_text(json.dumps(PATHS), encoding="utf-8")
    days = [written(tmp_path / "1.jsonl", WRONG), written(tmp_path / "2.jsonl", UNPLACED)]
    for number, (day, resumed) in enumerate(zip(days, (False, True), strict=True)):
        given = ["replay", str(day), f"{Hall.__module__}:Hall", "--mapping", str(mapping)]
        more = ["--resume", str(kept)] if resumed else []
        assert main([*given, *more, "--keep", str(kept), "--json", "-"]) == 2
        answer = json.loads(capsys.readouterr().out)
        told = {
            each["instance"]: (each["file"], each["number"])
            for each in answer["not_judged"]
            if each["index"] < 0 and each["kind"] == "quarantined"
        }
        lines = {"for want": 2, "fits": 7, "alone": 9}
        assert told == ({name: (str(day), n) for name, n in lines.items()} if number else {})


def test_what_may_be_wrong_is_told(tmp_path: Path) -> None:
    """The cells of a table are texts; another delimiter makes one column of all; a journal has no
    mapping."""
    table = tmp_path / "t.csv"
    form = {"preparation": {"format": "csv"}}
    cells = ReplayProgram((Hall.lawful.ir,), mapping=mapping_of({**PATHS, **form}))
    table.write_text("k,t,e,by\na,1,open,1\n", encoding="utf-8")
    (told,) = not_judged(table, cells)
    number = "a row without a sequence number: $.t is a text, not a whole number from 0 on"
    assert told["clause"] == f'{number}; `casts` of the [preparation] make an "int" of it'
    assert (told["file"], told["number"]) == (str(table), 2)
    table.write_text("k;t;e;by\na;1;open;1\n", encoding="utf-8")
    with pytest.raises(ReplayError, match="separated by ',': `delimiter` may be another one"):
        replay([table], cells)
    journal = ReplayProgram((Hall.lawful.ir,))
    rows = written(tmp_path / "r.jsonl", WRONG)
    with pytest.raises(ReplayError, match=r"instance is null or missing, not a text, for .* --map"):
        replay([rows], journal)
    rows = written(tmp_path / "r.jsonl", [{"instance": "a", "seq": "1"}])
    (told,) = not_judged(rows, journal)
    assert told["clause"].endswith("from 0 on; the log of another program needs --mapping")


def not_judged(path: Path, program: ReplayProgram) -> list[Any]:
    answer: Any = replay([path], program).to_json()
    found: list[Any] = answer["not_judged"]
    return found
