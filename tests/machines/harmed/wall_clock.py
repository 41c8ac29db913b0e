"""`lawful` in a process whose wall clock is set, by SIGHUP: an hour forward, an hour back, right.

    python -m tests.machines.harmed.wall_clock run unicast member A

The time of day is that of the module `time`. The monotonic clock stays as it is, as it does where
somebody sets the clock of a computer.
"""

from __future__ import annotations

import signal
import sys
import time
from itertools import cycle

HOUR = 3_600
OFFSETS = (HOUR, -HOUR, 0)


class WallClock:
    """The time of day, and a number of seconds that a signal changes."""

    def __init__(self) -> None:
        self._right = time.time_ns
        self._offset = 0
        self._next = cycle(OFFSETS)

    def now(self) -> int:
        """Nanoseconds since 1970."""
        return self._right() + self._offset * 10**9

    def jump(self, *_: object) -> None:
        """Set it."""
        self._offset = next(self._next)


def main() -> int:
    """Run `lawful` with the words of this process."""
    clock = WallClock()
    time.time_ns = clock.now
    time.time = lambda: clock.now() / 1e9
    signal.signal(signal.SIGHUP, clock.jump)
    from lawful.cli import main as run  # Whatever it imports gets this time of day.

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
