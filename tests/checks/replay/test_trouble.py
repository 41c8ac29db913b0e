"""Trouble in a log does not end its judgement: deviations, duplicates, gaps, versions, choices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Clock, Machine, Nat, event, require, transition
from lawful.checks.replay import Policy, ReplayProgram, ReplayResult, replay
from lawful.checks.replay.findings import COUNTS
from lawful.checks.replay.fold import MOST_WAYS, Fold
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.row_step import Stepper
from lawful.checks.replay.rows import Rejected, journal_row
from lawful.cli import main
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


class Door(Machine):
    """Opens half a second after it was made, and not before."""

    clock: Clock = Clock(tick=0.25)
    opened: Nat = 0

    @transition()
    def open(self) -> None:
        require(self.clock.now >= 2, "too early")
        self.opened += 1


class Fork(Machine):
    """The caller goes left or right; a trace need not say which."""

    left: Nat = 0
    right: Nat = 0

    @event(choice=True)
    def go(self) -> Nat:
        raise NotImplementedError

    @transition(event="go")
    def go_left(self) -> Nat:
        self.left += 1
        return self.left

    @transition(event="go")
    def go_right(self) -> Nat:
        self.right += 1
        return self.right

    @transition()
    def count(self, left: Nat) -> None:
        require(self.left == left, "another number")

    @event
    def stop(self) -> None: ...

    @transition(event="stop")
    def stop_left(self) -> None:
        require(self.left > 0, "not left")

    @transition(event="stop")
    def stop_right(self) -> None:
        require(self.right > 0, "not right")


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
    journal = interleaved(*(worker(f"w{i:02}") for i in range(12)))
    for row in journal:
        if row["event"] == "take":
            row["output"] = 99
    path, target = written(tmp_path / "j.jsonl", journal), f"{journals.__name__}:Worker"
    options = ["replay", str(path), target, "--engine", "local"]
    assert main(options) == 2
    few = capsys.readouterr().out
    assert few.count("instance w") == 3 and "and 93 more" in few
    assert main([*options, "--all"]) == 2
    every = capsys.readouterr().out
    assert every.count("instance w") == 96 and "more" not in every
    assert main([*options, "--all", "--json", str(tmp_path / "all.json")]) == 2
    told: Any = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert len(told["deviations"]) == 96 and told["counts"]["deviations"] == 96


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


@settings(max_examples=25, deadline=None)
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
    again = of(journal, "a", 11) | {"seq": 12, "event": None, "transition": None, "output": None}
    again |= {"outcome": "continued", "before": None, "args": {"limit": 5}, "changed": whole}
    for row in journal:
        row["seq"] += row["seq"] > 11
    journal = sorted([*journal, again], key=lambda row: int(row["seq"]))
    result = judged(tmp_path, journal)
    told = counts(result)
    assert told == {"judged": 14, "gaps": 2, "uncertain": told["uncertain"]}
    assert told["uncertain"] > 0 and result.verdicts["quarantined"] == 1
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
        ("quarantined", 0, "rows of another version of the machine (fingerprint)")
    ]
    assert counts(result) == {"judged": 2}
    with pytest.raises(ValueError, match="an older version of Bell"):
        ReplayProgram((Worker.lawful.ir,), older=(old.lawful.ir,))


# Foreign traces.

NAMES = {"instance": "$.i", "seq": "$.n", "event": "$.e"}


def foreign(machine: type[Machine], **more: Any) -> ReplayProgram:
    return ReplayProgram((machine.lawful.ir,), mapping=mapping_of(NAMES | more))


def trace(*events: str, **more: Any) -> list[Row]:
    return [{"i": "a", "n": n, "e": each} | more for n, each in enumerate(events)]


def test_a_choice_that_no_row_tells(tmp_path: Path) -> None:
    program = foreign(Fork, args={"count": {"left": "$.left"}})
    told = trace("go", "go", "go_right", "count", left=1)
    result = judged(tmp_path, told, program)
    assert (result.verdicts["fits"], counts(result)) == (1, {"judged": 4, "ambiguous": 2})
    assert result.tallies.machines["Fork"].transitions == {"go_right": 1, "count": 1}
    result = judged(tmp_path, [*told, {**told[3], "n": 4, "left": 2}], program)
    assert found(result) == [("refused", 4, "another number (1 == 2 is false)")]
    # What a row tells of the output decides between the transitions.
    replies = foreign(Fork, output="$.out")
    told = [row | {"out": out} for row, out in zip(trace("go", "go"), (1, 2), strict=True)]
    assert counts(judged(tmp_path, told, replies)) == {"judged": 2, "ambiguous": 2}
    told = [row | {"out": out} for row, out in zip(trace("go", "go"), (1, 3), strict=True)]
    assert judged(tmp_path, told, replies).verdicts["deviates"] == 1
    result = judged(tmp_path, trace(*["go"] * MOST_WAYS), foreign(Fork))
    assert result.verdicts["inconclusive"] == 1
    assert found(result)[0][2] == "the instance may be in more than 16 states"


def test_an_event_that_leaves_no_choice_has_one_transition(tmp_path: Path) -> None:
    told = trace("go_left", "stop", "go_right", "stop")
    result = judged(tmp_path, told, foreign(Fork))
    assert found(result) == [("fault", 3, "ambiguous: stop_left and stop_right are enabled")]


TIMES: list[tuple[str, list[Any]]] = [
    ("s", [100, 100.4, 100.5]),
    ("ms", [1_700_000_000_000, 1_700_000_000_499, 1_700_000_000_500]),
    ("us", [0, 499_999, 500_000]),
    ("ns", [1_700_000_000_000_000_001, 1_700_000_000_500_000_000, 1_700_000_000_500_000_001]),
    ("iso", ["2024-05-01T10:00:00Z", "2024-05-01T12:00:00.499999+02:00", "2024-05-01T10:00:00.5"]),
]


@pytest.mark.parametrize(("unit", "times"), TIMES)
def test_a_clock_counts_the_times_of_a_trace(unit: str, times: list[Any], tmp_path: Path) -> None:
    program = foreign(Door, time="$.t", unit=unit, skip=["HI"])
    told = [row | {"t": t} for row, t in zip(trace("open", "open", "open"), times, strict=True)]
    told[0]["e"] = "open"
    result = judged(tmp_path, told, program)
    assert found(result) == [("refused", 0, "too early (0 >= 2 is false)")]
    assert counts(result) == {"judged": 3, "deviations": 2}
    told[1]["t"] = "soon"
    assert ("quarantined", 1, "time has another form than its unit says") in found(
        judged(tmp_path, told, program)
    )


def test_a_clock_without_time_is_unknown_and_says_so(tmp_path: Path) -> None:
    result = judged(tmp_path, trace("open", "open"), foreign(Door))
    clause = "the clock clock needs `time` and `unit` in the mapping"
    assert found(result) == [("inconclusive", 0, clause)] and result.exit_code == 3
    with pytest.raises(ValueError, match="unit has to be one of s, ms, us, ns, iso, not h"):
        foreign(Door, time="$.t", unit="h")


def test_keys_that_look_alike_stay_apart(tmp_path: Path) -> None:
    keys: list[Any] = [7, "7", '"7"', "-7", "07", "7a", 7]
    told = [{"i": key, "n": n, "e": "ring"} for n, key in enumerate(keys)]
    answer: Any = judged(tmp_path, told, foreign(Bell)).to_json()
    assert set(answer["by_instance"]) == {"7", '"7"', '""7""', '"-7"', '"07"', "7a"}
    assert answer["events"] == 7


# The log as a whole.


def test_a_log_without_a_judged_event_is_no_fit(tmp_path: Path) -> None:
    program = foreign(Bell, skip=["HI"])
    told = trace("HI", "HI")
    result = judged(tmp_path, told, program)
    assert result.verdicts == dict.fromkeys(result.verdicts, 0) | {"empty": 1}
    assert (result.failures, result.exit_code) == (("no event was judged, of 0",), 3)
    told.append({"i": "b", "n": 0, "e": "ring"})
    result = judged(tmp_path, told, program)
    assert (result.verdicts["fits"], result.verdicts["empty"], result.exit_code) == (1, 1, 0)


MAPPING = 'instance = "$.i"\nseq = "$.n"\nevent = "$.e"\nskip = ["HI"]\n'


def test_the_command_fails_for_what_is_no_basis_of_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.toml").write_text(MAPPING, encoding="utf-8")
    options = [f"{journals.__name__}:Bell", "--mapping", str(tmp_path / "m.toml")]

    def run(told: list[Row], *more: str) -> int:
        return main(["replay", str(written(tmp_path / "j.jsonl", told)), *options, *more])

    assert run(trace("HI")) == 3
    assert "no verdict: no event was judged, of 0" in capsys.readouterr().out
    assert run(trace("HI"), "--allow-empty") == 0
    told = trace(*["ring"] * 97, *["RANG"] * 3)
    assert run(told) == 3
    said = "no verdict: 3 of 100 events (3.0%) are unknown; at most 1.0% may be"
    assert said in capsys.readouterr().out
    assert run(told, "--unknown-events", "3") == 0
    assert "1 fits" in capsys.readouterr().out
    assert run(told, "--unknown-events", "2.9%") == 3
    assert run(told, "--unknown-events", "101") == 5


def test_rejected_rows_say_where_they_are(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    written(one, [*map(json.dumps, worker("a")), "", "[]"])
    written(two, ["{", "[]", "{}"])
    answer: Any = replay([one, two], PROGRAM).to_json()
    places = {
        (each["reason"], place["file"], place["number"])
        for each in answer["rejected"]["reasons"]
        for place in each["places"]
    }
    assert places == {
        ("not an object", str(one), 19),
        ("not JSON", str(two), 1),
        ("not an object", str(two), 2),
        ("no instance", str(two), 3),
    }


def test_the_counts_have_their_names() -> None:
    page = (Path(__file__).parents[3] / "docs" / "replay.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in COUNTS)
