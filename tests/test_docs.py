"""What the documentation shows is true: Python blocks run, and commands are known."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

import pytest

import lawful
from lawful import Machine
from lawful.argument_parser import COMMANDS
from lawful.checks.explore import explore
from lawful.cli import main
from lawful.spec.errors import RULES
from lawful.spec.lower import lower
from lawful.spec.syntax.declare import declared
from lawful.targets import expectations, scope_of
from lawful.walk_shell import WalkShell
from tests.test_walked_pages import PAGES as WALKED

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGE = ROOT / "docs" / "language.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str, *pages: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a kind, with the page and line that they stand at."""
    out: list[tuple[str, str]] = []
    for page in pages or PAGES:
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            if found.group(1) == kind:
                line = text[: found.start()].count("\n") + 2
                out.append((f"{page.name}:{line}", found.group(2)))
    return out


# Pages whose blocks need a session of Spark; `tests/checks/replay` runs them.
ON_SPARK = (ROOT / "docs" / "replay.md",)
# Pages whose blocks are files that their reader saves.
OF_FILES = tuple(ROOT / "docs" / f"{page}.md" for page in (*WALKED, "foreign_logs"))
PROGRAMS = [p for p in PAGES if blocks("python", p) and p not in (*ON_SPARK, *OF_FILES)]


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: str(page.name))
def test_python_blocks_run_and_show_what_they_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(page, tmp_path, monkeypatch)


def run_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page are one program, whose machines are explored as far as a scope is given.

    `# value` behind a statement is its value, `# raises Name: "text"` what it raises, up to `...`.
    """
    name = f"page_{page.stem}"
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    for number, (where, text) in enumerate(blocks("python", page)):
        path = tmp_path / f"{name}_{number}.py"
        # The lines of the file are those of the page, so that what is wrong is found there.
        lines = [""] * (int(where.partition(":")[2]) - 1) + text.splitlines()
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        before = dict(module.__dict__)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            said = lines[(node.end_lineno or node.lineno) - 1].partition("  # ")[2].strip()
            run_statement(node, said, str(path), module.__dict__)
        for key, made in module.__dict__.items():
            if is_machine(made) and before.get(key) is not made:
                explored(made)


def run_statement(node: ast.stmt, said: str, path: str, names: dict[str, object]) -> None:
    """Run one statement, and compare what it does with what stands behind it."""
    where = f"line {node.lineno}: {ast.unparse(node)[:80]}"
    run = compile(ast.Module([node], []), path, "exec", dont_inherit=True)
    raises = re.match(r'raises (\w+): "(.*)"', said)
    if raises:
        with pytest.raises(Exception) as caught:
            exec(run, names)
        assert type(caught.value).__name__ == raises.group(1), where
        told, dots, _ = raises.group(2).partition("...")
        assert str(caught.value) == told or (dots and str(caught.value).startswith(told)), where
    elif said and isinstance(node, ast.Expr):
        value = eval(compile(ast.Expression(node.value), path, "eval", dont_inherit=True), names)
        assert repr_of(value) == said, where
    else:
        exec(run, names)


def is_machine(made: object) -> TypeGuard[type[Machine]]:
    return isinstance(made, type) and issubclass(made, Machine) and made is not Machine


def explored(cls: type[Machine]) -> None:
    """Its names and types are right, and within its scope everything is as it expects."""
    if declared(cls).abstract:
        return
    resolved = cls.lawful.resolved
    for name in resolved.scopes:
        named = [] if name == "scope" else [name]
        flat = lower(resolved.machine, scope_of(cls, named))
        result = explore(flat, resolved.world, expectations(cls, named))
        wrong = [
            (p.name, p.verdict.value, p.why, len(p.trace) if p.trace else None)
            for p in result.properties
            if not p.as_expected
        ]
        assert not wrong, f"{cls.__name__} {name}: {wrong}"
        assert result.complete


def repr_of(value: object) -> str:
    """Enums by name, as the pages write them."""
    name = getattr(value, "name", None)
    return f"{type(value).__name__}.{name}" if name else repr(value)


@pytest.mark.parametrize(("where", "text"), blocks("sh"))
def test_commands_are_known(where: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every `lawful` command of the pages is accepted, and every `make` target exists."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["lawful"]:
            with pytest.raises(SystemExit) as stopped:
                main([*words[1:], "--help"])
            assert stopped.value.code == 0, f"{where}: {line}"
            options = [w for w in words if w.startswith("--")]
            told = capsys.readouterr().out
            assert all(option in told for option in options), f"{where}: {line}"
        elif words[:1] == ["make"]:
            assert f"\n{words[1]}:" in makefile, f"{where}: {line}"


def test_the_first_page_lists_every_command() -> None:
    lines = [line for _, text in blocks("sh", ROOT / "README.md") for line in text.splitlines()]
    listed = {line.split()[1] for line in lines if line.startswith("lawful ")}
    assert listed == set(COMMANDS)


def test_the_explorer_page_lists_every_command_of_the_shell() -> None:
    page = (ROOT / "docs" / "explorer.md").read_text(encoding="utf-8")
    first = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    listed = {word for cell in first for word in re.findall(r"`(\w+)", cell)}
    assert listed == {name[3:] for name in dir(WalkShell) if name.startswith("do_")}


MAPS = [ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")]
FOLDERS = ("benchmarks", "checks", "diagrams", "docs", "lawful", "machines", "runtime", "setup")
PATH = re.compile(rf"(?<![\w./~-])(?:{'|'.join((*FOLDERS, 'spec', 'tests'))})/[\w./*-]*")
DOTTED = re.compile(r"`(spec(?:\.\w+)+)`")


def missing_paths(text: str) -> list[str]:
    """The paths of a text at which there is nothing; a module may be named without its ending."""
    named = [path.rstrip(".") for path in PATH.findall(text)]
    return [p for p in named if not [*ROOT.glob(p.rstrip("/")), *ROOT.glob(f"{p}.py")]]


@pytest.mark.parametrize("page", MAPS, ids=lambda page: str(page.name))
def test_paths_in_the_pages_for_contributors_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert missing_paths(text) == []
    for name in DOTTED.findall(text):
        module, _, item = name.rpartition(".")
        assert hasattr(importlib.import_module(f"lawful.{module}"), item), name


@pytest.mark.parametrize("page", [*PAGES, *MAPS], ids=lambda page: str(page.name))
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^):#]+)[#)]", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def broken_tables(text: str) -> list[int]:
    """The lines at which a table goes on after an empty line, where a reader sees plain text."""
    lines = [*BLOCK.sub(lambda found: "\n" * found.group().count("\n"), text).splitlines(), "", ""]
    return [
        at + 1
        for at in range(1, len(lines) - 1)
        if lines[at].startswith("|")
        and not lines[at - 1].startswith("|")
        and not re.fullmatch(r"\|[ :|-]+\|", lines[at + 1])
    ]


@pytest.mark.parametrize("page", [*PAGES, *MAPS], ids=lambda page: str(page.name))
def test_tables_are_whole(page: Path) -> None:
    assert broken_tables(page.read_text(encoding="utf-8")) == []


def test_a_broken_table_is_found() -> None:
    assert broken_tables("\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| 3 | 4 |\n") == [6]


def test_a_path_that_is_missing_is_found() -> None:
    text = "`spec/ir`, checks/nothing, [x](docs/no.md) and tests/classics/*.py in lawful/"
    assert missing_paths(text) == ["checks/nothing", "docs/no.md"]


def test_there_is_something_to_test() -> None:
    assert blocks("python")
    assert blocks("sh")


def test_the_language_page_lists_every_error_and_every_name() -> None:
    text = LANGUAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (L\d{3}) \| (.+?) \|", text, re.MULTILINE))
    assert rows == RULES
    assert [name for name in lawful.__all__ if not re.search(rf"\b{name}\b", text)] == []


def test_errors_that_the_language_page_shows_are_printed_so() -> None:
    shown = [text for _, text in blocks("text", LANGUAGE) if re.match(r"L\d{3}\.py", text)]
    assert shown
    for text in shown:
        golden = ROOT / "tests" / "refused" / f"{text[:4]}.txt"
        assert text in golden.read_text(encoding="utf-8")
