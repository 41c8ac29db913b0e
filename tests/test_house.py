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

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.house.budgets import BUDGETS, every_test_has_a_budget
from tests.house.commands import commands_are_short, only_the_command_line_knows_namespaces
from tests.house.imports import (
    heavy_libraries_have_one_home,
    imports_are_written_one_way,
    imports_go_down,
    imports_go_down_inside,
    imports_make_no_ring,
    nothing_imports_the_command_line,
    only_programs_name_a_machine,
    third_parties_are_declared,
    z3_stays_behind_its_door,
)
from tests.house.names import a_name_has_one_concern, modules_are_nouns
from tests.house.sizes import (
    SIZES,
    files_are_short,
    folders_are_small,
    functions_are_mostly_tiny,
    functions_are_short,
    lines_are_short,
    lines_of_packages,
    parameters_are_few,
    sizes_are_written_down,
)
from tests.house.sources import FOLDERS, PRODUCT, Rule, Source, project
from tests.house.tables import operators_are_listed_once, verdicts_are_listed_once
from tests.house.text import (
    cancellations_arrive,
    checks_never_print,
    ignores_say_why,
    no_machine_or_registry_is_named,
    nothing_is_left_for_later,
)
from tests.root import ROOT

# One process reads the project's files.
pytestmark = pytest.mark.xdist_group("house")


@dataclass(frozen=True)
class Case:
    rule: Rule
    path: str
    offending: str


SEVEN = "def f(a: int, b: int, c: int, d: int, e: int, f: int) -> None: ...\n"
RULES = (
    Case(files_are_short, "spec/x.py", "x = 1\n" * 450),
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
    Case(folders_are_small, " ".join(f"spec/m{n}.py" for n in range(26)), "x = 1"),
    Case(sizes_are_written_down, "spec/x.py", "x = 1"),
    Case(every_test_has_a_budget, BUDGETS, "checkers 300\ncollecting 301\n"),
    Case(every_test_has_a_budget, BUDGETS, "tests/nowhere 1"),
    Case(every_test_has_a_budget, "tests/spec/test_x.py", "x = 1"),
    Case(imports_go_down_inside, "spec/types.py", "from .ir import Machine"),
    Case(imports_go_down_inside, "spec/x.py", "x = 1"),
    Case(imports_go_down_inside, "checks/smt/system.py", "from lawful.checks.prove import How"),
    Case(
        imports_go_down_inside,
        "runtime/kernel/state.py",
        "def f():\n    from lawful.runtime.instance import Machine",
    ),
    Case(imports_make_no_ring, "spec/a.py spec/b.py", "from .a import x\nfrom .b import y"),
    Case(modules_are_nouns, "checks/told.py", "x = 1"),
    Case(a_name_has_one_concern, "spec/x.py checks/x.py", "x = 1"),
    Case(
        z3_stays_behind_its_door, "checks/prove/x.py", "from lawful.checks.smt.solver.a import z3"
    ),
    Case(imports_are_written_one_way, "spec/x.py", "from lawful.spec.ir import Machine"),
    Case(imports_are_written_one_way, "checks/x.py", "from ..spec.ir import Machine"),
    Case(imports_are_written_one_way, "checks/x.py", "import lawful.spec.ir"),
    Case(imports_are_written_one_way, "lawful/x.py", "from .spec.ir import Machine"),
    Case(heavy_libraries_have_one_home, "checks/a.py checks/b.py checks/c.py", "import z3"),
    Case(heavy_libraries_have_one_home, "checks/a.py spec/b.py", "from numpy import array"),
    Case(third_parties_are_declared, "spec/x.py", "import " + "requests"),
    Case(nothing_imports_the_command_line, "checks/x.py", "from lawful.cli import main"),
    Case(nothing_imports_the_command_line, "lawful/x.py", "from . import cli"),
    Case(commands_are_short, "lawful/commands/x.py", "def x():\n" + "    y = 1\n" * 15),
    Case(
        only_the_command_line_knows_namespaces,
        "lawful/x.py",
        "import argparse\ndef f(given: argparse.Namespace): ...",
    ),
    Case(
        only_the_command_line_knows_namespaces, "checks/x.py", "from argparse import Namespace as N"
    ),
    Case(imports_make_no_ring, "lawful/a.py lawful/b.py", "from .a import x\nfrom .b import y"),
    Case(only_programs_name_a_machine, "checks/x.py", "name = 'lawful.machines.a'"),
    Case(only_programs_name_a_machine, "lawful/x.py", "from .machines import a"),
    Case(cancellations_arrive, "runtime/x.py", "import asyncio\nawait asyncio.wait_for(x, 1)"),
    Case(checks_never_print, "checks/x.py", "def f(): print('done')"),
    Case(checks_never_print, "checks/x.py", "import sys\nsys.stdout.write('done')"),
    Case(ignores_say_why, "spec/x.py", "x = 1  # type: ignore[misc]"),
    Case(ignores_say_why, "spec/x.py", "x = 1  # type: ignore  # a blanket hides too much"),
    Case(ignores_say_why, "spec/x.py", "x = 1  # noqa: F401"),
    Case(ignores_say_why, "spec/x.py", "# pyright: basic\nx = 1"),
    Case(operators_are_listed_once, "runtime/x.py", 'RING = {"rank", "successor", "predecessor"}'),
    Case(operators_are_listed_once, "checks/x.py", 'if op in ("add", "sub", "neg"): ...'),
    Case(
        operators_are_listed_once,
        "checks/x.py",
        'match op:\n    case "set" | "list" | "tuple":\n        pass',
    ),
    Case(verdicts_are_listed_once, "checks/x.py", 'FAULTS = ("bounds", "asserts", "undefined")'),
    Case(verdicts_are_listed_once, "runtime/x.py", 'GOOD = ["proved", "holds", "bounded"]'),
    Case(verdicts_are_listed_once, "lawful/x.py", 'if x in ("assume", "terminal", "refines"): ...'),
    Case(nothing_is_left_for_later, "README.md", "TO" + "DO: finish"),
    Case(no_machine_or_registry_is_named, "Makefile", "cd /ro" + "ot/project"),
    Case(no_machine_or_registry_is_named, "setup/x.sh", "pip -i https://py" + "pi.org/simple"),
)


@pytest.fixture(scope="module", autouse=True)
def no_tree_outlives_the_tests() -> Iterator[None]:
    """A million nodes would slow down every garbage collection of the tests that come later."""
    yield
    project.cache_clear()


ONCE_EACH = list(dict.fromkeys(case.rule for case in RULES))


def test_the_table_of_sizes_is_written_on_demand() -> None:
    if os.environ.get("SIZES") == "write":
        (ROOT / SIZES).write_text(lines_of_packages(project()), encoding="utf-8")
        project.cache_clear()


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
