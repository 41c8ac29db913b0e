"""The graph of a finished search: the steps between its states, for liveness properties."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from ..limits import Over
from .fairness import Bits, Groups


class TimeUp(Exception):
    """The time of a graph is over."""


class Graph:
    """For each expanded state, in the order of the numbers: the groups that are enabled there, and
    the states that its steps lead to with the groups that each takes.

    Steps that change nothing are left out: they take and enable no group. Once `over` is true,
    all that goes through the graph raises `TimeUp`.
    """

    def __init__(self, groups: Groups, over: Over = None) -> None:
        self.groups = groups
        self.over = over
        self._looks = 0
        self.enabled: list[Bits] = []
        self._targets = array("q")
        self._taken: list[Bits] = []
        self._ends = array("q", [0])
        self._now: Bits = 0
        self.questions = 0  # That were asked about it, and the states on loops: `fair_components`.
        self.on_loops: set[int] | None = None

    def __len__(self) -> int:
        return len(self.enabled)

    def leaves(self, bits: Bits) -> None:
        """The state that is being expanded has a step of these groups that leaves the scope."""
        self._now |= bits

    def leads(self, bits: Bits, target: int) -> None:
        """It has a step of these groups to another state."""
        self._now |= bits
        self._targets.append(target)
        self._taken.append(bits)

    def close(self) -> None:
        """These were all its steps."""
        self.in_time()
        self.enabled.append(self._now)
        self._ends.append(len(self._targets))
        self._now = 0

    def drop(self) -> None:
        """Forget the steps of the state that is being expanded: they are not all known."""
        last = self._ends[-1]
        del self._targets[last:], self._taken[last:]
        self._now = 0

    def in_time(self) -> None:
        """Raises `TimeUp` where the time is over; asks now and then."""
        if self.over is None:
            return
        if self._looks & 255 == 0 and self.over():
            raise TimeUp
        self._looks += 1

    def kept(self) -> tuple[Any, ...]:
        """All of it as plain data, to be kept in a file."""
        targets, ends = self._targets.tobytes(), self._ends.tobytes()
        return self.groups.kept(), self.enabled, targets, self._taken, ends

    def go_on(self, data: tuple[Any, ...]) -> None:
        """Be as it was when these were kept."""
        groups, self.enabled, targets, self._taken, ends = data
        self.groups.go_on(groups)
        self._targets, self._ends = array("q", targets), array("q", ends)

    def targets(self, number: int) -> array[int]:
        """The targets of a state's steps."""
        if self.over is not None:
            self.in_time()
        return self._targets[self._ends[number] : self._ends[number + 1]]

    def steps(self, number: int) -> Iterator[tuple[int, Bits]]:
        """The targets of a state's steps, and the groups that they take."""
        if self.over is not None:
            self.in_time()
        first, last = self._ends[number], self._ends[number + 1]
        return zip(self._targets[first:last], self._taken[first:last], strict=True)
