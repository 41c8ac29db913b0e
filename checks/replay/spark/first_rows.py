"""The first rows of the caller's data frame, decoded in this process as the workers decode them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..joint.joint_program import JointProgram
from ..joint.joint_rows import OfProgram
from ..preparation.record_paths import names_in
from ..prepared_rows import rows_of_line, rows_of_table_line
from ..program import ReplayProgram
from ..rows import Row, decoded
from ..sources import BLANK
from . import inputs
from .joint_tasks import JointRecords
from .json_columns import column_named, json_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def first_rows(
    rows: DataFrame, program: ReplayProgram | JointProgram, most: int
) -> Iterator[OfProgram]:
    """The rows of as many records, each with the index of its program. It is an action of Spark."""
    from pyspark.sql import functions as F

    table = rows.dtypes not in ([(inputs.TEXT, "string")], [(inputs.TEXT, "binary")])
    line = (
        json_of([F.col(column_named(name)) for name in _names(rows, program)])
        if table
        else F.col(inputs.TEXT).cast("binary")
    )
    found: list[Any] = rows.limit(most).select(line.alias("line")).collect()
    for (told,) in found:
        yield from _made(bytes(told or b""), program, table)


def _names(rows: DataFrame, program: ReplayProgram | JointProgram) -> list[str]:
    """The columns that are read."""
    mappings = program.mappings if isinstance(program, JointProgram) else (program.mapping,)
    wanted: set[str] = set()
    for each in mappings:
        if each is None or each.preparation is not None:
            return list(rows.columns)
        wanted |= {names_in(path)[0] for path in each.paths}
    return [name for name in rows.columns if name in wanted]


def _made(line: bytes, program: ReplayProgram | JointProgram, table: bool) -> Iterator[OfProgram]:
    if isinstance(program, JointProgram):
        yield from JointRecords(program, table).made(line)
        return
    mapping = program.mapping
    if mapping is not None and mapping.preparation is not None:
        rows_of = rows_of_table_line if table else rows_of_line
        yield from ((0, row) for row in rows_of(line, mapping))
        return
    row = decoded(line, program.row_of) if line.strip(BLANK) else None
    if isinstance(row, Row):
        yield 0, row
