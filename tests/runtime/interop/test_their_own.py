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
from pathlib import Path

import pytest
import transitions

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "transitions.md"
# Nothing may be decided by transitions itself.
RUN = """
import importlib, json, logging, sys, unittest
import transitions.extensions.factory
from transitions.extensions import asyncio
from lawful.runtime.interop import async_drop_in, decided, drop_in, locked

def asked(*args):
    raise AssertionError("transitions was asked")

def counted(step, make=decided.ProposedStep.make):
    steps.append(step)
    return make(step)

logging.disable(logging.CRITICAL)
steps = []
decided.ProposedStep.make = counted
for cls in transitions.Transition, asyncio.AsyncTransition:
    cls._eval_conditions = cls._change_state = asked
transitions.Event._process = asyncio.AsyncEvent._process = asyncio.AsyncTransition.execute = asked
ours = {
    "Machine": drop_in.LawfulMachine,
    "LockedMachine": locked.LockedLawfulMachine,
    "AsyncMachine": async_drop_in.AsyncLawfulMachine,
    # A test of asynchronous machines that takes this one has no nested states.
    "HierarchicalAsyncMachine": async_drop_in.AsyncLawfulMachine,
}
transitions.Machine = ours["Machine"]
made = transitions.extensions.factory._CLASS_MAP
made[False, False, False, False] = ours["Machine"]
made[False, False, True, False] = ours["LockedMachine"]
made[False, False, False, True] = ours["AsyncMachine"]
module = importlib.import_module(f"tests.{sys.argv[1]}")
for name in ours:
    setattr(module, name, ours[name])
suite = unittest.defaultTestLoader.loadTestsFromTestCase(getattr(module, sys.argv[2]))
result = unittest.TextTestRunner(stream=sys.stderr).run(suite)
wrong = [str(test) for test, _ in (*result.failures, *result.errors, *result.skipped)]
print(json.dumps([result.testsRun, len(steps), wrong]))
"""
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


def test_the_page_has_the_counts() -> None:
    """What the nightly run holds, for the version that is installed."""
    page = PAGE.read_text(encoding="utf-8")
    row = r"^\| `(\w+)\.py` \| `(\w+)` \| (\d+) of (\d+) \| (\d+) \|"
    rows: list[list[str]] = re.findall(row, page, re.MULTILINE)
    assert {f"{file} {cls}": list(map(int, counts)) for file, cls, *counts in rows} == {
        name: [count, count, steps] for name, (count, steps) in COUNTS.items()
    }
    assert f"version {transitions.__version__}" in page


@pytest.mark.nightly
@pytest.mark.parametrize("tests", COUNTS)
def test_their_own_tests_pass(suite: Path, tmp_path: Path, tests: str) -> None:
    """As many as the page says, with at least as many steps of our machines."""
    (tmp_path / "tests").symlink_to(suite)
    script = tmp_path / "run.py"
    script.write_text(RUN, encoding="utf-8")
    kept = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    made = subprocess.run(
        [sys.executable, str(script), *tests.split()],
        capture_output=True,
        text=True,
        check=False,
        env=kept,
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stderr
    ran, stepped, wrong = json.loads(made.stdout.splitlines()[-1])
    assert wrong == [], made.stderr
    count, least = COUNTS[tests]
    assert ran == count
    assert stepped >= least
