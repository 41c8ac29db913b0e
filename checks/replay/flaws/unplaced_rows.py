"""Where the rows without a number are: a finding about such a row cannot name it by its number.

The files are read once more, up to the first row of each such finding; so both engines name the
same row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ..joint.joint_program import JointProgram
from ..joint.joint_rows import placed_joint_rows
from ..mapping import TraceMapping
from ..parquet import rows_of_table
from ..preparation.formats import records_of_file
from ..prepared_rows import pairs_of_record
from ..problems import ELSEWHERE
from ..program import ReplayProgram
from ..rows import Rejected, Row, decoded
from ..sources import BLANK, Sources, opened, remote
from ..tally import Tallies

MOST = 100_000  # Rows that are read.
Place = tuple[str, int]  # A file, and the number of a line or a record in it, from 1.
# A machine, where each has a mapping of its own; an instance, and the clause of a finding.
What = tuple[str, str, str]


def places_of(
    tallies: Tallies, files: Sources, program: ReplayProgram | JointProgram
) -> Mapping[What, Place]:
    """The place of the first row of each finding that is shown and has no number; of files on this
    computer, where it is among the first rows."""
    names = _names(program)
    wanted = _wanted(tallies, len(names) > 1)
    out: dict[What, Place] = {}
    for path, number, index, row in islice(placed_rows(files, program), MOST if wanted else 0):
        if not isinstance(row, Row) or row.seq >= 0:
            continue
        what = (names[index], row.instance, row.flaw)
        if what in wanted:
            out[what] = path, number
            wanted.remove(what)
            if not wanted:
                break
    return out


def _names(program: ReplayProgram | JointProgram) -> list[str]:
    """What stands for each program in `What`."""
    if isinstance(program, JointProgram):
        return [machine.name for machine in program.machines]
    return [""]


def _wanted(tallies: Tallies, joint: bool) -> set[What]:
    return {
        (machine if joint else "", name, found.clause)
        for machine, tally in tallies.machines.items()
        for rows in tally.found.rows.values()
        for name, found in rows
        if found.index == ELSEWHERE
    }


def placed_rows(
    files: Sources, program: ReplayProgram | JointProgram
) -> Iterator[tuple[str, int, int, Row | Rejected | None]]:
    """The rows of files on this computer: each after its file, the number of its line or record,
    and the index of its program."""
    if isinstance(program, JointProgram):
        lines, tables = files.lines, files.tables
        here = [tuple(each for each in paths if not remote(each)) for paths in (lines, tables)]
        yield from placed_joint_rows(replace(files, lines=here[0], tables=here[1]), program)
    else:
        yield from ((path, number, 0, row) for path, number, row in _rows(files, program))


def _rows(
    files: Sources, program: ReplayProgram
) -> Iterator[tuple[str, int, Row | Rejected | None]]:
    mapping = program.mapping
    for path in files.lines:
        if remote(path):
            continue
        if mapping is not None and mapping.preparation is not None:
            for number, found in records_of_file(path, mapping.preparation):
                for _, row in pairs_of_record(found, mapping, 0):
                    yield path, number, row
            continue
        with opened(Path(path)) as file:
            for number, line in enumerate(file, 1):
                if line.strip(BLANK):
                    yield path, number, decoded(line.rstrip(b"\n"), program.row_of)
    for path in files.tables:
        if not remote(path):
            for number, row in _rows_of_table(path, mapping):
                yield path, number, row


def _rows_of_table(path: str, mapping: TraceMapping | None) -> Iterator[tuple[int, Row | Rejected]]:
    if mapping is None:
        yield from enumerate(rows_of_table(path), 1)
        return
    from ..columnar.foreign_tables import numbered_pairs

    yield from ((number, row) for number, (_, row) in numbered_pairs(path, mapping))
