"""Limits and budgets of a search, and the progress that it reports."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from lawful.spec.quick_dataclass import dataclass

Reason = Literal["", "states", "seconds", "memory", "first", "asked"]
Over = Callable[[], bool] | None


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop early; None is no limit. `first`: at the first violation. `memory`: bytes that
    the process holds. `stop` is called from time to time, and returns whether to stop. `resume`:
    the folder of snapshots, from which the search continues. `workers`: the number of threads that
    expand states in machine code; None is one for each processor. `spill`: the folder in which the
    states are, in place of memory."""

    states: int | None = None
    seconds: float | None = None
    first: bool = False
    memory: int | None = None
    stop: Callable[[], bool] | None = None
    resume: Path | None = None
    workers: int | None = None
    spill: Path | None = None

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

    def within(self) -> Limits:
        """Those of them that can be met in the middle of one state."""
        return replace(self, states=None, first=False)

    def afterwards(self, stopped: Reason) -> Limits:
        """The limits for reporting after a search that this stopped: the same number of seconds
        again; a further request to stop has no effect."""
        asked = stopped == "asked"
        seconds = self.seconds if self.seconds is not None or not asked else 0.0
        return Limits(
            seconds=None if seconds is None else max(GRACE, seconds),
            stop=None if asked else self.stop,
        )

    def of_seconds(self, started: float) -> Budget:
        """A budget for what comes before a search that began then: of the seconds alone, so that it
        takes none of the work that other limits count."""
        return Budget(Limits(seconds=self.seconds), started)

    def over(self, started: float) -> Over:
        """Tells whether the seconds since then, an instant of `time.perf_counter`, are over, or
        somebody wants it to end; None where neither can be."""
        if self.seconds is None and self.stop is None:
            return None

        def told() -> bool:
            late = self.seconds is not None and time.perf_counter() > started + self.seconds
            return late or (self.stop is not None and self.stop())

        return told


def looked(most: int) -> Callable[[], bool]:
    """Tells that it is enough from the so-manieth time on that it is asked: a limit that is the
    same on every machine, as one of seconds is not."""
    looks = itertools.count()
    return lambda: next(looks) >= most


class OutOfBudget(Exception):
    """A limit is met in the middle of the work; `reason` is which."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class Budget:
    """Tells every loop that may be long whether to continue; without limits it always may.

    `met` is the limit that was reached, if one was. Only every `EVERY`th call checks the limits, so
    that a loop may call it in each round. The search itself checks the limits of states and of the
    first violation.
    """

    EVERY = 64

    def __init__(self, limits: Limits | None = None, started: float | None = None) -> None:
        self._limits = None if limits is None else limits.within()
        self._started = time.perf_counter() if started is None else started
        self._asked = 0
        self.met: Reason = ""

    def ask(self) -> None:
        """Raises `OutOfBudget` where a limit is met."""
        if self._limits is None:
            return
        self._asked += 1
        if self.met or self._asked % self.EVERY == 0:
            self.look()

    def look(self) -> None:
        """The same, and it looks at once: for loops whose rounds are long."""
        if self._limits is None:
            return
        if not self.met:
            seconds = time.perf_counter() - self._started
            self.met = self._limits.met(0, seconds, False)
        if self.met:
            raise OutOfBudget(self.met)


GRACE = 5.0  # Seconds in which a search that was stopped tells what it found, at least.


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
