"""A replay of files on Spark whose result is counts: what `lawful replay` prints.

Each partition returns one row: its tallies, and how much it read. If Spark read less than the files
have, that is an error.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..joint.joint_program import JointProgram
from ..program import ReplayProgram
from ..sources import ReplayError, Sources
from ..tally import Tallies
from . import inputs
from .block_tasks import PARTITIONS
from .joint_frames import folded_jointly, joint_expected, joint_rows_of_files
from .joint_tasks import judged_jointly
from .long_instances import split
from .partitions import TALLIES, TallyPartition, merged, together
from .places import located
from .session import plain_errors, session
from .shuffle import folded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MERGED_HERE = 32  # Tallies that the driver merges by itself; more are merged on Spark first.


def tally(
    files: Sources, program: ReplayProgram | JointProgram, master: str | None = None
) -> Tallies:
    """Replay the files in the active Spark session, or in a new one."""
    spark = session(master)
    if isinstance(program, JointProgram):
        return _jointly(spark, files, program)
    with plain_errors():
        rows, judged = split(
            spark, lambda how: inputs.of_files(spark, files, program, how), program
        )
        expected = inputs.expected_of(files, program)
        tallies, read = collected(rows, program)
        for each in judged:
            tallies.add(each)
    check_read(read, expected)
    tallies.rejected = located(tallies.rejected, files)
    return tallies


def _jointly(spark: SparkSession, files: Sources, program: JointProgram) -> Tallies:
    with plain_errors():
        rows = joint_rows_of_files(spark, files, program)
        task = TallyPartition(program, judged_jointly)
        tallies, read = _together(folded_jointly(rows, task, TALLIES))
    check_read(read, joint_expected(files, program))
    tallies.rejected = located(tallies.rejected, files)
    return tallies


def check_read(read: Counter[str], expected: Counter[str]) -> None:
    """ReplayError where Spark read less than the files have."""
    for form, much in expected.items():
        if read[form] < much:
            unit = "rows of the tables" if form == inputs.TABLE else "bytes of the lines"
            raise ReplayError(f"Spark read {read[form]} of {much} {unit}: no verdict without them")


def collected(rows: DataFrame, program: ReplayProgram) -> tuple[Tallies, Counter[str]]:
    """The tallies of all partitions, merged, and how much was read in each form."""
    return _together(folded(rows, TallyPartition(program), TALLIES))


def _together(tallies: Any) -> tuple[Tallies, Counter[str]]:
    if int(tallies.sparkSession.conf.get(PARTITIONS) or 0) > MERGED_HERE:
        tallies = tallies.repartition("tallies").mapInArrow(merged, TALLIES)
    return together(row["tallies"] for row in tallies.collect())
