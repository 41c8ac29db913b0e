"""What `lawful show` prints of whole machines: declaration and Flat, one file for each.

After a change: `SHOW=write pytest tests/spec/text/test_golden.py`, and read the diff.
"""

from __future__ import annotations

import ast
import os

import pytest

from lawful import Machine, Scope
from lawful.machines.unicast.system import LinkAsSeed
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.text.declared import declaration
from lawful.spec.text.scoped import flat
from tests.classics.table import CLASSICS
from tests.root import ROOT
from tests.spec.declarations.library import Library

FOLDER = ROOT / "tests" / "golden" / "show"
MACHINES: tuple[type[Machine], ...] = (Library, LinkAsSeed, *(c.machine for c in CLASSICS))
RULE = "\n" + "-" * 100 + "\n\n"


@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
def test_what_is_shown_is_what_is_expected(cls: type[Machine]) -> None:
    found = resolve(cls)
    declared = declaration(found)
    ast.parse(declared)
    scoped = flat(lower(found.machine, found.scopes.get("scope", Scope())))
    shown, golden = f"{declared}{RULE}{scoped}\n", FOLDER / f"{cls.__name__}.txt"
    if os.environ.get("SHOW") == "write":
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def test_nothing_else_is_in_the_folder() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {cls.__name__ for cls in MACHINES}
