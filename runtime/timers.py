"""Clocks, and timers as data: a timer is the instant at which it is due, or None.

Nothing here waits or starts a thread. A machine's timers are read (`lawful.next_deadline`) and
fired (`lawful.fire_due`) by whoever owns the loop. What was scheduled outside is a `Due`: it is
honoured only while its timer still has that deadline, so a timer that was stopped, or started
again for later, never fires late.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Seconds that never decrease; their zero is the clock's own."""

    def now(self) -> float:
        """The time in seconds."""
        ...


class RealClock:
    """The operating system's monotonic clock; it does not jump when the wall clock is set."""

    __slots__ = ()

    def now(self) -> float:
        """Seconds since some instant before this process."""
        return time.monotonic()


class SimulatedClock:
    """A clock that stands still until it is told otherwise."""

    __slots__ = ("_now",)

    def __init__(self, now: float = 0.0) -> None:
        self._now = now

    def now(self) -> float:
        """Seconds as of the last `advance`."""
        return self._now

    def advance(self, seconds: float) -> float:
        """Let so many seconds pass; the time after it. ValueError for less than none."""
        if not seconds >= 0:
            raise ValueError(f"a clock goes forward, not by {seconds} seconds")
        self._now += seconds
        return self._now


class Time:
    """The time of one machine and its parts: its clock's, or the instant that is being fired."""

    __slots__ = ("clock", "now")

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.now: Callable[[], float] = clock.now

    def stop_at(self, instant: float) -> None:
        """Until `go_on` this is the time."""
        self.now = lambda: instant

    def go_on(self) -> None:
        """The time is the clock's again."""
        self.now = self.clock.now


REAL = RealClock()
