"""Budgets for Z3: in its own units of work (`rlimit`), not in seconds.

A unit is a piece of work that Z3 counts itself. The same search takes the same number of units on
an idle machine and on a loaded one, so that whether it comes to an answer does not depend on the
machine's load. Seconds are an outer limit alone: where they end a search, its answer says so.
"""

from __future__ import annotations

import time
from math import inf

from lawful.spec.quick_dataclass import dataclass

UNITS = 30_000_000  # For each obligation; those of the machines here take a million at most.
SECONDS = 600.0  # The outer limit; the units are spent long before.
PER_SECOND = 3_000_000  # Units in a second, about, where quantifiers are instantiated.
OVER_RUNS = 4.0  # Without quantifiers Z3 counts this many times as many units in a second.
MOST_UNITS = 2**32 - 1  # Z3 counts those of one search in 32 bits.
USED_UP = "its budget is used up"


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort for one question: units of Z3's work, and seconds as an outer limit.

    Raises ValueError for a negative number or NaN.
    """

    units: float = UNITS
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        for name, given in (("budget", self.units), ("timeout", self.seconds)):
            if not given >= 0:  # True for NaN.
                raise ValueError(f"the {name} is {given}; it must be 0 or more")

    def begin(self) -> Budget:
        """A budget of this effort; its seconds count from now on."""
        return Budget(self.units, self)

    def times(self, factor: float) -> Effort:
        """The effort with its units multiplied, within the same seconds."""
        return Effort(factor * self.units, self.seconds)


USUAL, ENDLESS = Effort(), Effort(inf, inf)


class Budget:
    """The units that are left, and the instant at which the outer limit ends every search."""

    def __init__(self, units: float, outer: Effort, within: Budget | None = None) -> None:
        until = time.perf_counter() + outer.seconds
        self.left = units
        self.spent = 0
        self._struck: float | None = None  # The seconds of the outer limit that ended a search.
        self._within = within
        self._until, self._seconds = until, outer.seconds
        if within is not None and within._until <= until:
            self._until, self._seconds = within._until, within._seconds

    def part(self, effort: Effort) -> Budget:
        """A budget of this effort within this budget, which is charged, too."""
        return Budget(max(0, min(self.left, effort.units)), effort, self)

    def units(self, units: float) -> Budget:
        """The same, with a limit on units alone."""
        return self.part(Effort(units, inf))

    def apart(self, units: float) -> Budget:
        """A budget for another process: the same outer limit, and units of its own."""
        own = Budget(units, Effort(units, self._seconds))
        own._until = self._until
        return own

    @property
    def rlimit(self) -> int:
        """Z3's `rlimit` for the next search; at least 1, because 0 means no limit to Z3."""
        return int(max(1, min(self.left, MOST_UNITS)))

    @property
    def rest(self) -> float:
        """Seconds to the outer limit."""
        return self._until - time.perf_counter()

    @property
    def over(self) -> bool:
        """Whether nothing is left; asked between two searches."""
        if self.left > 0 and self.rest <= 0:
            self.strike()
        return self.left <= 0 or self.rest <= 0

    @property
    def expired(self) -> bool:
        """Whether the outer limit has passed, so that it ends a search before its first step."""
        return self.over and self.late

    def spend(self, units: int) -> None:
        """Subtract units that a search has spent."""
        self.left = max(0, self.left - units)  # A search ends a little after its units.
        self.spent += units
        if self._within is not None:
            self._within.spend(units)

    def charge(self, other: Budget) -> None:
        """Subtract what another process has spent, and note whether its outer limit ended it."""
        self.spend(other.spent)
        if other._struck is not None:
            self.strike(other._struck)

    @property
    def late(self) -> bool:
        """Whether the outer limit has ended a search within this budget."""
        return self._struck is not None

    def strike(self, seconds: float | None = None) -> None:
        """Note that the outer limit, or one of this many seconds, has ended a search."""
        self._struck = self._seconds if seconds is None else seconds
        if self._within is not None:
            self._within.strike(self._struck)

    @property
    def struck(self) -> str:
        """A suffix for a reason: that the outer limit ended a search; else empty."""
        return f"; {self.why('')}" if self.late else ""

    def why(self, reason: str) -> str:
        """Why a search has no answer; `reason` is Z3's own reason."""
        if self._struck is not None:
            return f"the outer limit of {self._struck:g} s ended the search"
        return USED_UP if self.left <= 0 else reason
