"""The sequence numbers of rows that have none: by their place in the files, or by time.

By time a number is the time in microseconds, or in nanoseconds where that is the unit, times the
number of ranks, plus the rank of the event. So two rows of an instance have one number only if no
rank says which is first; replay refuses to judge these.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction

from ..rows import LARGEST
from .preparation_table import Preparation

FILES = 40  # Bits of the number of a record in its file; a file's number is above them.
DAY = 86_400
EPOCH = date(1970, 1, 1)


def position(file: int, record: int) -> int:
    """The place of a record: the number of its file, and its number in the file."""
    return (file << FILES) + record


def by_place(how: Preparation, place: int, form: int) -> int:
    """The number of a row by its place; `form` is its number among the rows of one record."""
    return place * max(1, len(how.rows)) + form


def record_at(how: Preparation, number: int) -> int:
    """The number of the record in its file of which a row has this number by its place."""
    return number // max(1, len(how.rows)) & ((1 << FILES) - 1)


def file_at(how: Preparation, number: int) -> int:
    """The number of the file, from 0, of which a row has this number by its place."""
    return number // max(1, len(how.rows)) >> FILES


def after_files(how: Preparation, number: int) -> int:
    """How much is added to numbers by place, so that all of them come after this one."""
    return position((number // max(1, len(how.rows)) >> FILES) + 1, 0) * max(1, len(how.rows))


def time_at(how: Preparation, number: int, unit: str) -> str:
    """The time, as ISO 8601 in UTC, of which a row has this number; of nanoseconds without what is
    below a microsecond."""
    ranks = (len(how.ties) + 1 if how.ties else 1) * max(1, len(how.rows))
    begun = datetime.fromisoformat(how.since)
    micros = number // ranks // (10**3 if unit == "ns" else 1)
    return (begun + timedelta(microseconds=micros)).isoformat()


def by_time(how: Preparation, when: Fraction, unit: str, event: str, form: int) -> int | str:
    """The number of a row by its time in seconds since 1970; a text says why it has none."""
    begun = (date.fromisoformat(how.since) - EPOCH).days * DAY
    steps = (when - begun) * (10**9 if unit == "ns" else 10**6)
    if steps.denominator != 1:
        return "a time finer than a microsecond"
    ranks = len(how.ties) + 1 if how.ties else 1
    rank = how.ties.index(event) if event in how.ties else ranks - 1
    forms = max(1, len(how.rows))
    number = (int(steps) * ranks + rank) * forms + form
    if number < 0:
        return f"a time before {how.since}; give an earlier `since`"
    return number if number < LARGEST else "a time too late for 63 bits; give a later `since`"
