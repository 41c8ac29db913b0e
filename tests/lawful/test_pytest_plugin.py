"""Machines as test items: each property, lint rule and proof, with its verdict and evidence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lawful.checks.lint.findings import RULES
from lawful.spec.verdicts import BUILT_IN
from tests.root import ROOT

DOORS = """from lawful import Expect, Machine, Nat, Scope, invariant, require, transition

class Door(Machine):
    shut: bool = False

    @transition()
    def move(self) -> None:
        self.shut = not self.shut

class Count(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        require(self.n < 3, "enough")
        self.n += 1

    @invariant
    def below_two(self) -> bool:
        return self.n < 2

    @invariant
    def below_three(self) -> bool:
        return self.n < 3

    deadlock_ok = True
    expects = Expect(below_three="violated")
    scope = Scope(Nat=range(0, 5))

class Bare(Machine):
    n: Nat = 0

    @transition()
    def put(self) -> None:
        self.n = 1
"""
OWN = [*BUILT_IN, "below_two", "below_three"]
TEST = "def test_of_a_file() -> None:\n    assert True\n"


def run(folder: Path, *words: str) -> tuple[int, list[str]]:
    """The exit code and lines of pytest in a folder whose file declares machines."""
    (folder / "doors.py").write_text(DOORS, encoding="utf-8")
    (folder / "test_file.py").write_text(TEST, encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.lawful]\ntargets = ["doors.py"]\n')
    given = ["-p", "lawful.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers"]
    kept = {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    env = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", *given, *words]
    ended = subprocess.run(
        command, cwd=folder, env=env | kept, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout.splitlines()


def test_every_property_is_an_item_with_its_verdict(tmp_path: Path) -> None:
    told: dict[bool, list[str]] = {}
    for warm in (False, True):
        given = ("--lawful", "--lawful-only", "check", "-v", "--junit-xml", "a.xml")
        code, told[warm] = run(tmp_path, *given)
        cases = list(ElementTree.parse(tmp_path / "a.xml").iter("testcase"))
        assert code == 1
        of_machines = [("doors.Door", f"check {name}") for name in ("explored", *BUILT_IN)]
        of_machines += [("doors.Count", f"check {name}[Nat=0..4]") for name in ("explored", *OWN)]
        all_cases = [("test_file", "test_of_a_file"), *of_machines, ("Bare", "check")]
        assert [(c.attrib["classname"], c.attrib["name"]) for c in cases] == all_cases
        assert f"collecting ... collected {len(all_cases)} items" in told[warm]
        (failed,) = [case for case in cases if case.find("failure") is not None]
        (skipped,) = [case for case in cases if case.find("skipped") is not None]
        assert (failed.attrib["name"], skipped.attrib["classname"]) == (
            "check below_two[Nat=0..4]",
            "Bare",
        )
        failure = failed.find("failure")
        assert failure is not None and failure.text is not None
        assert failure.text.splitlines() == [
            "below_two is violated: n < 2 is false (n = 2)",
            "  start",
            "         n = 0",
            "    1  up()",
            "         n = 1",
            "    2  up()",
            "         n = 2",
        ]
    lines = {warm: "\n".join(text) for warm, text in told.items()}
    assert "doors.py::Door::check deadlock PASSED holds " in lines[False]
    assert "doors.py::Count::check below_three[Nat=0..4] PASSED violated " in lines[False]
    # A machine that was as expected is not explored again, and its items say so.
    assert "doors.py::Door::check deadlock PASSED holds, unchanged " in lines[True]
    assert "doors.py::Count::check below_three[Nat=0..4] PASSED violated " in lines[True]
    assert "unchanged" not in lines[False]


@pytest.mark.nightly
def test_it_is_off_until_it_is_asked_for(tmp_path: Path) -> None:
    code, lines = run(tmp_path, "-v")
    assert code == 0
    assert "1 passed" in lines[-1]


@pytest.mark.nightly
def test_rules_and_proofs_are_items(tmp_path: Path) -> None:
    given = ("--lawful", "--lawful-only", "lint", "--lawful-only", "prove", "-v")
    code, lines = run(tmp_path, *given, "--deselect", "test_file.py")
    assert code == 1
    shown = [line for line in lines if line.startswith("doors.py::Count::")]
    names = [line.partition("::")[2].partition("::")[2] for line in shown]
    wanted = [f"lint {name}[Nat=0..4]" for name in RULES]
    wanted += [f"prove {name}[Nat=0..4]" for name in OWN]
    assert [name.partition("] ")[0] + "]" for name in names] == wanted
    assert any("Count::prove asserts[Nat=0..4] PASSED proved " in line for line in lines)
    assert any("Count::prove below_two[Nat=0..4] FAILED" in line for line in lines)
    assert "below_two is violated after 2 events: n < 2 is false (n = 2)" in "\n".join(lines)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("words", "ended", "passed", "failed"),
    [
        (("-k", "Count and below_three and check"), 0, 1, 0),
        (("-k", "below", "--lawful-only", "check"), 1, 1, 1),
        (("-x", "--lawful-only", "check"), 1, 13, 1),
        (("-n", "2", "--lawful-only", "check"), 1, 14, 1),
        (("-n", "2", "--dist", "loadgroup", "--lawful-only", "check"), 1, 14, 1),
        (("-m", "lawful_lint", "-k", "Door"), 0, 7, 0),
        (("--lawful-target", "doors.py:Door", "--lawful-only", "check", "--lawful-fresh"), 0, 7, 0),
    ],
)
def test_options_of_pytest_choose_items_as_tests(
    words: tuple[str, ...], ended: int, passed: int, failed: int, tmp_path: Path
) -> None:
    asked = () if "--lawful-target" in words else ("--lawful",)
    code, lines = run(tmp_path, *asked, *words)
    assert code == ended
    assert f"{passed} passed" in lines[-1]
    assert (f"{failed} failed" in lines[-1]) == bool(failed)


def test_what_cannot_be_collected_is_an_error_of_usage(tmp_path: Path) -> None:
    code, _ = run(tmp_path, "--lawful-target", "none.py")
    assert code == pytest.ExitCode.USAGE_ERROR
