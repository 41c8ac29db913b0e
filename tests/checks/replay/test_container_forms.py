"""Sets and maps in the forms of other programs: the same values, so the same verdicts."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, State, require, transition
from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.preparation.itf_states import steps


class Bank(State):
    EAST = "east"
    WEST = "west"


class Person(Enum):
    c1 = 1
    m1 = 2
    m2 = 3


class River(Machine):
    """Some people cross a river in a boat for two."""

    boat: Bank = Bank.EAST
    on: dict[Bank, frozenset[Person]] = {Bank.EAST: frozenset(Person), Bank.WEST: frozenset()}

    @transition(source=Bank.EAST, target=Bank.WEST)
    def west(self, who: frozenset[Person]) -> frozenset[Person]:
        require(1 <= len(who) <= 2)
        require(who <= self.on[Bank.EAST])
        self.on[Bank.EAST] -= who
        self.on[Bank.WEST] |= who
        return self.on[Bank.WEST]


CROSSED = ["m2", "c1"]  # An order of the members that is not lawful's.


@pytest.mark.parametrize(
    ("stay", "output", "verdict"),
    [
        (["m1"], CROSSED, "fits"),
        (["m1", "m2"], CROSSED, "deviates"),
        (["m1"], ["m2"], "deviates"),
        (["nobody"], CROSSED, "deviates"),
        (["m1"], 7, "deviates"),
    ],
)
@pytest.mark.parametrize("form", ["itf", "lines"])
def test_containers_in_other_forms(
    form: str, stay: list[str], output: Any, verdict: str, tmp_path: Path
) -> None:
    """Other programs have another order of the items of a set, and write each map as its entries:
    so do Apalache and Quint, whose states have no name of the step, but for their variables."""
    told: Any = output if output == 7 else {"#set": output}
    states: list[Any] = [
        {"boat": "EAST", "on": {"#map": [["WEST", {"#set": []}], ["EAST", {"#set": CROSSED}]]}},
        {
            "boat": "WEST",
            "on": {"#map": [["WEST", {"#set": CROSSED}], ["EAST", {"#set": stay}]]},
            "seen": told,
        },
    ]
    how: dict[str, Any] = {"order": "file", "fields": {"run": "1"}}
    text = json.dumps({"vars": ["boat", "on"], "states": states})
    if form == "itf":
        how["format"] = "itf"
    else:
        (step,) = steps(text.encode())
        text = json.dumps(step)
    observed = {"boat": "$.after.boat", "on": "$.after.on"}
    data: dict[str, Any] = {"instance": "$.run", "event": "$.after.boat"}
    data |= {"events": {"WEST": "west"}}
    data |= {"observed": observed, "output": "$.after.seen", "partial": True, "preparation": how}
    path = tmp_path / "t.itf.json"
    path.write_text(text, encoding="utf-8")
    found = replay([path], ReplayProgram((River.lawful.ir,), mapping=mapping_of(data)))
    assert found.verdicts[verdict] == 1
