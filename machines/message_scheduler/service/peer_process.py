"""A peer in a process of its own, which can be killed and started again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Self


class PeerProcess:
    """`lawful run message_scheduler peer NAME`; `port` is where it listens, also after a restart.

    Errors: OSError if it does not begin to listen.
    """

    def __init__(self, name: str, chances: Mapping[str, float], seed: int) -> None:
        self.name = name
        self.port = 0
        self._chances = chances
        self._seed = seed
        self._start()

    def _start(self) -> None:
        words = [sys.executable, "-m", "lawful", "run", "message_scheduler", "peer", self.name]
        words += ["--port", str(self.port), "--seed", str(self._seed), "--lateness", "0.5"]
        for fate, chance in self._chances.items():
            words += [f"--{fate.replace('_', '-')}", str(chance)]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if not said.strip():
            raise OSError(f"peer {self.name} did not begin to listen")
        self.port = int(said.split()[-1])

    def kill_and_restart(self) -> None:
        """Kill it without warning (SIGKILL), and start it again on its port."""
        self._end(self._process.kill)
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end(self._process.terminate)

    def _end(self, how: Callable[[], None]) -> None:
        how()
        self._process.communicate()
