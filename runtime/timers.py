"""Clocks, and timers as data: a timer is the instant at which it is due, or None.

Nothing here waits or starts a thread. The owner of the loop reads a machine's next deadline
(`lawful.next_deadline`) and fires its timers (`lawful.fire_due`); `deadlines.Deadlines` does so for
many instances. The machine's state then decides what fires: a timer that was stopped, or started
again for later, does not fire.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

from lawful.spec.values.time import passed, until_due

from .elements import NO_ELEMENTS, Elements, Members

MILLISECONDS = 1_000.0  # Of a second.


class Clock(Protocol):
    """A source of the time in seconds, which never decrease; each clock has its own zero."""

    def now(self) -> float:
        """The time in seconds."""
        ...


def can_tell_time(clock: object) -> bool:
    """Whether it is a clock, or None, which stands for the operating system's."""
    return clock is None or callable(getattr(clock, "now", None))


class RealClock:
    """The operating system's monotonic clock; it does not jump when the wall clock is set."""

    __slots__ = ()

    # A function of C is called without a new object for each instance.
    now = staticmethod(time.monotonic)


class SimulatedClock:
    """A clock that changes only by `advance`."""

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


class SteadyClock:
    """A clock that never goes back: while the other one does, no time passes.

    `unit`: how many of its units are one second of the other clock, `MILLISECONDS` for example.
    When the other clock goes back, time goes on from where it was: nobody waits until the other
    clock has caught up. When it goes forward, as much time has passed.
    """

    __slots__ = ("_clock", "_last", "_latest", "_lost", "_unit")

    def __init__(self, clock: Clock, unit: float = 1.0) -> None:
        self._clock = clock
        self._unit = unit
        self._last = clock.now()
        self._lost = 0.0  # Seconds that the other clock has gone back, in all.
        self._latest = self._last * unit

    def now(self) -> float:
        """The time in this clock's units."""
        now = self._clock.now()
        if now < self._last:
            self._lost += self._last - now
        self._last = now
        self._latest = max(self._latest, (now + self._lost) * self._unit)  # It was rounded.
        return self._latest


class Environment:
    """The context that a machine shares with its parts: the time, and the universe.

    `now()` gives the time: that of the clock, or, while the time is paused, one instant. `universe`
    has the elements of the sorts that the caller gave, `members` the same as sets for look-ups,
    None if the caller gave none. `ticks` counts the ticks of a machine with a `Clock`.
    `last_transition` is the name of the transition that ran last, None if the event was ignored.
    """

    __slots__ = ("clock", "last_transition", "members", "now", "ticks", "universe")

    def __init__(self, clock: Clock, universe: Elements = NO_ELEMENTS) -> None:
        self.clock = clock
        self.universe = universe
        self.members: Members | None = universe.members if universe else None
        self.now: Callable[[], float] = clock.now
        self.ticks: Ticks | None = None
        self.last_transition: str | None = None

    def pause_at(self, instant: float) -> None:
        """Let the time be this instant from now on; who ends this stores `clock.now` in `now`."""
        self.now = lambda: instant

    @property
    def paused(self) -> bool:
        """Whether the time stands still."""
        return self.now != self.clock.now

    def due(self, seconds: float) -> float:
        """The deadline of a timer that is started now.

        In a machine with a `Clock` the deadline is not before the tick at which the timer is due in
        an exploration. ValueError for seconds that are no finite number.
        """
        now = self.now()
        if self.ticks is not None:
            return self.ticks.deadline(now, seconds)
        if not math.isfinite(now + seconds):
            raise ValueError(f"a timer is started for a time that ends, not for {seconds} seconds")
        return now + seconds


class Ticks:
    """The value of a `Clock` variable: whole ticks since `begun`, by the machine's time."""

    __slots__ = ("_latest", "begun", "tick", "time")

    def __init__(self, time: Environment, tick: float, begun: float) -> None:
        self.time = time
        self.tick = tick
        self.begun = begun
        self._latest = 0

    @property
    def now(self) -> int:
        """The present tick; it never decreases, even if `fire_due` gets an earlier time."""
        self._latest = max(self._latest, self._at(self.time.now()))
        return self._latest

    def _at(self, instant: float) -> int:
        return passed(instant - self.begun, self.tick)

    def deadline(self, now: float, seconds: float) -> float:
        """The instant when the seconds have passed and the clock has counted their ticks."""
        wanted = self.now + until_due(seconds, self.tick)
        at = now + seconds
        if seconds > 0 and self._at(at) < wanted:
            at = max(at, self.begun + wanted * self.tick)
            while self._at(at) < wanted:  # The sum of two floats may fall short of the tick.
                at = math.nextafter(at, math.inf)
        return at

    def __repr__(self) -> str:
        return f"Clock(tick={self.tick}, now={self.now})"


def begun(now: float, seconds: float, tick: float) -> float:
    """The instant at which a clock began that has run for so many seconds.

    It is adjusted until the clock shows the same number of whole ticks, which the difference of two
    floats may miss."""
    at, wanted = now - seconds, passed(seconds, tick)
    while passed(now - at, tick) < wanted:
        at = math.nextafter(at, -math.inf)
    while passed(now - at, tick) > wanted:
        at = math.nextafter(at, math.inf)
    return at


def ticks_of(time: Environment, tick: float, begun: float) -> Ticks:
    """The one count of ticks of a machine and its parts, made when the first of them needs it."""
    if time.ticks is None:
        time.ticks = Ticks(time, tick, begun)
    return time.ticks


REAL = RealClock()
# Instances that use neither time nor universe share it: they read nothing in it that changes.
SHARED_ENVIRONMENT = Environment(REAL)
