"""Times of foreign rows, exactly, in seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

UNITS = {unit: Fraction(1, 10**n) for unit, n in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))}
ISO = "iso"
LEAP = 2000  # The year of times that name none, so that 29 February is one.
YEARS = ("%Y", "%y", "%G", "%c", "%x")


def is_unit(unit: str) -> bool:
    """Whether times have such a unit: one of `UNITS`, `iso`, or a form as `strptime` takes it."""
    return unit in UNITS or unit == ISO or "%" in unit


def seconds(value: Any, unit: str) -> Fraction | None:
    """The value in seconds; None where it is no time of this unit.

    A text that names no zone is in UTC, and one that names no year is in the year 2000.
    """
    if unit not in UNITS:
        return _of_text(value, unit) if isinstance(value, str) else None
    if type(value) not in (int, float):
        return None
    try:
        return Fraction(repr(value)) * UNITS[unit]
    except ValueError:
        return None  # NaN and infinity


def _of_text(text: str, unit: str) -> Fraction | None:
    try:
        if unit == ISO:
            when = datetime.fromisoformat(text)
        elif any(year in unit for year in YEARS):
            when = datetime.strptime(text, unit)
        else:
            when = datetime.strptime(f"{LEAP} {text}", f"%Y {unit}")
    except ValueError:
        return None
    zoned = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    passed = zoned - datetime.fromtimestamp(0, UTC)
    return Fraction(passed.days * 86_400 + passed.seconds) + Fraction(passed.microseconds, 10**6)
