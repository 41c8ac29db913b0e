"""Times of foreign rows, exactly, in seconds since 1970."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .zones import LocalTimes, without_zone

UNITS = {unit: Fraction(1, 10**n) for unit, n in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))}
ISO, ISO_NS = "iso", "iso-ns"  # The second for numbers of rows that count nanoseconds.
FINE = ("ns", ISO_NS)
LEAP = 2000  # The year of times that name none, so that 29 February is one.
DIGITS = re.compile(r"[0-9]{2}[.,][0-9]{6}([0-9]+)")  # Of a second, after the sixth.
UTC_NAMED = re.compile(r"\b(UTC|GMT)\b", re.IGNORECASE)
HOURS = re.compile(r"[+-][0-9]{2}(?![0-9:])")  # An offset without minutes, or part of a date.
SPACED = re.compile(r" +(?=[+-][0-9]{2}(:?[0-9]{2})?$)")
UTC_LAST = re.compile(r" *(UTC|GMT)$")
IN_UTC = LocalTimes()
YEARS = ("%Y", "%y", "%G", "%c", "%x")


def is_unit(unit: str) -> bool:
    """Whether times have such a unit: one of `UNITS`, `iso`, `iso-ns`, or a form of `strptime`."""
    return unit in UNITS or unit in (ISO, ISO_NS) or "%" in unit


def seconds(value: Any, unit: str, local: LocalTimes = IN_UTC) -> Fraction | None:
    """The value in seconds; None where it is no time of this unit.

    A text that names no zone is a local time, and one that names no year is in the year 2000.
    Raises UnclearTime for a local time that its zone has twice, or never.
    """
    if unit not in UNITS:
        return _of_text(value, unit, local) if isinstance(value, str) else None
    if type(value) not in (int, float):
        return None
    try:
        return Fraction(repr(value)) * UNITS[unit]
    except ValueError:
        return None  # NaN and infinity


@lru_cache(maxsize=1024)  # A row reads its time twice: as its number, and as its time.
def _of_text(text: str, unit: str, local: LocalTimes) -> Fraction | None:
    try:
        if unit in (ISO, ISO_NS):
            return _of_iso(text, local)
        if "%Z" not in unit:
            return _since(local.at(_parsed(text, unit)))
        # Python takes the names of the zone of this computer, too, and the time as one of UTC.
        known = without_zone(text, "UTC")
        if known is None or not (known[1] or UTC_NAMED.search(text)):
            return None
        return _since(local.at(_parsed(known[0], unit), known[1] or UTC))
    except ValueError:
        return None


def _parsed(text: str, unit: str) -> datetime:
    """A time of a form of `strptime`. Raises ValueError."""
    if not any(year in unit for year in YEARS):
        text, unit = f"{LEAP} {text}", f"%Y {unit}"
    try:
        return datetime.strptime(text, unit)
    except ValueError:
        for match in reversed([*HOURS.finditer(text)] if "%z" in unit else []):
            with suppress(ValueError):
                return datetime.strptime(f"{text[: match.end()]}00{text[match.end() :]}", unit)
        raise


def _of_iso(text: str, local: LocalTimes) -> Fraction:
    """A time of ISO 8601, with all digits of its second: Python would cut those after the sixth. A
    space may be before the offset, and the name of a zone after the time. Raises ValueError."""
    known = without_zone(text, "")
    if known is None:
        raise ValueError(text)
    text, zone = known
    text = SPACED.sub("", UTC_LAST.sub("Z", text.rstrip()))
    match = DIGITS.search(text)
    if match is None:
        return _since(local.at(datetime.fromisoformat(text), zone))
    whole = text[: match.start(1)] + text[match.end(1) :]
    rest = Fraction(int(match[1]), 10 ** (6 + len(match[1])))
    return _since(local.at(datetime.fromisoformat(whole), zone)) + rest


def _since(when: datetime) -> Fraction:
    passed = when - datetime.fromtimestamp(0, UTC)
    return Fraction(passed.days * 86_400 + passed.seconds) + Fraction(passed.microseconds, 10**6)
