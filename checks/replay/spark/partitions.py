"""What the workers of Spark do with the rows of one partition.

The functions are objects that can be pickled: they hold the program as IR, so that workers need
lawful but not the declarations.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..columnar.blocks import rows_of_blocks
from ..columnar.kernel import Kernel
from ..columnar.layout import layout_of
from ..columnar.regular import arrow_types
from ..fold import Fold
from ..histories.history_fold import instance_fold
from ..increments.continuation import Continuation
from ..joint.joint_program import JointProgram
from ..parquet import arrow
from ..problems import COUNTS, Finding, FittingInstances, InstanceVerdict
from ..program import ReplayProgram
from ..rows import Rejected, Row, decoded, row_of_columns
from ..sources import BLANK
from ..tally import Judged, Tallies
from .places import TABLES, LineCounter

KEYED = "instance string, seq long, form string, line binary, place string"
NAMES = [each.split()[0] for each in KEYED.split(", ")]
TALLIES = "tallies binary"
PICKLED = "row"  # The form of a line that is a row itself, pickled.
STATE = "state"  # The form of a line that is the state of an instance before all its rows.
BEFORE_ALL = -2  # The number of such a line: a row without a number has -1.
COUNT = "count"  # The form of a line that is a form, of which the number says how much was read.
# One row of the result: an instance, one of its problems, a transition or state that was covered,
# or a rejected row.
RECORD = (
    "record string, instance string, machine string, verdict string, rows long, events long, "
    "seq long, kind string, event string, control string, clause string, state string, "
    "legal array<string>, details string, name string, count long, reason string, text string, "
    + ", ".join(f"{name} long" for name in COUNTS)
    + ", snapshot string"
)
OF_INSTANCE, FINDING, COVERED, REJECTED = "instance", "finding", "covered", "rejected"
RECORDS = 1000  # Records in one batch of the result.


def row_in(form: str, line: bytes, program: ReplayProgram) -> Row | Rejected | None:
    """The row of a line, as the local engine parses it; None for a line that is no row."""
    if form in TABLES:
        return row_of_columns(_columns(line))
    if form == PICKLED:
        row: Row | Rejected = pickle.loads(line)
        return row
    return decoded(line, program.row_of) if line.strip(BLANK) else None


def _columns(line: bytes) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(line)
    if data.get("corrupt") is not None:
        data["corrupt"] = bytes.fromhex(data["corrupt"])
    return data


class KeyPartition:
    """Adds the columns `instance` and `seq` to each line; null for a line of no instance. In
    such a line `place` has the number, too; in all others it becomes null.
    """

    def __init__(self, program: ReplayProgram) -> None:
        self.program = program

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches with the two columns added."""
        pa, counter = arrow(), LineCounter()
        for batch in batches:
            forms, lines = (batch.column(i).to_pylist() for i in range(2))
            rows = [row_in(f, line, self.program) for f, line in zip(forms, lines, strict=True)]
            names = [row.instance if isinstance(row, Row) else None for row in rows]
            seqs = [row.seq if isinstance(row, Row) else None for row in rows]
            keys = [pa.array(names, pa.string()), pa.array(seqs, pa.int64())]
            lost = [isinstance(row, Rejected) for row in rows]
            where = counter.places(batch.column(2).to_pylist(), forms, lost)
            columns = [*keys, batch.column(0), batch.column(1), pa.array(where, pa.string())]
            yield pa.RecordBatch.from_arrays(columns, names=NAMES)


def judged(program: ReplayProgram, batches: Iterable[Any], read: Counter[str]) -> Iterator[Judged]:
    """The verdicts on the instances of a sorted partition, and the rows that belong to none.

    An instance may span several batches. `read` counts how much was read of each form: rows of
    tables, bytes of lines.
    """
    layout = layout_of(program)
    if layout is None:
        return judged_lines(program, batches, read)
    return Kernel(program, layout).judge(rows_of_blocks(batches, arrow_types(layout), read))


def judged_lines(
    program: ReplayProgram, batches: Iterable[Any], read: Counter[str]
) -> Iterator[Judged]:
    """The same of keyed lines."""
    fold: Fold | Continuation | None = None
    for batch in batches:
        columns = [batch.column(i).to_pylist() for i in range(5)]
        for name, seq, form, line, place in zip(*columns, strict=True):
            if form == COUNT:
                read[line.decode()] += seq
                continue
            if form == STATE:  # It comes before the rows of its instance.
                if fold is not None:
                    yield fold.end()
                fold = Continuation(program, name, line.decode())
                continue
            read[form] += 1 if form in TABLES else len(line) + 1
            row = row_in(form, line, program)
            if row is None:
                continue
            if isinstance(row, Rejected):
                yield row.at(place or "", 0)
                continue
            if fold is None or fold.instance != name:
                if fold is not None:
                    yield fold.end()
                made = Continuation if program.resumable else instance_fold
                fold = made(program, name)
            fold.take(row)
    if fold is not None:
        yield fold.end()


# Judges the rows of a sorted partition, as `judged` does for a `ReplayProgram`.
Judge = Callable[[Any, Iterable[Any], Counter[str]], Iterator[Judged]]


class TallyPartition:
    """Counts the verdicts of one sorted partition: one row, with its tallies."""

    def __init__(self, program: ReplayProgram | JointProgram, judge: Judge = judged) -> None:
        self.program = program
        self.judge = judge

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The tallies, pickled, with how much was read."""
        tallies, read = Tallies(self.program.every), Counter[str]()
        for each in self.judge(self.program, batches, read):
            tallies.add(each)
        yield tallied(tallies, read)


def merged(batches: Iterable[Any]) -> Iterator[Any]:
    """Merge the tallies of several partitions, so that the driver gets only a few."""
    yield tallied(*together(each for batch in batches for each in batch.column(0).to_pylist()))


def together(pickled: Iterable[bytes]) -> tuple[Tallies, Counter[str]]:
    """The sum of tallies and of how much was read."""
    tallies, read = Tallies(), Counter[str]()
    for number, each in enumerate(pickled):
        more, also = pickle.loads(each)
        if number:
            tallies.merge(more)
        else:
            tallies = more
        read.update(also)
    return tallies, read


def tallied(tallies: Tallies, read: Counter[str]) -> Any:
    """A batch of one row of the schema `TALLIES`."""
    return arrow().RecordBatch.from_pydict({"tallies": [pickle.dumps((tallies, read))]})


class RecordPartition:
    """Judges one sorted partition: a row of the schema `RECORD` for each thing found."""

    def __init__(self, program: ReplayProgram | JointProgram, judge: Judge = judged) -> None:
        self.program = program
        self.judge = judge

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The records, in batches; those of what was covered come last."""
        pa = arrow()
        types = record_types(pa)
        full: list[dict[str, Any]] = []
        covered: Counter[tuple[str, str, str]] = Counter()
        for each in self.judge(self.program, batches, Counter()):
            if not isinstance(each, Rejected):
                _cover(covered, each)
            if isinstance(each, FittingInstances):
                yield fitting_records(each, types)
                continue
            full.extend(records_of(each))
            if len(full) >= RECORDS:
                yield pa.RecordBatch.from_pylist(full, schema=types)
                full = []
        full.extend(_covered_records(covered))
        yield pa.RecordBatch.from_pylist(full, schema=types)


def records_of_all(these: Iterable[InstanceVerdict | Rejected]) -> list[dict[str, Any]]:
    """The records of instances and rejected rows, and of what was covered, each with all names."""
    out: list[dict[str, Any]] = []
    covered: Counter[tuple[str, str, str]] = Counter()
    for each in these:
        out.extend(records_of(each))
        if not isinstance(each, Rejected):
            _cover(covered, each)
    names = [column.split()[0] for column in RECORD.split(", ")]
    return [dict.fromkeys(names) | row for row in (*out, *_covered_records(covered))]


def _covered_records(covered: Counter[tuple[str, str, str]]) -> Iterator[dict[str, Any]]:
    for (machine, kind, name), count in sorted(covered.items()):
        row = {"machine": machine, "kind": kind, "name": name, "count": count}
        yield {"record": COVERED, **row}


def _cover(
    covered: Counter[tuple[str, str, str]], each: InstanceVerdict | FittingInstances
) -> None:
    """Count what instances covered."""
    for kind, counts in (("transition", each.transitions), ("state", each.states)):
        for name, count in counts.items():
            if name:  # A machine without a control state is in the state "".
                covered[each.machine, kind, name] += count


def records_of(each: InstanceVerdict | Rejected) -> Iterator[dict[str, Any]]:
    """The records of one instance and its problems, or of a rejected row."""
    if isinstance(each, Rejected):
        yield {"record": REJECTED, "reason": each.reason, "text": each.text}
        return
    yield instance_record(each)
    head = {"record": FINDING, "instance": each.instance, "machine": each.machine}
    yield from (head | found(finding) for finding in each.findings)


def fitting_records(these: FittingInstances, types: Any) -> Any:
    """A record for each of these instances, as one batch."""
    pa = arrow()
    count = len(these.names)
    none = dict.fromkeys(COUNTS, [0] * count)
    columns: dict[str, Any] = {
        **none,
        "record": [OF_INSTANCE] * count,
        "instance": these.names,
        "machine": [these.machine] * count,
        "verdict": these.verdicts,
        "rows": these.rows,
        "events": these.events,
        "judged": these.events,
    }
    arrays = [
        pa.array(columns[each.name], each.type)
        if each.name in columns
        else pa.nulls(count, each.type)
        for each in types
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=types)


def instance_record(judged: InstanceVerdict) -> dict[str, Any]:
    """The verdict on an instance, with its first problem."""
    out: dict[str, Any] = {
        "record": OF_INSTANCE,
        "instance": judged.instance,
        "machine": judged.machine,
        "verdict": judged.verdict,
        "rows": judged.rows,
        "events": judged.events,
        **{name: judged.counts.get(name, 0) for name in COUNTS},
        "snapshot": judged.snapshot or None,
    }
    return out if judged.finding is None else found(judged.finding) | out


def found(finding: Finding) -> dict[str, Any]:
    """The columns of a problem."""
    return {
        "verdict": finding.verdict,
        "count": finding.count,
        "seq": finding.index if finding.index >= 0 else None,
        "kind": finding.kind,
        "event": finding.event,
        "control": finding.control or None,
        "clause": finding.clause,
        "state": json.dumps(finding.state, sort_keys=True),
        "legal": list(finding.legal),
        "details": json.dumps(finding.details, sort_keys=True),
    }


def record_types(pa: Any) -> Any:
    """The schema `RECORD` in Arrow's types."""
    types = {"string": pa.string(), "long": pa.int64(), "array<string>": pa.list_(pa.string())}
    columns = (column.split() for column in RECORD.split(", "))
    return pa.schema([(name, types[kind]) for name, kind in columns])
