"""Replay of a data frame: recorded events in, verdicts out, all of them data frames of Spark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lawful.runtime.instance import Machine
from lawful.spec.ir import Json

from ..explanation import explained
from ..flaws.absent_values import MOST, absent_in
from ..joint.joint_program import ALONE, JointProgram, joint_program
from ..mapping import TraceMapping
from ..problems import COUNTS
from ..program import ReplayProgram
from ..sources import ReplayError
from ..tally import STRICT, Demands
from .first_rows import first_rows
from .inputs import of_frame, of_states
from .joint_frames import folded_jointly, joint_rows_of_frame
from .joint_tasks import judged_jointly
from .long_instances import split, splits
from .partitions import (
    COVERED,
    FINDING,
    OF_INSTANCE,
    RECORD,
    REJECTED,
    RecordPartition,
    records_of_all,
)
from .shuffle import folded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

VERDICT_COLUMNS = (
    *("instance", "machine", "verdict", "rows", "events", "seq", "kind", "clause"),
    *COUNTS,
)
DEVIATION_COLUMNS = (
    *("instance", "machine", "seq", "event", "kind", "clause"),
    *("control", "state", "legal", "details"),
)
FINDING_COLUMNS = ("verdict", "count", *DEVIATION_COLUMNS)
# Without it adaptive execution does not bring together the small partitions of a cached frame.
CACHED_ADAPTIVELY = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


@dataclass(frozen=True)
class ReplayFrames:
    """The result of a replay as data frames, each evaluated when it is used.

    All are views of `records`, which Spark computes anew for each action. Call `persist()` before
    you use more than one. `make` makes the records: it judges long instances, if they are split.
    `rows` is the input.
    """

    program: ReplayProgram | JointProgram
    make: Callable[[], DataFrame]
    rows: DataFrame

    @cached_property
    def records(self) -> DataFrame:
        """A row of the schema `partitions.RECORD` for each thing found."""
        return self.make()

    @property
    def verdicts(self) -> DataFrame:
        """A row for each instance: its verdict, the problem that decides it, and counts.

        Columns: `instance`, `machine`, `verdict` (fits, open, deviates, inconclusive, quarantined,
        empty; `other` for a machine that the program does not have), `rows`, `events`; `seq` (of
        the row with the problem, null if it is one of the whole instance), `kind`, `clause`;
        `judged`, `deviations`, `uncertain`, `duplicates`, `gaps`, `regressions`, `unknown_events`,
        `ambiguous` (see docs/replay.md).
        """
        return self._of(OF_INSTANCE).select(*VERDICT_COLUMNS)

    @property
    def deviations(self) -> DataFrame:
        """A row for each instance that deviates: its first deviation, and what was legal instead.

        Columns: `instance`, `machine`, `seq`, `event`, `kind`, `clause`, `control` (the control
        state before the row), `state` (JSON), `legal` (array of events), `details` (JSON: the row
        and what differs).
        """
        wrong = self._of(OF_INSTANCE).where("verdict = 'deviates'")
        return wrong.select(*DEVIATION_COLUMNS)

    @property
    def findings(self) -> DataFrame:
        """A row for each problem: the first of each kind of an instance, or every one of them if
        the program says so (`every`).

        Columns: `verdict` (what the instance would be with this problem alone), `count` (how many
        problems of this kind the instance has), and those of `deviations`.
        """
        return self._of(FINDING).select(*FINDING_COLUMNS)

    def explain(self, row: Row) -> dict[str, Json]:
        """What would have helped at a deviation; `row` is one of `deviations` or `findings`.

        `nearest` is the possible event that is most like the recorded one, `path` the events after
        which the recorded one is possible; None where none is found.
        """
        told = row.asDict()
        finding = {**told, "state": json.loads(told["state"]), **json.loads(told["details"])}
        machine = told["machine"]
        return explained(self.program.of(machine), machine, finding)[0]

    @property
    def coverage(self) -> DataFrame:
        """How often each transition was taken and each control state was reached; zeros included.

        Columns: `machine`, `kind` (transition or state), `name`, `count`.
        """
        from pyspark.sql import functions as F

        names = [
            (machine, kind, name, 0)
            for machine, versions in self.program.versions.items()
            for stepper in versions.values()
            for kind, each in (("transition", stepper.rows), ("state", stepper.form.control_states))
            for name in each
        ]
        columns = "machine string, kind string, name string, count long"
        session: Any = self.records.sparkSession  # Its types name pandas, which has none.
        none: DataFrame = session.createDataFrame(names, columns)
        seen = self._of(COVERED).select("machine", "kind", "name", "count")
        total = F.sum("count").alias("count")
        return seen.unionByName(none).groupBy("machine", "kind", "name").agg(total)

    @property
    def states(self) -> DataFrame:
        """The state of each instance, from which a next increment goes on; none unless the program
        is `resumable`. Columns: `instance`, `state` (JSON)."""
        from pyspark.sql import functions as F

        kept = self._of(OF_INSTANCE).where("snapshot is not null")
        return kept.select("instance", F.col("snapshot").alias("state"))

    @property
    def rejected(self) -> DataFrame:
        """A row for each input row that belongs to no instance. Columns: `reason`, `text`."""
        return self._of(REJECTED).select("reason", "text")

    def check(self, demands: Demands = STRICT) -> None:
        """Raise ReplayError where the log as a whole is no basis of a verdict: no event was judged,
        or too many are none of the machine's. It is an action of Spark."""
        from pyspark.sql import functions as F

        sums = [F.sum(name).alias(name) for name in ("events", "judged", "unknown_events")]
        (found,) = self.verdicts.where("verdict != 'other'").agg(*sums).collect()
        counts = {name: number or 0 for name, number in found.asDict().items()}
        failures = demands.failures(counts["events"], counts)
        if failures:
            raise ReplayError("; ".join(failures))

    def remark(self) -> str:
        """Which outputs and variables of the mapping no row tells, among the first 10,000, as text:
        their path may be misspelt. Empty where there is none. It is an action of Spark."""
        return absent_in(first_rows(self.rows, self.program, MOST), self.program)

    def persist(self) -> ReplayFrames:
        """The same, computed once: the first action keeps all records in Spark's cache."""
        conf = self.records.sparkSession.conf
        before = str(conf.get(CACHED_ADAPTIVELY))
        conf.set(CACHED_ADAPTIVELY, "true")
        try:
            kept = self.records.persist()
            return replace(self, make=lambda: kept)
        finally:
            conf.set(CACHED_ADAPTIVELY, before)

    def unpersist(self) -> None:
        """Drop the records from Spark's cache."""
        self.records.unpersist()

    def _of(self, kind: str) -> DataFrame:
        return self.records.where(f"record = '{kind}'")


def replay_frame(
    rows: DataFrame,
    machines: type[Machine] | Iterable[type[Machine]] | ReplayProgram | JointProgram,
    mapping: TraceMapping | Sequence[TraceMapping] | None = None,
    states: DataFrame | None = None,
    split_long: bool = True,
) -> ReplayFrames:
    """Replay recorded events in a data frame against one or more machines, on Spark.

    `rows` has one of three forms. Lines: the one column `value`, of text or bytes, as
    `spark.read.text` makes it. A journal as a table: the columns that `to_parquet` writes. With a
    `mapping` any other table: a path "$.a.b" is the column `a`, of it the field `b`. A column has
    the form that Spark's `to_json` gives it.

    With several `mapping`s, each of which names its machine, each machine judges the rows by its
    own; an instance of the result is one of the `machine` beside it. The input is read once.

    `states`, with the columns `instance` and `state`, has the states that an earlier increment
    left: the result is about all rows of all increments, and has `states` for the next one.

    Where the machine has few states, instances with very many of the rows are split (see
    docs/replay.md, Long instances): when a view is first asked for, Spark reads a sample of the
    rows, and judges the rows of such instances in many tasks. `split_long=False` judges each
    instance in one task, and reads `rows` once.

    The session is that of `rows`, classic or Spark Connect. Nothing is computed before a result is
    used. Raises ReplayError where the columns are of none of these forms, and ValueError where two
    machines have one name or the mapping does not say which machine it is about.
    """
    if isinstance(machines, JointProgram) or isinstance(mapping, Sequence):
        return _jointly(rows, machines, mapping, states)
    program = program_of_frame(machines, mapping)
    if states is not None:
        program = replace(program, resumable=True)
    keyed = of_frame(rows, program)
    if states is not None:
        keyed = keyed.unionByName(of_states(states))
    if split_long and splits(program):
        return ReplayFrames(program, lambda: _split(rows, program), rows)
    return ReplayFrames(program, lambda: folded(keyed, RecordPartition(program), RECORD), rows)


def _jointly(
    rows: DataFrame,
    machines: type[Machine] | Iterable[type[Machine]] | ReplayProgram | JointProgram,
    mappings: TraceMapping | Sequence[TraceMapping] | None,
    states: DataFrame | None,
) -> ReplayFrames:
    """The replay of several machines, each with a mapping."""
    if states is not None:
        raise ValueError(ALONE.format("a replay that goes on from states"))
    if isinstance(machines, JointProgram):
        if mappings is not None:
            raise ValueError("a JointProgram has its own mappings; give the machines instead")
        program = machines
    elif isinstance(machines, ReplayProgram) or not isinstance(mappings, Sequence):
        raise ValueError("a ReplayProgram has its own mapping; give the machines instead")
    else:
        classes = (machines,) if isinstance(machines, type) else machines
        program = joint_program([each.lawful.ir for each in classes], mappings)
    keyed = joint_rows_of_frame(rows, program)
    task = RecordPartition(program, judged_jointly)
    return ReplayFrames(program, lambda: folded_jointly(keyed, task, RECORD), rows)


def _split(rows: DataFrame, program: ReplayProgram) -> DataFrame:
    """The records where long instances are judged first."""
    spark: Any = rows.sparkSession
    others, judged = split(spark, lambda how: of_frame(rows, program, how), program)
    records = folded(others, RecordPartition(program), RECORD)
    if not judged:
        return records
    told = [tuple(record.values()) for record in records_of_all(judged)]
    both: DataFrame = records.unionByName(spark.createDataFrame(told, RECORD))
    return both


def program_of_frame(
    machines: type[Machine] | Iterable[type[Machine]] | ReplayProgram,
    mapping: TraceMapping | None,
) -> ReplayProgram:
    """The program for these machines. Raises ValueError for a program with another mapping, and
    for several mappings, which streams do not take."""
    given: object = machines
    if isinstance(given, JointProgram) or isinstance(mapping, Sequence):
        raise ValueError(ALONE.format("a stream"))
    if isinstance(machines, ReplayProgram):
        if mapping is not None:
            raise ValueError("a ReplayProgram has its own mapping; give the machines instead")
        return machines
    classes = (machines,) if isinstance(machines, type) else tuple(machines)
    return ReplayProgram(tuple(each.lawful.ir for each in classes), mapping=mapping)
