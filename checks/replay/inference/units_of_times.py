"""The unit of the times in a field of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..preparation.times import ISO, ISO_NS, seconds

TIMES = ("time", "at", "ts", "date", "when")
# The least and most of numbers that are times from 2000 to 2100, by unit.
SECONDS = (946_684_800, 4_102_444_800)
SCALES = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
MICROS = 10**6
# Forms that logs have, besides ISO 8601: access logs, Postgres, dates of Europe and of `date`.
FORMS = (
    "%d/%b/%Y:%H:%M:%S %z",
    "%Y-%m-%d %H:%M:%S.%f %Z",
    "%Y-%m-%d %H:%M:%S %Z",
    "%d.%m.%Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%b %d %H:%M:%S",
)


def unit_of(name: str, values: Sequence[Any]) -> str:
    """The unit of the times in a field of this name; empty where it has none."""
    if not values:
        return ""
    if all(isinstance(value, str) for value in values):
        return "" if all(value.isdigit() for value in values) else _of_texts(values)
    if not any(each in name for each in TIMES):
        return ""
    for unit, scale in SCALES.items():
        low, high = (each * scale for each in SECONDS)
        if all(type(value) in (int, float) and low <= value < high for value in values):
            return unit
    return ""


def _of_texts(values: Sequence[str]) -> str:
    times = [seconds(value, ISO) for value in values]
    known = [each for each in times if each is not None]
    if len(known) == len(times):
        return ISO if all(MICROS % each.denominator == 0 for each in known) else ISO_NS
    forms = (form for form in FORMS if all(seconds(v, form) is not None for v in values))
    return next(forms, "")
