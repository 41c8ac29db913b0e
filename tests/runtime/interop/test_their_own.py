"""The tests of transitions itself, with our machine in the place of its own.

They are part of its source distribution, which pip fetches; nothing of them is kept here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import transitions

from tests.runtime.interop.their_runs import NESTED, RUN

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "transitions.md"
# How many tests a class of theirs has, and how many steps of our machines they make at least.
COUNTS = {
    "test_core TestTransitions": (70, 141),
    "test_add_remove TestTransitionsAddRemove": (3, 9),
    "test_enum TestEnumsAsStates": (10, 11),
    "test_states TestTransitions": (7, 19),
    "test_threading TestLockedTransitions": (75, 151),
    "test_threading TestMultipleContexts": (72, 143),
    "test_async TestAsync": (87, 280),
    "test_experimental TestExperimental": (8, 18),
}
# How many tests a class of theirs for nested states has, how many of their events do the same in
# the imported declaration, and how many are of machines with parallel states.
COMPARED = {
    "test_nesting TestNestedTransitions": (98, 130, 3),
    "test_nesting TestSeparatorsBase": (9, 24, 0),
    "test_nesting TestSeparatorsSlash": (9, 25, 0),
    "test_nesting TestSeparatorsDot": (9, 25, 0),
    "test_nesting TestSeparatorUnicode": (9, 25, 0),
    "test_reuse TestReuse": (12, 57, 0),
    "test_reuse TestReuseSeparatorBase": (1, 3, 0),
    "test_reuse TestReuseSeparatorDot": (1, 3, 0),
    "test_enum TestNestedStateEnums": (22, 20, 1),
    "test_experimental TestHSMExperimental": (8, 18, 0),
    "test_parallel TestParallel": (111, 130, 28),
    "test_threading TestLockedHierarchicalTransitions": (104, 140, 3),
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tests of the version that is installed."""
    folder = tmp_path_factory.mktemp("transitions")
    wanted = f"transitions=={transitions.__version__}"
    command = ["download", "--quiet", "--no-deps", "--no-binary", "transitions", wanted]
    pip = [sys.executable, "-m", "pip", *command, "--dest", str(folder)]
    got = subprocess.run(pip, capture_output=True, text=True, check=False)
    if got.returncode:
        pytest.skip(f"pip cannot fetch {wanted}: {got.stderr.strip()[-200:]}")
    (archive,) = folder.glob("transitions-*.tar.gz")
    with tarfile.open(archive) as held:
        held.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz") / "tests"


def on_the_page(numbers: int) -> dict[str, list[int]]:
    """The rows of a table of the page that has so many numbers behind file and class."""
    page = PAGE.read_text(encoding="utf-8")
    row = r"^\| `(\w+)\.py` \| `(\w+)`" + r" \| (\d+)(?: of \d+)?" * numbers + r" \|$"
    rows: list[list[str]] = re.findall(row, page, re.MULTILINE)
    return {f"{file} {cls}": list(map(int, counts)) for file, cls, *counts in rows}


def test_the_page_has_the_counts() -> None:
    """What the nightly run holds, for the version that is installed."""
    page = PAGE.read_text(encoding="utf-8")
    assert on_the_page(2) == {name: list(counts) for name, counts in COUNTS.items()}
    assert on_the_page(3) == {name: list(counts) for name, counts in COMPARED.items()}
    assert all(f"| {count} of {count} |" in page for count, _ in COUNTS.values())
    assert f"version {transitions.__version__}" in page


def ran(program: str, suite: Path, folder: Path, tests: str) -> Any:
    """What a program prints."""
    (folder / "tests").symlink_to(suite)
    script = folder / "run.py"
    script.write_text(program, encoding="utf-8")
    kept: Mapping[str, str] = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
    }
    made = subprocess.run(
        [sys.executable, str(script), *tests.split()],
        capture_output=True,
        text=True,
        check=False,
        env=kept,
        cwd=folder,
    )
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout.splitlines()[-1])


@pytest.mark.nightly
@pytest.mark.parametrize("tests", COUNTS)
def test_their_own_tests_pass(suite: Path, tmp_path: Path, tests: str) -> None:
    """As many as the page says, with at least as many steps of our machines."""
    count, steps, wrong = ran(RUN, suite, tmp_path, tests)
    assert (wrong, count) == ([], COUNTS[tests][0])
    assert steps >= COUNTS[tests][1]


@pytest.mark.nightly
@pytest.mark.parametrize("tests", COMPARED)
def test_imported_nested_states_do_what_their_own_tests_do(
    suite: Path, tmp_path: Path, tests: str
) -> None:
    """Each event of a machine without parallel states; the counts are those of the page."""
    *counts, wrong = ran(NESTED, suite, tmp_path, tests)
    assert (wrong, tuple(counts)) == ([], COMPARED[tests])
