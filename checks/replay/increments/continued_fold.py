"""The fold of an instance whose earlier rows are gone: a row of theirs may be delivered again."""

from __future__ import annotations

from collections.abc import Mapping

from lawful.spec.ir import Json

from ..problems import OF_NUMBER, Finding
from ..program import ReplayProgram
from ..rows import Row
from ..unseen.tied_fold import TiedFold
from .judged_rows import JudgedRows, Known

LATE = "a row that came after later ones were judged"


class ContinuedFold(TiedFold):
    """Remembers the last rows that were judged. One that comes again is folded, one that says
    something else is a problem, and so is one that was never there."""

    def __init__(self, program: ReplayProgram, instance: str) -> None:
        super().__init__(program, instance)
        self.known = JudgedRows(program.remembered)
        # By the numbers of files, where rows have their place as number:
        self.files: dict[int, str] = {}  # Their paths.
        self.read: Mapping[int, int] = {}  # How many records an earlier increment read.

    def place(self, seq: int) -> dict[str, Json]:
        """What a finding says of where a row is: also its file, which a later increment has not."""
        place = self.program.record_place(seq)
        file = None if place is None else self.files.get(place[0])
        return {**super().place(seq), **({} if file is None else {"file": file})}

    def _was_read(self, row: Row) -> bool:
        """Whether the row is in a part of a file that an earlier increment read."""
        place = self.program.record_place(row.seq)
        return place is not None and place[1] <= self.read.get(place[0], 0)

    def take(self, row: Row) -> None:
        """Take the next row."""
        is_next = row.seq >= self.next
        super().take(row)
        if is_next:
            self.known.add(row)

    def _again(self, held: Row, row: Row) -> None:
        super()._again(held, row)
        self.known.add(row)

    def _judged_before(self, row: Row) -> None:
        """A row whose number is before that of the row that is held."""
        known = self.known.known(row)
        # Parts of one event, and rows in any order, have one number and say different things.
        several = self.program.combine or self.program.any_order
        if known is Known.SAME or (known is Known.FORGOTTEN and self._was_read(row)):
            self.counts["duplicates"] += 1
            self.events -= row.event is not None
        elif known is Known.FORGOTTEN:
            self.counts["late"] += 1
            self._forgotten(row)
        elif known is Known.OTHER and not several:
            self.counts["regressions"] += 1
            self._quarantine(row.seq, self.program.tie, OF_NUMBER)
            self._lose(row.seq)
        else:
            self.counts["late"] += 1
            self._quarantine(row.seq, LATE, OF_NUMBER)

    def _forgotten(self, row: Row) -> None:
        """The row came again, or it is late: nobody knows."""
        most = self.program.remembered
        clause = (
            "a row that came again, or too late: of the rows of an instance the last "
            f"{most:,} are remembered (--remember), so it was not compared"
        )
        made = Finding(
            *("inconclusive", row.seq, clause, row.event),
            details=self.place(row.seq),
            verdict="inconclusive",
        )
        if not self.problems.known(made.key):
            self.problems.add(made, OF_NUMBER)
        self._stop()
