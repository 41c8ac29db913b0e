"""A project: several targets, packages, `[tool.lawful]`, answers that are kept, one summary."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lawful import kept_answers
from lawful.cli import main
from tests.lawful.test_cli import answer, run

DOOR = """from lawful import Machine, transition

class Door(Machine):
    shut: bool = False

    @transition()
    def move(self) -> None:
        self.shut = not self.shut
"""
COUNT = """from lawful import Machine, Nat, Scope, invariant, require, transition

class Count(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        require(self.n < 3, "enough")
        self.n += 1

    @invariant
    def below_two(self) -> bool:
        return self.n < 2

    deadlock_ok = True
    scope = Scope(Nat=range(0, 5))
    small = Scope(Nat=range(0, 2))
"""
BARE = """from ..door import Machine, transition
from lawful import Nat

class Bare(Machine):
    n: Nat = 0

    @transition()
    def put(self) -> None:
        self.n = 1
"""
NEVER = "raise SystemExit('imported')\n"
FOUND: dict[str, Any] = {"not_as_expected": [], "undecided": [], "fault": [], "not_checked": []}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose package has its own name in each test, because modules stay imported."""
    package = tmp_path / f"shop_{tmp_path.name}"
    files = {"door.py": DOOR, "deep/count.py": COUNT, "deep/bare.py": BARE, "other.py": NEVER}
    files |= {"__main__.py": NEVER, "test_door.py": DOOR + NEVER, "conftest.py": DOOR + NEVER}
    files |= {".hidden/door.py": DOOR + NEVER, "__init__.py": "", "deep/__init__.py": ""}
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return package


def project(shop: Path, *lines: str) -> None:
    rows = ["[tool.lawful]", f'targets = ["{shop.name}"]', *lines]
    (shop.parent / "pyproject.toml").write_text("\n".join(rows), encoding="utf-8")


def names(found: dict[str, Any]) -> list[str]:
    return [each["machine"] for each in found["machines"]]


@pytest.mark.parametrize("how", ["folder", "package", "files", "twice"])
def test_several_targets_and_packages_are_walked(
    how: str, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package, door = shop.name, str(shop / "door.py")
    targets = {
        "folder": [str(shop)],
        "package": [package],
        "files": [f"{package}.deep", door],
        "twice": [f"{package}.deep.count:Count", f"{package}.deep", door, f"{package}.door"],
    }[how]
    code, found = answer("check", *targets, capsys=capsys)
    assert (code, sorted(names(found))) == (1, ["Count", "Door"])
    counted = {"machines": 2, "as_expected": 1, "unchanged": 0}
    unexpected = {"not_as_expected": ["Count"], "not_checked": ["Bare"]}
    assert found["summary"] == {**FOUND, **counted, **unexpected}
    assert {each["machine"] for each in found["skipped"]} == {"Bare"}


def test_the_text_ends_with_one_summary(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, ended in (("check", 1), ("simulate", 1), ("prove", 1), ("lint", 0)):
        code, out, _ = run(command, shop.name, capsys=capsys)
        last = out.splitlines()[-1]
        assert code == ended, command
        assert last.startswith("2 machines: "), command
        assert last.endswith("; 1 not checked, without a scope (Bare)"), command
    code, out, _ = run("check", shop.name, capsys=capsys)
    assert out.splitlines()[-1] == (
        "2 machines: 1 as expected; 1 not (Count); 1 not checked, without a scope (Bare)"
    )
    assert "machines:" not in run("check", f"{shop.name}.door", capsys=capsys)[1]


def test_without_a_target_the_project_has_them(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = "there is no TARGET; name one, or list targets in [tool.lawful] of pyproject.toml\n"
    assert run("check", capsys=capsys) == (5, "", missing)
    project(shop, "[tool.lawful.machine.Count]", 'expect = { below_two = ["violated", 2] }')
    for folder in (shop.parent, shop / "deep"):
        monkeypatch.chdir(folder)
        code, found = answer("check", capsys=capsys)
        assert (code, names(found), found["summary"]["as_expected"]) == (0, ["Count", "Door"], 2)


def test_scopes_and_budgets_are_those_of_the_project(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(shop, 'scope = ["Nat=0..7"]', "max-states = 2", "[tool.lawful.machine.Count]")
    code, found = answer("check", f"{shop.name}.deep.count", capsys=capsys)
    row = found["machines"][0]
    assert (code, row["scope"], row["stopped"]) == (3, {"Nat": "0..7"}, "states")
    given = ("--max-states", "100", "--scope", "Nat=0..9")
    code, found = answer("check", f"{shop.name}.deep.count", *given, capsys=capsys)
    row = found["machines"][0]
    assert (code, row["scope"], row["distinct"]) == (1, {"Nat": "0..9"}, 4)
    project(shop, "[tool.lawful.machine.Count]", 'scope = ["small"]')
    code, found = answer("check", f"{shop.name}.deep", capsys=capsys)
    assert (code, found["machines"][0]["scope"]) == (0, {"Nat": "0..1"})
    project(shop, "[tool.lawful.machine.Count]", 'scope = ["none"]')
    for command in ("check", "prove", "lint", "simulate"):
        code, _, err = run(command, f"{shop.name}.deep", capsys=capsys)
        assert (code, "Count has no scope none; it has: scope, small" in err) == (5, True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("max-second = 3", "[tool.lawful] has no key max-second; it has: targets, scope, "),
        ("max-seconds = 0", "max-seconds: found 0, expected a number above 0"),
        ("max-states = true", "max-states: found True, expected a number above 0"),
        ('scope = "Nat=0..3"', "scope: found 'Nat=0..3', expected a list of texts"),
        ("scope = [3]", "scope: found [3], expected a list of texts"),
        ("machine = 3", "machine: found 3, expected a table for each machine"),
        ("machine.Door = 3", "[tool.lawful.machine.Door]: found 3, expected a table"),
        ('machine.Door.expect.a = "fails"', "expect: found 'fails', expected holds, undefined, vi"),
        ("machine.Door.targets = []", "[tool.lawful.machine.Door] has no key targets; it has: "),
        ("scope = [", "pyproject.toml cannot be read: "),
        ('machine.Door.expect.few = "holds"', "expect: Door has no property few; it has: ambiguou"),
    ],
)
def test_a_wrong_table_is_an_error_of_usage(
    line: str, said: str, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(shop, line)
    code, out, err = run("check", f"{shop.name}.door", capsys=capsys)
    assert (code, out) == (5, "")
    assert said in err


def test_a_table_of_no_machine_is_told(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(shop, "[tool.lawful.machine.Dor]", "max-seconds = 3")
    told = "[tool.lawful.machine.Dor]: the project's targets have no such machine"
    _, found = answer("check", "--only", "deadlock", capsys=capsys)
    assert found["notes"] == [told]
    _, found = answer("check", f"{shop.name}.door", capsys=capsys)
    assert "notes" not in found  # Other targets may have it.


def test_a_target_of_the_project_that_is_not_there(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(shop)
    shop.rename(shop.with_name("away"))
    assert "there is no module" in run("check", capsys=capsys)[2]
    path = shop.parent / "pyproject.toml"
    path.write_text('[tool.lawful]\ntargets = ["src/shop"]', encoding="utf-8")
    code, _, err = run("check", capsys=capsys)
    wanted = f"{path}: targets: there is no file or folder {shop.parent / 'src/shop'}\n"
    assert (code, err) == (5, wanted)


def test_what_has_not_changed_is_not_explored_again(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("check", shop.name, "--changed")
    first = answer(*given, capsys=capsys)[1]
    assert first["summary"]["unchanged"] == 0
    code, found = answer(*given, "--junit", str(shop / "a.xml"), capsys=capsys)
    count, door = found["machines"]
    # What was not as expected is explored again.
    assert (code, found["summary"]["unchanged"], "unchanged" in count) == (1, 1, False)
    assert door == {**first["machines"][1], "unchanged": True}
    suites = list(ElementTree.parse(shop / "a.xml").getroot())
    cases = [(suite.attrib["tests"], suite.attrib["failures"]) for suite in suites]
    assert cases == [("6", "1"), ("5", "0")]
    said = "Door\n  unchanged  as expected before: holds, 2 distinct states\n"
    assert said in run(*given, capsys=capsys)[1]
    # Another scope, another expected verdict, another lawful: other answers.
    target = (f"{shop.name}.deep", "--scope", "small", "--changed")
    for changed in (False, True):
        found = answer("check", *target, capsys=capsys)[1]
        assert found["summary"]["unchanged"] == changed
    smaller = ("check", f"{shop.name}.deep", "--scope", "Nat=0..0", "--changed")
    assert answer(*smaller, capsys=capsys)[1]["summary"]["unchanged"] == 0
    project(shop, "[tool.lawful.machine.Count]", 'expect = { deadlock = "violated" }')
    assert answer("check", *target, capsys=capsys)[1]["summary"]["unchanged"] == 0
    monkeypatch.setattr(kept_answers, "_installed", lambda: "another")
    assert answer(*given, capsys=capsys)[1]["summary"]["unchanged"] == 0
    for path in (shop.parent / "cache" / "lawful" / "answers").iterdir():
        path.write_text("{", encoding="utf-8")
    assert answer(*given, capsys=capsys)[1]["summary"]["unchanged"] == 0


@pytest.mark.parametrize(
    "more",
    [["--coverage"], ["--only", "a"], ["--itf", "d"], ["--pytest", "d"], ["--resume", "d"]],
)
def test_a_kept_answer_does_not_have_everything(
    more: list[str], shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run("check", shop.name, "--changed", *more, capsys=capsys)
    wanted = f"--changed and {more[0]}: a kept answer does not have what it gives\n"
    assert (code, out, err.endswith(wanted)) == (5, "", True)


def test_a_changed_machine_is_explored(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = shop.parent / "lone.py"
    for text, unchanged in ((DOOR, 0), ("# A comment.\n" + DOOR, 1), (DOOR + "\n" * 3, 1)):
        path.write_text(text, encoding="utf-8")
        found = answer("check", str(path), "--changed", capsys=capsys)[1]
        assert found["summary"]["unchanged"] == unchanged
    path.write_text(DOOR.replace("not self.shut", "True"), encoding="utf-8")
    code, found = answer("check", str(path), "--changed", capsys=capsys)
    assert (code, found["summary"]["unchanged"], found["machines"][0]["distinct"]) == (0, 0, 2)


def test_counterexamples_of_several_modules_have_files_of_their_own(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "again.py").write_text(COUNT.replace("< 2", "< 1"), encoding="utf-8")
    out = shop / "pictures"
    code, found = answer("draw", shop.name, "--what", "trace", "--out", str(out), capsys=capsys)
    paths = [Path(each["path"]) for each in found["machines"]]
    wanted = [f"{shop.name}.{name}.Count.below_two.mmd" for name in ("again", "deep.count")]
    assert (code, [path.name for path in paths]) == (0, wanted)
    notes = [path.read_text(encoding="utf-8").count("Note over M") for path in paths]
    assert notes == [2, 3]


def test_the_json_of_the_summary_is_that_of_one_machine_too(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run("check", f"{shop.name}.door", "--json", "-", capsys=capsys)
    counted = {"machines": 1, "as_expected": 1, "unchanged": 0}
    assert json.loads(out)["summary"] == {**FOUND, **counted}


SCOPELESS = """from lawful import Machine, Nat, require, transition

class Door(Machine):
    n: Nat = 0
    deadlock_ok = True

    @transition
    def move(self) -> None:
        require(self.n < 2)
        self.n += 1

class Bare(Machine):
    n: Nat = 0

    @transition
    def up(self) -> None:
        self.n = 1
"""


def test_a_scope_of_the_project_or_the_command_line_makes_a_machine_checkable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = '[tool.lawful]\ntargets = ["doors.py"]\n'
    table += '[tool.lawful.machine.Door]\nscope = ["Nat=0..2"]\n'
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    (tmp_path / "doors.py").write_text(SCOPELESS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 0
    said = capsys.readouterr()
    assert "3 distinct states" in said.out and "Bare is not checked" in said.err
    (tmp_path / "pyproject.toml").unlink()
    assert main(["check", "doors.py"]) == 5
    assert "defines no machine that can be checked: Door" in capsys.readouterr().err
    assert main(["check", "doors.py", "--scope", "Node=2"]) == 5
    capsys.readouterr()
    assert main(["check", "doors.py", "--scope", "Nat=0..2"]) == 0
    assert "\nBare\n" in capsys.readouterr().out
