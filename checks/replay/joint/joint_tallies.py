"""A joint replay in one process: the files are read once, and each machine judges its rows.

By typed columns where each machine has such and the rows are many, as `in_process` does it.
"""

from __future__ import annotations

from ..engine_choice import Tell, silent
from ..in_process import TOLD, Judging, is_few, ordered_rows
from ..parquet import has_arrow
from ..rows import Row
from ..sources import Sources
from ..tally import Tallies
from .joint_program import JointProgram
from .joint_rows import read_joint_rows


def tally_joint(files: Sources, program: JointProgram, tell: Tell = silent) -> Tallies:
    """The tallies of all machines. ReplayError where a file cannot be read."""
    if has_arrow() and program.typed is not None and not is_few(files, foreign=True):
        return _by_columns(files, program, tell)
    return _by_rows(files, program, tell)


def _by_columns(files: Sources, program: JointProgram, tell: Tell) -> Tallies:
    from ..columnar.local import tally_table
    from .joint_columns import tables_of_files

    tallies = Tallies(program.every)
    tables = tables_of_files(files, program, tell)
    for (each, layout), table in zip(program.typed or (), tables, strict=True):
        tallies.merge(tally_table(table, each, layout))
    return tallies


def _by_rows(files: Sources, program: JointProgram, tell: Tell) -> Tallies:
    judging = [Judging(each) for each in program.programs]
    for count, (number, row) in enumerate(read_joint_rows(files, program)):
        if count % TOLD == 0:
            tell(f"{count:,} rows read")
        judging[number].take(row)
    for each in judging:
        each.close()
    tallies = Tallies(program.every)
    late = [each.late for each in judging]
    again: list[list[Row]] = [[] for _ in judging]
    for number, row in read_joint_rows(files, program) if any(late) else ():
        if isinstance(row, Row) and row.instance in late[number]:
            again[number].append(row)
    for each, names, rows in zip(judging, late, again, strict=True):
        tallies.merge(each.end(ordered_rows(rows, names)))
    return tallies
