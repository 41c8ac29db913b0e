"""A clock that signals set while a process runs, to try what becomes of a service."""

from __future__ import annotations

import argparse
import signal
import time
from collections import Counter

from lawful import argument_types as types


class JumpingClock:
    """The monotonic clock, which SIGUSR1 sets forward by so many seconds, and SIGUSR2 back.

    `counts` has the jumps. Only the main thread of a process may make one.
    """

    def __init__(self, seconds: float) -> None:
        self.counts = Counter({"forward": 0, "back": 0})
        self._seconds = seconds
        self._offset = 0.0
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, self._jump)

    def now(self) -> float:
        """Seconds; they may go back."""
        return time.monotonic() + self._offset

    def _jump(self, number: int, _: object) -> None:
        forward = number == signal.SIGUSR1
        self._offset += self._seconds if forward else -self._seconds
        self.counts["forward" if forward else "back"] += 1

    def __str__(self) -> str:
        return f"clock jumps: forward {self.counts['forward']}, back {self.counts['back']}"


def add_jumps(parser: argparse.ArgumentParser) -> None:
    """The option `--jumps`; of what it is given, `JumpingClock` makes a clock."""
    parser.add_argument(
        "--jumps",
        type=types.seconds,
        metavar="SECONDS",
        help="to try it: SIGUSR1 sets the clock of the service forward by so much, SIGUSR2 back",
    )
