"""When a search stops before its end, and what it tells on the way."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Reason = Literal["", "states", "seconds", "memory", "first", "asked"]
Over = Callable[[], bool] | None


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop early; None is no limit. `first`: at the first violation. `memory`: bytes that
    the process holds. `stop` is asked every so often whether somebody wants it to end. `resume`:
    the folder where snapshots are kept, from which it goes on. `workers`: so many threads expand
    states at once, where machine code does; None is one for each processor."""

    states: int | None = None
    seconds: float | None = None
    first: bool = False
    memory: int | None = None
    stop: Callable[[], bool] | None = None
    resume: Path | None = None
    workers: int | None = None

    def met(self, states: int, seconds: float, failed: bool) -> Reason:
        """The limit that so many states and seconds have come to; nothing if none."""
        if self.states is not None and states >= self.states:
            return "states"
        if self.seconds is not None and seconds >= self.seconds:
            return "seconds"
        if self.first and failed:
            return "first"
        if self.memory is not None and resident() >= self.memory:
            return "memory"
        if self.stop is not None and self.stop():
            return "asked"
        return ""

    def over(self, started: float) -> Over:
        """Tells whether the seconds since then, an instant of `time.perf_counter`, are over, or
        somebody wants it to end; None where neither can be."""
        if self.seconds is None and self.stop is None:
            return None

        def told() -> bool:
            late = self.seconds is not None and time.perf_counter() > started + self.seconds
            return late or (self.stop is not None and self.stop())

        return told


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is."""

    distinct: int
    generated: int
    depth: int
    frontier: int
    seconds: float


def resident() -> int:
    """The bytes of memory that this process holds; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
