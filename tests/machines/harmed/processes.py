"""A program of a service as a process, with what is done to it and what it says of itself."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Self

from tests.root import PATIENCE

JUMP = 3_600.0  # Seconds: of the clock of a service, each way.
HARM = {
    signal.SIGUSR1: "clock forward",
    signal.SIGUSR2: "clock back",
    signal.SIGHUP: "wall clock set",
    signal.SIGSTOP: "stopped",
    signal.SIGKILL: "killed",
}
READY = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP)  # Else these end a process.
PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_GROWTH = 64 * 2**20  # Bytes of memory, from before a fault to after it.


@dataclass
class Outcome:
    """What was done to a service, what was seen, and which promises were broken."""

    injected: Counter[str] = field(default_factory=Counter[str])
    observed: Counter[str] = field(default_factory=Counter[str])
    problems: list[str] = field(default_factory=list[str])

    def expect(self, good: object, what: str) -> None:
        """A promise, and whether it was kept."""
        if not good:
            self.problems.append(what)


class Harmed:
    """`lawful run` with these words. What is done to it is counted in the outcome."""

    def __init__(self, outcome: Outcome, *words: object) -> None:
        self.port = 0
        self._outcome = outcome
        self._words = [str(word) for word in words]
        self.jumps = "--jumps" in self._words  # Whether signals set its clock.
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        call = [sys.executable, "-m", "tests.machines.harmed.wall_clock", "run", *self._words]
        return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def listening(self) -> Self:
        """Wait until it says at which port it listens."""
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert re.search(r"\d+$", said.strip()), f"{self._words}: {said}{self.rest()}"
        self.port = int(re.findall(r"\d+", said)[-1])
        if "--port" not in self._words:
            self._words += ["--port", str(self.port)]  # Where it is started again.
        return self

    def send(self, number: signal.Signals) -> None:
        """A signal, as soon as the process is ready for it."""
        if number in READY:
            until(lambda: self.over or self._catches(number))
        self._process.send_signal(number)
        self._outcome.injected[HARM[number]] += 1

    def _catches(self, number: signal.Signals) -> bool:
        with open(f"/proc/{self._process.pid}/status", encoding="ascii") as file:
            (mask,) = (line.split()[1] for line in file if line.startswith("SigCgt:"))
        return bool(int(mask, 16) >> (number - 1) & 1)

    def jump(self) -> None:
        """Its clock goes forward and back, and the wall clock with it."""
        for number in (signal.SIGUSR2, signal.SIGHUP, signal.SIGUSR1):
            self.send(number)

    def stand_still(self, seconds: float) -> None:
        """Stop it for so long."""
        self.send(signal.SIGSTOP)
        time.sleep(seconds)
        self.go_on()

    def go_on(self) -> None:
        """After it has stood still."""
        self._process.send_signal(signal.SIGCONT)

    def kill_and_restart(self) -> None:
        """Kill it without warning, and start it again with the same words."""
        self.send(signal.SIGKILL)
        self.rest()
        self._process = self._start()

    @property
    def over(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> tuple[int, str]:
        """End it as its user would; the exit code, and what it says then."""
        self._process.terminate()
        said = self.rest()
        return self._process.returncode, said

    def rest(self) -> str:
        """What it says until it ends."""
        said, _ = self._process.communicate(timeout=PATIENCE)
        return said

    def memory(self) -> int:
        """Bytes that are in memory now; 0 after its end."""
        try:
            with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * PAGE
        except FileNotFoundError:
            return 0

    def files(self) -> int:
        """How many files and sockets it has open; 0 after its end."""
        try:
            return len(os.listdir(f"/proc/{self._process.pid}/fd"))
        except FileNotFoundError:
            return 0

    @contextlib.contextmanager
    def spared(self, more: int = 0) -> Generator[None, None, None]:
        """What is done meanwhile leaves no socket open but so many, and no memory taken."""
        files, memory = self.files(), self.memory()
        yield
        gone = until(lambda: self.files() <= files + more)
        self._outcome.expect(gone, f"{self.files() - files} files stay open: {self._words[:3]}")
        grown = self.memory() - memory
        self._outcome.expect(grown < MOST_GROWTH, f"{grown} bytes more: {self._words[:3]}")
        self._outcome.observed["KiB of growth"] += max(0, grown // 1_024)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.over:
            self.go_on()
            self._process.kill()
            self._process.communicate()


def until(true: Callable[[], object], seconds: float = 30.0) -> bool:
    """Wait until it is true, for so long at most; whether it is."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def counted(said: str) -> Counter[str]:
    """The counts in what a program says, `name 3` or `3 name`."""
    found = Counter[str]()
    for line in said.splitlines():
        for each in line.rpartition(": ")[2].split(", "):
            for pattern in (r"(?P<name>[a-z_ ]+) (?P<n>\d+)", r"(?P<n>\d+) (?P<name>[a-z_ ]+)"):
                if match := re.fullmatch(pattern, each.strip()):
                    found[match["name"]] += int(match["n"])
    return found
