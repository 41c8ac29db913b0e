"""A bucket of a stream: its instances go on with the rows of a micro-batch.

    rows of a micro-batch -> those of packed instances that fit: columns  (`plain_rows`)
                          -> all others: the row fold                     (`increments`)

An instance is packed as long as its rows come in order and fit. Any other one is judged from its
text by the row fold, and is packed again when nothing is unusual of it any more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from ..columnar.layout import layout_of
from ..flaws.absent_values import Told
from ..increments.buckets import check_buckets
from ..increments.continuation import Continuation
from ..increments.continued_fold import ContinuedFold
from ..increments.fold_snapshots import known_version, snapshot
from ..increments.mapping_changes import changes
from ..problems import FittingInstances, InstanceVerdict
from ..program import ReplayProgram
from ..rows import Rejected, Row
from ..sources import ReplayError
from ..tally import Judged
from .fitting_rows import FittingRows
from .instance_folds import fold_of, ordinary
from .micro_batch import MicroBatch
from .packed_instances import NOT_READ, PackedInstances, data_of
from .plain_machine import PlainMachine, plain_machine
from .row_log import Chunks, RowLog


class Store(Chunks, Protocol):
    """Where a bucket is kept: its columns, the chunks of its log, and the texts of instances."""

    def columns(self) -> tuple[str, bytes] | None: ...

    def keep_columns(self, text: str, last_rows: bytes) -> None: ...

    def text(self, name: str) -> str: ...

    def keep_text(self, name: str, text: str) -> None: ...


class Bucket:
    """The instances of one of so many buckets. ReplayError where what is kept is of another format,
    mapping, or number of buckets, or of a version of the machine that is not given."""

    def __init__(
        self, program: ReplayProgram, machine: PlainMachine, store: Store, buckets: int
    ) -> None:
        self.program = program
        self.machine = machine
        self.store = store
        self.kept = PackedInstances(machine, buckets)
        kept = store.columns()
        self.is_new = kept is None
        if kept is not None:
            self._read(*kept)
        self.log = RowLog(self.kept, store, program.remembered)

    def _read(self, text: str, last_rows: bytes) -> None:
        data = data_of(text)
        check_buckets(data["buckets"], self.kept.buckets)
        if what := changes(data["mapping"], self.kept.mapping):
            raise ReplayError(NOT_READ.format(f"of rows that another mapping read ({what})"))
        if data["fingerprint"] == self.machine.fingerprint:
            self.kept.read(data, last_rows)
            return
        self._take_over(data, last_rows)

    def _take_over(self, data: dict[str, Any], last_rows: bytes) -> None:
        """Make texts of the instances that another version of the machine judged."""
        name, mark = self.machine.name, data["fingerprint"]
        told = {"machine": name, "fingerprint": mark}
        known_version(self.program, next(iter(data["names"]), ""), told)
        their = self.program.versions[name][mark].machine
        program = dataclasses.replace(self.program, machines=(their,), older=())
        layout = layout_of(program)
        machine = None if layout is None else plain_machine(program, layout)
        if machine is None:
            raise ReplayError(NOT_READ.format(f"of {name} {mark}, which no columns hold now"))
        kept = PackedInstances(machine, self.kept.buckets)
        kept.read(data, last_rows)
        packed = kept.flags["packed"].nonzero()[0].tolist()
        log = RowLog(kept, self.store, self.program.remembered)
        for number, fold in self.folds(kept, log, packed).items():
            self.store.keep_text(kept.names[number], snapshot(fold))
        for number in kept.chunks:
            self.store.drop_chunk(number)
        self.kept.add(kept.names)
        # The chunks are gone, and this micro-batch may have no row of an instance.
        self.store.keep_columns(*self.kept.written())

    def folds(
        self, kept: PackedInstances, log: RowLog, numbers: Iterable[int]
    ) -> dict[int, ContinuedFold]:
        """The row folds of packed instances."""
        out: dict[int, ContinuedFold] = {}
        for number, rows in log.rows_of(numbers).items():
            based = kept.flags["based"][number]
            base = self.store.text(kept.names[number]) if based else ""
            out[number] = fold_of(self.program, kept, number, rows, base)
        return out

    def judge(self, table: Any, told: Told) -> list[Judged]:
        """What is found of the instances with these rows, a table of a layout's columns, and of
        rows of no instance; `told` counts what the rows tell."""
        batch = MicroBatch(self.machine, self.kept, table)
        out: list[Judged] = [*batch.rejected]
        if batch.rows:
            fitting = FittingRows(self.kept, batch)
            others = batch.others(fitting.segments)
            rows: dict[int, list[Row]] = {}
            for row in batch.python_rows(others):
                told.take(row)
                if isinstance(row, Rejected):
                    out.append(row)
                else:
                    rows.setdefault(self.kept.numbers[row.instance], []).append(row)
            judged = [*self._folded(batch, rows)]
            out += [*fitting.keep(self.log, told), *judged]
        if batch.rows or self.is_new:  # A bucket without instances says how many buckets there are.
            self.store.keep_columns(*self.kept.written())
        return out

    def _folded(
        self, batch: MicroBatch, rows: dict[int, list[Row]]
    ) -> Iterator[InstanceVerdict | FittingInstances]:
        """The verdicts of the row fold on instances with these rows."""
        kept = self.kept
        folds = self.folds(kept, self.log, [n for n in rows if kept.flags["packed"][n]])
        for number in sorted(rows, key=lambda each: kept.names[each]):
            name = kept.names[number]
            fold = folds.pop(number, None)
            text = "" if fold is not None else self.store.text(name)
            going_on = Continuation(self.program, name, text, fold=fold)
            for row in rows[number]:
                going_on.take(row)
            verdict = going_on.end()
            self.store.keep_text(name, verdict.snapshot)
            kept.unpack(number)
            plain = verdict.finding is None  # A last row that deviates is not in the text yet.
            found = ordinary(self.machine, verdict.snapshot) if plain else None
            last = None if found is None else batch.last_row(number, found.counts["last"])
            if found is not None and last is not None:
                kept.pack(number, found, last)
            yield dataclasses.replace(verdict, snapshot="")
