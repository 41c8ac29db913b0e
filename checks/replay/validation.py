"""Replay of journals: whether recorded events agree with the machine, with a verdict per instance.

    program = ReplayProgram((SenderEntry.lawful.ir,))
    result = replay(["journal.jsonl"], program)               # in this process
    result = replay(["traces/"], program, engine="spark")     # the same, on Spark

Both engines parse, fold and count with the same code and give the same result. They differ in how
they bring the rows of an instance into order: locally a row waits in memory for those before it,
Spark sorts.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lawful.spec.ir import Json

from .columnar.layout import layout_of
from .fold import VERDICTS, Finding, Fold, ReplayProgram
from .parquet import has_arrow
from .rows import Rejected, Row
from .sources import ReplayError, Sources, rows_of_lines, sources
from .tally import NAMED, FindingKind, Findings, Tallies, Tally

Engine = Literal["local", "spark"]
EngineChoice = Literal["auto", "local", "spark"]
SMALL = 64 << 20  # Bytes of lines that this process has replayed while Spark would begin.
FEW = 1 << 20  # Bytes of lines that are replayed row by row while Arrow would be imported.


@dataclass(frozen=True)
class ReplayResult:
    """The result of a replay, from which reports and the exit code are made."""

    program: ReplayProgram
    engine: str
    tallies: Tallies
    seconds: float

    @property
    def total(self) -> Tally:
        """The counts of all machines of the program, and of instances whose machine is unknown."""
        out = Tally()
        for name, tally in sorted(self.tallies.machines.items()):
            if name in ("", *self.program.steppers):
                out.merge(tally)
        return out

    @property
    def verdicts(self) -> dict[str, int]:
        """How many instances have each verdict."""
        counts = self.total.verdicts
        return {name: counts[name] for name in VERDICTS}

    @property
    def rejected(self) -> int:
        """The number of rows that belong to no instance: unreadable, or without a name."""
        return self.tallies.rejected.totals.total()

    @property
    def deviates(self) -> bool:
        """Whether the recorded events of some instance deviate from its machine."""
        return self.verdicts["deviates"] > 0

    @property
    def conclusive(self) -> bool:
        """Whether every row that was read could be replayed and compared."""
        verdicts = self.verdicts
        return not (verdicts["inconclusive"] or verdicts["quarantined"] or self.rejected)

    @property
    def exit_code(self) -> int:
        """0 where all instances agree, 2 where one deviates, 3 where some could not be judged."""
        return 2 if self.deviates else 0 if self.conclusive else 3

    def to_json(self) -> dict[str, Json]:
        """The result as `lawful replay` writes it; top-level counts are over all machines."""
        steppers = self.program.steppers
        machines: list[Json] = [self._machine(name) for name in steppers]
        unknown = self.tallies.machines.get("", Tally())
        others: dict[str, Json] = {
            name: {"instances": tally.instances, "rows": tally.rows}
            for name, tally in sorted(self.tallies.machines.items())
            if name and name not in steppers
        }
        return {
            "version": 1,
            "command": "replay",
            "engine": self.engine,
            "seconds": round(self.seconds, 3),
            **_counts(self.total),
            "coverage": self._coverage(list(steppers)),
            "rejected": _rejected(self.tallies.rejected),
            "other_machines": others,
            "unknown_machine": unknown.instances,
            "machines": machines,
        }

    def _machine(self, name: str) -> dict[str, Json]:
        tally = self.tallies.machines.get(name, Tally())
        head: dict[str, Json] = {
            "machine": name,
            "fingerprint": self.program.steppers[name].fingerprint,
        }
        return {**head, **_counts(tally), "coverage": self._coverage([name])}

    def _coverage(self, names: list[str]) -> dict[str, Json]:
        """Counts by name, zeros included; of several machines by `Machine.name`."""
        transitions: dict[str, Json] = {}
        states: dict[str, Json] = {}
        for name in names:
            prefix = f"{name}." if len(names) > 1 else ""
            stepper = self.program.steppers[name]
            tally = self.tallies.machines.get(name, Tally())
            transitions.update({prefix + t: tally.transitions[t] for t in stepper.rows})
            states.update({prefix + s: tally.states[s] for s in stepper.control_states})
        return {"transitions": transitions, "states": states}


def _counts(tally: Tally) -> dict[str, Json]:
    tally.trim()
    kinds = sorted(tally.found.totals)
    verdicts: dict[str, Json] = {name: tally.verdicts[name] for name in VERDICTS}
    named: dict[str, Json] = {name: tally.named[name] for name in sorted(tally.named)}
    return {
        "instances": tally.instances,
        "events": tally.events,
        "rows": tally.rows,
        "verdicts": verdicts,
        "deviations": _findings(tally.found, [k for k in kinds if k[0] == "deviates"]),
        "not_judged": _findings(tally.found, [k for k in kinds if k[0] != "deviates"]),
        "totals": [_total(kind, tally.found.totals[kind]) for kind in kinds],
        "by_instance": named,
        "by_instance_complete": tally.instances <= NAMED,
    }


def _total(kind: FindingKind, total: int) -> Json:
    verdict, what, event, where = kind
    if verdict == "quarantined":
        return {"verdict": verdict, "kind": what, "clause": where, "total": total}
    return {
        "verdict": verdict,
        "kind": what,
        "event": event or None,
        "state": where,
        "total": total,
    }


def _findings(found: Findings, kinds: Iterable[FindingKind]) -> list[Json]:
    rows = [(name, finding) for kind in kinds for name, finding in found.rows.get(kind, ())]
    return [_finding(name, finding) for name, finding in sorted(rows, key=lambda row: row[0])]


def _finding(instance: str, finding: Finding) -> Json:
    return {
        "instance": instance,
        "index": finding.index,
        "kind": finding.kind,
        "event": finding.event,
        "control": finding.control,
        "state": dict(finding.state),
        "clause": finding.clause,
        "legal": list(finding.legal),
        **finding.details,
    }


def _rejected(found: Findings) -> Json:
    totals: list[Json] = [
        {"reason": kind[0], "total": total, "first": [text for text, _ in found.rows.get(kind, ())]}
        for kind, total in sorted(found.totals.items())
    ]
    return {"rows": found.totals.total(), "reasons": totals}


def replay(
    paths: Iterable[str | Path],
    program: ReplayProgram,
    engine: EngineChoice = "local",
    master: str | None = None,
) -> ReplayResult:
    """Replay the journals. Raises ReplayError where they are unreadable or have no row to replay.

    The engine `auto` is Spark for remote files and for more than 64 MB of lines; it is this process
    for less, and where Spark cannot be started. `master` is the master URL of Spark; by default,
    all cores of this computer.
    """
    begun = time.perf_counter()
    files = sources(paths)
    if engine == "auto":
        engine = chosen(files, master)
    if engine == "spark":
        from .spark.tallying import tally

        tallies = tally(files, program, master)
    else:
        tallies = tally_here(files, program)
    _check_some(tallies, program)
    return ReplayResult(program, engine, tallies, time.perf_counter() - begun)


def chosen(files: Sources, master: str | None = None) -> Engine:
    """The engine of the choice `auto`; a master is asked for only where Spark is wanted."""
    if master is not None or files.some_remote:
        return "spark"
    if files.size <= SMALL:
        return "local"
    from .spark.session import why_no_spark

    return "local" if why_no_spark() else "spark"


def _check_some(tallies: Tallies, program: ReplayProgram) -> None:
    """ReplayError where there is no row of the machines of the program: that is no verdict."""
    if not any(tally.rows for tally in tallies.machines.values()):
        reasons = ", ".join(kind[0] for kind in sorted(tallies.rejected.totals)) or "empty"
        raise ReplayError(f"no row of the journal is readable: {reasons}")
    if not tallies.machines.keys() & {"", *program.steppers}:
        found = ", ".join(sorted(tallies.machines))
        asked = ", ".join(program.steppers)
        raise ReplayError(f"no row of {asked} in the journal, only of {found}")


# The local engine.


def tally_here(files: Sources, program: ReplayProgram) -> Tallies:
    """Replay the rows in this process; each file is read once."""
    layout = None if files.size < FEW else layout_of(program)
    if layout is not None and has_arrow():
        from .columnar.local import tally_columns

        return tally_columns(files, program, layout)
    return tally_rows(files, program)


def tally_rows(files: Sources, program: ReplayProgram) -> Tallies:
    """The same, row by row."""
    tallies = Tallies()
    queues: dict[str, Queue] = {}
    for row in read_rows(files, program):
        if isinstance(row, Rejected):
            tallies.reject(row)
            continue
        queue = queues.get(row.instance)
        if queue is None:
            queue = queues[row.instance] = Queue(Fold(program, row.instance))
        queue.take(row)
    for name in sorted(queues):
        tallies.add(queues[name].end().end())
    return tallies


def read_rows(files: Sources, program: ReplayProgram) -> Iterator[Row | Rejected]:
    """Every row of the files, in their order."""
    for path in files.lines:
        yield from rows_of_lines(path, program.row_of)
    if files.tables and program.mapping is None:
        from . import parquet

        for path in files.tables:
            yield from parquet.rows_of_table(path)
    elif files.tables and program.mapping is not None:
        from .columnar import tables

        for path in files.tables:
            yield from tables.rows_of_table(path, program.mapping)


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
        self._go_on()

    def _go_on(self) -> None:
        """Fold the waiting rows whose turn it is."""
        while self.early and self.early[0][0] <= self.fold.next:
            self.fold.take(heapq.heappop(self.early)[2])

    def end(self) -> Fold:
        """The fold, after the last row; rows that still wait show that one is missing."""
        if not self.fold.program.dense:
            while self.early:
                self.fold.take(heapq.heappop(self.early)[2])
        if self.early and self.fold.next == 0:  # Earlier files may not be part of this replay.
            self.fold.take(heapq.heappop(self.early)[2])
            self._go_on()
        if self.early:
            self.fold.missing()
        for _, _, row in self.early:
            self.fold.count(row)
        return self.fold


__all__ = ["Engine", "EngineChoice", "ReplayError", "ReplayProgram", "ReplayResult", "replay"]
