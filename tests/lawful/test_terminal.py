"""The command line in a shell: colours where a terminal shows them, completion of its words."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import pytest

from lawful.argument_parser import COMMANDS
from lawful.arguments.programs import SYSTEMS
from lawful.cli import main
from lawful.colour import GREEN, OFF, RED, YELLOW, coloured, wanted
from lawful.command_table import command_rows
from lawful.completion_scripts import SCRIPTS, script

GATE = """
from lawful import Expect, Machine, Nat, Scope, invariant, require, transition

class Up(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        require(self.n < 3, "enough")
        self.n += 1

    @invariant
    def below_two(self) -> bool:
        return self.n < 2

    @invariant
    def below_three(self) -> bool:
        return self.n < 3

    @invariant
    def holds(self) -> bool:
        return self.n >= 0

    deadlock_ok = True
    expects = Expect(below_two=("violated", 2))
    scope = Scope(Nat=range(0, 5))
"""


COLOURED = [
    f"deadlock     built-in   {GREEN}holds{OFF}",
    f"bounds       built-in   {GREEN}holds{OFF}",
    f"asserts      built-in   {GREEN}holds{OFF}",
    f"undefined    built-in   {GREEN}holds{OFF}",
    f"ambiguous    built-in   {GREEN}holds{OFF}",
    f"below_two    invariant  {GREEN}violated after 2 events{OFF}  as expected",
    f"below_three  invariant  {RED}violated after 3 events{OFF}  EXPECTED to hold",
    f"holds        invariant  {GREEN}holds{OFF}",
    f"below_two is {RED}violated{OFF}: n < 2 is false (n = 2)",
    f"below_three is {RED}violated{OFF}: n < 3 is false (n = 3)",
]


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    path = tmp_path / "up_coloured.py"
    path.write_text(GATE, encoding="utf-8")
    return str(path)


def printed(target: str, monkeypatch: pytest.MonkeyPatch, file: io.StringIO) -> str:
    monkeypatch.setattr("sys.stdout", file)
    assert main(["check", target]) == 1
    return file.getvalue()


def test_verdicts_are_coloured_on_a_terminal_alone(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = printed(target, monkeypatch, Terminal())
    coloured_lines = [line.strip() for line in shown.splitlines() if "\x1b" in line]
    assert coloured_lines == COLOURED


def test_what_is_as_expected_is_green() -> None:
    assert coloured("  a  invariant  holds") == f"  a  invariant  {GREEN}holds{OFF}"
    assert coloured("  holds  invariant  violated after 2 events  EXPECTED to hold") == (
        f"  holds  invariant  {RED}violated after 2 events{OFF}  EXPECTED to hold"
    )
    assert coloured("  a  invariant  holds  EXPECTED violated after 2") == (
        f"  a  invariant  {RED}holds{OFF}  EXPECTED violated after 2"
    )
    assert coloured("  a  invariant  violated after 1 event   as expected") == (
        f"  a  invariant  {GREEN}violated after 1 event{OFF}   as expected"
    )
    assert coloured("  a  holds-within-scope  k-induction  1/1  0.01") == (
        f"  a  {GREEN}holds-within-scope{OFF}  k-induction  1/1  0.01"
    )
    assert coloured("  a  leads_to   unknown") == f"  a  leads_to   {YELLOW}unknown{OFF}"
    assert coloured("a is violated: n < 2 is false (n = 2)") == (
        f"a is {RED}violated{OFF}: n < 2 is false (n = 2)"
    )
    for plain in ("       mode = holds", "it holds", "  holds", "property  kind  verdict", ""):
        assert coloured(plain) == plain


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colour_is_asked_for_by_the_environment(
    name: str, value: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wanted(Terminal())
    monkeypatch.setenv(name, value)
    assert not wanted(Terminal())
    assert "\x1b" not in printed(target, monkeypatch, Terminal())


def test_no_colour_goes_into_a_pipe(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in printed(target, monkeypatch, io.StringIO())


def completed(*words: str, folder: Path) -> list[str]:
    """What bash proposes for the last of these words."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    given = " ".join(f"'{word}'" for word in words)
    text = f"{script('bash')}\nCOMP_WORDS=({given}); COMP_CWORD={len(words) - 1}; _lawful\n"
    text += 'printf "%s\\n" "${COMPREPLY[@]}"\n'
    command = [bash, "--norc", "-e", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


def test_bash_completes_commands_options_and_choices(tmp_path: Path) -> None:
    assert completed("lawful", "sh", folder=tmp_path) == ["show", "shell"]
    assert completed("lawful", "", folder=tmp_path) == [*COMMANDS, "--help", "--version"]
    assert completed("lawful", "check", "--max-s", folder=tmp_path) == [
        "--max-seconds",
        "--max-states",
    ]
    assert completed("lawful", "check", "--engine", "c", folder=tmp_path) == ["compiled"]
    for words in (["--engine", "="], ["--engine", "=", ""]):  # As bash splits `--engine=`.
        engines = completed("lawful", "check", *words, folder=tmp_path)
        assert engines == ["auto", "reference", "generated", "compiled", "spark"]
    assert completed("lawful", "check", "--engine", "=", "c", folder=tmp_path) == ["compiled"]
    assert completed("lawful", "run", "", folder=tmp_path) == list(SYSTEMS)
    assert completed("lawful", "completion", "", folder=tmp_path) == ["bash", "zsh", "fish"]
    assert completed("lawful", "check", "--json", "", folder=tmp_path) == []  # Files, by bash.
    assert completed("lawful", "nothing", "--", folder=tmp_path) == []


@pytest.mark.parametrize("shell", SCRIPTS)
def test_each_script_has_every_option_of_every_command(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert text == script(shell)
    rows = command_rows()
    assert [row.name for row in rows] == list(COMMANDS)
    for row in rows:
        with pytest.raises(SystemExit):
            main([row.name, "--help"])
        told = capsys.readouterr().out
        assert all(name in told for word in row.options for name in word.names)
        here = f"complete -c lawful -n '__fish_seen_subcommand_from {row.name}' "
        lines = text.splitlines()
        for name in (name for word in row.options for name in word.names):
            if shell == "fish":
                flag = f" -l {name[2:]} " if name.startswith("--") else f" -s {name[1:]} "
                assert any(line.startswith(here) and flag in line for line in lines), name
            else:
                assert name in text


def test_quotes_and_brackets_of_help_texts_are_escaped() -> None:
    zsh, fish = script("zsh"), script("fish")
    assert "machine'\\''s size (default)]" in zsh
    assert "auto\\: what suits" in zsh
    assert "machine\\'s size (default)'" in fish
    assert zsh.startswith("#compdef lawful\n")


def test_fish_proposes_choices_without_the_names_of_files(tmp_path: Path) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("fish is not installed")
    (tmp_path / "a.py").write_text("")
    text = f"{script('fish')}\ncomplete -C 'lawful draw --format '\ncomplete -C 'lawful run '\n"
    command = [fish, "--no-config", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    proposed = [line.split("\t")[0] for line in done.stdout.splitlines()]
    formats = ["dot", "mermaid", "pdf", "plantuml", "png", "svg"]
    assert (done.stderr, proposed) == ("", [*formats, *SYSTEMS])
