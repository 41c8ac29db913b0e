"""Proposals from samples with trouble: each replays, or is refused with what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, require, transition
from lawful.checks.replay import ReplayError, ReplayProgram, replay
from lawful.checks.replay.inference.mapping_inference import Inferred, inferred
from lawful.checks.replay.mapping import mapping_of
from tests.checks.replay.journals import worker, written

EVENTS = ["unlock", "lock"] * 2
Record = dict[str, Any]


class Door(Machine):
    open: bool = False
    times: Nat = 0

    @transition()
    def unlock(self) -> None:
        require(not self.open)
        self.open = True
        self.times += 1

    @transition()
    def lock(self) -> None:
        require(self.open)
        self.open = False


def records(**more: Any) -> list[Record]:
    return [
        {"door": door, "n": n, "what": event, **more}
        for door in "abc"
        for n, event in enumerate(EVENTS, 1)
    ]


def proposed(path: Path, doors: int = 3) -> Inferred:
    """The proposal, with which each door fits."""
    found = inferred([path], Door.lawful.ir)
    assert found.fitting == found.instances == doors
    result = replay([path], ReplayProgram((Door.lawful.ir,), mapping=mapping_of(found.mapping)))
    assert (result.verdicts["fits"], result.total.instances, result.rejected) == (doors, doors, 0)
    return found


@pytest.mark.parametrize("again", [records(), records()[:5]])
def test_records_that_came_twice_do_not_hide_the_number(
    again: list[Record], tmp_path: Path
) -> None:
    found = proposed(written(tmp_path / "t.jsonl", [*records(), *again]))
    assert (found.mapping["instance"], found.mapping["seq"]) == ("$.door", "$.n")
    told = f"{len(again)} records came twice: replay counts them as duplicates"
    assert found.notes == (told,)


def test_numbers_that_two_records_have_are_named(tmp_path: Path) -> None:
    told = records()
    told[5]["n"] = 1
    found = proposed(written(tmp_path / "t.jsonl", told))
    assert found.mapping["preparation"] == {"order": "file"}
    assert found.notes == (
        "$.n is no order, though most records have a number of their own: "
        "2 different records of b have 1",
    )
    assert proposed(written(tmp_path / "t.jsonl", [{**each, "n": 1} for each in told])).notes == ()


def test_records_of_no_instance_do_not_hide_the_number(tmp_path: Path) -> None:
    lost: list[Record] = [{"door": None, "n": 1, "what": "lock", "x": x} for x in (1, 2)]
    found = inferred([written(tmp_path / "t.jsonl", [*records(), *lost])], Door.lawful.ir)
    assert (found.mapping["instance"], found.mapping["seq"]) == ("$.door", "$.n")
    assert (found.fitting, found.instances) == (3, 3)


def spans() -> Mapping[str, Any]:
    told: list[Record] = []
    for door in "abc":
        for n, event in enumerate(EVENTS):
            at = 10**18 + n * 10**9
            told.append({"traceId": door * 32, "spanId": f"{door}{n}", "name": event})
            told[-1] |= {"startTimeUnixNano": str(at), "endTimeUnixNano": str(at + 10)}
    return {"resourceSpans": [{"scopeSpans": [{"spans": told}]}]}


def test_a_span_is_one_event(tmp_path: Path) -> None:
    """Neither its start and its end are two, nor is the phase an instance."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps(spans()), encoding="utf-8")
    found = proposed(path)
    assert (found.mapping["instance"], found.mapping["time"]) == ("$.traceId", "$.time")
    assert found.mapping["preparation"]["when"] == {"$.phase": ["start"]}
    assert found.notes == ("each span is one event, at its start; `when` may say end instead",)


def test_states_of_itf(tmp_path: Path) -> None:
    states: list[Record] = [{"open": False, "times": 0, "action": "init"}]
    for n, event in enumerate(EVENTS):
        states.append({"open": n % 2 == 0, "times": n // 2 + 1, "action": event})
    path = tmp_path / "t.itf.json"
    path.write_text(json.dumps({"vars": ["open"], "states": states}), encoding="utf-8")
    found = proposed(path, doors=1)
    assert (found.mapping["instance"], found.mapping["seq"]) == ("$.file", "$.index")
    for state in states:
        del state["action"]
    path.write_text(json.dumps({"vars": ["open"], "states": states}), encoding="utf-8")
    with pytest.raises(ReplayError, match="such as `action`, has to name the step"):
        inferred([path], Door.lawful.ir)


def test_a_journal_needs_no_mapping(tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", worker("a"))
    with pytest.raises(ReplayError) as error:
        inferred([path], Door.lawful.ir)
    told = f"{path}: a journal of lawful, which needs no mapping: lawful replay {path} TARGET"
    assert str(error.value) == told


def test_where_nothing_fits_that_is_said(tmp_path: Path) -> None:
    told = [{**each, "what": "lock"} for each in records()]
    found = inferred([written(tmp_path / "t.jsonl", told)], Door.lawful.ir)
    assert found.fitting == 0
    advice = "# no instance fits: correct instance, order, events or arguments by hand"
    assert advice in found.toml.splitlines()


@pytest.mark.parametrize("odd", ["", "cut off,1", "a,b,c,d,e,f"])
def test_some_rows_of_csv_may_have_other_cells(odd: str, tmp_path: Path) -> None:
    """A blank line is no row, and a replay rejects rows with more or fewer cells."""
    lines = [",".join(map(str, each.values())) for each in records()]
    path = tmp_path / "doors.csv"
    path.write_text("\n".join(["door,n,what", *lines[:3], odd, *lines[3:]]), encoding="utf-8")
    found = inferred([path], Door.lawful.ir)
    assert found.fitting == found.instances == 3
    told: Any = found.mapping
    assert told["preparation"]["format"] == "csv"
