"""The command line: what is asked to end ends, and what has no answer says why in every file."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lawful.cli import main
from tests.lawful.test_cli import declared, run

WIDE = """from lawful import *

class Wide(Machine):
    scope = Scope(Nat=range(0, 6))
    x: Nat = 0

    @transition()
    def put(self, s: frozenset[tuple[Nat, Nat]]) -> None:
        require(len(s) == 99)
        self.x = 1
"""
LONG = """from lawful import *

class Long(Machine):
    scope = Scope(Nat=range(0, 6))
    x: Nat = 0

    @transition()
    def put(self) -> None:
        require(sum(1 for i in range(0, 1000000) for j in range(0, 1000000)) > 5)
        self.x = 1
"""
MIXED = """from lawful import *

class Bare(Machine):
    n: Nat = 0

    @transition()
    def put(self) -> None:
        self.n = 1

class Small(Machine):
    x: bool = False

    @transition()
    def put(self) -> None:
        self.x = not self.x
"""
REFUSED = """from lawful import *

class Bad(Machine):
    x: bool = False

    @transition()
    def put(self) -> None:
        self.y = 1
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("engine", ["reference", "generated", "compiled"])
@pytest.mark.parametrize(
    ("text", "number"),
    [(WIDE, signal.SIGTERM), (LONG, signal.SIGINT)],
    ids=["arguments", "an expression"],
)
def test_a_signal_ends_a_search_in_the_middle_of_a_state(
    text: str, number: signal.Signals, engine: str, tmp_path: Path
) -> None:
    target = declared(tmp_path, text + "\nprint('loaded', flush=True)\n")
    command = [sys.executable, "-m", "lawful", "check", target, "--engine", engine]
    command += ["--json", "-", "--max-seconds", "600"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stderr.readline() == "loaded\n"
        process.send_signal(number)
        said = json.loads(process.stdout.read())
    assert process.returncode == 3
    if "error" in said:  # It came before the search had begun.
        assert said["error"]["kind"] == "stopped"
    else:
        assert (said["machines"][0]["verdict"], said["machines"][0]["complete"]) == (
            "unknown",
            False,
        )


@pytest.mark.parametrize("command", ["lint", "prove", "show", "draw"])
def test_a_request_to_terminate_ends_every_command_as_ctrl_c_does(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = "\nimport os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"
    before = signal.getsignal(signal.SIGTERM)
    code, out, err = run(command, declared(tmp_path, MIXED + ends), "--json", "-", capsys=capsys)
    assert (code, err) == (3, "stopped\n")
    assert json.loads(out)["error"] == {
        "kind": "stopped",
        "exit": 3,
        "message": "stopped",
        "problems": [],
    }
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("command", ["check", "simulate", "lint", "prove", "show"])
def test_a_machine_without_a_scope_is_named_where_it_is_left_out(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = declared(tmp_path, MIXED)
    why = "it has no scope, and a sort or a Nat needs one"
    code, out, err = run(command, target, "--json", "-", capsys=capsys)
    assert code in (0, 1, 3)
    assert f"Bare is not checked: {why}\n" in err
    assert json.loads(out)["skipped"] == [{"machine": "Bare", "why": why}]
    assert "Bare" not in run(command, f"{target}:Small", capsys=capsys)[2]


def test_where_nothing_is_left_it_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = declared(tmp_path, MIXED.partition("class Small")[0])
    code, _, err = run("check", target, capsys=capsys)
    assert code == 5
    assert "defines no machine that can be checked: Bare (it has no scope" in err


@pytest.mark.parametrize("command", ["prove", "show", "learn-scope"])
def test_a_command_that_needs_no_scope_takes_a_machine_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    target = declared(tmp_path, MIXED.partition("class Small")[0])
    (tmp_path / "empty.jsonl").touch()
    traces = [str(tmp_path / "empty.jsonl")] if command == "learn-scope" else []
    code, out, err = run(command, *traces, target, capsys=capsys)
    named = run(command, *traces, f"{target}:Bare", capsys=capsys)
    assert (code, without_seconds(out), err) == (named[0], without_seconds(named[1]), named[2])


def without_seconds(text: str) -> str:
    """Without times, in sentences and in the last column of a table, and what the cache had."""
    return re.sub(r"[0-9.]+ s\b|\d+\.\d\d$|, \d+ of them from the cache", "", text, flags=re.M)


def files(tmp_path: Path) -> tuple[list[str], list[Path]]:
    paths = [tmp_path / name for name in ("a.json", "a.xml", "a.sarif")]
    options = ("--json", "--junit", "--sarif")
    return [w for pair in zip(options, map(str, paths), strict=True) for w in pair], paths


def documents(paths: list[Path]) -> tuple[Any, ElementTree.Element, Any]:
    """What the three files say: the error, the one case, the one result."""
    told = json.loads(paths[0].read_text(encoding="utf-8"))
    assert told["version"] == 1 and set(told) == {"version", "command", "error"}
    (suite,) = ElementTree.parse(paths[1]).getroot()
    assert (suite.attrib["tests"], suite.attrib["errors"], suite.attrib["failures"]) == (
        "1",
        "1",
        "0",
    )
    (ran,) = json.loads(paths[2].read_text(encoding="utf-8"))["runs"]
    (result,) = ran["results"]
    return told["error"], suite[0][0], result


@pytest.mark.parametrize("command", ["check", "simulate", "prove", "replay"])
def test_a_refused_declaration_is_written_everywhere(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, paths = files(tmp_path)
    target = declared(tmp_path, REFUSED)
    where = [str(tmp_path / "rows.jsonl"), target] if command == "replay" else [target]
    code, _, err = run(command, *where, *asked, capsys=capsys)
    assert code == 4 and "L205" in err
    error, case, result = documents(paths)
    (problem,) = error["problems"]
    assert (error["kind"], error["exit"], error["message"] + "\n") == ("refused", 4, err)
    assert (problem["number"], problem["file"], problem["line"]) == ("L205", target, 8)
    assert (case.tag, case.attrib["type"]) == ("error", "L205")
    assert (result["ruleId"], result["level"]) == ("L205", "error")
    at = result["locations"][0]["physicalLocation"]["region"]
    assert at == {"startLine": problem["line"], "startColumn": problem["column"]}


@pytest.mark.parametrize("command", ["check", "simulate", "prove", "replay"])
@pytest.mark.parametrize("wrong", [["no.such.module"], ["--sideways", "no.such.module"]])
def test_so_is_an_error_of_usage(
    command: str, wrong: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, paths = files(tmp_path)
    where = ["rows.jsonl", *wrong] if command == "replay" else wrong
    with pytest.raises(SystemExit, match="5"):
        sys.exit(main([command, *where, *asked]))
    error, case, result = documents(paths)
    assert (error["kind"], error["exit"], error["problems"]) == ("usage", 5, [])
    assert error["message"] in capsys.readouterr().err
    assert (case.tag, case.attrib["type"], case.attrib["message"]) == (
        "error",
        "usage",
        error["message"],
    )
    assert (result["ruleId"], result["level"], "locations" in result) == ("usage", "error", False)


def test_the_json_of_an_error_stands_alone_on_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("lint", "show", "draw", "lock"):
        _, out, _ = run(command, declared(tmp_path, REFUSED), "--json", "-", capsys=capsys)
        said: Any = json.loads(out)
        assert (said["command"], said["error"]["kind"]) == (command, "refused")
