"""A replay of files on Spark whose result is counts: what `lawful replay` prints.

Each partition returns one row: its tallies, and how much it read. If Spark read less than the files
have, that is an error.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..program import ReplayProgram
from ..sources import ReplayError, Sources
from ..tally import Tallies
from . import inputs
from .block_tasks import PARTITIONS
from .long_instances import split
from .partitions import TALLIES, TallyPartition, merged, together
from .places import located
from .session import plain_errors, session
from .shuffle import folded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MERGED_HERE = 32  # Tallies that the driver merges by itself; more are merged on Spark first.


def tally(files: Sources, program: ReplayProgram, master: str | None = None) -> Tallies:
    """Replay the files in the active Spark session, or in a new one."""
    spark = session(master)
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


def check_read(read: Counter[str], expected: Counter[str]) -> None:
    """ReplayError where Spark read less than the files have."""
    for form, much in expected.items():
        if read[form] < much:
            unit = "rows of the tables" if form == inputs.TABLE else "bytes of the lines"
            raise ReplayError(f"Spark read {read[form]} of {much} {unit}: no verdict without them")


def collected(rows: DataFrame, program: ReplayProgram) -> tuple[Tallies, Counter[str]]:
    """The tallies of all partitions, merged, and how much was read in each form."""
    tallies: Any = folded(rows, TallyPartition(program), TALLIES)
    if int(rows.sparkSession.conf.get(PARTITIONS) or 0) > MERGED_HERE:
        tallies = tallies.repartition("tallies").mapInArrow(merged, TALLIES)
    return together(row["tallies"] for row in tallies.collect())
