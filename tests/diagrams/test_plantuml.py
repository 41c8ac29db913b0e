"""PlantUML text: as it was looked at, and without the characters that its grammar would take."""

from __future__ import annotations

import re

import pytest

from lawful import Machine
from lawful.diagrams import plantuml
from tests.diagrams.examples import GOLDEN, Light, Room, Tally, agrees
from tests.diagrams.test_mermaid import Reserved

MACHINES: list[type[Machine]] = [Light, Room, Tally]


@pytest.mark.parametrize("machine", MACHINES)
def test_golden(machine: type[Machine]) -> None:
    name = f"{machine.__name__.lower()}.puml"
    assert agrees(GOLDEN / name, plantuml.text(machine.lawful.ir))


@pytest.mark.parametrize("machine", [*MACHINES, Reserved])
def test_labels_have_no_character_with_a_meaning(machine: type[Machine]) -> None:
    lines = plantuml.text(machine.lawful.ir).splitlines()
    assert (lines[0], lines[-1]) == ("@startuml", "@enduml")
    for line in lines:
        _, colon, label = line.partition(" : ")
        plain = re.sub(r"&#\d+;|\\n", "", label)
        assert not colon or not re.search(r'[<>{}"~*/_|\\]', plain), line


def test_states_named_like_words_of_the_grammar() -> None:
    text = plantuml.text(Reserved.lawful.ir)
    assert 'state "end" as end_\n' in text
    assert "end_ --> note_ : go()" in text
