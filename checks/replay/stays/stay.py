"""How long an instance is in a control state, and the deadline that it does not meet."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ...reference.states import State
from ..problems import Finding
from ..row_step import Stepper
from ..rows import Row, Seconds, seconds_json, seconds_of

DEADLINE = "deadline"  # The kind of the finding.
AFTER_ROW = 1  # Its rank: after what is found of the row that entered the state.


class Stay:
    """The control state that an instance is in, the row that entered it, and since when."""

    def __init__(self, limits: Mapping[str, float]) -> None:
        self.limits = limits
        self.control = ""
        self.since: Seconds | None = None
        self.row = 0
        self.missed = False  # The deadline of this stay has passed, and a finding says so.

    def goes_on(self, control: str, row: Row) -> None:
        """The instance is in this control state after the row; "" where that is not certain."""
        if control != self.control:
            self.control, self.since, self.row, self.missed = control, row.time, row.seq, False

    @property
    def due(self) -> Fraction | None:
        """The last moment at which the instance may be in the state; None without a deadline that
        is still to come."""
        limit = self.limits.get(self.control)
        if limit is None or self.since is None or self.missed:
            return None
        return _exact(self.since) + _exact(limit)

    def passed(self, now: Seconds, stepper: Stepper, state: State) -> Finding | None:
        """The deadline that passed before this time, in this state; None where none did."""
        due = self.due
        if due is None or _exact(now) <= due:
            return None
        self.missed = True
        return Finding(
            DEADLINE,
            self.row,
            f"{self.control} was not left within {self.limits[self.control]:g} s",
            control=self.control,
            state=stepper.shown(state),
            legal=stepper.legal(state),
        )

    def to_json(self) -> list[Any]:
        """The stay as JSON; `restore` reads it."""
        return [self.control, seconds_json(self.since), self.row, self.missed]

    def restore(self, data: list[Any]) -> None:
        """Go on with a stay."""
        self.control, since, self.row, self.missed = data
        self.since = seconds_of(since)


def _exact(seconds: Seconds) -> Fraction:
    return seconds if isinstance(seconds, Fraction) else Fraction(repr(seconds))
