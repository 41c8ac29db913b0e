"""What `prove` and `replay` write for other tools: JUnit, SARIF, ITF."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lawful import targets
from lawful.checks.explore import CheckResult
from lawful.checks.report import ci_checks
from lawful.checks.report.ci import Case, Suite, junit, sarif
from lawful.cli import main
from lawful.spec import ir
from lawful.spec.codec.as_json import whole
from tests.checks.replay.journals import Recorder, Worker, job


def cases(path: Path, suite: int = 0) -> dict[str, tuple[str, str]]:
    """The cases of a suite: what each is, and what is said of it."""
    found: dict[str, tuple[str, str]] = {}
    for case in ElementTree.parse(path).getroot()[suite]:
        row = case[0] if len(case) else None
        said = ("passed", "") if row is None else (row.tag, row.attrib["message"])
        assert case.attrib["name"] not in found
        found[case.attrib["name"]] = said
    return found


def written(folder: Path) -> dict[str, Any]:
    return {p.name: json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.iterdir())}


# Proofs.

COUNTER = "tests.checks.declarations.provable:Counter"


def test_a_counterexample_to_induction_is_skipped_and_fails_nothing(tmp_path: Path) -> None:
    xml, log, itf = tmp_path / "j.xml", tmp_path / "s.json", tmp_path / "itf"
    more = ["--junit", str(xml), "--sarif", str(log), "--itf", str(itf)]
    assert main(["prove", COUNTER, "--method", "induction", "--quiet", *more]) == 1
    found = cases(xml)
    assert found["even_is_even"] == found["even_is_even: up"] == ("passed", "")
    assert found["small: up"] == ("skipped", "up: small: counterexample to induction")
    assert found["small"][0] == "skipped"
    assert found["starts_wrong"][0] == found["starts_wrong: the start"][0] == "failure"
    root = ElementTree.parse(xml).getroot()
    assert root.attrib == {"name": "lawful prove"}
    types = {row.attrib["type"] for row in root.iter("failure")}
    assert types == {"violated"}
    (run,) = json.loads(log.read_text(encoding="utf-8"))["runs"]
    levels = {(row["ruleId"], row["level"]) for row in run["results"]}
    assert ("induction", "warning") in levels and ("induction", "error") not in levels
    document = written(itf)["Counter.small.up.induction.itf.json"]
    assert document["#meta"]["description"] == (
        "up: small: counterexample to induction: its state need not be reachable"
    )
    nine, ten = ({"#bigint": str(n)} for n in (9, 10))
    assert [state["n"] for state in document["states"]] == [nine, ten]


def test_a_run_that_violates_is_a_failure_with_its_trace(tmp_path: Path) -> None:
    xml, itf = tmp_path / "j.xml", tmp_path / "itf"
    more = ["--junit", str(xml), "--itf", str(itf), "--quiet"]
    assert main(["prove", COUNTER, "--method", "bounded", "--depth", "1", *more]) == 1
    found = cases(xml)
    assert found["starts_wrong"][0] == found["shrinks"][0] == "failure"
    assert found["small"][0] == "skipped"
    (state,) = written(itf)["Counter.starts_wrong.itf.json"]["states"]
    assert state["n"] == {"#bigint": "0"}


# Replays.

WORKER = "tests.checks.replay.journals:Worker"


def journal(tmp_path: Path) -> Path:
    """One worker that does what it may, and one that is given an empty job and takes it."""
    good, bad = Recorder("good"), Recorder("b\x01d/..")
    for each in (good, bad):
        assert each.take("take", job=job(2)) == "done"
        assert each.take("finish") == "done"
        assert each.take("take", job=job(0 if each is bad else 1)) in ("done", "refused")
    bad.rows[-1] |= {"outcome": "done", "transition": "take", "output": 2, "why": None}
    path = tmp_path / "rows.jsonl"
    rows = [*good.rows, *bad.rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_deviation_is_a_failure_at_its_transition(tmp_path: Path) -> None:
    xml, log, itf = tmp_path / "j.xml", tmp_path / "s.json", tmp_path / "itf"
    more = ["--junit", str(xml), "--sarif", str(log), "--itf", str(itf), "--quiet"]
    assert main(["replay", str(journal(tmp_path)), WORKER, "--engine", "local", *more]) == 2
    found = cases(xml)
    assert {name: kind for name, (kind, _) in found.items()} == {
        "fits": "passed",
        "open": "passed",
        "inconclusive": "passed",
        "quarantined": "passed",
        "empty": "passed",
        "deviates": "failure",
        r"instance b\x01d/.., row 3, event take in state IDLE": "failure",
    }
    assert found["deviates"][1] == "1 of 2 instances: deviates"
    assert found[r"instance b\x01d/.., row 3, event take in state IDLE"][1].endswith(
        "an empty job (0 > 0 is false)"
    )
    (run,) = json.loads(log.read_text(encoding="utf-8"))["runs"]
    result = run["results"][-1]
    assert (result["ruleId"], result["level"]) == ("deviates", "error")
    at = result["locations"][0]["physicalLocation"]
    place = Worker.lawful.ir.transition("take").place
    assert at["region"] == {"startLine": place.line, "startColumn": place.column + 1}
    assert at["artifactLocation"]["uri"].endswith("journals.py")
    ((name, document),) = written(itf).items()
    assert name == "Worker.deviation_1.itf.json"
    assert [state["done"]["#bigint"] for state in document["states"]] == ["0", "0", "1"]
    actions = [state["#meta"].get("action") for state in document["states"]]
    assert actions == [None, "take", "finish"]


def test_rows_that_belong_to_no_instance_are_skipped(tmp_path: Path) -> None:
    path, xml = journal(tmp_path), tmp_path / "j.xml"
    with path.open("a", encoding="utf-8") as file:
        file.write("no row\n")
    more = ["--engine", "local", "--junit", str(xml), "--quiet"]
    assert main(["replay", str(path), WORKER, *more]) == 2
    (found,) = cases(xml, 1).values()
    assert found[0] == "skipped" and found[1].startswith("1 rows rejected: ")


# What XML cannot have.


def test_control_characters_stand_as_escapes() -> None:
    odd = "a\x00b\x1b[31m\x9f\ud800\ufffe\t\U0001f600"
    case = Case(odd, "k", "failed", odd, odd, (odd, odd))
    text = junit("check", [Suite(odd, 0.0, (case,))])
    row = ElementTree.fromstring(text.encode())[0][0]
    said = "a\\x00b\\x1b[31m\x9f\\ud800\\ufffe\t\U0001f600"
    assert row.attrib["name"] == row[0].attrib["message"] == said
    assert row[0].text == f"{said}\n{said}"
    assert json.loads(json.dumps(sarif([Suite(odd, 0.0, (case,))], "0")))


UNASKED = """
import sys
from lawful.cli import main
code = main(["check", "{}", "--quiet"])
unasked = (
    *("xml.etree.ElementTree", "z3", "_hashlib", "numpy", "html", "concurrent.futures"),
    *("lawful.runtime.compile", "lawful.checks.conform", "lawful.checks.explore.compiled.memory"),
)
from lawful.checks.report import ci
patterns = ci.no_xml.cache_info().currsize
print(code, patterns, [name for name in unasked if name in sys.modules])
"""
PLAYED = ["lawful.runtime.compile", "lawful.checks.conform"]
GOING_OVER = """
from lawful.checks.explore.compiled import background, plain
background.PATIENCE, background.BRIEF, plain.SLICE = 0.0, 1e9, 7
"""


TOGGLE = """
from lawful import Machine, transition

class Toggle(Machine):
    on: bool = False

    @transition()
    def switch(self) -> None:
        self.on = not self.on
"""


@pytest.mark.parametrize(
    ("target", "imported"), [("", []), ("tests.classics.two_phase:TwoPhase", PLAYED)]
)
def test_a_check_imports_only_what_it_needs(
    target: str, imported: list[str], tmp_path: Path
) -> None:
    """A machine without a trace to be played is not compiled, not for its fingerprint either."""
    if not target:
        target = str(tmp_path / "toggle.py")
        Path(target).write_text(TOGGLE, encoding="utf-8")
    command = [sys.executable, "-c", UNASKED.format(target)]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == (f"0 0 {imported}\n", "")


def test_a_search_with_machine_code_imports_no_numpy(tmp_path: Path) -> None:
    """That takes as long as many a search."""
    target = "tests.classics.two_phase:TwoPhase"
    command = [sys.executable, "-c", GOING_OVER + UNASKED.format(target)]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    run = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    imported = ["_hashlib", *PLAYED, "lawful.checks.explore.compiled.memory"]
    assert (run.stdout, run.stderr) == (f"0 0 {imported}\n", "")


def test_cases_for_ci_are_made_only_for_who_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its counterexample as text."""
    made, suite = list[str](), ci_checks.suite

    def noted(machine: ir.Machine, result: CheckResult) -> Suite:
        made.append(machine.name)
        return suite(machine, result)

    monkeypatch.setattr(ci_checks, "suite", noted)
    command = ["check", "tests.classics.commit:TCommit", "--quiet", "--no-github"]
    assert main(command) == 0 and not made
    assert main([*command, "--junit", str(tmp_path / "x.xml")]) == 0 and made == ["TCommit"]


def test_a_declaration_gets_a_fingerprint_only_for_an_answer_that_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To make one takes as long as a small search."""
    made: list[str] = []

    def counted(machine: ir.Machine, settings: Any) -> str:
        made.append(machine.name)
        return whole(machine, settings)

    monkeypatch.setattr(targets, "whole", counted)
    (tmp_path / "toggle.py").write_text(TOGGLE, encoding="utf-8")
    asked = ["check", f"{tmp_path / 'toggle.py'}:Toggle", "--quiet"]
    assert main([*asked, "--junit", str(tmp_path / "toggle.xml")]) == 0
    assert made == []
    assert main([*asked, "--json", str(tmp_path / "toggle.json")]) == 0
    assert made == ["Toggle"]
    (row,) = json.loads((tmp_path / "toggle.json").read_text(encoding="utf-8"))["machines"]
    assert row["fingerprint"]
