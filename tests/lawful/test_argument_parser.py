"""The parser of the command line: that of one command alone parses as that of all does."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.argument_parser import COMMANDS, parser
from lawful.arguments.command_parser import Usage

Printed = pytest.CaptureFixture[str]


def told(words: list[str], given: list[str], printed: Printed) -> str:
    """What the parser of some words prints when it parses others, and ends."""
    with pytest.raises(SystemExit):
        parser(words).parse_args(given)
    return printed.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_named_is_the_only_one(name: str, capsys: Printed) -> None:
    help = told([name], [name, "--help"], capsys)
    assert help == told([], [name, "--help"], capsys)
    assert help.startswith(f"usage: lawful {name} ")
    other = "check" if name != "check" else "prove"
    with pytest.raises(Usage, match="5"):
        parser([name]).parse_args([other, "x"])
    assert f"invalid choice: '{other}'" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["chek"], ["--quiet", "check"]])
def test_without_a_command_all_are_known(words: list[str], capsys: Printed) -> None:
    help = told(words, ["--help"], capsys)
    assert help == told([], ["--help"], capsys)
    indented = [line[4:] for line in help.splitlines() if line.startswith("    ")]
    assert [line.split()[0] for line in indented if line[0] != " "] == list(COMMANDS)


@pytest.mark.parametrize(
    ("text", "path"), [("states", "states"), ("/a/b", "/a/b"), ("file:///a%20b/c", "/a b/c")]
)
def test_a_folder_may_be_a_uri_of_a_file(text: str, path: str) -> None:
    given = parser(["check"]).parse_args(["check", "x", "--spill", text])
    assert given.spill == Path(path)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--resume", "hdfs://host/a"),
        ("--resume", "s3a://bucket/a"),
        ("--resume", "file://host/a"),
        ("--spill", "file://host/a"),
    ],
)
def test_a_folder_that_is_not_mounted_is_refused(option: str, text: str, capsys: Printed) -> None:
    with pytest.raises(SystemExit) as stopped:
        parser(["check"]).parse_args(["check", "x", option, text])
    assert stopped.value.code == 5
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.endswith(
        f"{text}: expected a path, or file:///path; another file system has to be mounted"
    )
