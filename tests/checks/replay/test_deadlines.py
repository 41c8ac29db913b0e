"""Deadlines of a mapping, and rows that come in another order than their times."""

from __future__ import annotations

import dataclasses
import itertools
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Nat, State, event, require, terminal, transition
from lawful.checks.replay import (
    ReplayProgram,
    TraceMapping,
    replay,
    replay_increment,
)
from lawful.checks.replay.fold import fold
from lawful.checks.replay.increments.continuation import Continuation
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.preparation.preparation_table import Preparation
from lawful.checks.replay.problems import InstanceVerdict
from lawful.checks.replay.rows import Row
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode


class Stage(State):
    NEW = "new"
    PAID = "paid"
    SENT = "sent"


class Order(Machine):
    state: Stage = Stage.NEW
    items: Nat = 0

    @transition(source=Stage.NEW)
    def add(self) -> None:
        self.items += 1

    @transition(source=Stage.NEW, target=Stage.PAID)
    def pay(self) -> None:
        require(self.items > 0, "is empty")

    @transition(source=Stage.PAID, target=Stage.SENT)
    def send(self) -> None: ...

    @terminal
    def done(self) -> bool:
        return self.state == Stage.SENT


LIMITS = {"PAID": 60.0, "NEW": 100.5}
MAPPING = TraceMapping(
    instance="$.order",
    seq="",
    event="$.what",
    time="$.at",
    deadlines=LIMITS,
    preparation=Preparation(order="time"),
)
PROGRAM = ReplayProgram((Order.lawful.ir,), mapping=MAPPING)


def line(what: str, at: float, order: str = "a") -> dict[str, Any]:
    return {"order": order, "what": what, "at": at}


def rows(*events: tuple[str, float]) -> list[Row]:
    found: list[Row] = []
    for what, at in events:
        (data,) = MAPPING.prepared(line(what, at), 0)
        row = PROGRAM.row_of(data, "")
        assert isinstance(row, Row)
        found.append(row)
    return found


def findings(verdict: InstanceVerdict) -> list[tuple[str, int, str, str, int]]:
    return [(f.kind, f.index, f.clause, f.control, f.count) for f in verdict.findings]


def number(at: float) -> int:
    return int(at * 10**6)


def test_a_state_that_is_left_in_time() -> None:
    its = rows(("add", 0.0), ("pay", 100.5), ("send", 160.5))
    verdict = fold(PROGRAM, "a", its)
    assert (verdict.verdict, verdict.findings) == ("fits", ())


def test_a_state_that_is_left_too_late() -> None:
    its = rows(("add", 0.0), ("add", 90.0), ("pay", 101.0), ("send", 161.25))
    verdict = fold(PROGRAM, "a", its)
    assert verdict.verdict == "deviates"
    assert findings(verdict) == [
        ("deadline", number(0.0), "NEW was not left within 100.5 s", "NEW", 1),
        ("deadline", number(101.0), "PAID was not left within 60 s", "PAID", 1),
    ]
    first = verdict.findings[0]
    assert (first.state, first.legal) == ({"state": "NEW", "items": 2}, ("add", "pay"))
    assert first.details == {"time": "1970-01-01T00:00:00"}
    assert verdict.counts == {"judged": 4, "deviations": 2}


def test_without_a_later_row_it_passes_with_the_end_of_the_traces() -> None:
    its = rows(("add", 0.0), ("pay", 10.0))
    assert fold(PROGRAM, "a", its).verdict == "open"
    ended = dataclasses.replace(PROGRAM, until=70.0)
    assert fold(ended, "a", its).verdict == "open"
    late = fold(dataclasses.replace(PROGRAM, until=70.001), "a", its)
    assert findings(late) == [
        ("deadline", number(10.0), "PAID was not left within 60 s", "PAID", 1)
    ]


def test_each_stay_has_one_finding() -> None:
    its = rows(("add", 0.0), ("pay", 10.0), ("add", 80.0), ("add", 90.0), ("send", 100.0))
    verdict = fold(PROGRAM, "a", its)
    assert [each[:2] for each in findings(verdict) if each[0] == "deadline"] == [
        ("deadline", number(10.0))
    ]


def test_a_state_that_is_not_certain_has_no_deadline() -> None:
    mapping = dataclasses.replace(MAPPING, seq="$.n", dense=True, preparation=None)
    program = ReplayProgram((Order.lawful.ir,), mapping=mapping)
    told = [line("add", 0.0) | {"n": 0}, line("send", 900.0) | {"n": 2}]
    its = [row for each in told if isinstance(row := program.row_of(each, ""), Row)]
    verdict = fold(program, "a", its)
    assert (verdict.verdict, verdict.counts["gaps"]) == ("quarantined", 1)
    # The row that is missing may have left the state in time.
    assert [each[0] for each in findings(verdict)] == ["quarantined", "refused"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"deadlines": {"PAID": 0}}, "deadlines.PAID has to be a number of seconds above 0, not 0"),
        ({"deadlines": {"PAID": "1"}}, "deadlines.PAID has to be a number of seconds above 0"),
    ],
)
def test_a_wrong_table_is_refused(change: dict[str, Any], why: str) -> None:
    data = {"instance": "$.a", "seq": "$.n", "event": "$.e", "time": "$.t"} | change
    with pytest.raises(ValueError, match=why):
        mapping_of(data)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            {"deadlines": {"GONE": 1.0}},
            "GONE is no control state of Order; it has NEW, PAID",
        ),
        ({"time": None, "seq": "$.n", "preparation": None}, "deadlines need `time`"),
        ({"partial": True}, "deadlines are for traces that tell everything"),
    ],
)
def test_a_table_that_does_not_suit_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ReplayProgram((Order.lawful.ir,), mapping=dataclasses.replace(MAPPING, **change))


class Parcel(Machine):
    state: Stage = Stage.NEW
    weight: Nat = 0

    @event(choice=True)
    def go(self) -> None: ...

    @transition(event="go", source=Stage.NEW, target=Stage.PAID)
    def by_post(self) -> None: ...

    @transition(event="go", source=Stage.NEW, target=Stage.SENT)
    def by_hand(self) -> None: ...

    @transition
    def look(self) -> None: ...


def test_where_an_instance_may_be_in_two_states_there_is_no_deadline() -> None:
    mapping = dataclasses.replace(MAPPING, deadlines={"PAID": 60.0, "SENT": 60.0})
    program = ReplayProgram((Parcel.lawful.ir,), mapping=mapping)
    its = [replace(row, machine="Parcel") for row in rows(("go", 0.0), ("look", 90.0))]
    verdict = fold(program, "a", its)
    assert (verdict.findings, verdict.counts) == ((), {"judged": 2, "ambiguous": 1})


def test_the_mapping_is_read_again() -> None:
    data: Any = json.loads(json.dumps(MAPPING.to_json()))
    assert data["deadlines"] == LIMITS
    assert mapping_of(data) == MAPPING


# Rows in any order of arrival.

DELAY = 50


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[list[Row], list[list[Row]], int]:
    """The rows of an instance, and the micro-batches in which they come: none comes when another
    one that is later by more than the delay is there already. Last, how far rows of other instances
    then move the watermark."""
    names = draw(st.lists(st.sampled_from(["add", "add", "pay", "send"]), min_size=1, max_size=9))
    gaps = [draw(st.integers(1, 90)) for _ in names]
    times = [sum(gaps[: i + 1]) for i in range(len(gaps))]
    its = rows(*zip(names, map(float, times), strict=True))
    late = [time + draw(st.integers(0, DELAY)) for time in times]
    order = sorted(range(len(its)), key=lambda i: late[i])
    cuts = sorted(draw(st.sets(st.integers(0, len(its)))) | {0, len(its)})
    batches = [[its[i] for i in order[a:b]] for a, b in itertools.pairwise(cuts)]
    return its, batches, draw(st.integers(0, 300))


@given(arrivals())
def test_any_arrival_within_the_watermark_gives_the_verdict_of_all_rows(
    case: tuple[list[Row], list[list[Row]], int],
) -> None:
    its, batches, others = case
    text, newest, watermark = "", Fraction(0), Fraction(0)
    ended: list[InstanceVerdict] = []
    for number_of, batch in enumerate([*batches, []]):
        moved = others if number_of == len(batches) else 0
        watermark = max(watermark, newest - DELAY + moved)
        going_on = Continuation(PROGRAM, "a", text, watermark)
        for row in sorted(batch, key=lambda each: each.seq):
            going_on.take(row)
        ended.append(going_on.end())
        text = ended[-1].snapshot
        newest = max([newest, *(Fraction(row.time) for row in batch if row.time is not None)])
    whole = fold(dataclasses.replace(PROGRAM, until=float(watermark)), "a", its)
    assert dataclasses.replace(ended[-1], snapshot="") == whole


def test_what_follows_a_row_that_waits_waits_too() -> None:
    mapping = dataclasses.replace(MAPPING, seq="$.n", preparation=None)
    program = ReplayProgram((Order.lawful.ir,), mapping=mapping)
    told = [line("add", 5.0) | {"n": 1}, line("pay", 9.0) | {"n": 2}, line("send", 0) | {"n": 3}]
    del told[2]["at"]  # So it cannot be replayed.
    its = [row for each in told if isinstance(row := program.row_of(each, ""), Row)]
    first = Continuation(program, "a", "", Fraction(5))
    for row in (its[0], its[2]):
        first.take(row)
    second = Continuation(program, "a", first.end().snapshot, Fraction(5))
    second.take(its[1])
    verdict = second.end()
    assert dataclasses.replace(verdict, snapshot="") == fold(program, "a", its)
    assert verdict.counts == {"judged": 2}


def test_a_row_behind_the_watermark_is_late() -> None:
    its = rows(("add", 0.0), ("pay", 10.0), ("send", 20.0))
    first = Continuation(PROGRAM, "a", "", Fraction(0))
    first.take(its[0])
    first.take(its[2])
    text = first.end().snapshot
    # The watermark passes the row `send`, so it is judged; `pay` comes after that.
    second = Continuation(PROGRAM, "a", text, Fraction(21))
    verdict = second.end()
    third = Continuation(PROGRAM, "a", verdict.snapshot, Fraction(21))
    third.take(its[1])
    last = third.end()
    assert (last.verdict, last.counts["late"]) == ("deviates", 1)


def test_increments_keep_how_long_an_instance_is_in_a_state(tmp_path: Path) -> None:
    days = [[line("add", 0.0), line("pay", 10.0)], [line("send", 80.0)]]
    files = [tmp_path / "monday.jsonl", tmp_path / "tuesday.jsonl"]
    for file, day in zip(files, days, strict=True):
        file.write_text("".join(json.dumps(each) + "\n" for each in day))
    first = replay_increment(files[:1], PROGRAM, {})
    second = replay_increment(files[1:], PROGRAM, first.states)
    whole = replay([tmp_path], PROGRAM).tallies.machines["Order"]
    tally = second.tallies.machines["Order"]
    assert tally.verdicts == whole.verdicts == {"deviates": 1}
    assert tally.counts == whole.counts


def test_the_command_says_until_when_traces_are_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traces, table = tmp_path / "log.jsonl", tmp_path / "mapping.json"
    told = [line("add", 0.0), line("pay", 10.0)]
    traces.write_text("".join(json.dumps(each) + "\n" for each in told))
    table.write_text(json.dumps(MAPPING.to_json()))
    command = ["replay", str(traces), f"{__name__}:Order", "--mapping", str(table)]
    assert main(command) == ExitCode.AS_EXPECTED
    assert main([*command, "--until", "1970-01-01T00:01:10"]) == ExitCode.AS_EXPECTED
    capsys.readouterr()
    answer = tmp_path / "answer.json"
    late = [*command, "--until", "1970-01-01T01:01:11+01:00", "--json", str(answer)]
    late += ["--report", str(tmp_path / "page.html"), "--pytest", str(tmp_path / "tests")]
    assert main(late) == ExitCode.DEVIATES
    (found,) = json.loads(answer.read_text())["deviations"]
    assert (found["kind"], found["clause"]) == ("deadline", "PAID was not left within 60 s")
    assert "PAID was not left within 60 s" in (tmp_path / "page.html").read_text()
    assert not [*tmp_path.glob("tests/*")]  # No change of the machine would make one pass.
    assert "in state PAID: PAID was not left within 60 s" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*command, "--until", "tomorrow"])
    assert "tomorrow: expected a time such as 2026-11-25T12:00:00Z" in capsys.readouterr().err
