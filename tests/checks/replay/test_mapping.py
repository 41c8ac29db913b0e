"""Foreign traces: lines that no journal of ours wrote, read by a mapping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, initial, require, transition
from lawful.checks.replay import ReplayError, ReplayProgram, ReplayResult, replay
from lawful.checks.replay.mapping import mapping_of, read_mapping
from lawful.checks.replay.rows import Row
from tests.checks.replay.journals import Bell, Worker, written

TOML = """
instance = "$.who.name"
seq = "$.at"
event = "$.what"
skip = ["TICK"]

[events]
JOB = "take"
READY = "finish"
TIRED = "lose_patience"

[args.take.job]
"$" = "Job"
size = "$.weight"
tags = { "$set" = [1, "$.weight"] }

[parameters]
limit = 2
"""
Line = dict[str, Any]


def line(name: str, at: int, what: str, **more: object) -> Line:
    return {"who": {"name": name}, "at": at, "what": what, **more}


def lines() -> list[Line]:
    """Out of order, and with gaps."""
    return [
        line("a", 20, "READY"),
        line("b", 3, "JOB", weight=1),
        line("a", 10, "JOB", weight=5),
        line("a", 11, "TICK"),
        line("a", 30, "JOB", weight=6),
        line("a", 31, "TIRED"),
        line("a", 40, "JOB", weight=7),
        line("a", 41, "READY"),
        line("a", 50, "READY"),
        line("a", 51, "READY"),
    ]


def program(tmp_path: Path, text: str = TOML) -> ReplayProgram:
    path = tmp_path / "mapping.toml"
    path.write_text(text, encoding="utf-8")
    return ReplayProgram((Worker.lawful.ir,), mapping=read_mapping(path))


def replayed(tmp_path: Path, told: list[Line], text: str = TOML) -> ReplayResult:
    return replay([written(tmp_path / "trace.jsonl", told)], program(tmp_path, text))


def test_a_foreign_trace(tmp_path: Path) -> None:
    found: Any = replayed(tmp_path, lines()).to_json()
    assert found["by_instance"] == {"a": "fits", "b": "open"}
    assert found["coverage"]["transitions"] == {
        "take": 4,
        "finish_job": 2,
        "finish_all": 1,
        "lose_patience": 1,
    }
    assert (found["events"], found["rows"]) == (9, 10)


def test_a_foreign_trace_deviates(tmp_path: Path) -> None:
    told = lines()
    told[4]["weight"] = 0
    found: Any = replayed(tmp_path, told).to_json()
    finding, *others = found["deviations"]
    assert (finding["index"], finding["event"], finding["kind"]) == (30, "take", "refused")
    assert "an empty job" in finding["clause"]
    # The take was skipped, so the machine is not busy in the next row.
    assert [(each["index"], each["event"], each["kind"]) for each in others] == [
        (31, "lose_patience", "refused")
    ]


def test_outputs_are_compared_where_they_are_named(tmp_path: Path) -> None:
    text = TOML.replace("[events]", 'output = "$.reply"\n[events]')
    told = [line("a", 1, "JOB", weight=5, reply=1), line("a", 2, "READY", reply=9)]
    found: Any = replayed(tmp_path, told, text).to_json()
    assert found["deviations"][0]["clause"] == "output is 9 in the row, 1 in the machine"
    told[1].pop("reply")
    found = replayed(tmp_path, told, text).to_json()
    assert found["deviations"][0]["clause"] == "output is null in the row, 1 in the machine"


def test_rows_may_be_numbered_without_gaps(tmp_path: Path) -> None:
    dense = TOML.replace("skip =", "dense = true\nskip =")
    told = [line("a", 1, "READY"), line("a", 0, "JOB", weight=5)]
    assert replayed(tmp_path, told, dense).verdicts["open"] == 1
    assert replayed(tmp_path, told[:1], dense).verdicts["quarantined"] == 1
    assert replayed(tmp_path, [told[1], told[1]]).verdicts["open"] == 1
    other = told[1] | {"weight": 6}
    assert replayed(tmp_path, [told[1], other]).verdicts["quarantined"] == 1


def test_lines_that_lack_what_the_mapping_names(tmp_path: Path) -> None:
    told: list[Line] = [
        {"at": 1},
        {"who": {"name": 7}, "at": 1, "what": "READY"},
        {"who": {"name": []}, "at": 1},
        line("b", 1, "JOB"),
        {"who": {"name": "c"}, "at": "x"},
        line("d", 1, "WHAT"),
    ]
    found: Any = replayed(tmp_path, told).to_json()
    reasons = {each["reason"]: each["total"] for each in found["rejected"]["reasons"]}
    assert reasons == {
        "no value at $.who.name": 1,
        "no instance: $.who.name is a list, not a text or a whole number": 1,
    }
    clauses = {each["instance"]: each["clause"] for each in found["not_judged"]}
    assert clauses == {
        "b": "no value at $.weight",
        "c": "a row without a sequence number: $.at is a text, not a whole number from 0 on; "
        '`casts` of the [preparation] make an "int" of it',
        "d": "an unknown event",
    }
    assert found["by_instance"]["7"] == "deviates"


WRONG: list[tuple[Any, str]] = [
    ([], "a mapping has to be an object"),
    ({"instance": "$.a", "seq": "$.b"}, r'event has to be a path such as "\$.event"'),
    ({"instance": "a", "seq": "$.b", "event": "$.c"}, "instance has to be a path"),
    ({"instance": "$.a", "colour": 1}, "colour is no key of a mapping; the keys are instance"),
    ({"instance": "$.a", "skip": "x"}, "skip has to be a list"),
    (
        {"instance": "$.a", "event": "$.e", "dense": True, "preparation": {"order": "file"}},
        "dense is for numbers in rows, and order = file makes others",
    ),
]


@pytest.mark.parametrize(("data", "why"), WRONG)
def test_what_is_no_mapping(data: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        mapping_of(data)


def test_a_mapping_file_that_cannot_be_read(tmp_path: Path) -> None:
    for name, text in [("a.toml", "= 1"), ("b.json", "{"), ("c.json", "[]"), ("d.toml", None)]:
        path = tmp_path / name
        if text is not None:
            path.write_text(text, encoding="utf-8")
        with pytest.raises(ReplayError, match=name) as caught:
            read_mapping(path)
        assert "\n" not in str(caught.value)


def test_a_mapping_is_of_one_machine() -> None:
    mapping = mapping_of({"instance": "$.a", "seq": "$.b", "event": "$.c"})
    both = (Worker.lawful.ir, Bell.lawful.ir)
    with pytest.raises(ValueError, match="does not say of which machine"):
        ReplayProgram(both, mapping=mapping)
    data: Any = mapping.to_json()
    known = ReplayProgram(
        both, mapping=mapping_of(json.loads(json.dumps(data | {"machine": "Bell"})))
    )
    assert known.mapping is not None and known.mapping.machine == "Bell"


class Begun(Machine):
    """Its `@initial` gives the rest a value."""

    rest: Nat
    begun: bool = False

    @initial
    def begin(self, rest: Nat) -> None:
        self.rest = rest

    @transition()
    def use(self) -> None:
        self.begun = True


class Full(Machine):
    """Its `@initial` has no arguments."""

    rest: Nat

    @initial
    def fill(self) -> None:
        self.rest = 2

    @transition()
    def use(self) -> None:
        require(self.rest > 0, "empty")
        self.rest -= 1


def test_a_machine_begins_as_its_initial_says(tmp_path: Path) -> None:
    rows: list[Any] = [{"i": "a", "n": n, "e": "use"} for n in range(3)]
    path = written(tmp_path / "t.jsonl", rows)
    mapping = mapping_of({"instance": "$.i", "seq": "$.n", "event": "$.e"})
    found = replay([path], ReplayProgram((Full.lawful.ir,), mapping=mapping)).total.found.rows
    assert [(f.index, f.clause) for each in found.values() for _, f in each] == [
        (2, "empty (0 > 0 is false)")
    ]
    unsaid = replay([path], ReplayProgram((Begun.lawful.ir,), mapping=mapping))
    assert unsaid.verdicts["inconclusive"] == 1
    [[(_, finding)]] = unsaid.total.found.rows.values()
    assert finding.clause == "the rows do not say how the @initial of the machine ran: begin"


@pytest.mark.parametrize(
    ("casts", "text", "hint"),
    [
        ({}, "7", '; `casts` of the [preparation] make an "int" of it'),
        ({"$.m": "int"}, "7", '; `casts` of the [preparation] make an "int" of it'),
        ({"$.n": "int"}, "1,000", '; its cast to "int" cannot read this text'),
        ({"$.n": "fixed(2)"}, "1,000", '; its cast to "fixed(2)" cannot read this text'),
        ({"$.n": "text"}, 7, '; `casts` make a "text" of it; "int" makes a number of a text'),
    ],
)
def test_a_text_in_place_of_a_number_is_told_by_the_casts_that_there_are(
    casts: dict[str, str], text: object, hint: str
) -> None:
    paths = {"instance": "$.i", "seq": "$.n", "event": "$.t"}
    how = mapping_of({**paths, "preparation": {"casts": casts}})
    (data,) = how.prepared({"i": "a", "n": text, "t": "x"}, 0)
    row = how.row_of(data, "")
    assert isinstance(row, Row)
    told = "a row without a sequence number: $.n is a text, not a whole number from 0 on"
    assert row.flaw == told + hint
