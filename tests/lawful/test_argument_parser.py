"""The parser of the command line: that of one command alone parses as that of all does."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.argument_parser import COMMANDS, parser
from lawful.arguments.command_parser import Usage
from lawful.command_table import command_rows

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


@pytest.mark.parametrize(
    ("words", "usage", "told"),
    [
        (["chek", "x"], "lawful [", "'completion'); the nearest is check\n"),
        (["draw", "x", "--what", "graf"], "lawful draw", "'trace'); the nearest is graph\n"),
        (
            ["check", "x", "--max-statez=3"],
            "lawful check",
            "lawful check: unrecognized arguments: --max-statez=3; the nearest is --max-states\n",
        ),
        (["prove", "x", "--zzz"], "lawful prove", "unrecognized arguments: --zzz\n"),
        (["draw", "x", "--what", "qqqq"], "lawful draw", "'trace')\n"),
    ],
)
def test_a_wrong_word_is_told_with_the_nearest(
    words: list[str], usage: str, told: str, capsys: Printed
) -> None:
    with pytest.raises(Usage, match="5"):
        parser(words).parse_args(words)
    said = capsys.readouterr().err
    assert said.startswith(f"usage: {usage}")
    assert said.endswith(told)


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


OUTPUT_OR_PATH = {("draw", "--out"), ("diff", "--out"), ("infer-mapping", "--out")}
WORDS = {
    **{key: ["x", "x"] for key in ("replay", "infer-mapping", "learn-scope", "diff")},
    "export": ["x", "--tla"],
    "run": ["unicast"],
    "completion": ["bash"],
    "lsp": [],
}


def test_a_dash_is_no_name_of_a_file(capsys: Printed) -> None:
    """Only the few options that say so take it for standard output; `./-` is a file."""
    named = [
        (row.name, word.names[0])
        for row in command_rows()
        for word in row.options
        if word.value.startswith(("FILE", "DIR")) and word.names[0] != "--json"
    ]
    assert len(named) == 79
    for command, option in named:
        words = [command, option, "./-", *WORDS.get(command, ["x"])]
        assert Path("-") in vars(parser(words).parse_args(words)).values()
        words[2] = "-"
        if (command, option) in OUTPUT_OR_PATH:
            assert parser(words).parse_args(words).out is None
            continue
        with pytest.raises(Usage):
            parser(words).parse_args(words)
        told = capsys.readouterr().err.splitlines()[-1]
        assert told.endswith(f"{option}: -: expected a path; write ./- for one of this name")
