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
from .times import FINE, ISO, ISO_NS

FILES = 40  # Bits of the number of a record in its file; a file's number is above them.
SPREAD_FILES = 28  # The same where lists are spread,
ELEMENTS = 20  # and the bits of the number of an element in its record, which are below.
DAY = 86_400
EPOCH = date(1970, 1, 1)


def position(file: int, record: int) -> int:
    """The place of a record: the number of its file, and its number in the file."""
    return (file << FILES) + record


def by_place(how: Preparation, place: int, inner: int) -> int | str:
    """The number of a row by its place; `inner` is its number among the rows of one record. A text
    says why it has none."""
    file, record = place >> FILES, place & ((1 << FILES) - 1)
    if inner >= _most(how) or record >> _bits(how):
        return "too many rows of one record or file for their order; give `seq`, or order by time"
    number = ((file << _bits(how)) + record) * _most(how) + inner
    return number if number < LARGEST else "too many files for an order of their rows"


def record_at(how: Preparation, number: int) -> int:
    """The number of the record in its file of which a row has this number by its place."""
    return number // _most(how) & ((1 << _bits(how)) - 1)


def file_at(how: Preparation, number: int) -> int:
    """The number of the file, from 0, of which a row has this number by its place."""
    return number // _most(how) >> _bits(how)


def in_file(how: Preparation, number: int, file: int) -> int:
    """The number by place of the same row, if its file had another number."""
    return number + (file - file_at(how, number) << _bits(how)) * _most(how)


def _bits(how: Preparation) -> int:
    return SPREAD_FILES if how.spreads else FILES


def _most(how: Preparation) -> int:
    """How many rows of one record have numbers."""
    return _forms(how) << (ELEMENTS if how.spreads else 0)


def _forms(how: Preparation) -> int:
    return max(1, len(how.rows))


def time_at(how: Preparation, number: int, unit: str) -> str:
    """The time, as ISO 8601 in UTC, of which a row has this number; of nanoseconds without what is
    below a microsecond."""
    ranks = (len(how.ranks) + 1 if how.ranks else 1) * _forms(how)
    begun = datetime.fromisoformat(how.since)
    micros = number // ranks // (10**3 if unit in FINE else 1)
    return (begun + timedelta(microseconds=micros)).isoformat()


def by_time(how: Preparation, when: Fraction, unit: str, event: str, inner: int) -> int | str:
    """The number of a row by its time in seconds since 1970; a text says why it has none. `inner`
    is its number among the rows of one record: of these that of its form counts."""
    begun = (date.fromisoformat(how.since) - EPOCH).days * DAY
    steps = (when - begun) * (10**9 if unit in FINE else 10**6)
    if steps.denominator != 1:
        finer = f'; unit = "{ISO_NS}" reads nanoseconds' if unit == ISO else ""
        return f"a time finer than a microsecond{finer}"
    ranks = len(how.ranks) + 1 if how.ranks else 1
    rank = how.ranks.index(event) if event in how.ranks else ranks - 1
    forms = _forms(how)
    number = (int(steps) * ranks + rank) * forms + inner % forms
    if number < 0:
        return f"a time before {how.since}; give an earlier `since`"
    return number if number < LARGEST else "a time too late for 63 bits; give a later `since`"
