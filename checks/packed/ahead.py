"""Machine code made by a second process, while the plain steps go on.

    python -m lawful.checks.packed.ahead FOLDER

compiles the steps that stand in the folder, and keeps the machine code there.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

from . import kept

# Processor seconds of plain steps before anything is compiled: what is smaller is done by then. To
# import the compiler and to load machine code takes about as long.
PATIENCE = 0.7


class Ahead:
    """The second process, if there is one."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.began = time.process_time()
        self.possible = importlib.util.find_spec("numba") is not None
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def ready(self) -> bool:
        """Whether it is time to go over to machine code."""
        if not self.possible or time.process_time() - self.began < PATIENCE:
            return False
        if self._process is not None:
            return self._process.poll() is not None
        self._folder = kept.folder(self.source)
        if self._folder is None or kept.is_there(self._folder):
            return True
        self._process = _started(self._folder)
        return False

    def stop(self) -> None:
        """Nobody waits for it any more."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _started(folder: Path) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = (sys.executable, "-m", __name__, str(folder))
    out = subprocess.DEVNULL
    return subprocess.Popen(command, env=env, stdin=out, stdout=out, stderr=out)


if __name__ == "__main__":
    from .core import compiled

    compiled(kept.text(Path(sys.argv[1])))
