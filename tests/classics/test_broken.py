"""What `lawful check` prints of classics with one thing left out: read it as their author would.

After a change: `SHOW=write pytest tests/classics/test_broken.py`, and read the diff.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from lawful.cli import main

FOLDER = Path(__file__).parent.parent / "golden" / "check"
TARGETS = {
    "Jugs": "tests.classics.jugs:Jugs",
    "PetersonWithoutTurn": "tests.classics.broken:PetersonWithoutTurn",
    "PetersonWithoutFlags": "tests.classics.broken:PetersonWithoutFlags",
    "AlternatingBitWithoutBit": "tests.classics.broken:AlternatingBitWithoutBit",
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_whole_answer_is_the_expected_one(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # Liveness is not explored yet, so that of the last one nothing may be established.
    kept = ["--only", "acknowledged_is_what_arrived", "--only", "arrived_is_what_was_sent"]
    more = kept if name == "AlternatingBitWithoutBit" else []
    assert main(["check", TARGETS[name], *more]) == 0
    said = re.sub(r"\d+\.\d s", "… s", capsys.readouterr().out)
    golden = FOLDER / f"{name}.txt"
    if os.environ.get("SHOW") == "write":
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


def test_nothing_else_is_in_the_folder() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(TARGETS)
