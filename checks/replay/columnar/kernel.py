"""The kernel: replays sorted columns with the runtime's compiled steps.

It decides one thing: that all rows of an instance fit. Wherever it meets anything else (an event
that the machine refuses, another output, a row that is not regular, a number missing or twice), it
hands the instance to the row fold, which replays it and gives the verdict. So each verdict but
`fits` and `open`, and each finding, is the row fold's.

An instance may span several batches. Between two batches its state is kept, not its rows; the row
fold then goes on from that state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..fold import Fold
from ..parquet import arrow
from ..problems import AROUND, InstanceVerdict
from ..program import ReplayProgram
from ..rows import Rejected, Row
from ..tally import Judged
from .batches import Batch, batch_of
from .layout import INSTANCE, SEQ, UNTOLD, Layout
from .regular import keys_of
from .steps import Opened, Steps

if TYPE_CHECKING:
    from .vector_batches import Lockstep

ROWS = 1 << 17  # Rows that are judged at once.
PLAN = "plan of the kernel"


@dataclass(frozen=True, slots=True)
class Plan:
    """The compiled steps of a program. `usable`: whether they may decide. `unsure`: whether some
    event may be served by one of several transitions."""

    steps: Steps
    usable: bool
    unsure: bool
    lockstep: Lockstep | None


def plan_of(program: ReplayProgram, layout: Layout) -> Plan:
    """The plan of a program, which has one layout; compiled once."""
    found = program.compiled.get(PLAN)
    if not isinstance(found, Plan):
        found = program.compiled[PLAN] = _planned(program, layout)
    return found


def _planned(program: ReplayProgram, layout: Layout) -> Plan:
    from .vector_batches import lockstep_of  # It needs NumPy, which Spark's driver may not have.

    steps = Steps(program.steppers[layout.mapping.machine], layout.mapping)
    usable = steps.decidable and steps.parameters is not None
    unsure = any(event.name not in steps.sure for event in layout.events.values())
    return Plan(steps, usable, unsure, lockstep_of(steps, layout) if usable else None)


class Kernel:
    """Judges the instances in sorted batches of a layout's columns."""

    def __init__(self, program: ReplayProgram, layout: Layout) -> None:
        self.program = program
        self.layout = layout
        plan = plan_of(program, layout)
        self.steps, self.usable, self.unsure = plan.steps, plan.usable, plan.unsure
        self.lockstep = plan.lockstep
        self.opened: Opened | None = None
        self.fold: Fold | None = None

    def judge(self, batches: Iterable[Any]) -> Iterator[Judged]:
        """The verdict on each instance, and the rows that belong to none."""
        for columns in in_groups(batches):
            yield from self._batch(columns)
        yield from self._closed()

    def _batch(self, columns: Any) -> Iterator[Judged]:
        keys = keys_of(columns, starts_of(columns.column(INSTANCE)), self.layout)
        if self.lockstep is not None:
            going_on = self.opened is not None or self.fold is not None
            fitting, columns = self.lockstep.judged(columns, keys, going_on)
            if fitting is not None:
                yield fitting
                keys = keys_of(columns, starts_of(columns.column(INSTANCE)), self.layout)
        names, starts = columns.column(INSTANCE), keys.starts
        batch = batch_of(columns, keys, self.layout, self.steps)
        firsts = names.take(starts).to_pylist()
        begun = starts.tolist()
        bad = iter([*batch.bad.tolist(), len(names)])
        next_bad = next(bad)
        for name, start, end in zip(firsts, begun, [*begun[1:], len(names)], strict=True):
            while next_bad < start:
                next_bad = next(bad)
            if name is None:
                yield from (row for row in batch.rows(start, end) if isinstance(row, Rejected))
            else:
                yield from self._segment(batch, name, range(start, end), next_bad >= end)
        if self.opened is not None:
            self.opened.shown = self.steps.shown(self.opened.state)
            last = batch.rows(max(begun[-1], len(names) - AROUND), len(names))
            recent = (*self.opened.recent, *(row for row in last if isinstance(row, Row)))
            self.opened.recent = recent[-AROUND:]

    def _segment(self, batch: Batch, name: str, at: range, regular: bool) -> Iterator[Judged]:
        """The rows of one instance in one batch."""
        if self.fold is None or self.fold.instance != name:
            if self.opened is None or self.opened.instance != name:
                yield from self._closed()
                yield from self._begun(batch, name, at, regular)
                return
            if self._goes_on(self.opened, batch, at, regular):
                return
            self.fold, self.opened = self.steps.resumed(self.program, self.opened), None
        yield from self._folded(self.fold, batch, at)

    def _begun(self, batch: Batch, name: str, at: range, regular: bool) -> Iterator[Judged]:
        """The first rows of an instance."""
        first = int(batch.seqs[at.start])
        if (
            regular
            and self.usable
            and not (self.layout.mapping.dense and first != self.layout.mapping.first)
        ):
            opened = self.steps.opened(name, first)
            # An instance of which no row is replayed is left to the row fold.
            if self._goes_on(opened, batch, at, regular) and opened.events:
                self.opened = opened
                return
        self.fold = Fold(self.program, name)
        yield from self._folded(self.fold, batch, at)

    def _folded(self, fold: Fold, batch: Batch, at: range) -> Iterator[Rejected]:
        for row in batch.rows(at.start, at.stop):
            if isinstance(row, Row):
                fold.take(row)
            else:
                yield row

    def _goes_on(self, opened: Opened, batch: Batch, at: range, regular: bool) -> bool:
        """Run the steps of the rows; whether all of them fit. What was covered is counted then."""
        seq = int(batch.seqs[at.start])
        if not regular or seq < opened.next or (self.layout.mapping.dense and seq != opened.next):
            return False
        seen = self._ran(opened.state, batch, at)
        if seen is None:
            return False
        states, taken = seen
        self._count(opened, batch, at)
        opened.transitions.update(taken)
        opened.states.update(states)
        opened.rows += len(at)
        opened.next = int(batch.seqs[at.stop - 1]) + 1
        return True

    def _ran(self, state: Any, batch: Batch, at: range) -> tuple[Counter[str], Counter[str]] | None:
        """The control states after the rows, and the transitions that no event is sure of; None
        where a row does not fit."""
        part = slice(at.start, at.stop)
        steps, arguments = batch.steps[part], batch.arguments[part]
        control, environment = self.steps.control, self.steps.environment
        unsure = self.unsure
        seen: list[Any] = []
        taken: Counter[str] = Counter()
        try:
            if batch.outputs or unsure:
                wanted = batch.outputs[part] or [None] * len(at)
                for step, args, output in zip(steps, arguments, wanted, strict=True):
                    environment.last_transition = ""
                    given = step(state, *args)
                    if batch.outputs and output is not UNTOLD and given != output:
                        return None
                    if environment.last_transition:
                        taken[environment.last_transition] += 1
                    seen.append(None if control is None else control(state))
            elif control is None:
                for step, args in zip(steps, arguments, strict=True):
                    step(state, *args)
            else:
                see = seen.append
                for step, args in zip(steps, arguments, strict=True):
                    step(state, *args)
                    see(control(state))
        except Exception:
            return None  # Whatever it is, the row fold finds it, and says what it is.
        if control is None:
            return Counter({"": len(at)}), taken
        # Members of enums are hashed by their names, so their identities are counted.
        members: dict[int, str] = {id(each): each.name for each in self.steps.members}
        return Counter({members[key]: n for key, n in Counter(map(id, seen)).items()}), taken

    def _count(self, opened: Opened, batch: Batch, at: range) -> None:
        """Count the events of the rows, and the transitions of those events that have one."""
        import numpy as np

        counts = np.bincount(batch.codes[at.start : at.stop])
        for name, count in zip(self.layout.names, counts.tolist(), strict=False):
            if count and name not in self.layout.skipped:
                opened.events += count
                event = self.layout.events[name].name
                if event in self.steps.sure:
                    opened.transitions[self.steps.sure[event]] += count

    def _closed(self) -> Iterator[Judged]:
        """The verdict on the instance whose rows have ended."""
        fold, opened = self.fold, self.opened
        self.fold = self.opened = None
        if opened is not None:
            try:
                verdict = self.steps.ended(opened.state)
            except Exception:  # The row fold says why.
                opened.shown = self.steps.shown(opened.state)
                fold = self.steps.resumed(self.program, opened)
            else:
                yield self._verdict(opened, verdict)
        if fold is not None and fold.rows:
            yield fold.end()

    def _verdict(self, opened: Opened, verdict: str) -> InstanceVerdict:
        return InstanceVerdict(
            opened.instance,
            self.layout.mapping.machine,
            verdict,
            None,
            opened.rows,
            opened.events,
            dict(opened.transitions),
            dict(opened.states),
            counts={"judged": opened.events},
        )


def in_groups(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches, cut so that rows of one instance with one number are never in two of them."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROWS:
            rows = _joined(waiting)
            cut = _last_group(rows)
            waiting = [rows.slice(cut)]
            if cut:
                yield rows.slice(0, cut)
    rows = _joined(waiting) if waiting else None
    if rows is not None and rows.num_rows:
        yield rows


def _joined(batches: list[Any]) -> Any:
    table = arrow().Table.from_batches(batches).combine_chunks()
    (joined,) = table.to_batches() or (batches[0].slice(0, 0),)
    return joined


def _last_group(rows: Any) -> int:
    """The index of the first of the last rows with one instance and number; the number of rows of
    no instance is null, and each is alone."""
    last: int = rows.num_rows - 1
    at = [rows.column(rows.schema.get_field_index(name)) for name in (INSTANCE, SEQ)]
    key = [column[last] for column in at]
    if not key[0].is_valid:
        return last
    while last > 0 and all(column[last - 1].equals(k) for column, k in zip(at, key, strict=True)):
        last -= 1
    return last


def starts_of(names: Any) -> Any:
    """The indices at which another instance begins."""
    import numpy as np

    pc = arrow().compute

    differ = pc.not_equal(names[1:], names[:-1])
    # Beside a null there is a new instance, or more rows of none.
    return np.flatnonzero(
        np.r_[True, pc.fill_null(differ, fill_value=True).to_numpy(zero_copy_only=False)]
    )
