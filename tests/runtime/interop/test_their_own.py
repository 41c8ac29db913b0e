"""The tests of transitions itself, with our machine in the place of its own.

They are part of its source distribution, which pip fetches; nothing of them is kept here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import transitions

ROOT = Path(__file__).parents[3]
# Nothing may be decided by transitions itself.
RUN = """
import importlib, json, logging, sys, unittest
import transitions.extensions
from lawful.runtime.interop import decided, drop_in

def asked(*args):
    raise AssertionError("transitions was asked")

def counted(step, make=decided.ProposedStep.make):
    steps.append(step)
    return make(step)

logging.disable(logging.CRITICAL)
steps = []
decided.ProposedStep.make = counted
transitions.Machine = drop_in.LawfulMachine
transitions.extensions.factory._CLASS_MAP[False, False, False, False] = drop_in.LawfulMachine
transitions.Transition._eval_conditions = transitions.Transition._change_state = asked
transitions.Event._process = asked
module = importlib.import_module(f"tests.{sys.argv[1]}")
module.Machine = drop_in.LawfulMachine
suite = unittest.defaultTestLoader.loadTestsFromTestCase(getattr(module, sys.argv[2]))
result = unittest.TextTestRunner(stream=sys.stderr).run(suite)
wrong = [str(test) for test, _ in (*result.failures, *result.errors)]
print(json.dumps([result.testsRun, len(steps), wrong]))
"""


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


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("tests", "least"),
    [
        ("test_core TestTransitions", (70, 141)),
        ("test_add_remove TestTransitionsAddRemove", (3, 9)),
        ("test_enum TestEnumsAsStates", (10, 11)),
        ("test_states TestTransitions", (7, 19)),
    ],
)
def test_their_own_tests_pass(
    suite: Path, tmp_path: Path, tests: str, least: tuple[int, int]
) -> None:
    """As many as there are, with at least as many steps of our machines."""
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
    assert ran >= least[0]
    assert stepped >= least[1]
