"""What would have helped at a deviation: the numbers of the nearest event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, event, require, transition
from lawful.checks.replay import ReplayProgram, TraceMapping, replay
from lawful.checks.replay.mapping import mapping_of

MAPPING: dict[str, Any] = {
    "instance": "$.k",
    "seq": "$.n",
    "event": "$.e",
    "args": {
        "land": {"miles": "$.miles", "minutes": "$.minutes"},
        "unlock": {"code": "$.code"},
        "pay": {"amount": "$.amount"},
    },
}


class Counter(Machine):
    """Events whose guards have numbers that no row and no state has."""

    paid: Nat = 3

    @transition()
    def land(self, miles: Nat, minutes: Nat) -> None:
        require(miles * 60 <= minutes * 600)

    @transition()
    def unlock(self, code: int) -> None:
        require(code == self.secret())

    @transition()
    def pay(self, amount: int) -> None:
        require(amount <= 7 * self.paid)
        self.paid += 1

    def secret(self) -> int:
        return 4711


@pytest.mark.parametrize(
    ("event", "told", "nearest"),
    [
        ("land", {"miles": 748, "minutes": 70}, {"miles": 700, "minutes": 70}),
        ("unlock", {"code": 99}, {"code": 4711}),
        ("pay", {"amount": 50}, {"amount": 21}),
        ("pay", {"amount": 10**40}, {"amount": 21}),
    ],
)
def test_the_nearest_event_has_the_nearest_numbers(
    tmp_path: Path, event: str, told: dict[str, int], nearest: dict[str, int]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"k": "a", "n": 1, "e": event, **told}) + "\n", encoding="utf-8")
    program = ReplayProgram((Counter.lawful.ir,), mapping=mapping_of(MAPPING))
    answer: Any = replay([path], program).to_json()
    (finding,) = answer["deviations"]
    assert finding["nearest"] == {"event": event, "transition": event, "args": nearest}


class Till(Machine):
    sum: Nat = 0

    @event(choice=True)
    def pay(self, amount: Nat) -> None: ...

    @transition(event="pay")
    def pay_cash(self, amount: Nat) -> None:
        require(amount <= 9, "too much")
        self.sum += amount


class Filter(Machine):
    """It has no variable."""

    @transition()
    def let_in(self, age: Nat) -> None:
        require(age >= 18, "too young")


@pytest.mark.parametrize(
    ("machine", "row", "nearest"),
    [
        (Till, {"e": "pay_cash", "amount": 12}, ("pay", "amount", 9)),
        (Filter, {"e": "let_in", "age": 12}, ("let_in", "age", 18)),
    ],
)
def test_each_deviation_has_a_nearest_event(
    machine: type[Machine], row: dict[str, Any], nearest: tuple[str, str, int], tmp_path: Path
) -> None:
    """Also where a row names the transition, and where a machine has no variable."""
    name, argument, value = nearest
    mapping = TraceMapping("$.i", "$.n", "$.e", args={row["e"]: {argument: f"$.{argument}"}})
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"i": "a", "n": 1, **row}) + "\n", encoding="utf-8")
    answer: Any = replay([path], ReplayProgram((machine.lawful.ir,), mapping=mapping)).to_json()
    (found,) = answer["deviations"]
    assert (found["nearest"]["event"], found["nearest"]["args"]) == (name, {argument: value})
