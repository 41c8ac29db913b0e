"""Trouble in a log does not end its judgement: deviations, duplicates, gaps, versions, choices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, transition
from lawful.checks.replay import Policy, ReplayProgram, ReplayResult, replay
from lawful.checks.replay.fold import Fold
from lawful.checks.replay.row_step import Stepper
from lawful.checks.replay.rows import Rejected, journal_row
from lawful.cli import main
from lawful.spec.codec.as_json import behaviour
from tests.checks.replay import journals
from tests.checks.replay.journals import (
    PROGRAM,
    Bell,
    Recorder,
    Row,
    Worker,
    interleaved,
    job,
    of,
    rows,
    worker,
    written,
)


def older_bell() -> type[Machine]:
    """A bell that counts its rings twice."""

    class Bell(Machine):
        rung: Nat = 0

        @transition()
        def ring(self) -> Nat:
            self.rung += 2
            return self.rung

    return Bell


def judged(tmp_path: Path, journal: list[Any], program: ReplayProgram = PROGRAM) -> ReplayResult:
    return replay([written(tmp_path / "j.jsonl", journal)], program)


def counts(result: ReplayResult) -> dict[str, int]:
    """The counts that are not zero."""
    told: Any = result.to_json()["counts"]
    return {name: n for name, n in told.items() if n}


def found(result: ReplayResult) -> list[tuple[str, int, str]]:
    """Every kept problem: what it is, where, and the beginning of the reason."""
    answer: Any = result.to_json()
    both = [*answer["deviations"], *answer["not_judged"]]
    return sorted(((f["kind"], f["index"], f["clause"]) for f in both), key=lambda each: each[1])


# After a deviation.

POLICIES: list[tuple[Policy, list[tuple[str, int, str]], int]] = [
    ("resync", [("refused", 4, "an empty job (0 > 0 is false)")], 16),
    (
        "skip",
        [
            ("refused", 4, "an empty job (0 > 0 is false)"),
            ("refused", 5, "state is IDLE, not BUSY"),
        ],
        16,
    ),
    (
        "force",
        [
            ("refused", 4, "an empty job (0 > 0 is false)"),
            ("refused", 5, "timer patience is not armed"),
        ],
        16,
    ),
    ("stop", [("refused", 4, "an empty job (0 > 0 is false)")], 4),
]


@pytest.mark.parametrize(("after", "wanted", "events"), POLICIES)
def test_how_an_instance_goes_on(
    after: Policy, wanted: list[tuple[str, int, str]], events: int, tmp_path: Path
) -> None:
    journal = worker("a")
    of(journal, "a", 4)["args"] = {"job": job(0)}
    result = judged(tmp_path, journal, ReplayProgram(PROGRAM.machines, after=after))
    assert found(result) == wanted and result.exit_code == 2
    assert counts(result) == {"judged": events, "deviations": len(wanted)}


def test_what_the_machine_would_have_done_is_forced(tmp_path: Path) -> None:
    journal = worker("a")
    of(journal, "a", 3)["changed"]["done"] = 4  # Only so much does the row tell too much.
    told: list[tuple[Policy, int]] = [("resync", 4), ("force", 1)]
    for after, deviations in told:
        program = ReplayProgram(PROGRAM.machines, after=after)
        assert counts(judged(tmp_path, journal, program))["deviations"] == deviations


def test_every_deviation_is_counted_and_the_first_of_a_kind_is_explained(tmp_path: Path) -> None:
    names = [f"w{i}" for i in range(5)]
    journal = interleaved(*map(worker, names))
    for row in journal:
        if row["event"] == "finish" and row["outcome"] == "done":
            row["output"] = 99
    result = judged(tmp_path, journal)
    answer: Any = result.to_json()
    assert counts(result) == {"judged": 80, "deviations": 30}
    assert [(each["state"], each["total"], each["count"]) for each in answer["totals"]] == [
        ("BUSY", 5, 25),
        ("IDLE", 5, 5),
    ]
    listed = [(f["instance"], f["index"], f["count"]) for f in answer["deviations"]]
    assert listed == [(name, at, n) for name in names[:3] for at, n in ((3, 5), (15, 1))]
    # Every one of them is listed where that is asked for.
    every: Any = judged(tmp_path, journal, ReplayProgram(PROGRAM.machines, every=True)).to_json()
    listed = [(f["instance"], f["index"], f["count"]) for f in every["deviations"]]
    places = (3, 7, 9, 11, 13, 15)
    assert listed == [(name, at, 1) for name in names for at in places]
    assert every["totals"] == answer["totals"] and every["counts"] == answer["counts"]


def test_the_command_lists_every_deviation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = interleaved(*(worker(f"w{i:02}") for i in range(5)))
    for row in journal:
        if row["event"] == "take":
            row["output"] = 99
    path, target = written(tmp_path / "j.jsonl", journal), f"{journals.__name__}:Worker"
    options = ["replay", str(path), target, "--engine", "local"]
    assert main(options) == 2
    few = capsys.readouterr().out
    assert few.count("instance w") == 3 and "and 16 more" in few
    assert main([*options, "--all"]) == 2
    every = capsys.readouterr().out
    assert every.count("instance w") == 40 and "more" not in every
    assert main([*options, "--all", "--json", str(tmp_path / "all.json")]) == 2
    told: Any = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert len(told["deviations"]) == told["counts"]["deviations"] == 40


def test_a_deviation_says_what_would_have_helped(tmp_path: Path) -> None:
    journal = worker("a")
    of(journal, "a", 4).update(event="finish", args={}, transition="finish_job", output=2)
    of(journal, "a", 12)["args"] = {"job": job(0, 4, 7)}
    answer: Any = judged(tmp_path, journal).to_json()
    early, empty = answer["deviations"]
    assert early["clause"] == "state is IDLE, not BUSY; jobs are left (1 == 5 is false)"
    take = {"event": "take", "args": {"job": job(1, 0, 7)}}
    assert early["nearest"] == take | {"transition": "take"}
    assert early["path"] == [take] and early["searched"] == 2
    assert [each["seq"] for each in early["around"]["before"]] == [1, 2, 3]
    assert [each["seq"] for each in early["around"]["after"]] == [5, 6, 7]
    assert early["around"]["before"][1] == take | {
        "seq": 2,
        "outcome": "done",
        "transition": "take",
    }
    # No state accepts an empty job; the search for one is bounded.
    assert empty["clause"] == "an empty job (0 > 0 is false)"
    assert empty["nearest"] == take | {"transition": "take", "args": {"job": job(1, 4, 7)}}
    assert empty["path"] is None and 0 < empty["searched"] <= 100


# Sequence numbers.


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_rows_that_come_again_change_nothing(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tmp_path = tmp_path_factory.mktemp("again")
    journal = interleaved(worker("a", 2, 2), worker("b", 1), Recorder("c").rows)
    whole: Any = judged(tmp_path, journal).to_json()
    more = data.draw(st.lists(st.sampled_from(journal), max_size=9))
    shuffled = data.draw(st.permutations([*journal, *more]))
    again: Any = judged(tmp_path, shuffled).to_json()
    assert again["counts"] == whole["counts"] | {"duplicates": len(more)}
    assert again["rows"] == whole["rows"] + len(more)
    for name in ("verdicts", "by_instance", "events", "coverage", "totals"):
        assert again[name] == whole[name]


def test_one_file_given_twice(tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", rows())
    once, twice = replay([path], PROGRAM), replay([path, path], PROGRAM)
    assert twice.exit_code == 0 and twice.verdicts == once.verdicts
    assert counts(twice) == counts(once) | {"duplicates": 38}


def test_after_a_gap_only_a_whole_state_is_certain(tmp_path: Path) -> None:
    journal = worker("a")
    for each in (3, 6):  # The state is told again before the last job.
        journal.remove(of(journal, "a", each))
    whole = {
        "state": "IDLE",
        "job": None,
        "done": 4,
        "sizes": {"$map": [[1, 1], [2, 9], [3, 3], [4, 4]]},
        "patience": False,
    }
    again: Row = of(journal, "a", 11) | {
        "seq": 12,
        "event": None,
        "transition": None,
        "output": None,
    }
    again |= {"outcome": "continued", "before": None, "args": {"limit": 5}, "changed": whole}
    for row in journal:
        row["seq"] += row["seq"] > 11
    journal.append(again)
    result = judged(tmp_path, journal)
    told = counts(result)
    # The output of row 4 and the changes of row 7 are not those of the assumed states.
    assert told == {"judged": 14, "gaps": 2, "uncertain": 2}
    assert result.verdicts["quarantined"] == 1
    answer: Any = result.to_json()
    missing = [f["missing"] for f in answer["not_judged"] if "missing" in f]
    assert missing == [[3, 3]] and result.exit_code == 3
    assert all("not certain since row 3" in f["clause"] for f in answer["not_judged"][1:])
    of(journal, "a", 14)["output"] = 99
    result = judged(tmp_path, journal)
    assert counts(result) == told | {"deviations": 1} and result.verdicts["deviates"] == 1


def test_numbers_and_times_that_go_back(tmp_path: Path) -> None:
    journal = worker("a")
    journal.append(of(journal, "a", 8) | {"output": 7})
    of(journal, "a", 12)["time"] = 0.0
    result = judged(tmp_path, journal)
    assert counts(result)["regressions"] == 2 and result.verdicts["quarantined"] == 1
    assert ("quarantined", 8, "a sequence number twice") in found(result)
    assert ("quarantined", 12, "time goes back") in found(result)


def test_a_row_that_comes_too_late_is_told(tmp_path: Path) -> None:
    made = Fold(PROGRAM, "a")
    for row in [*worker("a")[:4], worker("a")[1]]:
        read = journal_row(row, "")
        assert not isinstance(read, Rejected)
        made.take(read)
    assert made.late


# Versions.


def test_each_version_judges_its_own_rows(tmp_path: Path) -> None:
    old = older_bell()
    program = ReplayProgram((Bell.lawful.ir,), older=(old.lawful.ir,))
    before, after = Recorder("a", Stepper(old.lawful.ir)), Recorder("a", Stepper(Bell.lawful.ir))
    for each in (before, after):
        each.take("ring")
        each.take("ring")
    after.rows[0] |= {"outcome": "attached", "changed": {"rung": 4}}
    for number, row in enumerate(after.rows[1:], 5):
        row |= {"output": number, "changed": {"rung": number}}
    journal = [row | {"seq": n, "time": n} for n, row in enumerate([*before.rows, *after.rows])]
    result = judged(tmp_path, journal, program)
    assert (result.exit_code, counts(result)) == (0, {"judged": 4}), result.to_json()
    answer: Any = result.to_json()
    assert len(answer["machines"][0]["versions"]) == 2
    journal[2]["output"] = 3
    assert [at for _, at, _ in found(judged(tmp_path, journal, program))] == [2]
    # A version that nobody gave is quarantined, and the others are judged.
    result = judged(tmp_path, journal, ReplayProgram((Bell.lawful.ir,)))
    assert found(result) == [
        (
            "quarantined",
            0,
            f"a row of another version of the machine than {behaviour(Bell.lawful.ir)}; "
            "give that one by --older",
        )
    ]
    assert counts(result) == {"judged": 2}
    with pytest.raises(ValueError, match="an older version of Bell"):
        ReplayProgram((Worker.lawful.ir,), older=(old.lawful.ir,))
