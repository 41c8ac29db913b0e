"""The process of a command spends nothing on looking for garbage, and nothing at its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.root import ROOT

# At its end a process tells how often garbage was sought, and at how many objects Python would look
# once more.
PROCESS = """
import atexit, gc, sys

def tell():
    sought = sum(each["collections"] for each in gc.get_stats()) - before
    print(sought, len(gc.get_objects()), file=sys.stderr)

atexit.register(tell)
from lawful.__main__ import command
before = sum(each["collections"] for each in gc.get_stats())
sys.exit(command())
"""
TARGET = "tests/classics/commit.py:TCommit"


def ended(tmp_path: Path, *words: str) -> tuple[int, int, int]:
    """The exit code of a command; how often it sought garbage; the objects looked at at its end."""
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        (sys.executable, "-c", PROCESS, *words),
        check=False,
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
    )
    sought, objects = map(int, done.stderr.splitlines()[-1].split())
    return done.returncode, sought, objects


def test_a_check_seeks_no_garbage_and_ends_at_once(tmp_path: Path) -> None:
    """Python's own settings: some 100 searches, and 100,000 objects at the end."""
    code, sought, objects = ended(tmp_path, "check", TARGET)
    assert code == 0
    assert sought <= 2
    assert objects < 1_000


def test_a_command_that_fails_ends_as_soon(tmp_path: Path) -> None:
    code, _, objects = ended(tmp_path, "check", "no.such:Machine")
    assert code == 5
    assert objects < 1_000


@pytest.mark.nightly
def test_a_service_seeks_garbage_as_often_as_python_does(tmp_path: Path) -> None:
    """It lives for long."""
    words = ("run", "unicast", "--messages", "200", "--seconds", "600")
    code, sought, _ = ended(tmp_path, *words)
    assert code == 0
    assert sought > 20
