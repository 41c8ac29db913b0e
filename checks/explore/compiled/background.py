"""A second process that compiles the generated steps while the search goes on with plain Python.

    python -m lawful.checks.explore.compiled.background

compiles the steps that come as JSON at its input, and keeps the machine code on disk. When the
search ends first, the process goes on: it takes seconds, and the next search uses its machine code.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time

from ..expansion.successors import Text

# Processor seconds of plain steps before anything is compiled: a small search is done by then. To
# import the compiler and to load machine code takes about as long.
PATIENCE = 0.3


class BackgroundCompiler:
    """Says when machine code is ready; it starts the second process when that pays."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.began = time.process_time()
        self.possible = importlib.util.find_spec("llvmlite") is not None
        self.seconds = 0.0  # That the second process took, once it is done.
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0

    def ready(self) -> bool:
        """Whether it is time to go over to machine code."""
        if not self.possible or time.process_time() - self.began < PATIENCE:
            return False
        if self._process is not None:
            if self._process.poll() is None:
                return False
            self.seconds = time.perf_counter() - self._started
            return True
        from .llvm import kept

        file = kept(self.text)
        if file is None or file.exists():
            return True
        self._process, self._started = _started(self.text), time.perf_counter()
        return False


def _started(text: Text) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = (sys.executable, "-m", __name__)
    out, given = subprocess.DEVNULL, subprocess.PIPE
    made = subprocess.Popen(command, env=env, stdin=given, stdout=out, stderr=out)
    assert made.stdin is not None
    with made.stdin as file:
        file.write(json.dumps(text).encode())
    return made


if __name__ == "__main__":
    from .llvm import kept, make

    read = Text(*json.load(sys.stdin))
    make(read, kept(read))
