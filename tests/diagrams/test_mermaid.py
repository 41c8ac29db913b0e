"""Mermaid text: as it was looked at, and without the characters that its grammar would take."""

from __future__ import annotations

import re

import pytest

from lawful import Machine, State, require, transition
from lawful.diagrams import mermaid
from tests.diagrams.examples import GOLDEN, Light, Room, Tally, agrees

MACHINES: list[type[Machine]] = [Light, Room, Tally]


class Odd(State):
    end = "end"
    note = "note"


class Reserved(Machine):
    """Its states are words of Mermaid's grammar."""

    state: Odd = Odd.end
    n: int = 0

    @transition(source=Odd.end, target=Odd.note)
    def go(self) -> None:
        require(self.n in {1, 2} and self.n % 2 < 1, "neither")


@pytest.mark.parametrize("machine", MACHINES)
def test_golden(machine: type[Machine]) -> None:
    name = f"{machine.__name__.lower()}.mmd"
    assert agrees(GOLDEN / name, mermaid.text(machine.lawful.ir))


@pytest.mark.parametrize("machine", [*MACHINES, Reserved])
def test_labels_hold_nothing_that_would_end_them(machine: type[Machine]) -> None:
    for line in mermaid.text(machine.lawful.ir).splitlines()[4:]:
        _, colon, label = line.partition(" : ")
        plain = re.sub(r"#\d+;|<br/>", "", label)
        assert not colon or not re.search(r'[:;#<>{}"%]', plain), line


def test_states_named_like_words_of_the_grammar() -> None:
    text = mermaid.text(Reserved.lawful.ir)
    assert '    state "end" as end_\n' in text
    assert "    [*] --> end_\n" in text
    assert "    end_ --> note_ : go()" in text
    assert "n in #123;1, 2#125;" in text
    assert "n #37; 2 #60; 1]" in text


def test_terminal_states_end() -> None:
    assert "    BROKEN --> [*]\n" in mermaid.text(Light.lawful.ir)
