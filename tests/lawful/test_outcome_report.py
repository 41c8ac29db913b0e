"""Every command takes the options for other tools; one without verdicts says how it ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lawful.cli import main
from lawful.command_table import command_rows
from lawful.commands import files
from lawful.commands.exit_codes import ExitCode

COUNTER = "tests.checks.declarations.provable:Counter"
JUGS = "tests.classics.jugs:Jugs"


def case(path: Path) -> tuple[str, str, list[tuple[str, str]]]:
    """Suite, name and result of the only case of a JUnit file."""
    (suite,) = ElementTree.parse(path).getroot()
    (row,) = suite
    return suite.attrib["name"], row.attrib["name"], [(c.tag, c.attrib["message"]) for c in row]


def rules(path: Path) -> list[str]:
    found: Any = json.loads(path.read_text(encoding="utf-8"))
    return [each["ruleId"] for each in found["runs"][0]["results"]]


def test_every_command_takes_the_options_for_other_tools() -> None:
    options = {"--json", "--junit", "--sarif", "--itf", "--github", "--quiet"}
    taken = {row.name: {n for word in row.options for n in word.names} for row in command_rows()}
    assert [name for name, names in taken.items() if not options <= names] == []


@pytest.mark.parametrize(
    ("words", "ended"),
    [
        (["show", COUNTER], ExitCode.AS_EXPECTED),
        (["draw", COUNTER, "--format", "dot"], ExitCode.AS_EXPECTED),
        (["lock", COUNTER, "--stale"], ExitCode.VIOLATED),
    ],
    ids=("show", "draw", "lock"),
)
def test_a_command_without_verdicts_is_a_case(
    words: list[str], ended: ExitCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    more = ["--quiet", "--junit", "a.xml", "--sarif", "a.sarif"]
    assert main([*words, *more]) == ended
    failed = [("failure", f"{words[0]} ended with 1")] if ended else []
    assert case(Path("a.xml")) == (COUNTER, words[0], failed)
    assert rules(Path("a.sarif")) == [words[0]] * bool(ended)


def test_a_failure_has_the_answer_as_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["lock", COUNTER, "--stale", "--quiet", "--junit", "a.xml"])
    (failure,) = ElementTree.parse("a.xml").getroot().iter("failure")
    assert failure.text == f"{COUNTER} is not in the file"


def test_a_command_without_an_answer_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["show", "no.such:Machine", "--junit", "a.xml", "--sarif", "a.sarif"]) == 5
    (row,) = case(Path("a.xml"))[2]
    assert row[0] == "error"
    assert rules(Path("a.sarif")) == ["usage"]


@pytest.mark.parametrize(
    "words", [["draw", JUGS, "--what", "trace"], ["lock", JUGS]], ids=lambda words: words[0]
)
def test_counterexamples_are_traces(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main([*words, "--quiet", "--itf", "other"])
    main(["check", JUGS, "--quiet", "--itf", "itf"])
    files = [{f.name: f.read_text() for f in Path(d).iterdir()} for d in ("other", "itf")]
    assert files[0] == files[1]
    assert [*files[0]] == ["Jugs.never_four.itf.json"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["show", COUNTER], "show"),
        (["draw", COUNTER, "--format", "dot"], "draw --what states"),
    ],
    ids=("show", "draw"),
)
def test_a_command_that_has_no_traces_says_so(
    words: list[str],
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--itf", "itf"]) == 0
    assert f"--itf: {what} writes no traces" in capsys.readouterr().err
    assert not Path("itf").exists()


def test_a_folder_that_goes_meanwhile_takes_no_answer_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files, "look", id)
    assert main(["show", COUNTER, "--junit", str(tmp_path / "no" / "a.xml")]) == 5
    printed = capsys.readouterr()
    assert "class Counter(Machine)" in printed.out
    assert "cannot write" in printed.err
