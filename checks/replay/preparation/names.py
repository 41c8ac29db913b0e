"""Names of columns and attributes as paths can have them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .path_templates import Record


def named(pairs: Iterable[tuple[str, Any]]) -> Record:
    """The values by their names, with `_` in the place of `.`. Raises ValueError where two names
    are one then."""
    out: Record = {}
    for name, value in pairs:
        known = name.replace(".", "_")
        if known in out:
            raise ValueError(f"{name}: two values have this name")
        out[known] = value
    return out
