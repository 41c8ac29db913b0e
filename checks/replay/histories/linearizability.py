"""Linearizability: an order of calls that the machine does, in which no call comes before another
that had ended when it began (Herlihy and Wing, "Linearizability", TOPLAS 12(3), 1990).

The search takes calls in all orders that time allows (Wing and Gong, "Testing and verifying
concurrent objects", JPDC 17, 1993), and meets no set of calls with one state twice (Lowe, "Testing
for linearizability", CCPE 29(4), 2017). A call of unknown outcome may have its effect at any later
time, or never. So it is taken only where it changes the state, and of two such calls that say the
same only the earlier one; a set with more of them than another set, and the same state, is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...reference.states import State
from ..deviations import Deviation, Several
from ..row_step import Stepper
from ..rows import ABSENT, Row

BUDGET = 50_000  # Sets of calls with a state that are looked at for one history.


@dataclass(frozen=True)
class Operation:
    """A call with its output: a row as if it were one event. `began` and `ended` are the numbers of
    its rows; `ended` is None where nobody knows whether it had an effect."""

    row: Row
    began: int
    ended: int | None


@dataclass(frozen=True)
class Linearization:
    """The longest order that was found: its operations with the transitions taken, and its state.

    `complete`: it has all operations that ended. `stopped`: the budget was used up before.
    """

    order: tuple[tuple[Operation, str | None], ...]
    state: State
    complete: bool
    stopped: bool
    looked: int


class Search:
    """Looks for an order of the operations of one history."""

    def __init__(self, stepper: Stepper, operations: Sequence[Operation], budget: int) -> None:
        self.stepper = stepper
        self.ended = sorted((o for o in operations if o.ended is not None), key=lambda o: o.began)
        self.open = sorted((o for o in operations if o.ended is None), key=lambda o: o.began)
        self.all = [*self.ended, *self.open]
        self.goal = (1 << len(self.ended)) - 1
        self.budget = budget
        self.known: dict[tuple[State, str], list[tuple[State, str | None]]] = {}
        self.texts = [_text(each.row) for each in self.all]
        self.seen: dict[tuple[int, State], list[int]] = {}  # Sets of open calls.

    def run(self, initial: State) -> Linearization:
        """The first complete order, or the longest one."""
        path: list[tuple[Operation, str | None]] = []
        best: tuple[int, tuple[tuple[Operation, str | None], ...], State] = (0, (), initial)
        stack = [self._next(0, initial)]
        looked = 1
        while self.goal and stack and looked < self.budget:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                if path:
                    path.pop()
                continue
            done, state, number, taken = step
            if not self._new(done, state):
                continue
            looked += 1
            path.append((self.all[number], taken))
            stack.append(self._next(done, state))
            reached = (done & self.goal).bit_count()
            if reached > best[0]:
                best = (reached, tuple(path), state)
            if done & self.goal == self.goal:
                break
        _, order, state = best
        complete = best[0] == len(self.ended)
        return Linearization(order, state, complete, bool(stack) and not complete, looked)

    def _new(self, done: int, state: State) -> bool:
        """Whether no set with the same ended calls, this state, and no other open calls was met."""
        open_ones = done & ~self.goal
        met = self.seen.setdefault((done & self.goal, state), [])
        if any(not each & ~open_ones for each in met):
            return False
        met[:] = [each for each in met if open_ones & ~each]
        met.append(open_ones)
        return True

    def _next(self, done: int, state: State) -> Iterator[tuple[int, State, int, str | None]]:
        """The steps from a set of calls and a state: calls that no call left over ended before."""
        tried: set[str] = set()
        for number in self._minimal(done):
            is_open = number >= len(self.ended)
            if is_open and self.texts[number] in tried:
                continue
            tried.update([self.texts[number]] * is_open)
            for after, taken in self._after(state, number):
                if not is_open or after != state:
                    yield done | 1 << number, after, number, taken

    def _minimal(self, done: int) -> list[int]:
        """The calls that may come next: they began before any other that is left over ended."""
        out: list[int] = []
        first: int | None = None
        ended = done & self.goal
        at = (~ended & (ended + 1)).bit_length() - 1  # All before it are done.
        while at < len(self.ended) and (first is None or self.ended[at].began < first):
            if not ended >> at & 1:
                out.append(at)
                last = self.ended[at].ended
                first = last if first is None or (last is not None and last < first) else first
            at += 1
        kept = [n for n in out if first is None or self.all[n].began < first]
        later = range(len(self.ended), len(self.all))
        rest = [n for n in later if not done >> n & 1]
        return [*kept, *(n for n in rest if first is None or self.all[n].began < first)]

    def _after(self, state: State, number: int) -> list[tuple[State, str | None]]:
        key = (state, self.texts[number])
        if key not in self.known:
            self.known[key] = self._followed(state, self.all[number].row)
        return self.known[key]

    def _followed(self, state: State, row: Row) -> list[tuple[State, str | None]]:
        try:
            return [self.stepper.follow(state, row)]
        except Several as several:
            return [(way.state, way.transition) for way in several.ways]
        except Deviation:
            return []


def _text(row: Row) -> str:
    output = [] if row.output is ABSENT else [row.output]
    return json.dumps([row.event, dict(row.args), output], sort_keys=True)
