"""The scripts that print load figures still run: their machines written by hand are used as the
services use the declared ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.root import PATIENCE, ROOT

FEW = {
    "cluster": ("20", "messages/s"),
    "diffusion": ("20", "its machine written by hand"),
    "scheduler": ("20", "its machine written by hand"),
    "unicast": ("100", "a stream of asyncio over TCP"),
    "windows": ("20", "its machines written by hand"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", FEW)
def test_a_script_runs(name: str) -> None:
    few, line = FEW[name]
    words = [sys.executable, f"benchmarks/{name}.py", few]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False)
    assert (ran.returncode, ran.stderr.decode()[-2_000:]) == (0, "")
    assert line in ran.stdout.decode()
