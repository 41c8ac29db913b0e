"""The exit codes of commands."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """The meaning of each exit code, for every command."""

    AS_EXPECTED = 0
    VIOLATED = 1  # Or undefined, or an expected violation was not found.
    DEVIATES = 2  # A recorded trace does.
    UNKNOWN = 3  # Also inconclusive, stopped and out of budget.
    REFUSED = 4  # A declaration is.
    USAGE = 5
    FAULT = 70  # Of lawful itself.


_ORDER = (ExitCode.AS_EXPECTED, ExitCode.UNKNOWN, ExitCode.VIOLATED, ExitCode.FAULT)


def gravest(codes: Iterable[int]) -> int:
    """The exit code for several machines: an unknown verdict of one hides no violation of another.

    Raises ValueError for a code that no engine returns for one machine.
    """
    return max(codes, key=_ORDER.index)
