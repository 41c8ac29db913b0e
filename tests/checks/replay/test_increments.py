"""Increments: yesterday's states and today's rows give the verdicts of all rows together."""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Iterable
from pathlib import Path

import pytest

from lawful.checks.replay import ReplayError, ReplayProgram, replay, replay_increment
from lawful.checks.replay.fold import fold
from lawful.checks.replay.increments.continuation import Continuation, Increment
from lawful.checks.replay.increments.state_files import read_states, states_text
from lawful.checks.replay.problems import InstanceVerdict
from lawful.checks.replay.rows import Row, combined, journal_row, parse, row_json
from lawful.checks.replay.tally import Tallies
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from tests.checks.replay.journals import (
    PROGRAM,
    Tampered,
    interleaved,
    of,
    rows,
    tampered,
    worker,
    written,
)


def in_parts(parts: Iterable[list[Row]], program: ReplayProgram) -> InstanceVerdict:
    """The last verdict on an instance whose rows come in these parts, each sorted."""
    text, verdict = "", None
    for part in parts:
        going_on = Continuation(program, "a", text)
        for row in sorted(part, key=lambda each: each.seq):
            going_on.take(row)
        verdict = going_on.end()
        assert json.loads(verdict.snapshot)["instance"] == "a"
        text = verdict.snapshot
    assert verdict is not None
    return dataclasses.replace(verdict, snapshot="")


def told(case: Tampered | None = None) -> list[Row]:
    """The rows of the instance `a` of a journal, which may be spoilt, in order."""
    journal = rows()
    if case is not None:
        case.spoil(journal)
    found = [parse(json.dumps(each), journal_row) for each in journal]
    mine = [row for row in found if isinstance(row, Row) and row.instance == "a"]
    return sorted(mine, key=lambda row: row.seq)


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=pytest.mark.nightly if n % 2 else ())
        for n, case in enumerate(tampered())
    ],
)
def test_any_cut_gives_the_verdict_of_all_rows(case: Tampered) -> None:
    its = told(case)
    for program in (PROGRAM, dataclasses.replace(PROGRAM, every=True, after="stop")):
        whole = fold(program, "a", its)
        for cut in range(1, len(its)):
            assert in_parts([its[:cut], its[cut:]], program) == whole
        assert in_parts([[row] for row in its], program) == whole


def test_a_row_that_is_missing_may_come_in_the_next_increment() -> None:
    its = told()
    whole = fold(PROGRAM, "a", its)
    assert in_parts([[*its[:2], *its[4:]], its[2:4]], PROGRAM) == whole
    first = in_parts([[*its[:2], *its[4:]]], PROGRAM)
    assert (first.verdict, first.counts["gaps"]) == ("quarantined", 1)


def test_a_missing_row_may_come_twice() -> None:
    """What waited for it comes after both, not after the first."""
    its = told()
    whole = fold(PROGRAM, "a", [*its[:3], its[2], *its[3:]])
    assert whole.counts["duplicates"] == 1
    assert in_parts([[*its[:2], *its[3:]], [its[2], its[2]]], PROGRAM) == whole


def test_a_row_that_is_too_late_is_a_problem() -> None:
    its = told()
    late = in_parts([its[:6], [its[1]], its[6:]], PROGRAM)
    clauses = [each.clause for each in late.findings if each.verdict == "quarantined"]
    assert clauses == ["a row that came after later ones were judged"]
    assert late.counts["late"] == 1
    assert late.rows == len(its) + 1


def test_files_of_three_days(tmp_path: Path) -> None:
    wrong = worker("b")
    of(wrong, "b", 2)["output"] = 9
    lines = interleaved(worker("a"), wrong, worker("c"))
    cut = len(lines) // 3
    days = [lines[:cut], lines[cut : 2 * cut], lines[2 * cut :]]
    last = Increment(Tallies(every=False), {})
    for number, day in enumerate(days):
        path = written(tmp_path / f"{number}.jsonl", day)
        last = replay_increment([path], PROGRAM, last.states)
    whole = replay([written(tmp_path / "all.jsonl", lines)], PROGRAM)
    assert last.tallies == whole.tallies
    assert sorted(last.states) == ["a", "b", "c"]
    with pytest.raises(ReplayError, match="a state of another format"):
        replay_increment([tmp_path / "0.jsonl"], PROGRAM, {"a": '{"v": 0}'})
    strange = json.loads(last.states["a"]) | {"fingerprint": "0000"}
    with pytest.raises(ReplayError, match="a state of Worker 0000, which is not given"):
        replay_increment([tmp_path / "0.jsonl"], PROGRAM, {"a": json.dumps(strange)})


def test_states_in_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = worker("b")
    of(wrong, "b", 2)["output"] = 9
    lines = interleaved(worker("a"), wrong)
    cut = len(lines) // 2
    days = [
        written(tmp_path / f"{n}.jsonl", part) for n, part in enumerate((lines[:cut], lines[cut:]))
    ]
    target, first, second = "tests.checks.replay.journals:Worker", tmp_path / "1", tmp_path / "2"
    assert main(["replay", str(days[0]), target, "--keep", str(first), "--quiet"]) in (0, 2)
    more = ["--resume", str(first), "--keep", str(second), "--json", "-"]
    capsys.readouterr()
    assert main(["replay", str(days[1]), target, *more]) == 2
    assert json.loads(capsys.readouterr().out)["by_instance"] == {"a": "fits", "b": "deviates"}
    assert sorted(read_states(second)) == ["a", "b"]
    assert states_text(read_states(second)) == second.read_text(encoding="utf-8")
    assert main(["replay", str(days[1]), target, *more, "--engine", "spark"]) == ExitCode.USAGE
    first.write_text('{"instance": 1}\n', encoding="utf-8")
    assert main(["replay", str(days[1]), target, "--resume", str(first)]) == ExitCode.USAGE
    assert "line 1 is no state of an instance" in capsys.readouterr().err


def test_a_row_that_came_from_another_process() -> None:
    row = Row("a", 1, "Worker", event="take", outcome="happened")
    sent = pickle.loads(pickle.dumps(row))
    assert row_json(sent) == row_json(row)
    assert combined(sent, dataclasses.replace(row, output=1)) == dataclasses.replace(row, output=1)
