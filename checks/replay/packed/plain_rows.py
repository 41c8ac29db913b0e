"""The rows of plain instances, run one by one: which instances fit, and their states then.

The last row of an instance waits: another one with its number may come in a later micro-batch. It
is run for the verdict, and again with the rows that come next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columnar.batches import Batch
from ..columnar.layout import UNTOLD
from .plain_machine import UNSURE, Forms, PlainMachine


@dataclass(frozen=True, slots=True)
class Fitting:
    """An instance whose rows fit: the state before its last row, and whether it may end after it.

    `place`: which of the given instances it is.
    """

    place: int
    before: Forms
    ends: bool


class PlainRows:
    """Runs the rows of a batch: `taken` and `seen` have the index of the transition and of the
    control state of each row of a fitting instance but the last."""

    def __init__(self, machine: PlainMachine, batch: Batch) -> None:
        self.machine = machine
        self.batch = batch
        self.taken = machine.sure[batch.codes]
        self.seen = np.zeros(len(batch.seqs), dtype=np.int64)

    def run(self, spans: Sequence[tuple[int, int]], states: Sequence[Forms]) -> list[Fitting]:
        """The instances that fit, of those with these rows, each in its state before them."""
        out: list[Fitting] = []
        seen: list[int] = [0] * len(self.seen)
        members, control = self.machine.member, self.machine.steps.control
        for place, ((start, end), forms) in enumerate(zip(spans, states, strict=True)):
            controls: list[Any] = []
            try:
                state = self.machine.state(forms)
                if not self._ran(state, start, end - 1, controls):
                    continue
                before = self.machine.forms(state)
                if not self._ran(state, end - 1, end, []):
                    continue
                ends = self.machine.steps.ended(state) == "fits"
            except Exception:
                continue  # Whatever it is, the row fold finds it, and says what it is.
            if control is not None:
                seen[start : end - 1] = [members[id(each)] for each in controls]
            out.append(Fitting(place, before, ends))
        self.seen[:] = seen
        return out

    def _ran(self, state: Any, start: int, end: int, controls: list[Any]) -> bool:
        """Run the steps of these rows; whether all outputs are the recorded ones."""
        batch, control = self.batch, self.machine.steps.control
        steps, arguments = batch.steps[start:end], batch.arguments[start:end]
        if batch.outputs or self.machine.unsure:
            return self._ran_closely(state, range(start, end), controls)
        if control is None:
            for step, args in zip(steps, arguments, strict=True):
                step(state, *args)
            return True
        see = controls.append
        for step, args in zip(steps, arguments, strict=True):
            step(state, *args)
            see(control(state))
        return True

    def _ran_closely(self, state: Any, rows: range, controls: list[Any]) -> bool:
        """The same where outputs are compared, or an event has several transitions."""
        batch, machine = self.batch, self.machine
        control, environment = machine.steps.control, machine.steps.environment
        for row in rows:
            environment.last_transition = ""
            given = batch.steps[row](state, *batch.arguments[row])
            output = batch.outputs[row] if batch.outputs else UNTOLD
            if output is not UNTOLD and given != output:
                return False
            if self.taken[row] == UNSURE:
                self.taken[row] = machine.index[environment.last_transition or ""]
            if control is not None:
                controls.append(control(state))
        return True


def counted(at: Any, what: Any, of: int, most: int) -> Any:
    """How often each of `most` values occurs in `what`, for each of `of` instances, of which `at`
    has the index; values below 0 are left out."""
    known = what >= 0
    counts = np.bincount(at[known] * most + what[known], minlength=of * most)
    return counts.reshape(of, most)
