"""`Retry` states: what happens where a state is entered from itself too often.

The limit becomes a variable that counts how often in a row the state was entered. A row from the
state to itself needs that the limit is not passed. Beyond it, a second transition leads where the
failure's trigger leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .nested import origin
from .timeouts import has_timeout, state_features, trigger_of


@dataclass(frozen=True)
class StateRetry:
    """A state may be entered from itself `most` times; then a row of `trigger` is taken."""

    most: int
    trigger: str


def has_retry(state: Any) -> bool:
    """Whether there is a limit."""
    return "Retry" in state_features(state) and state.retries > 0


def retry_of(machine: Any, name: str, state: Any) -> StateRetry | None:
    """The limit of a state; None without one, and of one that a declaration does not have.

    It has one whose failure is a trigger that leads to another state at once, without a condition.
    It has none of a state with a timeout, which may have been started before the failure or not, or
    of nested states."""
    if not has_retry(state) or has_timeout(state) or origin(machine) is not machine:
        return None
    trigger = trigger_of(machine, state.on_failure)
    rows = machine.events[trigger].transitions.get(name) if trigger is not None else None
    if trigger is None or not rows or rows[0].conditions:
        return None
    leads = rows[0].dest != name and rows[0].dest in machine.states
    return StateRetry(state.retries, trigger) if leads else None
