"""What the documentation shows is true: Python blocks run, and commands are known."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lawful.cli import main

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[tuple[str, str]]:
    """All fenced blocks of a kind, with the page and line that they stand at."""
    out: list[tuple[str, str]] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            if found.group(1) == kind:
                line = text[: found.start()].count("\n") + 2
                out.append((f"{page.name}:{line}", found.group(2)))
    return out


@pytest.mark.parametrize(("where", "text"), blocks("python"))
def test_python_blocks_run_and_show_what_they_say(
    where: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`# value` behind a statement is its value; `# raises Name: "text"` is what it raises."""
    path = tmp_path / f"block_{len(text)}.py"
    path.write_text(text, encoding="utf-8")
    module = ModuleType(path.stem)
    monkeypatch.setitem(sys.modules, path.stem, module)
    lines = text.splitlines()
    for node in ast.parse(text).body:
        run = compile(ast.Module([node], []), str(path), "exec")
        said = lines[(node.end_lineno or node.lineno) - 1].partition("  # ")[2]
        raises = re.match(r'raises (\w+): "(.*?)"', said)
        if raises:
            with pytest.raises(Exception) as caught:
                exec(run, module.__dict__)
            assert type(caught.value).__name__ == raises.group(1), where
            assert str(caught.value) == raises.group(2), where
        elif said and isinstance(node, ast.Expr):
            value = eval(ast.unparse(node), module.__dict__)
            assert repr_of(value) == said, f"{where}: {ast.unparse(node)}"
        else:
            exec(run, module.__dict__)


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


def test_there_is_something_to_test() -> None:
    assert blocks("python")
    assert blocks("sh")
