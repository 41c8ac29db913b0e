"""How long instances wait before each transition: the time since the row before.

Times are counted in intervals that grow by 5 %, so counts of any number of rows are small, and
their sum does not depend on their order. A quantile is the upper end of its interval: at most 5 %
above the time itself.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from lawful.spec.ir import Json

from .rows import Seconds

GROWTH = math.log(1.05)
LONGEST = 1e12  # Seconds; what is longer counts as so long.
NO_TIME = "-"  # The interval of a time of zero.
QUANTILES = {"median": 0.5, "p90": 0.9, "p99": 0.99, "most": 1.0}


def interval(transition: str, before: Seconds, now: Seconds) -> str:
    """The interval of the time between two rows, with the transition: the key of its count."""
    try:
        seconds = min(float(now - before), LONGEST)
    except OverflowError:
        seconds = LONGEST
    return f"{transition} {NO_TIME if seconds <= 0 else math.floor(math.log(seconds) / GROWTH)}"


def quantiles(counts: Mapping[str, int]) -> dict[str, dict[str, Json]]:
    """For each transition how many times are known, and their quantiles in seconds."""
    rows: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for key, count in counts.items():
        name, _, number = key.partition(" ")
        seconds = 0.0 if number == NO_TIME else math.exp(GROWTH * (int(number) + 1))
        rows[name].append((seconds, count))
    return {name: _of_one(sorted(each)) for name, each in sorted(rows.items())}


def _of_one(rows: list[tuple[float, int]]) -> dict[str, Json]:
    total = sum(count for _, count in rows)
    out: dict[str, Json] = {"count": total}
    for name, share in QUANTILES.items():
        seen = 0
        for seconds, count in rows:
            seen += count
            if seen >= share * total:
                out[name] = float(f"{seconds:.3g}")
                break
    return out
