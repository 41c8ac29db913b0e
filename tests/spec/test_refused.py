"""Each number has a wrong declaration in tests/refused, and the text that its author reads.

After a change of messages: `REFUSED=write pytest tests/spec/test_refused.py`, and read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lawful import Scope
from lawful.spec.errors import RULES, DeclarationError
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.syntax.declare import deferred
from tests.spec.texts import last_machine, load

FOLDER = Path(__file__).parent.parent / "refused"


def refusal(path: Path) -> str:
    """What a command says of a wrong declaration: of its text, its names and types, its scope."""
    try:
        with deferred():
            found = resolve(last_machine(load(path)))
        lower(found.machine, found.scopes.get("scope", Scope()))
    except DeclarationError as error:
        return str(error).replace(f"{path.parent}{os.sep}", "") + "\n"
    return "accepted\n"


@pytest.mark.parametrize("number", sorted(RULES))
def test_the_text_is_the_expected_one(number: str) -> None:
    path = FOLDER / f"{number}.py"
    said, golden = refusal(path), path.with_suffix(".txt")
    if os.environ.get("REFUSED") == "write":
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("number", sorted(RULES))
def test_the_file_shows_its_number(number: str) -> None:
    said = (FOLDER / f"{number}.txt").read_text(encoding="utf-8")
    firsts = [line.split(": ")[1].split()[0] for line in said.splitlines() if ".py:" in line]
    assert number in firsts or number in said.split()


def test_nothing_else_is_in_the_folder() -> None:
    names = {path.stem for path in FOLDER.iterdir() if path.suffix in (".py", ".txt")}
    assert names == set(RULES)
