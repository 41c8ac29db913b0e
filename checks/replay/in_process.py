"""The local engine: replays the rows of all files in this process.

Row by row, a row waits in memory for those before it. Each file is read once. Only where a row
comes again after its number was judged, all rows of its instance are read a second time, and
sorted.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping

from .columnar.layout import layout_of_prepared
from .engine_choice import Tell, silent
from .fold import Fold, MakeFold, fold
from .histories.history_fold import instance_fold
from .parquet import has_arrow
from .prepared_rows import rows_of_file
from .program import ReplayProgram
from .rows import Rejected, Row
from .sources import Sources, rows_of_lines
from .tally import Tallies

FEW = 1 << 20  # Bytes of lines that are replayed row by row while Arrow would be imported.
FEW_ROWS = 10_000  # The same, as rows of a table.
TOLD = 10_000  # Rows between two texts of progress.


def tally_here(files: Sources, program: ReplayProgram, tell: Tell = silent) -> Tallies:
    """Replay the rows in this process: by columns where they are many and have such."""
    foreign = program.mapping is not None
    columns = has_arrow() and not is_few(files, foreign)
    layout = layout_of_prepared(program) if columns else None
    if layout is not None:
        from .columnar.local import tally_columns

        return tally_columns(files, program, layout, tell)
    return tally_rows(files, program, tell)


def is_few(files: Sources, foreign: bool) -> bool:
    """Whether the rows are replayed row by row before their columns would be known. A small table
    may have many rows: one of a few values takes some bits for each."""
    if files.size >= FEW:
        return False
    if not foreign or not files.tables or files.some_remote:
        return True
    from .columnar.table_files import rows_in

    return sum(map(rows_in, files.tables)) < FEW_ROWS


def tally_rows(
    files: Sources, program: ReplayProgram, tell: Tell = silent, made_by: MakeFold = instance_fold
) -> Tallies:
    """Replay the rows in this process, row by row; `made_by` makes the fold of each instance."""
    judging = Judging(program, made_by)
    for number, row in enumerate(read_rows(files, program)):
        if number % TOLD == 0:
            tell(f"{number:,} rows read")
        judging.take(row)
    judging.close()
    return judging.end(sorted_rows(files, program, judging.late))


class Judging:
    """The rows of all instances, each folded as soon as those before it came; what is found is in
    `tallies`. Take all rows, then `close`, then `end` with the rows of the instances that are
    `late`."""

    def __init__(self, program: ReplayProgram, made_by: MakeFold = instance_fold) -> None:
        self.program = program
        self.made_by = made_by
        self.tallies = Tallies(program.every)
        self.queues: dict[str, Queue] = {}
        self.folds: dict[str, Fold] = {}

    def take(self, row: Row | Rejected) -> None:
        """Take the next row."""
        if isinstance(row, Rejected):
            self.tallies.reject(row)
            return
        queue = self.queues.get(row.instance)
        if queue is None:
            made = self.made_by(self.program, row.instance)
            queue = self.queues[row.instance] = Queue(made)
        queue.take(row)

    def close(self) -> None:
        """No row comes any more: those that wait are folded."""
        for name in sorted(self.queues):
            self.folds[name] = self.queues.pop(name).end()

    @property
    def late(self) -> set[str]:
        """The instances of which a row came again after its number was judged."""
        return {name for name, made in self.folds.items() if made.late}

    def end(self, late: Mapping[str, list[Row]]) -> Tallies:
        """The tallies, with the sorted rows of the instances that are late."""
        for name, made in self.folds.items():
            again = made.late
            whole = fold(self.program, name, late[name], self.made_by) if again else made.end()
            self.tallies.add(whole)
        return self.tallies


def read_rows(files: Sources, program: ReplayProgram) -> Iterator[Row | Rejected]:
    """Every row of the files, in their order."""
    mapping = program.mapping
    for number, path in files.numbered:
        if mapping is not None and mapping.preparation is not None:
            yield from rows_of_file(path, number, mapping)
        else:
            yield from rows_of_lines(path, program.row_of)
    if files.tables and program.mapping is None:
        from . import parquet

        for path in files.tables:
            yield from parquet.rows_of_table(path)
    elif files.tables and program.mapping is not None:
        from .columnar import foreign_tables

        for path in files.tables:
            yield from foreign_tables.rows_of_table(path, program.mapping)


def sorted_rows(
    files: Sources, program: ReplayProgram, instances: Collection[str]
) -> dict[str, list[Row]]:
    """All rows of some instances, each in the order of the sequence numbers."""
    rows = read_rows(files, program) if instances else ()
    return ordered_rows(rows, instances)


def ordered_rows(
    rows: Iterable[Row | Rejected], instances: Collection[str]
) -> dict[str, list[Row]]:
    """Those of the rows that are of some instances, each in the order of the sequence numbers."""
    found: dict[str, list[Row]] = {name: [] for name in instances}
    for row in rows:
        if isinstance(row, Row) and row.instance in found:
            found[row.instance].append(row)
    for of_one in found.values():
        of_one.sort(key=lambda row: row.seq)
    return found


class Queue:
    """Gives the rows of one instance to its fold in order; a row that comes early waits."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self.early: list[tuple[int, int, Row]] = []
        self.came = 0

    def take(self, row: Row) -> None:
        """Fold the row and the rows that waited for it, or let it wait."""
        if row.seq > self.fold.next or (row.seq >= 0 and not self.fold.program.dense):
            self.came += 1
            heapq.heappush(self.early, (row.seq, self.came, row))
            return
        self.fold.take(row)
        while self.early and self.early[0][0] <= self.fold.next:
            self.fold.take(heapq.heappop(self.early)[2])

    def end(self) -> Fold:
        """The fold, after the last row; before rows that still wait, one is missing."""
        while self.early:
            self.fold.take(heapq.heappop(self.early)[2])
        return self.fold
