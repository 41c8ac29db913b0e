"""The index at which a sequence takes an item in."""

from __future__ import annotations

import sys


def clamped(index: int) -> int:
    """The same place to insert at, by an integer that `list.insert` takes.

    Every index beyond an end of a sequence means that end. Python raises OverflowError for one
    that a machine word does not hold.
    """
    return max(-sys.maxsize, min(index, sys.maxsize))
