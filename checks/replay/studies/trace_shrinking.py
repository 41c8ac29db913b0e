"""The rows of an instance that are enough for a deviation of one kind.

A row of a journal tells a whole state, so the state before the deviation and the row that deviates
are enough. A foreign row is left out if the instance deviates all the same without it: in
halves, quarters and so on, as in delta debugging (Zeller and Hildebrandt, "Simplifying and
isolating failure-inducing input", IEEE TSE 28(2), 2002). What is left is as recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..fold import fold
from ..problems import Finding
from ..program import ReplayProgram
from ..rows import Row
from ..unseen.tied_fold import TiedFold

READ = 200_000  # Rows that are replayed while one trace is shrunk.
NUMBER = re.compile(r"-?[0-9]+")


def shrunk(program: ReplayProgram, rows: Sequence[Row], found: Finding) -> list[Row]:
    """Rows of one instance that deviate in the same way, in the order of their numbers.

    `found` is a deviation of a replay of these rows, with its explanation. The same way: event,
    control state and category agree, and the clause up to its numbers.
    """
    trace = _Trace(program, found)
    kept = sorted((row for row in rows if 0 <= row.seq <= found.index), key=lambda row: row.seq)
    if program.mapping is None:
        last = [row for row in kept if row.seq == found.index]
        if found.index == 0:
            return last
        short = [_whole(last[-1], found), *last]
        return short if trace.deviates(short) else kept
    return trace.numbered(trace.without_needless(kept))


class _Trace:
    """Replays parts of a trace, and says whether they deviate as the whole does."""

    def __init__(self, program: ReplayProgram, found: Finding) -> None:
        self.program = replace(program, every=True)
        self.found = found
        self.left = READ

    def deviates(self, rows: Sequence[Row]) -> bool:
        """Whether these rows have a deviation of the same kind."""
        self.left -= len(rows)
        verdict = fold(self.program, rows[0].instance, rows, TiedFold) if rows else None
        return verdict is not None and any(map(self._same, verdict.findings))

    def _same(self, other: Finding) -> bool:
        return other.key == self.found.key and _form(other.clause) == _form(self.found.clause)

    def without_needless(self, rows: list[Row]) -> list[Row]:
        """The rows without those that the deviation does not need, as far as `READ` allows."""
        size = len(rows) // 2
        while size and self.left > 0:
            at, before = 0, len(rows)
            while at < len(rows) and self.left > 0:
                fewer = self.numbered([*rows[:at], *rows[at + size :]])
                if self.deviates(fewer):
                    rows = fewer
                else:
                    at += size
            # A row may be needless only once a later one is gone: single rows are tried again.
            size = size // 2 if size > 1 or len(rows) == before else 1
        return rows

    def numbered(self, rows: list[Row]) -> list[Row]:
        """The rows, numbered without a gap where their numbers have to be, or are not their own."""
        if not self.program.dense and not self.program.orders_rows:
            return rows
        numbers = {
            seq: at for at, seq in enumerate(sorted({row.seq for row in rows}), self.program.first)
        }
        return [replace(row, seq=numbers[row.seq]) for row in rows]


def _form(clause: str) -> str:
    """A sentence without its numbers."""
    return NUMBER.sub("0", clause)


def _whole(row: Row, found: Finding) -> Row:
    """A row with the whole state before the deviation, from which a replay can begin."""
    details: Mapping[str, Any] = found.details
    return Row(
        row.instance,
        row.seq - 1,
        row.machine,
        row.fingerprint,
        args=details.get("parameters", {}),
        outcome="attached",
        changed=found.state,
        universe=details.get("universe", {}),
        time=row.time,
    )
