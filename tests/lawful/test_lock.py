"""`lawful lock`: what was established is kept, and told to be stale when the machine changes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lawful.cli import main

MACHINE = """
from lawful import Machine, Nat, Scope, invariant, transition

class Up(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n = (self.n + STEP) % 6

    @invariant
    def small(self) -> bool:
        return self.n < 6

    @invariant
    def even(self) -> bool:
        return self.n % 2 == 0

    scope = Scope(Nat=range(0, 9))
"""


def written(folder: Path, name: str, step: int) -> str:
    path = folder / name / "up.py"
    path.parent.mkdir()
    path.write_text(MACHINE.replace("STEP", str(step)), encoding="utf-8")
    return str(path)


def test_what_is_established_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, file = written(tmp_path, "one", 2), tmp_path / "lawful.lock"
    assert main(["lock", target, "--file", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{target}:Up", "  new"]
    first = file.read_text(encoding="utf-8")
    (row,) = json.loads(first)["machines"].values()
    assert row["scope"] == {"Nat": "0..8"}
    assert row["check"] == {
        "engine": "exploration",
        "complete": True,
        "distinct": 3,
        "generated": 4,
        "depth": 3,
        "cuts": 0,
        "properties": {
            name: {"verdict": "holds"}
            for name in ("deadlock", "bounds", "asserts", "undefined", "ambiguous", "small", "even")
        },
    }
    assert {p["verdict"] for p in row["prove"]["properties"].values()} == {"proved"}
    assert main(["lock", target, "--file", str(file)]) == 0
    assert "as before" in capsys.readouterr().out
    assert file.read_text(encoding="utf-8") == first
    assert main(["lock", target, "--file", str(file), "--stale"]) == 0
    assert capsys.readouterr().out == "nothing is stale\n"


def test_a_machine_that_is_gone_is_stale_until_it_is_locked_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    targets = [written(tmp_path, name, 2) for name in ("one", "two")]
    (tmp_path / "pyproject.toml").write_text('[tool.lawful]\ntargets = ["one", "two"]\n')
    assert main(["lock", "--quiet"]) == 0
    assert main(["lock", "--stale"]) == 0
    two = tmp_path / "two" / "up.py"
    two.write_text(two.read_text().replace("class Up", "class Down"))
    capsys.readouterr()
    assert main(["lock", "--stale"]) == main(["lock", "two", "--stale"]) == 1
    told = (
        "two/up.py:Down is not in the file\ntwo/up.py:Up is gone: no target has it, with a scope\n"
    )
    assert capsys.readouterr().out == told * 2
    assert main(["lock", "one", "--stale"]) == 0
    assert main(["lock", targets[0], "one", "--stale"]) == 1
    assert capsys.readouterr().out.endswith(f"{targets[0]}:Up is not in the file\n")
    capsys.readouterr()
    assert main(["lock"]) == 0
    said = "one/up.py:Up\n  as before\ntwo/up.py:Down\n  new\ntwo/up.py:Up\n  gone\n"
    assert capsys.readouterr().out == said
    assert main(["lock", "--stale"]) == 0


def test_each_scope_has_an_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, file = written(tmp_path, "one", 2), tmp_path / "lawful.lock"
    assert main(["lock", target, "--file", str(file), "--quiet"]) == 0
    wide = f"{target}:Up --scope Nat=0..20"
    assert main(["lock", target, "--file", str(file), "--scope", "Nat=0..20"]) == 0
    assert capsys.readouterr().out.splitlines() == [wide, "  new"]
    rows = json.loads(file.read_text(encoding="utf-8"))["machines"]
    scopes = {name: row["scope"] for name, row in rows.items()}
    assert scopes == {f"{target}:Up": {"Nat": "0..8"}, wide: {"Nat": "0..20"}}
    # A change makes both stale, and each is renewed by itself.
    Path(target).write_text(MACHINE.replace("STEP", "4"), encoding="utf-8")
    given = ["lock", target, "--file", str(file)]
    monkeypatch.delitem(sys.modules, "up", raising=False)
    assert main([*given, "--stale"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(" has changed")[0] for line in said] == [f"{target}:Up", wide]
    assert main([*given, "--scope", "Nat=0..20", "--quiet"]) == 0
    assert main([*given, "--scope", "Nat=0..20", "--stale"]) == 0
    assert main([*given, "--stale"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_scope_and_the_expectations_of_the_project_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, file = written(tmp_path, "one", 1), tmp_path / "lawful.lock"
    (tmp_path / "pyproject.toml").write_text(
        '[tool.lawful]\ntargets = ["one/up.py"]\n\n[tool.lawful.machine.Up]\n'
        'scope = ["Nat=0..12"]\nexpect = { even = "violated" }\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    assert main(["lock", target, "--file", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{target}:Up", "  new"]
    (row,) = json.loads(file.read_text(encoding="utf-8"))["machines"].values()
    assert row["scope"] == {"Nat": "0..12"}


def test_what_is_not_as_expected_is_kept_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, file = written(tmp_path, "one", 1), tmp_path / "lawful.lock"
    for change in ("new", "as before"):
        assert main(["lock", target, "--file", str(file)]) == 1
        said = [f"{target}:Up", f"  {change}", "  even is violated  EXPECTED to hold"]
        assert capsys.readouterr().out.splitlines() == said
    (row,) = json.loads(file.read_text(encoding="utf-8"))["machines"].values()
    assert row["check"]["properties"]["even"] == {"verdict": "violated"}


def test_another_machine_is_stale_until_it_is_locked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, file = written(tmp_path, "one", 2), tmp_path / "lawful.lock"
    assert main(["lock", target, "--file", str(file), "--quiet"]) == 0
    other = written(tmp_path, "other", 3)
    kept = file.read_text(encoding="utf-8").replace(target, other)
    file.write_text(kept, encoding="utf-8")
    assert main(["lock", other, "--file", str(file), "--stale"]) == 1
    assert f"{other}:Up has changed: " in capsys.readouterr().out
    assert file.read_text(encoding="utf-8") == kept
    assert main(["lock", other, "--file", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{other}:Up",
        "  check even: holds -> violated",
        "  prove even: proved -> unknown",
        "  distinct: 3 -> 2",
        "  generated: 4 -> 3",
        "  depth: 3 -> 2",
        "  even is violated  EXPECTED to hold",
    ]
    assert main(["lock", target, "--file", str(file), "--stale"]) == 1
    assert "is not in the file" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["[]", "{", '{"version": 2, "machines": {}}'])
def test_another_file_is_left_as_it_is(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    assert main(["lock", written(tmp_path, "one", 2), "--file", str(file)]) == 5
    assert str(file) in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == text
