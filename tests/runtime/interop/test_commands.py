"""What can be done with an import, by the public commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lawful import Refused
from lawful.cli import main
from lawful.runtime.interop import from_transitions
from lawful.runtime.journal import Journal
from tests.runtime.interop.samples import ROWS, theirs


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = [*ROWS, {"trigger": "burn", "source": "liquid", "dest": "gas", "conditions": "boils"}]
    machine = theirs(rows)
    machine.add_states(["dust"])
    machine.add_transition("burn", "gas", "dust")
    made = tmp_path / "imported.py"
    made.write_text(from_transitions(machine).text, encoding="utf-8")
    return made


def test_it_can_be_linted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(path)]) == 1
    said = capsys.readouterr().out
    assert [line.partition("unanswered: ")[2] for line in said.splitlines()[1:]] == [
        f"nothing is said about {row}"
        for row in (
            "heat in GAS, DUST",
            "cool in SOLID, DUST",
            "look in DUST",
            "shake in DUST",
            "burn in SOLID, DUST",
        )
    ]


def test_it_can_be_checked(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing leads out of dust, which is no final state."""
    assert main(["check", str(path)]) == 1
    said = capsys.readouterr().out
    assert "scope     temperature=99..101\n" in said
    assert "4 distinct states, 22 generated, depth 3" in said
    assert "deadlock   built-in  violated" in said


def test_it_can_be_drawn(path: Path, tmp_path: Path) -> None:
    assert main(["draw", str(path), "--format", "mermaid", "--out", str(tmp_path)]) == 0
    (drawn,) = tmp_path.glob("*.mmd")
    guard = "temperature #62; 100<br/>and color == Color.RED"
    text = drawn.read_text(encoding="utf-8")
    both = f"heat(hot, is_pressed) [hot]<br/>burn(temperature, color)<br/>[{guard}]"
    assert f"LIQUID --> GAS : {both}" in text


def test_it_can_be_replayed(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours: Any = from_transitions(theirs(ROWS)).load()
    rows = tmp_path / "journal.jsonl"
    with Journal(rows) as journal:
        entry = ours()
        journal.attach(entry, "a")
        entry.heat(False, True)
        entry.heat(True, True)
        entry.cool()
        with pytest.raises(Refused):
            entry.cool()
    where = tmp_path / "same.py"
    where.write_text(from_transitions(theirs(ROWS)).text, encoding="utf-8")
    assert main(["replay", str(rows), str(where), "--engine", "local"]) == 0
    unsealed = re.sub(r',"sum":"[0-9a-f]{16}"', "", rows.read_text())
    rows.write_text(unsealed.replace('"gas"', '"liquid"').replace("GAS", "LIQUID"))
    assert main(["replay", str(rows), str(where), "--engine", "local"]) == 2
    capsys.readouterr()
