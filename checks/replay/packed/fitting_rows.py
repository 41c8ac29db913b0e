"""The instances whose rows of a micro-batch fit: what is kept of them, and their verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..columnar.batches import batch_of
from ..flaws.absent_values import OUTPUT, Told
from ..parquet import arrow
from ..problems import FittingInstances, InstanceVerdict
from .micro_batch import MicroBatch
from .packed_instances import PackedInstances
from .plain_rows import PlainRows, counted
from .row_log import NUMBER, RowLog

REPORTED = ("rows", "judged", "duplicates")


class FittingRows:
    """Runs the rows of a micro-batch: the `segments` of those instances that fit."""

    def __init__(self, kept: PackedInstances, batch: MicroBatch) -> None:
        self.kept = kept
        self.batch = batch
        machine, self.keys = kept.machine, batch.keys
        found = batch_of(batch.columns, batch.keys, machine.layout, machine.steps)
        tried = np.flatnonzero(self._plain(found.bad))
        numbers = batch.numbers[tried].tolist()
        spans = zip(batch.starts[tried].tolist(), batch.ends[tried].tolist(), strict=True)
        states = [
            machine.initial if number >= batch.before else kept.forms(number) for number in numbers
        ]
        self.ran = PlainRows(machine, found)
        self.fitting = self.ran.run([*spans], states)
        self.segments = tried[[each.place for each in self.fitting]]

    def _plain(self, bad: Any) -> Any:
        """The segments whose rows are regular and go on after the row that was kept."""
        batch, mapping = self.batch, self.kept.machine.layout.mapping
        wrong = np.zeros(len(batch.new), dtype=bool)
        wrong[bad] = True
        firsts = self.keys.seqs[batch.starts]
        known = batch.numbers < batch.before
        # No row is before the kept one, nor has its number: that would be a bad one.
        goes_on = self.kept.flags["packed"][batch.numbers]
        goes_on &= firsts == self.kept.counts["last"][batch.numbers]
        begins = ~known & ((firsts == mapping.first) | (not mapping.dense))
        return ~np.logical_or.reduceat(wrong, batch.starts) & (goes_on | begins)

    def keep(self, log: RowLog, told: Told) -> Iterator[FittingInstances | InstanceVerdict]:
        """Keep what the rows did; the verdicts."""
        kept, batch, segments = self.kept, self.batch, self.segments
        if not len(segments):
            return
        numbers, ends = batch.numbers[segments], batch.ends[segments]
        self._cover(numbers)
        fits = np.zeros(len(batch.starts), dtype=bool)
        fits[segments] = True
        of_row = np.repeat(np.arange(len(batch.starts)), batch.ends - batch.starts)
        rows = np.flatnonzero(fits[of_row] & batch.new)
        events = ~kept.machine.skipped[self.keys.codes] & batch.new
        counts = kept.counts
        begun = numbers >= batch.before
        counts["first"][numbers[begun]] = self.keys.seqs[batch.starts[segments[begun]]]
        counts["since"][numbers[begun]] = -1
        counts["rows"][numbers] += np.add.reduceat(batch.new, batch.starts, dtype=np.int64)[
            segments
        ]
        counts["judged"][numbers] += np.add.reduceat(events, batch.starts, dtype=np.int64)[segments]
        counts["last"][numbers] = self.keys.seqs[ends - 1]
        kept.flags["packed"][numbers] = True
        for number, each in zip(numbers.tolist(), self.fitting, strict=True):
            kept.keep_forms(number, each.before)
        kept.keep_last_rows(numbers, batch.taken(ends - 1))
        self._tell(told, rows)
        log.add(batch.taken(rows).add_column(0, NUMBER, arrow().array(batch.numbers[of_row[rows]])))
        yield from self._verdicts(numbers)

    def _cover(self, numbers: Any) -> None:
        """Count what was covered by all rows but the last of each instance."""
        kept, batch = self.kept, self.batch
        place = np.full(len(batch.starts), -1)
        place[self.segments] = np.arange(len(self.segments))
        at = np.repeat(place, batch.ends - batch.starts)
        at[batch.ends - 1] = -1
        rows = np.flatnonzero(at >= 0)
        for table, what in ((kept.transitions, self.ran.taken), (kept.states, self.ran.seen)):
            table[numbers] += counted(at[rows], what[rows], len(numbers), table.shape[1])

    def _tell(self, told: Told, rows: Any) -> None:
        """Count the rows that tell their output."""
        machine, path = self.kept.machine, told.compared.get(OUTPUT)
        if path is None:
            return
        codes = self.keys.codes[rows]
        codes = codes[~machine.skipped[codes]]
        layout = machine.layout
        silent = np.array(
            [
                name in layout.events and layout.events[name].name in told.silent
                for name in layout.names
            ]
        )
        tells = np.ones(len(codes), dtype=bool)
        if path in layout.paths:
            column = self.batch.columns.column(path).take(arrow().array(rows))
            valid = column.is_valid().to_numpy(zero_copy_only=False)
            tells = valid[~machine.skipped[self.keys.codes[rows]]]
        if tells.any() or silent[codes].any():
            told.counts[f"{path} ({OUTPUT})"] += int(np.count_nonzero(tells))

    def _verdicts(self, numbers: Any) -> Iterator[FittingInstances | InstanceVerdict]:
        kept = self.kept
        of = kept.machine.name
        names, verdicts = list[str](), list[str]()
        counted_rows, judged = list[int](), list[int]()
        ends = [each.ends for each in self.fitting]
        places: list[int] = numbers.tolist()
        pairs = sorted(zip([kept.names[each] for each in places], places, ends, strict=True))
        for name, number, may_end in pairs:
            rows, events, again = (int(kept.counts[each][number]) for each in REPORTED)
            verdict = "empty" if not events else "fits" if may_end else "open"
            if again:
                counts = {"duplicates": again} | ({"judged": events} if events else {})
                yield InstanceVerdict(name, of, verdict, None, rows, events, {}, {}, counts=counts)
                continue
            names.append(name)
            verdicts.append(verdict)
            counted_rows.append(rows)
            judged.append(events)
        if names:  # A stream does not say what was covered.
            yield FittingInstances(of, names, verdicts, counted_rows, judged, {}, {})
