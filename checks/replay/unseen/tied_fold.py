"""The fold where rows at one time may have happened in any order (`ties = "any"`).

An instance fits if some order of these rows fits, with the rows after them; it deviates only where
no order does. Its verdict hinges on something unseen where another order would not fit, or where it
may end after one order and not after another.
"""

from __future__ import annotations

from ...reference.states import State
from ..deviations import Deviation, Inconclusive, Malformed, Several
from ..fold import MOST_WAYS, Fold, Way
from ..mapping import HAPPENED
from ..program import ReplayProgram
from ..row_step import Stepper
from ..rows import Row, content
from .tied_rows import Orders, States, orders_of


class TiedFold(Fold):
    """Holds the rows of one time, and judges them in an order that fits. Without `ties = "any"` it
    is a `Fold`."""

    def __init__(self, program: ReplayProgram, instance: str) -> None:
        super().__init__(program, instance)
        self.tied: list[Row] = []  # Those with the number of the row that is held.
        self.open_order = False  # The states in which it may be are those after several orders.
        self.hinges = False  # Some order of earlier rows does not fit.
        self.note = ""  # What is added to a deviation.

    def _again(self, held: Row, row: Row) -> None:
        if not self.program.any_order:
            super()._again(held, row)
        elif content(row) in map(content, (held, *self.tied)):
            self.counts["duplicates"] += 1
            self.events -= row.event is not None
        else:
            self.tied.append(row)

    def _judge_held(self, row: Row) -> None:
        if not self.tied:
            super()._judge_held(row)
            return
        rows = sorted((row, *self.tied), key=content)  # Whichever was read first.
        self.tied = []
        found = None
        if not self.stopped:
            try:
                rows, found = self._ordered(rows)
            except Inconclusive as error:
                self.held = None
                self.near.take(rows[0])
                self._inconclusive(rows[0], str(error), self.state)
                self._lose(rows[0].seq)
                return
        if found is not None and len(found.best) < len(rows):
            self.note = f" (in every order of {len(rows)} rows at this time)"
        for each in rows:
            super()._judge_held(each)
        self.note = ""
        if found is not None and found.ends:
            self._after_orders(rows[-1], found)

    def _ordered(self, rows: list[Row]) -> tuple[list[Row], Orders | None]:
        """The rows in an order that fits, or of which as many as possible fit; those that cannot be
        replayed in any state come first. Raises Inconclusive."""
        first = next((row for row in rows if not row.flaw and row.outcome == HAPPENED), None)
        stepper = None if first is None else self.stepper or self._version(first)
        if first is None or stepper is None:
            return rows, None
        state = self._before(stepper, first)
        if state is None:
            return rows, None
        self.machine = self.machine or first.machine
        now = tuple(dict.fromkeys((state, *self.others)))
        told = [row for row in rows if self._is_plain(stepper, state, row)]
        odd = [row for row in rows if row not in told]
        if len(told) < 2:
            return [*odd, *told], None
        found = orders_of(told, now, lambda states, row: _after(stepper, states, row))
        best = [told[i] for i in found.best]
        rest = [row for i, row in enumerate(told) if i not in found.best]
        whole = Orders(tuple(range(len(rows) - len(rest))), found.ends, found.some_fail)
        return [*odd, *best, *rest], whole

    def _is_plain(self, stepper: Stepper, state: State, row: Row) -> bool:
        """Whether a row can be replayed: it happened, and has the form of an event."""
        if row.flaw or row.outcome != HAPPENED:
            return False
        try:
            stepper.follow(state, row)
        except Malformed:
            return False
        except (Deviation, Several):
            return True
        return True

    def _after_orders(self, last: Row, found: Orders) -> None:
        """Go on in all states that orders of the rows lead to."""
        ends = found.ends
        if len(ends) > MOST_WAYS:
            what = f"after the orders of rows at one time it may be in more than {MOST_WAYS} states"
            self._inconclusive(last, what, self.state)
            self._lose(last.seq)
            ends = ends[:1]
        self.state, self.others = ends[0], [*ends[1:]]
        self.open_order = bool(self.others)
        self.hinges = self.hinges or found.some_fail

    def _from_all(self, stepper: Stepper, state: State | None, row: Row) -> Way:
        known = [] if state is None else [state, *self.others]
        if self.open_order and not all(_after(stepper, (each,), row) for each in known):
            self.hinges = True  # Counted only if the row fits another of the states.
        return super()._from_all(stepper, state, row)

    def _deviates(self, stepper: Stepper, state: State | None, row: Row, error: Deviation) -> None:
        error.clause += self.note
        super()._deviates(stepper, state, row, error)

    def _ended(self) -> str:
        verdict = super()._ended()
        if self.hinges or (self.open_order and self._may_end_in_some()):
            self.counts["hinges"] = 1
        return verdict

    def _may_end_in_some(self) -> bool:
        """Whether the instance may end in some of its possible states, and not in others."""
        if self.stepper is None or self.state is None:
            return False
        try:
            return len({self.stepper.ended(each) for each in (self.state, *self.others)}) > 1
        except Inconclusive:
            return False


def _after(stepper: Stepper, states: States, row: Row) -> States:
    """The states after a row, from any of these states; none where it fits none of them."""
    out: dict[State, None] = {}
    for state in states:
        try:
            after, _ = stepper.follow(state, row)
            out[after] = None
        except Several as several:
            out.update(dict.fromkeys(way.state for way in several.ways))
        except Deviation:
            continue
    return tuple(out)
