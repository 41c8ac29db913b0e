"""The files of the project as the rules read them: text, syntax tree, imports."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import cast

from tests.root import ROOT

FOLDERS = ("spec", "runtime", "checks", "machines", "diagrams")
PRODUCT = (*FOLDERS, "lawful")
PYTHON_FOLDERS = (*PRODUCT, "tests", "benchmarks")

MADE_BY_TOOLS = {"build", "dist", "out", "node_modules", "__pycache__", "htmlcov"}
LEFT_BY_SPARK = {"spark-warehouse", "metastore_db"}
SKIPPED_FOLDERS = {*MADE_BY_TOOLS, *LEFT_BY_SPARK, "golden", "drawn"}
TEXT_ENDINGS = {".py", ".md", ".toml", ".sh", ".cfg", ".yml", ".yaml", ".json", ".txt", ""}
HOLDERS = ast.stmt, ast.excepthandler, ast.match_case


@dataclass(frozen=True)
class Source:
    """A file of the project: its path from the root, with slashes, and its text."""

    path: str
    text: str

    @property
    def is_python(self) -> bool:
        return self.path.endswith(".py")

    @property
    def folder(self) -> str:
        """The top folder, or nothing for a file at the root."""
        parts = PurePosixPath(self.path).parts
        return parts[0] if len(parts) > 1 else ""

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree but contexts, in the order of `ast.walk`, which takes three times
        as long."""
        found: list[ast.AST] = [self.tree]
        for node in found:
            for value in vars(node).values():
                if isinstance(value, list):
                    inside = cast("list[object]", value)
                    found += [each for each in inside if isinstance(each, ast.AST)]
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    found.append(value)
        return found

    @cached_property
    def statements(self) -> list[ast.AST]:
        """The nodes that are statements or hold some: a tenth of all."""
        found: list[ast.AST] = [self.tree]
        for node in found:
            for value in vars(node).values():
                if isinstance(value, list) and value and isinstance(value[0], HOLDERS):
                    found += cast("list[ast.AST]", value)
        return found

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return [node for node in self.statements if isinstance(node, kinds)]

    @cached_property
    def comments(self) -> list[tuple[int, str]]:
        """Line and text of the real comments, not of strings that look like one."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]

    @cached_property
    def imports(self) -> list[Import]:
        return [found for node in self.statements for found in imports_of(self.path, node)]


@dataclass(frozen=True)
class Import:
    """One imported name, absolute: `lawful.spec.ir.Machine`, whichever way it was written."""

    line: int
    name: str
    dots: int
    is_from: bool

    @property
    def top(self) -> str:
        return self.name.split(".")[0]

    @property
    def folder(self) -> str:
        """The folder of the house that is imported, "lawful" for the door, else nothing."""
        parts = self.name.split(".")
        if parts[0] != "lawful":
            return ""
        return parts[1] if len(parts) > 1 and parts[1] in FOLDERS else "lawful"


def imports_of(path: str, node: ast.AST) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(node.lineno, alias.name, dots=0, is_from=False)
    elif isinstance(node, ast.ImportFrom):
        package = package_of(path, node.level) if node.level else ()
        for alias in node.names:
            name = ".".join((*package, *(node.module or "").split("."), alias.name))
            name = name.replace("..", ".")
            yield Import(node.lineno, name, dots=node.level, is_from=True)


def package_of(path: str, level: int) -> tuple[str, ...]:
    """The package that `level` dots mean in this file, named as users name it."""
    parts = PurePosixPath(path).parts[:-1]
    if parts and parts[0] in FOLDERS:
        parts = ("lawful", *parts)
    return parts[: len(parts) - (level - 1)]


Rule = Callable[[Sequence[Source]], Iterable[str]]


def python(sources: Sequence[Source], folders: Iterable[str] = PYTHON_FOLDERS) -> list[Source]:
    return [s for s in sources if s.is_python and s.folder in folders]


@lru_cache
def project() -> tuple[Source, ...]:
    return tuple(walk(ROOT))


def walk(folder: Path) -> Iterator[Source]:
    """Every text file of the project once: links are not followed, made things not read."""
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith(".") and path.name not in (".ci", ".gitignore")
        if hidden or path.is_symlink() or path.name.endswith(".egg-info"):
            continue
        if path.is_dir():
            if path.name not in SKIPPED_FOLDERS:
                yield from walk(path)
        elif path.suffix in TEXT_ENDINGS:
            text = path.read_text(encoding="utf-8")
            yield Source(path.relative_to(ROOT).as_posix(), text)
