"""`lawful check --vary`: a row for each scope."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lawful.cli import main
from lawful.commands.errors import CommandError
from lawful.scope_checks import scopes

TARGET = "tests.classics.two_phase:TwoPhase"


def test_each_value_with_each() -> None:
    assert scopes(["Node=1/2", "Nat=0..3/0..7", "small/large"]) == [
        ("Node=1", "Nat=0..3", "small"),
        ("Node=1", "Nat=0..3", "large"),
        ("Node=1", "Nat=0..7", "small"),
        ("Node=1", "Nat=0..7", "large"),
        ("Node=2", "Nat=0..3", "small"),
        ("Node=2", "Nat=0..3", "large"),
        ("Node=2", "Nat=0..7", "small"),
        ("Node=2", "Nat=0..7", "large"),
    ]


@pytest.mark.parametrize("text", ["Node=", "Node=1/", "=1", ""])
def test_an_empty_value_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="expected KEY=VALUE/VALUE or NAME/NAME"):
        scopes([text])


def test_a_row_for_each_scope(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    junit, out = tmp_path / "junit.xml", tmp_path / "out.json"
    given = ["check", TARGET, "--vary", "RM=1/2", "--junit", str(junit), "--json", str(out)]
    assert main(given) == 0
    lines = [line.split()[:-1] for line in capsys.readouterr().out.splitlines()[:3]]
    assert lines == [
        ["machine", "and", "scope", "verdict", "states", "generated", "depth", "cut"],
        ["TwoPhase", "RM=1", "holds", "12", "20", "5", "0"],
        ["TwoPhase", "RM=2", "holds", "56", "154", "8", "0"],
    ]
    rows = json.loads(out.read_text(encoding="utf-8"))["machines"]
    assert [(row["scope"], row["distinct"]) for row in rows] == [
        ({"RM": "1"}, 12),
        ({"RM": "2"}, 56),
    ]
    text = junit.read_text(encoding="utf-8")
    assert 'name="TwoPhase RM=1"' in text and 'name="TwoPhase RM=2"' in text


def test_what_cannot_be_had_of_many_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["check", TARGET, "--vary", "RM=1/2"]
    assert main([*given, "--changed"]) == 5
    assert main([*given, "--engine", "spark", "--advice"]) == 5
    assert main([*given, "--only", "nothing"]) == 5
    first, second, third = capsys.readouterr().err.splitlines()
    assert first == "--changed cannot be had with --vary"
    assert second == "--advice cannot be had with --vary and --engine spark"
    assert third.startswith("TwoPhase has no property nothing; it has ")
