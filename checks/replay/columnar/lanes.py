"""Lanes: the rows of a part of an instance judged from every state in which it may begin.

Where the states of a machine are few, a row is a function from states to states. A lane is what
becomes of one state at the beginning of a segment, which is a part of an instance in one batch. So
segments are judged at once, wherever they are, and `chains` joins them.

A row that does not plainly fit in a state leaves it as it is. The row fold does the same; where it
does not, `chains` sees that the fold ends in another state, and gives up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lawful.runtime.elements import NO_ELEMENTS
from lawful.spec import types as t

from ..parquet import arrow
from ..problems import AROUND
from ..program import ReplayProgram
from ..row_step import Stepper
from ..rows import Row, content
from .batches import rows_in
from .chains import Covered, Segment, splittable
from .components import Array, Symbols, components_of
from .finite_states import FiniteStates
from .kernel import plan_of
from .layout import INSTANCE, Layout
from .regular import Keys, keys_of
from .row_ranges import Ranges
from .vector_batches import Lockstep
from .vector_events import IGNORED, Block, Fields, VectorEvent

Followed = Callable[[int, Row], int]  # The index of the state after a row, by that before it.


def lanes_of(program: ReplayProgram, layout: Layout) -> Lanes | None:
    """The lanes of a program; None where its instances cannot be split."""
    states = splittable(program)
    plan = plan_of(program, layout)
    lockstep = plan.lockstep
    if states is None or lockstep is None or lockstep.slow.any():
        return None
    return Lanes(lockstep, states, following(plan.steps.stepper, states))


def following(stepper: Stepper, states: FiniteStates) -> Followed:
    """Follows single rows by the reference engine; a row that does not fit leaves the state."""
    start = stepper.made(Row("", 0, stepper.machine.name))
    known = [stepper.reader.state(states.shown(i), start) for i in range(len(states.all))]

    def followed(state: int, row: Row) -> int:
        try:
            if row.flaw:
                return state
            stepper.universe = NO_ELEMENTS
            after, _ = stepper.follow(known[state], row)
        except Exception:  # Whatever it is, the fold of the part says it.
            return state
        return states.index(stepper.shown(after))

    return followed


@dataclass(frozen=True, slots=True)
class Moves:
    """What each row of a batch does in each state: an array of rows by states each.

    `after` has the index of the state after the row, `failed` whether it does not plainly fit, and
    `taken` the index of its transition.
    """

    after: Array
    failed: Array
    taken: Array


class Lanes:
    """Judges segments of sorted batches from every state."""

    def __init__(self, lockstep: Lockstep, states: FiniteStates, followed: Followed) -> None:
        self.followed = followed
        self.lockstep = lockstep
        self.layout = lockstep.layout
        self.states = states
        self.count = len(states.all)
        names = [*dict.fromkeys(states.controls)]
        self.names = names
        self.control = np.array([names.index(each) for each in states.controls])

    def segments(self, columns: Any, ranges: Ranges) -> Iterator[Segment]:
        """The segments of a sorted batch; none has rows of two of the ranges."""
        parts = ranges.parts(columns)
        keys = keys_of(columns, np.array([start for _, start, _ in parts]), self.layout)
        moves = self._moves(columns, keys)
        for _, start, end in parts:
            yield self._segment(columns, keys, moves, slice(start, end))

    # What rows do.

    def _moves(self, columns: Any, keys: Keys) -> Moves:
        symbols: Symbols = {}
        arrays, bad = self.lockstep.arrays(columns, keys, symbols)
        shape = (columns.num_rows, self.count)
        moves = Moves(
            np.tile(np.arange(self.count, dtype=np.uint8), (shape[0], 1)),
            np.zeros(shape, dtype=bool),
            np.full(shape, IGNORED, dtype=np.int16),
        )
        for code, event in enumerate(self.lockstep.events):
            at = np.flatnonzero((keys.codes == code) & ~bad)
            if event is None or not len(at):
                continue
            paths = [leaf.path for leaf in self.lockstep.leaves[code]]
            part = {path: arrays[path][at] for path in paths}
            # What reads no column is alike in all rows.
            block = Block(part, symbols, 0, len(at) if part else 1)
            for state in range(self.count):
                self._move(event, state, block, moves, at)
        moves.failed[bad] = True
        self._move_odd(columns, keys, bad, moves)
        return moves

    def _move_odd(self, columns: Any, keys: Keys, bad: Array, moves: Moves) -> None:
        """What the rows do that arrays do not judge, and those with the number of another one.

        Of rows with one number the fold judges the first, or none where they differ. The others are
        odd themselves, so they leave the state as it is.
        """
        new = np.r_[True, keys.seqs[1:] != keys.seqs[:-1]]
        new[keys.starts] = True
        begins = np.flatnonzero(new)
        stay = np.arange(self.count)
        for group in np.unique(np.cumsum(new)[bad] - 1).tolist():
            start = int(begins[group])
            end = int(begins[group + 1]) if group + 1 < len(begins) else len(new)
            found = rows_in(columns.slice(start, end - start), self.layout)
            rows = [row for row in found if isinstance(row, Row)]
            if not rows or rows[0].seq < 0 or any(content(r) != content(rows[0]) for r in rows):
                moves.after[start:end] = stay
            elif bad[start]:
                moves.after[start] = [self.followed(state, rows[0]) for state in range(self.count)]

    def _move(self, event: VectorEvent, state: int, block: Block, moves: Moves, at: Array) -> None:
        """What the rows `at` of one event do in one state."""
        rows = block.end - block.start
        numbers = self.states.all[state]
        values: dict[str, Array] = {}
        for v, number in zip(self.states.variables, numbers, strict=True):
            of = np.bool_ if isinstance(v.type, t.Bool) else np.int64
            values[v.name] = np.full(rows, number, dtype=of)
        fields: Fields = {name: (values[name],) for name in event.fields}
        for name, kind, value in self.lockstep.fixed:
            fields[name] = components_of(value, kind, block.symbols)
        with np.errstate(all="ignore"):  # Rows that fail may compute anything.
            served = event.served(fields, block)
        values.update({name: new[0] for name, new in served.written.items()})
        index: Array = 0
        for v, weight in zip(self.states.variables, self.states.weights, strict=True):
            index = index + values[v.name] * np.int64(weight)
        moves.failed[at, state] = served.failed
        moves.taken[at, state] = served.taken
        moves.after[at, state] = np.where(served.failed, state, index)

    # Segments.

    def _segment(self, columns: Any, keys: Keys, moves: Moves, part: slice) -> Segment:
        before, ends = walked(moves.after[part])
        codes = keys.codes[part]
        skipped = int(np.count_nonzero(self.lockstep.skipped[codes]))
        lanes = (before[:, state] for state in range(self.count))
        covered = tuple(self._covered(moves, part, lane, codes) for lane in lanes)
        rows = part.stop - part.start
        seqs = keys.seqs[part]
        return Segment(
            columns.column(INSTANCE)[part.start].as_py(),
            int(seqs[0]),
            int(seqs[-1]),
            rows,
            rows - skipped,
            tuple(ends.tolist()),
            covered,
            *self._edges(columns.slice(part.start, rows), seqs),
        )

    def _covered(self, moves: Moves, part: slice, lane: Array, codes: Array) -> Covered | None:
        """What a lane covers; None where a row fails in it. `lane` has the state before each
        row."""
        if moves.failed[part.start, lane[0]]:  # Most lanes end here.
            return None
        rows = np.arange(int(part.start), int(part.stop))
        at = rows, lane
        if moves.failed[at].any():
            return None
        counts = np.bincount(self.control[moves.after[at]], minlength=len(self.names))
        seen = {n: c for n, c in zip(self.names, counts.tolist(), strict=True) if c}
        taken = moves.taken[at]
        transitions: Counter[str] = Counter()
        for code, event in enumerate(self.lockstep.events):
            if event is not None:
                these = taken[(codes == code) & (taken != IGNORED)]
                found = np.bincount(these, minlength=len(event.names)).tolist()
                transitions.update({n: c for n, c in zip(event.names, found, strict=True) if c})
        return Covered(dict(transitions), seen)

    def _edges(self, columns: Any, seqs: Array) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The first and the last rows, one of each number."""
        first = np.flatnonzero((np.r_[True, seqs[1:] != seqs[:-1]]) & (seqs >= 0))
        pa = arrow()

        def rows(at: Array) -> tuple[Row, ...]:
            found = rows_in(columns.take(pa.array(at)), self.layout)
            return tuple(row for row in found if isinstance(row, Row))

        return rows(first[:AROUND]), rows(first[-AROUND - 1 :])


def walked(after: Array) -> tuple[Array, Array]:
    """The state before each row, and at the end, from each state in which the rows may begin.

    `after` has the state after each row from each state: rows by states. The rows are cut into
    pieces, through which all states go at once; then the pieces are joined.
    """
    rows, count = after.shape
    length = max(math.isqrt(rows), 1)
    pieces = -(-rows // length)
    stay = np.arange(count, dtype=after.dtype)
    padded = np.concatenate([after, np.tile(stay, (pieces * length - rows, 1))])
    table = padded.reshape(pieces, length, count)
    inside = np.empty_like(table)  # The state before each row, by that before its piece.
    states = np.tile(stay, (pieces, 1))
    for i in range(length):
        inside[:, i] = states
        states = np.take_along_axis(table[:, i], states, axis=1)
    begun: Array = np.empty((pieces, count), dtype=after.dtype)
    now = stay
    for i in range(pieces):
        begun[i] = now
        now = states[i][now]
    before = np.take_along_axis(inside, begun[:, None, :], axis=2)
    return before.reshape(-1, count)[:rows], now
