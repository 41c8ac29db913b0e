"""Rows of one instance at one time, where nobody saw which was first.

All orders of them are tried. What is left of the rows and the states so far is looked at once,
however the rows before came to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...reference.states import State
from ..deviations import Inconclusive
from ..rows import Row

MOST_STEPS = 20_000  # Of rows after parts of orders; with more the instance is inconclusive.
MOST_ROWS = 64

States = tuple[State, ...]  # Those in which the instance may be, each once.
Step = Callable[[States, Row], States]  # What follows; none where the row fits no state.


@dataclass(frozen=True, slots=True)
class Orders:
    """What becomes of some rows in all their orders.

    `best` has the indices of the rows that fit one after another, as many as possible: of all rows
    if some order fits. `ends` are the states after the orders that fit, and `some_fail` says
    whether there is one that does not.
    """

    best: tuple[int, ...]
    ends: States
    some_fail: bool


def orders_of(rows: Sequence[Row], states: States, step: Step) -> Orders:
    """Try all orders of the rows. Raises Inconclusive where that takes too many steps."""
    known: dict[tuple[int, frozenset[State]], Orders] = {}
    what = f"{len(rows)} rows at one time have too many orders to try"
    steps = 0

    def rest(left: int, now: States) -> Orders:
        nonlocal steps
        if not left:
            return Orders((), now, some_fail=False)
        key = left, frozenset(now)
        if key in known:
            return known[key]
        best: tuple[int, ...] = ()
        ends: dict[State, None] = {}
        some_fail = False
        for index, row in enumerate(rows):
            if not left >> index & 1:
                continue
            steps += 1
            if steps > MOST_STEPS:
                raise Inconclusive(what)
            after = step(now, row)
            if not after:
                some_fail = True
                continue
            found = rest(left & ~(1 << index), after)
            some_fail = some_fail or found.some_fail
            ends.update(dict.fromkeys(found.ends))
            if len(found.best) >= len(best):
                best = (index, *found.best)
        known[key] = Orders(best, tuple(ends), some_fail)
        return known[key]

    if len(rows) > MOST_ROWS:
        raise Inconclusive(what)
    return rest((1 << len(rows)) - 1, states)
