"""The process that makes better machine code ends with the command that started it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.root import PATIENCE, ROOT

# The command tells of its second process, which does nothing until it is told to go on, and waits
# for the end of its input.
COMMAND = """
import os, signal, sys
from lawful import cli
from lawful.checks.explore.compiled import background, pace, plain

started = background._started

def stopped(text):
    process = started(text)
    os.kill(process.pid, signal.SIGSTOP)
    print(process.pid, flush=True)
    sys.stdin.read()
    return process

background._started = stopped
background.PATIENCE = background.LONGER = background.COMPILER = background.CHARACTER = 0.0
plain.SLICE = pace.FIRST = 7
target = "tests/classics/two_phase.py:TwoPhase"
sys.exit(cli.main(["check", target, "--quiet"]))
"""


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs the handle of a process")
@pytest.mark.parametrize("sent", [None, signal.SIGINT, signal.SIGKILL])
def test_it_never_outlives_the_command(sent: signal.Signals | None, tmp_path: Path) -> None:
    """Which ends, is interrupted, or is killed. The code would be kept, if it were made."""
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        (sys.executable, "-c", COMMAND), cwd=ROOT, env=env, stdin=pipe, stdout=pipe, text=True
    ) as command:
        assert command.stdin is not None and command.stdout is not None
        other = int(command.stdout.readline())
        handle = os.pidfd_open(other)
        try:
            if sent is not None:
                command.send_signal(sent)
            command.stdin.close()
            command.wait(PATIENCE)
            if sent is signal.SIGKILL:  # What was killed cannot end another process.
                assert command.returncode == -sent
                assert select.select([handle], [], [], 0.0)[0] == []
                os.kill(other, signal.SIGCONT)
            assert select.select([handle], [], [], PATIENCE)[0] == [handle]
        finally:
            os.close(handle)
    assert len(list(tmp_path.glob("lawful/steps/*"))) == 1  # What was made at once.
