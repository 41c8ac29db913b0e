"""The bus and brokers as processes of their own, which can be killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Self


class ClusterProcess:
    """`lawful run queue_cluster` with these words; `port` is where it listens, also after a
    restart. Errors: OSError if it does not begin to listen."""

    def __init__(self, words: Sequence[str]) -> None:
        self.port = 0
        self._words = words
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "lawful", "run", "queue_cluster", *self._words]
        words += ["--port", str(self.port)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        said = process.stdout.readline()
        if not said.strip():
            process.wait()
            process.stdout.close()
            raise OSError(f"{' '.join(self._words)} did not begin to listen")
        self.port = int(said.split()[-1])
        return process

    def kill(self) -> None:
        """End it without warning (SIGKILL)."""
        self._process.kill()
        self._process.communicate()

    def restart(self) -> None:
        """Start it again on its port, after `kill`."""
        self._process = self._start()

    def stop(self) -> None:
        """Let it stand still (SIGSTOP)."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self._process.pid, signal.SIGCONT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.resume()
            self._process.terminate()
            self._process.communicate()
