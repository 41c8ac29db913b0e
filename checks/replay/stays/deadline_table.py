"""Deadlines of foreign traces: how long an instance may stay in a control state.

A mapping says so in seconds, by the name of the control state:

    [deadlines]
    CLOSING = 60.0

An instance that is in the state for longer deviates, whether or not a row comes afterwards. A stay
begins with the row that enters the state; an event that does not leave the state does not begin it
again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from lawful.spec.errors import nearest


def wrong_deadlines(limits: Any) -> str:
    """What is wrong with the table of a mapping; empty where nothing is."""
    for name, limit in limits.items():
        if type(limit) not in (int, float) or not math.isfinite(limit) or limit <= 0:
            return f"deadlines.{name} has to be a number of seconds above 0, not {limit!r}"
    return ""


def unknown_states(limits: Iterable[str], states: tuple[str, ...], machine: str) -> str:
    """Why the table does not suit a machine with these control states; empty where it does."""
    for name in limits:
        if name not in states:
            there = f"it has {', '.join(states)}" if states else "it has none"
            how = nearest(name, states, there)
            return f"deadlines.{name} is no control state of {machine}; {how}"
    return ""
