"""A replay in increments: the fold of an instance goes on from the state that the last one kept.

The rows of an increment come in order. Where the rows of an instance are numbered without a gap, a
row after a gap waits, in the kept state, too, for the missing ones of a later increment; the
verdict of this increment says that they are missing. With a watermark, other rows wait, too, until
it has passed their time; the verdict is that of all rows so far. A row that comes after later ones
were judged came again, or is too late: see `continued_fold`. It is not judged.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..engine_choice import Tell, silent
from ..in_process import TOLD, Queue, read_rows
from ..preparation.row_numbers import in_file
from ..problems import InstanceVerdict
from ..program import ReplayProgram
from ..rows import Rejected, Row, Seconds
from ..sources import ReplayError, Sources
from ..tally import Tallies
from .continued_fold import ContinuedFold
from .fold_snapshots import StateError, restored, snapshot
from .given_files import NO_FILES, FileNumbers, GivenFiles

GIVE_LAST = "give those of the increment that left it"


class Continuation:
    """Takes the rows of one instance in an increment; `text` is its state before it, or `fold` is
    what the rows before left, of which none waits.

    `watermark`: no row before this time comes any more; rows from it on may come in any order.
    `files`: those of the increment, where rows have their place as number.
    """

    def __init__(
        self,
        program: ReplayProgram,
        instance: str,
        text: str = "",
        watermark: Seconds | None = None,
        files: FileNumbers | None = None,
        *,
        fold: ContinuedFold | None = None,
    ) -> None:
        self.instance = instance
        self.watermark = watermark
        if program.mapping is not None and program.mapping.history is not None:
            raise ReplayError("histories of calls and returns are not for increments or streams")
        waiting: tuple[Row, ...] = ()
        if text:
            fold, waiting = restored(program, instance, text)
        elif fold is None:
            fold = ContinuedFold(program, instance)
        if files is not None:
            if text and files.lacks(program.record_place(fold.next - 1)):
                raise StateError(instance, "a state of more files than `files` has", GIVE_LAST)
            fold.files.update(files.names)
            fold.read = files.read
        self.fold = fold
        self.queue = Queue(fold)
        self.waited = deque(waiting)
        self.next_deadline: Seconds | None = None
        self.held_back: list[Row] = []  # Their time is not before the watermark.

    def take(self, row: Row) -> None:
        """Take the next row."""
        # A row that waited comes in its turn: before it, a row of this increment may come twice.
        while self.waited and self.waited[0].seq <= row.seq:
            self._give(self.waited.popleft())
        self._give(row)

    def _give(self, row: Row) -> None:
        """Give the next row of all to the fold, unless earlier ones may still come."""
        if self.fold.program.dense:
            self.queue.take(row)
        elif self.held_back or self._open(row):
            self.held_back.append(row)
        else:
            self.fold.take(row)

    def _open(self, row: Row) -> bool:
        return self.watermark is not None and row.time is not None and row.time >= self.watermark

    def end(self) -> InstanceVerdict:
        """The verdict on all rows of all increments, with the state to go on from."""
        fold = self.fold
        while self.waited:
            self._give(self.waited.popleft())
        early = (row for *_, row in sorted(self.queue.early, key=lambda each: each[:2]))
        if self.watermark is not None:
            fold.settle(self.watermark)
        kept = snapshot(fold, (*early, *self.held_back))
        self.next_deadline = self._next_deadline()
        for row in self.held_back:
            fold.take(row)
        return dataclasses.replace(self.queue.end().end(), snapshot=kept)

    def _next_deadline(self) -> Seconds | None:
        """When the watermark has passed this time, a deadline may have passed without a row."""
        fold = self.fold
        first = self.held_back[0].time if self.held_back and fold.program.deadlines else None
        known = [each for each in (fold.stay.due, first) if each is not None]
        return min(known, default=None)


@dataclass(frozen=True)
class Increment:
    """What a replay of an increment found in all instances so far, and their states, by name.

    `files` are those of all increments so far, where `order = "file"`; `remark` names a file that
    looks like a copy of an earlier one.
    """

    tallies: Tallies
    states: Mapping[str, str]
    files: GivenFiles = NO_FILES
    remark: str = ""


def file_numbers(
    programs: Iterable[ReplayProgram], files: Sources, before: GivenFiles | None, begins: bool
) -> FileNumbers | None:
    """The numbers of the files, where rows of some program have their place as number. ReplayError
    where the files before are not known, unless the increment `begins`."""
    if all(each.by_files is None for each in programs):
        return None
    return FileNumbers(files, NO_FILES if begins else before)


class Judgement:
    """Takes the rows of an increment, in the order of its files, and judges them from the states
    that the last one left."""

    def __init__(
        self, program: ReplayProgram, states: Mapping[str, str], files: FileNumbers | None
    ) -> None:
        self.program = program
        self.states = states
        self.tallies = Tallies(program.every)
        self.rows: dict[str, list[Row]] = {name: [] for name in states}
        self.files = None if program.by_files is None else files

    def take(self, row: Row | Rejected) -> None:
        """Take the next row."""
        if isinstance(row, Rejected):
            self.tallies.reject(row)
            return
        self.rows.setdefault(row.instance, []).append(self._numbered(row))

    def _numbered(self, row: Row) -> Row:
        """The row with its number among those of all increments."""
        how, place = self.program.by_files, self.program.record_place(row.seq)
        if how is None or place is None or self.files is None:
            return row
        number = self.files.number(*place)
        return dataclasses.replace(row, seq=in_file(how, row.seq, number))

    def end(self) -> Increment:
        """What was found, after the last row."""
        kept: dict[str, str] = {}
        for name in sorted(self.rows):
            text = self.states.get(name, "")
            going_on = Continuation(self.program, name, text, files=self.files)
            for row in sorted(self.rows.pop(name), key=lambda each: each.seq):
                going_on.take(row)
            verdict = going_on.end()
            kept[name] = verdict.snapshot
            self.tallies.add(verdict)
        return Increment(self.tallies, kept)


def replay_increment(
    paths: Iterable[str | Path],
    program: ReplayProgram,
    states: Mapping[str, str],
    tell: Tell = silent,
    *,
    files: GivenFiles | None = None,
) -> Increment:
    """Replay the rows of an increment in this process, from the states that the last one left.

    Instances without a row in it are judged again as they were left. With `order = "file"`, `files`
    are those of the last increment. Raises ReplayError where the files cannot be read, where those
    of the increments before are not known, or a state is of another version of the machine.
    """
    given = program.sources(paths, some=not states)
    begins = not states and files is None
    numbers = file_numbers((program,), given, files, begins)
    judging = Judgement(program, states, numbers)
    for number, row in enumerate(read_rows(given, program)):
        if number % TOLD == 0:
            tell(f"{number:,} rows read")
        judging.take(row)
    found = judging.end()
    if numbers is None:
        return found
    return dataclasses.replace(found, files=numbers.after(), remark=numbers.remark)
