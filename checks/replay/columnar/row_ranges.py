"""Ranges of the rows of long instances: what a shuffle brings together where an instance is split.

A range has the rows of one instance with numbers from `low` to `high`. Each is in a bucket alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from ..parquet import arrow
from .layout import INSTANCE, SEQ

LEAST, MOST = -(1 << 63), (1 << 63) - 1  # All numbers of rows are from `LEAST` to `MOST`.


@dataclass(frozen=True, order=True, slots=True)
class Range:
    """Rows of one instance, with numbers from `low` to `high`."""

    instance: str
    low: int
    high: int


@dataclass(frozen=True)
class Ranges:
    """The rows of some ranges, in order; all others are left out. `buckets` has one for each."""

    ranges: tuple[Range, ...]
    buckets: tuple[int, ...]
    without: frozenset[str] = frozenset()

    @property
    def only(self) -> frozenset[str]:
        """The instances of the ranges."""
        return frozenset(each.instance for each in self.ranges)

    @cached_property
    def _of(self) -> Mapping[str, tuple[int, Any, Any]]:
        """The index of the first range of each instance, and the bounds of its ranges."""
        import numpy as np

        out: dict[str, tuple[int, Any, Any]] = {}
        at = 0
        for name, group in groupby(self.ranges, key=lambda each: each.instance):
            mine = list(group)
            out[name] = at, np.array([r.low for r in mine]), np.array([r.high for r in mine])
            at += len(mine)
        return out

    def indices(self, columns: Any) -> Any:
        """The index of the range of each row; -1 for a row of none."""
        import numpy as np

        pc = arrow().compute
        names = columns.column(INSTANCE)
        seqs = np.asarray(pc.fill_null(columns.column(SEQ), -1))
        out = np.full(len(seqs), -1, dtype=np.int64)
        for name, (first, lows, highs) in self._of.items():
            mine = pc.fill_null(pc.equal(names, name), fill_value=False)
            at = np.flatnonzero(np.asarray(mine))
            found = np.searchsorted(lows, seqs[at], side="right") - 1
            inside = (found >= 0) & (seqs[at] <= highs[found])
            out[at[inside]] = first + found[inside]
        return out

    def parts(self, columns: Any) -> list[tuple[Range, int, int]]:
        """The ranges of sorted rows, each with the indices where its rows begin and end."""
        import numpy as np

        which = self.indices(columns)
        starts = np.flatnonzero(np.r_[True, which[1:] != which[:-1]]).tolist()
        ends = [*starts[1:], len(which)]
        return [(self.ranges[which[a]], a, b) for a, b in zip(starts, ends, strict=True)]

    def placed(self, table: Any) -> tuple[Any, Any]:
        """The bucket of each row, and which rows are taken."""
        import numpy as np

        found = self.indices(table)
        return np.array([*self.buckets, 0], dtype=np.int64)[found], found >= 0


def cut(instance: str, sampled: Sequence[int], ranges: int) -> list[Range]:
    """Ranges of an instance with about as many rows each, by some of its numbers in order."""
    steps = (sampled[len(sampled) * i // ranges] for i in range(1, ranges))
    lows = [LEAST, *sorted({step for step in steps if step > sampled[0]})]
    highs = [*(low - 1 for low in lows[1:]), MOST]
    return [Range(instance, low, high) for low, high in zip(lows, highs, strict=True)]
