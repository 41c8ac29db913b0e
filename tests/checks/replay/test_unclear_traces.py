"""Traces that tell less than a journal: choices, clocks, keys; logs that give no verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Clock, Machine, Nat, event, require, transition
from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay.fold import MOST_WAYS
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.problems import COUNTS
from lawful.checks.report import replay_metrics
from lawful.cli import main
from tests.checks.replay import journals
from tests.checks.replay.journals import PROGRAM, Bell, Row, worker, written
from tests.checks.replay.test_trouble import counts, found, judged


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
    wrong = f'$.t is a text of another form, and unit is "{unit}"'
    why = f"time has another form than its unit says: {wrong}"
    assert ("quarantined", 1, why) in found(judged(tmp_path, told, program))


def test_a_clock_without_time_is_unknown_and_says_so(tmp_path: Path) -> None:
    result = judged(tmp_path, trace("open", "open"), foreign(Door))
    clause = "the clock clock needs `time` and `unit` in the mapping"
    assert found(result) == [("inconclusive", 0, clause)] and result.exit_code == 3
    with pytest.raises(
        ValueError,
        match="unit has to be one of s, ms, us, ns, iso, iso-ns, or a form of times, not h",
    ):
        foreign(Door, time="$.t", unit="h")


def test_keys_that_look_alike_stay_apart(tmp_path: Path) -> None:
    keys: list[Any] = [7, "7", '"7"', "-7", "07", "7a", 7, 0, "0", "-0", "00"]
    told = [{"i": key, "n": n, "e": "ring"} for n, key in enumerate(keys)]
    answer: Any = judged(tmp_path, told, foreign(Bell)).to_json()
    assert set(answer["by_instance"]) == {
        *("7", '"7"', '""7""', '"-7"', "07", "7a", "0", '"0"', "-0", "00")
    }
    assert answer["events"] == 11


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
    with pytest.raises(SystemExit, match="5"):
        run(told, "--unknown-events", "101")


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
        ("no instance: instance is null or missing, not a text", str(two), 3),
    }


def test_the_counts_have_their_names() -> None:
    page = (Path(__file__).parents[3] / "docs" / "replay.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in COUNTS)


UNUSABLE: dict[str, Any] = {
    "no number": {"i": "a", "n": "first", "e": "open", "t": 0},
    "no time": {"i": "a", "n": 0, "e": "open", "t": "soon"},
    "no event": {"i": "a", "n": 0, "e": 7, "t": 0},
    "a number before the first": {"i": "a", "n": -1, "e": "open", "t": 0},
}


@pytest.mark.parametrize("row", UNUSABLE)
def test_foreign_instances_are_of_the_machine_of_the_mapping(tmp_path: Path, row: str) -> None:
    """Also where no row of them is usable."""
    told = {"instance": "$.i", "seq": "$.n", "event": "$.e", "time": "$.t", "dense": True}
    program = ReplayProgram((Door.lawful.ir,), mapping=mapping_of({**told, "first": 0}))
    rows = [UNUSABLE[row], {"i": "b", "n": 0, "e": "open", "t": 3}]
    answer: Any = replay([written(tmp_path / "rows.jsonl", rows)], program).to_json()
    assert answer["unknown_machine"] == 0
    assert answer["by_instance"] == {"a": "quarantined", "b": "deviates"}
    assert [each["instances"] for each in answer["machines"]] == [2]


def test_an_instance_of_a_journal_may_name_no_machine(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [*worker("w"), {"v": 1, "instance": "x", "seq": 1}]
    result = replay([written(tmp_path / "rows.jsonl", rows)], PROGRAM)
    assert result.to_json()["unknown_machine"] == 1
    lines = replay_metrics.metrics(result).splitlines()
    assert 'lawful_replay_instances{verdict="quarantined"} 1' in lines
