"""Whether the values of a configuration are in their ranges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping


def check_seconds(config: object, names: Iterable[str]) -> None:
    """The fields of these names are times above 0. Errors: ValueError."""
    for name in names:
        value: float = getattr(config, name)
        if not 0.0 < value < math.inf:
            raise ValueError(f"{name} is a time in seconds > 0, not {value}")


def check_ranges(config: object, ranges: Mapping[str, tuple[int, int]]) -> None:
    """The fields of these names are from the least to the greatest value. Errors: ValueError."""
    for name, (least, greatest) in ranges.items():
        value: float = getattr(config, name)
        if not least <= value <= greatest:
            raise ValueError(f"{name} is in {least}..{greatest}, not {value}")
