"""The rules of the house, as tests: sizes, import directions, and what a line may not hold.

A rule takes the sources and yields one sentence per offence. Every rule stands in `RULES` beside
a small offending file, so that each is run twice: over the project, which must not offend, and
over the offender, which must.

Choices made here where a rule could be read in two ways:

- Five parameters is the limit for what can be passed by position, `self` and `cls` aside.
  Keyword-only parameters say their name at every call; with them a function may have eight,
  which the vocabulary's `transition` needs.
- A service embeds the executor, so `machines` may import `runtime`, though they are one level.
- A declaration is written as a user's is, so `machines` may import the door, `lawful`, itself.
  The door imports no machine, so there is no circle.
- Absolute paths of one machine, `/tmp` among them, are allowed nowhere: tests have `tmp_path`.
- The tour and `__main__` are programs like the command line, and may call it.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("spec", "runtime", "checks", "machines", "diagrams")
PRODUCT = (*FOLDERS, "lawful")
PYTHON_FOLDERS = (*PRODUCT, "tests", "benchmarks")

# For each folder, the others it may import; the door, `lawful`, may import them all.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "spec": frozenset(),
    "runtime": frozenset({"spec"}),
    "diagrams": frozenset({"spec"}),
    "machines": frozenset({"spec", "runtime", "lawful"}),
    "checks": frozenset({"spec", "runtime", "diagrams"}),
    "lawful": frozenset(FOLDERS),
}
PROGRAMS = frozenset({"lawful/cli.py", "lawful/tour.py", "lawful/__main__.py"})
HEAVY = (
    *("z3", "llvmlite", "numpy", "rich"),
    *("pyspark", "pyarrow", "pandas"),
    *("hypothesis", "pytest", "graphviz", "transitions"),
)
MADE_BY_TOOLS = {"build", "dist", "out", "node_modules", "__pycache__", "htmlcov"}
LEFT_BY_SPARK = {"spark-warehouse", "metastore_db"}
SKIPPED_FOLDERS = {*MADE_BY_TOOLS, *LEFT_BY_SPARK, "golden", "drawn"}
TEXT_ENDINGS = {".py", ".md", ".toml", ".sh", ".cfg", ".yml", ".yaml", ".json", ""}


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
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return [node for node in ast.walk(self.tree) if isinstance(node, kinds)]

    @cached_property
    def comments(self) -> list[tuple[int, str]]:
        """Line and text of the real comments, not of strings that look like one."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]

    @cached_property
    def imports(self) -> list[Import]:
        return [found for node in ast.walk(self.tree) for found in imports_of(self.path, node)]


@dataclass(frozen=True)
class Import:
    """One imported name, absolute: `lawful.spec.ir.Machine`, whichever way it was written."""

    line: int
    name: str
    relative: bool
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
            yield Import(node.lineno, alias.name, relative=False, is_from=False)
    elif isinstance(node, ast.ImportFrom):
        package = package_of(path, node.level) if node.level else ()
        for alias in node.names:
            name = ".".join((*package, *(node.module or "").split("."), alias.name))
            name = name.replace("..", ".")
            yield Import(node.lineno, name, relative=bool(node.level), is_from=True)


def package_of(path: str, level: int) -> tuple[str, ...]:
    """The package that `level` dots mean in this file, named as users name it."""
    parts = PurePosixPath(path).parts[:-1]
    if parts and parts[0] in FOLDERS:
        parts = ("lawful", *parts)
    return parts[: len(parts) - (level - 1)]


Rule = Callable[[Sequence[Source]], Iterable[str]]


def python(sources: Sequence[Source], folders: Iterable[str] = PYTHON_FOLDERS) -> list[Source]:
    return [s for s in sources if s.is_python and s.folder in folders]


# Sizes.


def files_are_short(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources):
        if len(s.lines) >= 500:
            yield f"{s.path}: {len(s.lines)} lines; split it, a file has fewer than 500"


def lines_are_short(sources: Sequence[Source]) -> Iterator[str]:
    # Prose in Markdown is not wrapped by hand; code and recipes are.
    for s in sources:
        for number, line in enumerate(s.lines, 1):
            if len(line) > 100 and not s.path.endswith((".md", ".json", "LICENSE")):
                yield f"{s.path}:{number}: {len(line)} columns; wrap at 100"


def functions_are_short(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources):
        for f in s.functions:
            if length(f) >= 70:
                yield f"{s.path}:{f.lineno}: {f.name} has {length(f)} lines; split it below 70"


def functions_are_mostly_tiny(sources: Sequence[Source]) -> Iterator[str]:
    lengths = [length(f) for s in python(sources, PRODUCT) for f in s.functions]
    middle = statistics.median(lengths) if lengths else 0
    if middle >= 12:
        yield f"the median function has {middle} lines; it is to stay under 12"


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameters_are_few(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources):
        for f in s.functions:
            positional = [*f.args.posonlyargs, *f.args.args]
            if positional and positional[0].arg in ("self", "cls"):
                del positional[0]
            total = len(positional) + len(f.args.kwonlyargs)
            if len(positional) > 5 or total > 8:
                yield (
                    f"{s.path}:{f.lineno}: {f.name} has {total} parameters, {len(positional)} by"
                    " position; at most 5 by position and 8 in all: bundle them in a dataclass"
                )


# Import directions.


def imports_go_down(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, PRODUCT):
        allowed = MAY_IMPORT[s.folder] | {s.folder}
        for i in s.imports:
            if i.folder and i.folder not in allowed:
                names = ", ".join(sorted(allowed - {s.folder})) or "the standard library alone"
                yield f"{s.path}:{i.line}: {s.folder} imports {i.name}; it may import {names}"


def imports_are_written_one_way(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources):
        for i in s.imports:
            if i.top in FOLDERS:
                yield f"{s.path}:{i.line}: `{i.name}` makes twin classes; write lawful.{i.name}"
        for i in s.imports if s.folder in PRODUCT else ():
            if i.folder == s.folder and not i.relative:
                yield f"{s.path}:{i.line}: {i.name} is in the same folder; import it relatively"
            elif i.folder and i.folder != s.folder and (i.relative or not i.is_from):
                yield f"{s.path}:{i.line}: {i.name} is another folder; write `from lawful.…`"


def heavy_libraries_have_one_home(sources: Sequence[Source]) -> Iterator[str]:
    for library in HEAVY:
        users = [s for s in python(sources, PRODUCT) if any(i.top == library for i in s.imports)]
        if len({s.folder for s in users}) > 1 or len(users) > 2:
            paths = ", ".join(s.path for s in users)
            yield f"{library} is imported in {paths}; keep it in two files of one folder at most"


def third_parties_are_declared(sources: Sequence[Source]) -> Iterator[str]:
    known = {*HEAVY, "annotated_types", "lawful", *sys.stdlib_module_names, *FOLDERS}
    for s in python(sources, PRODUCT):
        for i in s.imports:
            if i.top not in known:
                yield f"{s.path}:{i.line}: {i.top} is no dependency (docs/dependencies.md)"


def nothing_imports_the_command_line(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, PRODUCT):
        for i in s.imports if s.path not in PROGRAMS else ():
            if re.match(r"lawful\.cli\b", i.name):
                yield f"{s.path}:{i.line}: imports the command line; call what it calls"


def only_programs_name_a_machine(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, set(PRODUCT) - {"machines"}):
        if s.path in PROGRAMS:
            continue
        for number, line in enumerate(s.lines, 1):
            if re.search(r"\blawful\.machines\.\w", line):
                yield f"{s.path}:{number}: names a machine; take any machine as an argument"
        for i in s.imports:
            if i.folder == "machines":
                yield f"{s.path}:{i.line}: imports {i.name}; take any machine as an argument"


# What a line may not hold.


def checks_never_print(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources, ["checks"]):
        for node in ast.walk(s.tree):
            text = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if re.fullmatch(r"print|sys\.(stdout|stderr)\.\w+", text):
                line = getattr(node, "lineno", 0)
                yield f"{s.path}:{line}: {text}(); a check returns its result, the caller shows it"


IGNORE = re.compile(r"type:\s*ignore|noqa|pyright:\s*(?!strict)\w+|mypy:\s*\w+")
EXPLAINED = re.compile(
    r"(type:\s*ignore\[[\w, -]+\]|pyright:\s*ignore\[\w+(, ?\w+)*\]|noqa:\s*[A-Z]+\d+(,\s*\w+)*"
    r"|(mypy|pyright):\s*[\w-]+(=\S+)?)\s*#+\s+\w+\W+\w+\W+\w+"
)


def ignores_say_why(sources: Sequence[Source]) -> Iterator[str]:
    for s in python(sources):
        for number, comment in s.comments:
            if IGNORE.match(comment.lstrip("# ")) and not EXPLAINED.search(comment):
                yield (
                    f"{s.path}:{number}: {comment!r} hides a check; name the check in brackets"
                    " and say why in a second comment on the line, or mend the code"
                )


UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
ELSEWHERE = re.compile(
    r"(?<![\w.<~-])/(root|work|home|Users|tmp)/"
    r"|\b(pypi\.org|pythonhosted\.org|registry\.npmjs\.org|deb\.debian\.org|repo1?\.maven\.org)\b"
)


def nothing_is_left_for_later(sources: Sequence[Source]) -> Iterator[str]:
    for s in sources:
        for number, line in enumerate(s.lines, 1):
            if UNFINISHED.search(line):
                yield f"{s.path}:{number}: finish it, or file an issue: {line.strip()}"


def no_machine_or_registry_is_named(sources: Sequence[Source]) -> Iterator[str]:
    for s in sources:
        for number, line in enumerate(s.lines, 1):
            if ELSEWHERE.search(line):
                yield f"{s.path}:{number}: true of one machine only: {line.strip()}"


@dataclass(frozen=True)
class Case:
    rule: Rule
    path: str
    offending: str


SEVEN = "def f(a: int, b: int, c: int, d: int, e: int, f: int) -> None: ...\n"
RULES = (
    Case(files_are_short, "spec/x.py", "x = 1\n" * 500),
    Case(lines_are_short, "Makefile", "x" * 101),
    Case(functions_are_short, "tests/x.py", "def f():\n" + "    x = 1\n" * 69),
    Case(functions_are_mostly_tiny, "spec/x.py", "def f():\n" + "    x = 1\n" * 11),
    Case(parameters_are_few, "spec/x.py", SEVEN),
    Case(parameters_are_few, "spec/x.py", "def f(*, a, b, c, d, e, f, g, h, i): ..."),
    Case(imports_go_down, "spec/x.py", "from lawful.runtime.step import run"),
    Case(imports_go_down, "runtime/x.py", "def f():\n    from lawful.diagrams import dot"),
    Case(imports_go_down, "runtime/x.py", "from lawful.machines.a.service import Service"),
    Case(imports_go_down, "checks/x.py", "from lawful.machines.a.declaration import A"),
    Case(imports_go_down, "checks/x.py", "from lawful import Machine"),
    Case(imports_are_written_one_way, "tests/x.py", "from spec.ir import Machine"),
    Case(imports_are_written_one_way, "spec/x.py", "from lawful.spec.ir import Machine"),
    Case(imports_are_written_one_way, "checks/x.py", "from ..spec.ir import Machine"),
    Case(imports_are_written_one_way, "checks/x.py", "import lawful.spec.ir"),
    Case(imports_are_written_one_way, "lawful/x.py", "from .spec.ir import Machine"),
    Case(heavy_libraries_have_one_home, "checks/a.py checks/b.py checks/c.py", "import z3"),
    Case(heavy_libraries_have_one_home, "checks/a.py spec/b.py", "from numpy import array"),
    Case(third_parties_are_declared, "spec/x.py", "import " + "requests"),
    Case(nothing_imports_the_command_line, "checks/x.py", "from lawful.cli import main"),
    Case(nothing_imports_the_command_line, "lawful/x.py", "from . import cli"),
    Case(only_programs_name_a_machine, "checks/x.py", "name = 'lawful.machines.a'"),
    Case(only_programs_name_a_machine, "lawful/x.py", "from .machines import a"),
    Case(checks_never_print, "checks/x.py", "def f(): print('done')"),
    Case(checks_never_print, "checks/x.py", "import sys\nsys.stdout.write('done')"),
    Case(ignores_say_why, "spec/x.py", "x = 1  # type: ignore[misc]"),
    Case(ignores_say_why, "spec/x.py", "x = 1  # type: ignore  # a blanket hides too much"),
    Case(ignores_say_why, "spec/x.py", "x = 1  # noqa: F401"),
    Case(ignores_say_why, "spec/x.py", "# pyright: basic\nx = 1"),
    Case(nothing_is_left_for_later, "README.md", "TO" + "DO: finish"),
    Case(no_machine_or_registry_is_named, "Makefile", "cd /ro" + "ot/project"),
    Case(no_machine_or_registry_is_named, "setup/x.sh", "pip -i https://py" + "pi.org/simple"),
)


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


ONCE_EACH = list(dict.fromkeys(case.rule for case in RULES))


@pytest.mark.parametrize("rule", ONCE_EACH, ids=lambda rule: rule.__name__)
def test_the_project_keeps(rule: Rule) -> None:
    offences = list(rule(project()))
    if offences:
        pytest.fail("\n".join([rule.__name__, *offences]), pytrace=False)


@pytest.mark.parametrize("case", RULES, ids=lambda case: f"{case.rule.__name__}-{case.path}")
def test_the_rule_can_fail(case: Case) -> None:
    offenders = [Source(path, case.offending) for path in case.path.split()]
    assert list(case.rule(offenders))


EXPLAINED_EXAMPLES = (
    "x = 1  # type: ignore[misc]  # the library is published without types",
    "x = 1  # noqa: F401, E501  # imported for its side effect",
    "x = 1  # pyright: ignore[reportPrivateUsage]  # the door to one's own class",
    "# pyright: strict",
    "x = '# type: ignore'",
)


@pytest.mark.parametrize("text", EXPLAINED_EXAMPLES)
def test_an_explained_ignore_is_kept(text: str) -> None:
    assert not list(ignores_say_why([Source("spec/x.py", text)]))


def test_machines_may_use_the_door_and_the_executor() -> None:
    text = "from lawful import Machine\nfrom lawful.runtime.timers import Timers\nfrom . import a"
    source = [Source("machines/unicast/service.py", text)]
    assert not list(imports_go_down(source)) + list(imports_are_written_one_way(source))


def test_the_walk_finds_every_folder() -> None:
    assert {s.folder for s in project()} >= {*PRODUCT, "tests", "docs", "setup", ".ci"}
    assert "tests/test_house.py" in {s.path for s in project()}


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_links_are_relative(folder: str) -> None:
    link = ROOT / "lawful" / folder
    assert link.is_symlink(), f"lawful/{folder} is to be a link to ../{folder}"
    assert link.readlink() == Path("..") / folder
