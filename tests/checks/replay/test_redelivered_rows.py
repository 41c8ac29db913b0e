"""Rows that are delivered again in a later increment: folded where they say the same."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, require, transition
from lawful.checks.replay import ReplayProgram, replay_increment
from lawful.checks.replay.fold import fold
from lawful.checks.replay.increments.continuation import Continuation
from lawful.checks.replay.increments.judged_rows import JudgedRows, Known
from lawful.checks.replay.mapping import TraceMapping, mapping_of
from lawful.checks.replay.problems import InstanceVerdict
from lawful.checks.replay.rows import Row
from lawful.checks.replay.unseen.tied_fold import TiedFold
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from tests.checks.replay.journals import PROGRAM, written
from tests.checks.replay.test_increments import in_parts, told


class Door(Machine):
    open: bool = False
    opened: Nat = 0

    @transition()
    def set(self, to: bool) -> None:
        require(self.open != to, "it is so already")
        self.open = to
        self.opened += 1


MAPPING = TraceMapping("$.i", "$.n", "$.e", args={"set": {"to": "$.to"}})
DOOR = ReplayProgram((Door.lawful.ir,), mapping=MAPPING)


def door(count: int, step: int = 10) -> list[Row]:
    """The door opens and closes; between two rows numbers are free."""
    return [moved(n * step, n % 2 == 0) for n in range(count)]


def moved(n: int, to: bool) -> Row:
    row = DOOR.row_of({"i": "a", "n": n, "e": "set", "to": to}, "")
    assert isinstance(row, Row)
    return row


def of_kind(found: InstanceVerdict, verdict: str) -> list[tuple[int, str]]:
    return [(each.index, each.clause) for each in found.findings if each.verdict == verdict]


@pytest.mark.parametrize("program", [PROGRAM, DOOR], ids=["journal", "log"])
def test_any_rows_may_come_again(program: ReplayProgram) -> None:
    its = told() if program is PROGRAM else door(16)
    if program is DOOR:
        its[5] = moved(its[5].seq, to=True)  # It deviates, once.
    for seed in range(20):
        chance = random.Random(seed)
        parts: list[list[Row]] = []
        for begin in range(0, len(its), 4):
            again = chance.choices(its[: begin + 4], k=chance.randrange(6))
            parts.append([*its[begin : begin + 4], *again])
        whole = fold(program, "a", [row for part in parts for row in part])
        assert in_parts(parts, program) == whole
        assert whole.counts["duplicates"] == sum(map(len, parts)) - len(its)


def test_another_row_with_a_judged_number_is_a_problem() -> None:
    its = door(8)
    other = dataclasses.replace(its[3], args={"to": True})
    found = in_parts([its[:6], [other], its[6:]], DOOR)
    assert of_kind(found, "quarantined") == [(30, "a sequence number twice")]
    assert (found.counts["regressions"], found.counts.get("late", 0)) == (1, 0)
    again = in_parts([its[:6], [other], [other], its], DOOR)
    assert again.counts["regressions"] == 2 and again.counts["duplicates"] == 6


def test_each_row_of_one_number_may_come_again() -> None:
    """Whichever of two different rows was read first, and wherever the log is cut."""
    its = door(4)
    other = moved(its[-1].seq, to=True)
    assert other != its[-1]
    for seed in range(12):
        chance = random.Random(seed)
        same = [its[-1], other, *chance.choices([its[-1], other], k=3)]
        chance.shuffle(same)
        whole = fold(DOOR, "a", [*its[:-1], *same])
        assert (whole.counts["duplicates"], whole.counts["regressions"]) == (3, 1)
        assert whole.events == 5
        cut = chance.randrange(len(same))
        for most in (0, 9):
            program = dataclasses.replace(DOOR, remembered=most)
            assert in_parts([[*its[:-1], *same[:cut]], same[cut:]], program) == whole
    text = Continuation(DOOR, "a")
    for row in (its[0], dataclasses.replace(its[0], args={"to": False})):
        text.take(row)
    older = json.loads(text.end().snapshot) | {"twice": True}
    assert Continuation(DOOR, "a", json.dumps(older)).end().counts["regressions"] == 1


def test_a_row_that_was_never_there_is_late() -> None:
    found = in_parts([door(6), [moved(35, to=True)]], DOOR)
    told = [(35, "a row that came after later ones were judged")]
    assert of_kind(found, "quarantined") == told
    assert found.counts["late"] == 1


def test_what_is_forgotten_is_not_compared() -> None:
    few = dataclasses.replace(DOOR, remembered=3)
    its = door(8)
    remembered = in_parts([its, its[5:]], few)
    assert (remembered.verdict, remembered.counts["duplicates"]) == ("fits", 3)
    found = in_parts([its, its, door(10)[8:]], few)
    assert found.verdict == "inconclusive"
    ((index, clause),) = of_kind(found, "inconclusive")
    assert (index, clause[:35]) == (0, "a row that came again, or too late:")
    assert "the last 3 are remembered (--remember)" in clause
    assert found.findings[0].count == found.counts["late"] == 5
    assert found.counts["duplicates"] == 3
    none = in_parts([its, its[-2:]], dataclasses.replace(DOOR, remembered=0))
    assert (none.counts["late"], none.counts["duplicates"]) == (1, 1)  # The last row is kept whole.
    with pytest.raises(ValueError, match="remembered is a number of rows from 0 on, not -1"):
        dataclasses.replace(DOOR, remembered=-1)


def test_a_state_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    sizes: list[int] = []
    states: Any = {}
    for day in range(3):
        lines = [
            json.dumps({"i": "a", "n": 2000 * day + n, "e": "set", "to": n % 2 == 0})
            for n in range(2000)
        ]
        states = replay_increment([written(tmp_path / "day", lines)], DOOR, states).states
        sizes.append(len(states["a"]))
    assert max(sizes) - min(sizes) < 40
    assert 8_000 < sizes[0] < 10_500  # Eight characters of each of the last 1,000 rows.


def test_what_is_remembered() -> None:
    known = JudgedRows(4)
    rows = [moved(n, to) for n, to in ((3, True), (5, True), (5, False), (9, True), (11, True))]
    for row in rows:
        known.add(row)
        known.add(row)
    for kept in (known, JudgedRows.of_json(json.loads(json.dumps(known.to_json())), 4)):
        assert kept.rows == known.rows and kept.forgotten == 3
        assert [kept.known(row) for row in rows] == [Known.FORGOTTEN, *[Known.SAME] * 4]
        assert kept.known(moved(9, to=False)) is Known.OTHER
        assert kept.known(moved(10, to=False)) is Known.NEW
    fewer = JudgedRows.of_json(known.to_json(), 2)
    assert (len(fewer.rows), fewer.forgotten) == (2, 5)
    assert fewer.known(rows[1]) is Known.FORGOTTEN


def test_parts_of_an_event_and_rows_at_one_time() -> None:
    parts = dataclasses.replace(DOOR, mapping=dataclasses.replace(MAPPING, combine=True))
    its = door(4)
    its[1:2] = [dataclasses.replace(its[1], args={}), its[1]]
    again = in_parts([its, its], parts)
    assert (again.verdict, again.rows, again.counts["duplicates"]) == ("fits", 10, 5)
    late = in_parts([its, [dataclasses.replace(its[1], args={"by": 1})]], parts)
    assert late.counts["late"] == 1
    order = {"order": "time", "ties": "any"}
    data = {"instance": "$.i", "event": "$.e", "time": "$.n", "args": {"set": {"to": "$.to"}}}
    tied = ReplayProgram((Door.lawful.ir,), mapping=mapping_of({**data, "preparation": order}))
    rows = [
        row
        for at, to in ((1, False), (1, True), (2, True), (3, False))
        for row in prepared(tied, {"i": "a", "n": at, "e": "set", "to": to})
    ]
    whole = fold(tied, "a", [*rows, *rows], TiedFold)
    assert whole.counts["duplicates"] == 4
    assert in_parts([rows, rows], tied) == whole


def prepared(program: ReplayProgram, data: dict[str, Any]) -> list[Row]:
    mapping = program.mapping
    assert mapping is not None
    found = [mapping.row_of(each, "") for each in mapping.prepared(data, 0)]
    return [row for row in found if isinstance(row, Row)]


def test_one_file_in_two_increments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mapping = tmp_path / "m.json"
    mapping.write_text(json.dumps(MAPPING.to_json()), encoding="utf-8")
    told = [{"i": "a", "n": n, "e": "set", "to": n % 2 == 0} for n in range(9)]
    day = written(tmp_path / "day.jsonl", [json.dumps(each) for each in told])
    given = ["replay", str(day), f"{__name__}:Door", "--mapping", str(mapping), "--json", "-"]
    kept = str(tmp_path / "states")
    assert main([*given, "--remember", "4", "--keep", kept]) == 0
    capsys.readouterr()
    assert main([*given, "--remember", "5"]) == ExitCode.USAGE
    assert "--remember is for increments" in capsys.readouterr().err
    assert main([*given, "--resume", kept, "--keep", kept, "--remember", "4"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["by_instance"] == {"a": "inconclusive"}
    assert (found["counts"]["duplicates"], found["counts"]["late"]) == (4, 5)


def test_a_state_of_the_first_version_remembers_no_row() -> None:
    text = in_increment("", door(4)).snapshot
    older = {name: each for name, each in json.loads(text).items() if name != "known"} | {"v": 1}
    found = in_increment(json.dumps(older), [door(4)[1], *door(6)[4:]])
    assert (found.verdict, found.counts) == ("inconclusive", {"late": 1, "judged": 6})
    assert in_increment(found.snapshot, door(6)[4:]).counts["duplicates"] == 2


def in_increment(text: str, rows: list[Row]) -> InstanceVerdict:
    going_on = Continuation(DOOR, "a", text)
    for row in rows:
        going_on.take(row)
    return going_on.end()
