"""The files of a folder that may declare machines: a command that walks a project imports these."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

# Scripts, and files that a test runner imports: a walk imports neither.
NEVER = frozenset({"__main__", "conftest", "setup"})


def declaring_files(folder: Path) -> Iterator[Path]:
    """The Python files under a folder that declare classes and import from lawful, sorted.

    A file that imports relatively counts, too: its package may give it lawful's names. Hidden
    folders and files of tests are left out.
    """
    for path in sorted(folder.rglob("*.py")):
        names = path.relative_to(folder).with_suffix("").parts
        hidden = any(name.startswith(".") for name in names)
        test = names[-1].startswith("test_") or names[-1] in NEVER
        if not (hidden or test) and _may_declare(path):
            yield path


def _may_declare(path: Path) -> bool:
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return True  # Importing it says what is wrong.
    classes = any(isinstance(node, ast.ClassDef) and node.bases for node in body)
    return classes and any(_imports_words(node) for node in body)


def _imports_words(node: ast.stmt) -> bool:
    """Whether the statement imports from lawful, or relatively."""
    match node:
        case ast.ImportFrom(module=module, level=level):
            return level > 0 or (module or "").partition(".")[0] == "lawful"
        case ast.Import(names=names):
            return any(each.name.partition(".")[0] == "lawful" for each in names)
        case _:
            return False
