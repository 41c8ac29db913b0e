"""Times of foreign rows, exactly, in seconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

UNITS = {unit: Fraction(1, 10**n) for unit, n in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))}
ISO, ISO_NS = "iso", "iso-ns"  # The second for numbers of rows that count nanoseconds.
FINE = ("ns", ISO_NS)
LEAP = 2000  # The year of times that name none, so that 29 February is one.
DIGITS = re.compile(r"[0-9]{2}[.,][0-9]{6}([0-9]+)")  # Of a second, after the sixth.
UTC_NAMED = re.compile(r"\b(UTC|GMT)\b", re.IGNORECASE)
YEARS = ("%Y", "%y", "%G", "%c", "%x")


def is_unit(unit: str) -> bool:
    """Whether times have such a unit: one of `UNITS`, `iso`, `iso-ns`, or a form of `strptime`."""
    return unit in UNITS or unit in (ISO, ISO_NS) or "%" in unit


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
        if unit in (ISO, ISO_NS):
            return _of_iso(text)
        elif any(year in unit for year in YEARS):
            when = datetime.strptime(text, unit)
        else:
            when = datetime.strptime(f"{LEAP} {text}", f"%Y {unit}")
    except ValueError:
        return None
    return None if _zone_unknown(text, unit) else _since(when)


def _of_iso(text: str) -> Fraction:
    """A time of ISO 8601, with all digits of its second: Python would cut those after the sixth.
    Raises ValueError."""
    match = DIGITS.search(text)
    if match is None:
        return _since(datetime.fromisoformat(text))
    whole = _since(datetime.fromisoformat(text[: match.start(1)] + text[match.end(1) :]))
    return whole + Fraction(int(match[1]), 10 ** (6 + len(match[1])))


def _zone_unknown(text: str, unit: str) -> bool:
    """Whether the text names a zone (`%Z`) other than UTC. Python takes the names of the zone of
    this computer, too, and the time as one of UTC."""
    return "%Z" in unit and not UTC_NAMED.search(text)


def _since(when: datetime) -> Fraction:
    zoned = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    passed = zoned - datetime.fromtimestamp(0, UTC)
    return Fraction(passed.days * 86_400 + passed.seconds) + Fraction(passed.microseconds, 10**6)
