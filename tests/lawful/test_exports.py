"""What `lawful check` writes for other tools: JUnit, SARIF, ITF, and tests of counterexamples."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lawful.checks.report.itf import itf
from lawful.checks.verdict import Trace, TraceStep
from lawful.cli import main
from lawful.spec.resolve import resolve
from lawful.testing import rerun
from tests.checks.declarations import liveness
from tests.spec import texts

MODULE = "tests.checks.declarations.liveness"


def checked(target: str, *more: str) -> int:
    return main(["check", target, "--quiet", *more])


def test_junit_has_a_case_for_each_property(tmp_path: Path) -> None:
    path = tmp_path / "j.xml"
    assert checked(f"{MODULE}:Semaphore", "--junit", str(path)) == 0
    suite = ElementTree.parse(path).getroot()[0]
    assert suite.attrib | {"time": ""} == {
        "name": "Semaphore",
        "tests": "6",
        "failures": "0",
        "errors": "0",
        "skipped": "0",
        "time": "",
    }
    assert [case.attrib["name"] for case in suite][-1] == "gets_in"
    assert not list(suite.iter("failure"))


WRONG = """
class Wrong(Machine):
    at: Nat = 0

    @transition(fair="weak")
    def go(self) -> None:
        require(self.at < 1, "there")
        self.at += 1

    @invariant
    def near(self) -> bool:
        return self.at < 1

    scope = Scope(Nat=range(0, 5))
"""


def test_a_surprise_is_a_failure_with_its_counterexample(tmp_path: Path) -> None:

    file = tmp_path / "wrong.py"
    file.write_text(texts.HEAD + WRONG, encoding="utf-8")
    junit, sarif = tmp_path / "j.xml", tmp_path / "s.json"
    assert checked(f"{file}", "--junit", str(junit), "--sarif", str(sarif)) == 1
    suite = ElementTree.parse(junit).getroot()[0]
    failures = {case.attrib["name"]: case[0] for case in suite if len(case)}
    assert list(failures) == ["deadlock", "near"]
    said = failures["near"]
    assert said.attrib == {
        "message": "near is violated: at < 1 is false (at = 1)",
        "type": "violated",
    }
    assert said.text is not None and said.text.splitlines()[-2:] == [
        "    1  go()",
        "         at = 1",
    ]
    (run,) = json.loads(sarif.read_text(encoding="utf-8"))["runs"]
    places = {row["ruleId"]: row["locations"][0]["physicalLocation"] for row in run["results"]}
    line = file.read_text(encoding="utf-8").splitlines().index("    @invariant") + 1
    assert places["invariant"]["region"]["startLine"] in (line, line + 1)
    assert places["built-in"]["artifactLocation"]["uri"] == file.as_uri()
    assert [row["level"] for row in run["results"]] == ["error", "error"]


def test_a_trace_as_itf(tmp_path: Path) -> None:
    assert checked(f"{MODULE}:Semaphore", "--itf", str(tmp_path)) == 0
    (path,) = tmp_path.iterdir()
    assert path.name == "Semaphore.gets_in.itf.json"
    both: list[Any] = [["Lock1", True], ["Lock2", True]]
    one: list[Any] = [["Lock1", True], ["Lock2", False]]
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found.pop("#meta")["format"] == "ITF"
    assert found == {
        "vars": ["waits", "inside"],
        "states": [
            {
                "#meta": {"index": 0},
                "waits": {"#map": both},
                "inside": {"tag": "None", "value": {"#tup": []}},
            },
            {
                "#meta": {"index": 1, "action": "enter"},
                "waits": {"#map": one},
                "inside": {"tag": "Some", "value": "Lock2"},
            },
        ],
        "loop": 0,
    }


KINDS = """
class Ping(Record):
    n: int

class Pong(Record):
    n: int

class Cell(Machine):
    held: int = 0

class All(Machine):
    big: int = 0
    pair: tuple[bool, int] = (True, 1)
    row: list[int] = []
    some: set[int] = set()
    of: Ping | Pong | None = None
    bag: Counter[int] = Counter()
    cell: Cell = Cell()
    deadlock_ok = True
"""


def test_every_kind_of_value_has_its_form() -> None:
    machine = resolve(texts.last_machine(texts.module(KINDS))).machine
    state: dict[str, Any] = {
        "big": {"$int": "9007199254740993"},
        "pair": {"$tuple": [True, -1]},
        "row": [1, 2],
        "some": {"$set": [1]},
        "of": {"$": "Pong", "n": 2},
        "bag": {"$map": [[3, 1]]},
        "cell": {"held": 5},
    }
    found = itf(machine, Trace((state, state), (TraceStep("e", "e", {}, {}),)), "about")
    states: Any = found["states"]
    assert {k: v for k, v in states[1].items() if k != "#meta"} == {
        "big": {"#bigint": "9007199254740993"},
        "pair": {"#tup": [True, {"#bigint": "-1"}]},
        "row": [{"#bigint": "1"}, {"#bigint": "2"}],
        "some": {"#set": [{"#bigint": "1"}]},
        "of": {"tag": "Pong", "value": {"n": {"#bigint": "2"}}},
        "bag": {"#map": [[{"#bigint": "3"}, {"#bigint": "1"}]]},
        "cell": {"held": {"#bigint": "5"}},
    }
    assert "loop" not in found


def run_file(path: Path, target: str) -> None:
    """Run a written test on this machine."""
    rows: dict[str, Any] = {"__file__": str(path)}
    exec(path.read_text(encoding="utf-8").replace(f"{MODULE}:Semaphore", target), rows)
    rows["test_gets_in"]()


def test_a_written_test_fails_until_the_machine_is_repaired(tmp_path: Path) -> None:
    assert checked(f"{MODULE}:Semaphore", "--pytest", str(tmp_path / "new")) == 0
    (path,) = (tmp_path / "new").iterdir()
    assert path.name == "test_Semaphore_gets_in.py"
    with pytest.raises(AssertionError, match="Semaphore: gets_in does not come, as before, after"):
        run_file(path, f"{MODULE}:Semaphore")
    run_file(path, f"{MODULE}:StrongSemaphore")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["deadlock", "mutual_exclusion", "arrived_is_what_was_sent"])
def test_every_kind_of_counterexample_runs_again(name: str, tmp_path: Path) -> None:
    assert checked("tests.classics.broken", "--pytest", str(tmp_path)) == 0
    (path,) = tmp_path.glob(f"*{name}.py")
    rows: dict[str, Any] = {"__file__": str(path)}
    exec(path.read_text(encoding="utf-8"), rows)
    with pytest.raises(AssertionError, match=", as before, after"):
        rows[f"test_{name}"]()


@pytest.mark.parametrize("target", ["stays.py", "stays", "inner/stays.py"])
def test_a_written_test_runs_from_anywhere(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, name = tmp_path / "at_home", f"stays_{tmp_path.name}"
    (where / "inner").mkdir(parents=True)
    for folder in (where, where / "inner"):
        (folder / f"{name}.py").write_text(texts.HEAD + WRONG, encoding="utf-8")
    monkeypatch.chdir(where)
    monkeypatch.setattr("sys.path", [*sys.path])
    assert checked(target.replace("stays", name), "--pytest", "tests/new") == 1
    monkeypatch.chdir(tmp_path)
    sys.modules.pop(name)
    for each in (where / "tests" / "new").iterdir():
        rows: dict[str, Any] = {"__file__": str(each)}
        exec(each.read_text(encoding="utf-8"), rows)
        (test,) = (name for name in rows if name.startswith("test_"))
        with pytest.raises(AssertionError, match=", as before, after"):
            rows[test]()


def test_a_test_of_a_file_with_an_odd_name_is_still_python(tmp_path: Path) -> None:
    path = tmp_path / 'it\'s """odd""" \\N.py'
    path.write_text(texts.HEAD + WRONG, encoding="utf-8")
    assert checked(str(path), "--pytest", str(tmp_path)) == 1
    written = list(tmp_path.glob("test_*.py"))
    assert len(written) == 2
    for each in written:
        rows: dict[str, Any] = {"__file__": str(each)}
        exec(each.read_text(encoding="utf-8"), rows)
        (test,) = (name for name in rows if name.startswith("test_"))
        with pytest.raises(AssertionError, match=", as before, after"):
            rows[test]()


def test_what_the_machine_no_longer_does_is_no_counterexample() -> None:
    target = f"{MODULE}:{liveness.Bursts.__name__}"
    start: dict[str, Any] = {"state": {"left": {"$map": [[1, 1]]}}}
    gone: dict[str, Any] = {"event": "lose", "args": {}}
    with pytest.raises(AssertionError, match="gone is undefined"):
        rerun(target, "gone", [start, gone])
    rerun(target, "gone", [start, gone, gone])  # Refused.
    rerun(target, "gone", [start, {"event": "keep", "args": {}}])  # No such event.
    rerun(target, "gone", [{"state": {"left": {"$map": []}}}])  # No such start.
    with pytest.raises(KeyError):
        rerun(target, "lost", [start])
