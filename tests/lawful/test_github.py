"""Builds on GitHub and hooks of Git: annotations, `action.yml`, `.pre-commit-hooks.yaml`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from lawful.argument_parser import parser
from lawful.checks.report.ci import Case, Suite
from lawful.checks.report.github import lines
from lawful.cli import main
from lawful.spec.errors import Place
from tests.root import ROOT

Printed = pytest.CaptureFixture[str]
ESCAPES = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}

DOOR = """
from lawful import Machine, invariant, transition


class Door(Machine):
    opened: bool = False

    @transition()
    def move(self) -> None:
        self.opened = not self.opened

    @invariant
    def stays_shut(self) -> bool:
        return not self.opened
"""


def read(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Annotations as the runner of GitHub reads them: the level, the properties, the message.

    Source: `ActionCommand` of actions/runner. A property is `name=value`, between commas.
    """
    found: list[tuple[str, dict[str, str], str]] = []
    for line in text.splitlines():
        match = re.fullmatch("::(error|warning|notice) (.*?)::(.*)", line)
        if match:
            named = dict(each.split("=", 1) for each in match[2].split(","))
            said = {name: _plain(value) for name, value in named.items()}
            found.append((match[1], said, _plain(match[3])))
    return found


def _plain(text: str) -> str:
    return re.sub("%0D|%0A|%3A|%2C|%25", lambda found: ESCAPES[found[0]], text)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a project below it, whose machine is wrong."""
    folder = tmp_path / "shop, 50%"
    folder.mkdir()
    (folder / "door.py").write_text(DOOR, encoding="utf-8")
    (folder / "pyproject.toml").write_text("[tool.lawful]\ntargets = ['door.py']\n", "utf-8")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(folder)
    return folder


# Annotations.


def test_a_violation_stands_at_its_property_with_its_trace(project: Path, capsys: Printed) -> None:
    assert main(["check", "--github", "--json", "-"]) == 1
    out, err = capsys.readouterr()
    message = (
        "stays_shut is violated: opened is true\n"
        "  start\n         opened = False\n    1  move()\n         opened = True"
    )
    at = {"file": "shop, 50%/door.py", "line": "13", "col": "5"}
    ((level, said, text),) = read(err)
    assert (level, said, text) == ("error", {"title": "Door: stays_shut", **at}, message)
    assert out.startswith("{") and "::" not in out


def test_a_long_sentence_is_told_once(project: Path, capsys: Printed) -> None:
    """The text of a counterexample folds it into several lines."""
    name = "is_shut_for_ever_whatever_anybody_does_or_wants_or_says_or_writes_about_it"
    Path("door.py").write_text(DOOR.replace("opened", name), encoding="utf-8")
    assert main(["check", "--github", "--sarif", "door.sarif"]) == 1
    out, err = capsys.readouterr()
    assert f"stays_shut is violated:\n  {name} is true\n  start\n" in out
    ((_, _, text),) = read(err)
    assert text.startswith(f"stays_shut is violated: {name} is true\n  start\n")
    (result,) = json.loads(Path("door.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["message"]["text"] == text


def test_they_are_asked_for_by_option_or_workflow(
    project: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(*more: str) -> int:
        assert main(["check", "--quiet", *more]) == 1
        return len(read(capsys.readouterr().err))

    assert (found(), found("--github"), found("--no-github")) == (0, 1, 0)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert (found(), found("--github"), found("--no-github")) == (1, 1, 0)


def test_what_is_refused_stands_at_its_line(project: Path, capsys: Printed) -> None:
    Path("door.py").write_text(DOOR.replace("= False", "= 0"), encoding="utf-8")
    assert main(["check", "--github", "--quiet"]) == 4
    ((level, said, text),) = read(capsys.readouterr().err)
    at = {"file": "shop, 50%/door.py", "line": "6", "col": "20"}
    assert (level, said) == ("error", {"title": "check: L203", **at})
    assert text.startswith("the types do not fit: found int, expected bool\n")


def test_a_wrong_command_line_has_no_place(capsys: Printed) -> None:
    with pytest.raises(SystemExit, match="5"):
        main(["check", "--github", "--nope"])
    said = read(capsys.readouterr().err)
    assert said == [("error", {"title": "check: usage"}, "unrecognized arguments: --nope")]


def test_what_lint_finds_and_what_prove_leaves_open(project: Path, capsys: Printed) -> None:
    Path("door.py").write_text(
        DOOR.replace("opened: bool = False", "opened: bool = False\n    unused: bool = False"),
        encoding="utf-8",
    )
    assert main(["lint", "--github", "--quiet"]) == 1
    found = read(capsys.readouterr().err)
    assert found and {level for level, _, _ in found} == {"error"}
    assert any(said["line"] == "7" and "unused" in text for _, said, text in found)
    assert main(["prove", "--github", "--quiet", "--method", "induction"]) == 1
    found = read(capsys.readouterr().err)
    assert ("error", "Door: stays_shut") in {(level, said["title"]) for level, said, _ in found}
    # `deadlock` is for check: prove was not asked, and says nothing beside the code.
    assert not any("deadlock" in said["title"] for _, said, _ in found)


def test_what_lint_finds_is_written_for_other_tools(project: Path, capsys: Printed) -> None:
    odd = DOOR.replace("opened: bool = False", "opened: bool = False\n    unused: bool = False")
    Path("door.py").write_text(odd, encoding="utf-8")
    given = ["lint", "--quiet", "--sarif", "s.json", "--junit", "j.xml"]
    assert main(given) == 1
    (told,) = json.loads(Path("s.json").read_text(encoding="utf-8"))["runs"]
    assert any("unused" in row["message"]["text"] for row in told["results"])
    assert Path("j.xml").read_text(encoding="utf-8").count("<failure") == len(told["results"])
    # Nothing odd is one case that passed, and a refused declaration an error in both.
    Path("door.py").write_text(DOOR, encoding="utf-8")
    assert main(given) == 0
    assert '<testcase classname="Door" name="lint" />' in Path("j.xml").read_text(encoding="utf-8")
    assert json.loads(Path("s.json").read_text(encoding="utf-8"))["runs"][0]["results"] == []
    Path("door.py").write_text(DOOR.replace("bool = False", "bool = 1"), encoding="utf-8")
    assert main(given) == 4
    (told,) = json.loads(Path("s.json").read_text(encoding="utf-8"))["runs"]
    assert [row["ruleId"][0] for row in told["results"]] == ["L"]
    assert "<error" in Path("j.xml").read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="5"):
        main([*given, "--nope"])
    (told,) = json.loads(Path("s.json").read_text(encoding="utf-8"))["runs"]
    assert [row["ruleId"] for row in told["results"]] == ["usage"]


def test_no_text_ends_a_line_or_a_property(tmp_path: Path) -> None:
    odd = "a:b,c=d::e%0A%\r\n::error::x"
    place = Place("/elsewhere/a,b:c.py", 3, 0, 3, 4)
    for case in (
        Case(odd, "k", "failed", odd, odd, (odd, odd), place),
        Case(odd, "k", "skipped", odd, odd, (odd, odd), place),
    ):
        (line,) = lines([Suite(odd, 0.0, (case, Case("fine", "k", "passed")))])
        assert "\n" not in line and "\r" not in line
        ((level, said, text),) = read(line)
        assert level == ("error" if case.outcome == "failed" else "warning")
        at = {"file": "/elsewhere/a,b:c.py", "line": "3", "col": "1"}
        assert said == {"title": f"{odd}: {odd}", **at}
        assert text == f"{odd}\n{odd}"


# The action and the hooks.


def action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return found


def hooks() -> list[dict[str, Any]]:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = yaml.safe_load(text)
    return found


def run_action(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the steps of the action that run something, as the runner does, with these inputs."""
    inputs = {name: row["default"] for name, row in action()["inputs"].items()} | given

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)

    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ROOT),
    }
    run = subprocess.CompletedProcess[str]([], 0, "", "")
    for step in action()["runs"]["steps"]:
        condition = step.get("if", "")
        if "uses" in step or (condition and inputs["install"] != "true"):
            continue
        assert condition in ("", "inputs.install == 'true'")  # The only one that is known here.
        own = {key: filled(value) for key, value in step["env"].items()}
        where = folder / filled(step.get("working-directory", "."))
        # GitHub's own options for `shell: bash`.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        run = subprocess.run(
            command, cwd=where, env={**env, **own}, capture_output=True, text=True, check=False
        )
        if run.returncode:
            break
    return run


def test_the_action_checks_the_project(project: Path) -> None:
    run = run_action(project.parent, install="false", **{"working-directory": project.name})
    assert run.returncode == 1
    ((level, said, _),) = read(run.stderr)
    assert (level, said["title"], said["line"]) == ("error", "Door: stays_shut", "13")


def test_what_the_action_is_given_is_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `python` that prints its arguments shows what each step gives to it."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\nprintf '%s|' \"$@\"\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "a file").touch()
    given = "check a.py; touch made $(touch made) `touch made` *"
    run = run_action(folder, install="false", command=given)
    words = "-m|lawful|check|a.py;|touch|made|$(touch|made)|`touch|made`|*|"
    assert (run.stdout, run.stderr, list(folder.iterdir())) == (words, "", [folder / "a file"])
    # An expression inside a script would be filled in before the shell reads it.
    assert not any("${{" in step.get("run", "") for step in action()["runs"]["steps"])


def test_the_action_knows_its_inputs() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action()["inputs"])
    parser().parse_args(action()["inputs"]["command"]["default"].split())


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    text = (ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
    steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    own = [step["with"] for step in steps if step.get("uses") == "./"]
    assert len(own) == 2
    for given in own:
        assert set(given) <= set(action()["inputs"])
        parser().parse_args(given["command"].split())


def test_the_commands_of_the_hooks_run(project: Path, capsys: Printed) -> None:
    found: dict[str, tuple[int, str]] = {}
    for hook in hooks():
        program, *words = hook["entry"].split()
        assert (program, hook["language"], hook["pass_filenames"]) == ("lawful", "system", False)
        code = main([*words, *(["door.py"] if "lock" in hook["id"] else [])])
        found[hook["id"]] = code, capsys.readouterr().out.splitlines()[0]
    assert found == {
        "lawful-check": (1, "Door"),
        "lawful-lint": (0, "Door: nothing odd"),
        "lawful-lock": (1, "door.py:Door is not in the file"),
    }


@pytest.mark.nightly
def test_pre_commit_runs_the_hooks(project: Path) -> None:
    """`pre-commit try-repo` takes the hooks from this repository, as a project would."""
    folder, bin = project, Path(sys.executable).parent
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "A door"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    env = {
        **os.environ,
        "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PRE_COMMIT_HOME": str(folder.parent / "pre-commit"),
    }

    def hook(name: str) -> subprocess.CompletedProcess[str]:
        command = [str(bin / "pre-commit"), "try-repo", str(ROOT), name, "--all-files"]
        return subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, check=False
        )

    run = hook("lawful-check")
    assert run.returncode == 1 and "stays_shut" in run.stdout, run.stdout + run.stderr
    (folder / "door.py").write_text(DOOR.replace("not self.opened\n\n", "False\n\n"), "utf-8")
    run = hook("lawful-check")
    assert run.returncode == 0 and "Passed" in run.stdout, run.stdout + run.stderr
