"""Where the rows without a number are: a finding about such a row cannot name it by its number.

The files are read once more, up to the first row of each such finding; so both engines name the
same row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

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
What = tuple[str, str]  # An instance, and the clause of a finding.


def places_of(tallies: Tallies, files: Sources, program: ReplayProgram) -> Mapping[What, Place]:
    """The place of the first row of each finding that is shown and has no number; of files on this
    computer, where it is among the first rows."""
    wanted = _wanted(tallies)
    out: dict[What, Place] = {}
    if not wanted:
        return out
    for path, number, row in islice(placed_rows(files, program), MOST):
        what = (row.instance, row.flaw) if isinstance(row, Row) and row.seq < 0 else ("", "")
        if what in wanted:
            out[what] = path, number
            wanted.remove(what)
            if not wanted:
                break
    return out


def _wanted(tallies: Tallies) -> set[What]:
    found = (rows for tally in tallies.machines.values() for rows in tally.found.rows.values())
    return {(name, f.clause) for rows in found for name, f in rows if f.index == ELSEWHERE}


def placed_rows(
    files: Sources, program: ReplayProgram
) -> Iterator[tuple[str, int, Row | Rejected | None]]:
    """The rows of files on this computer, with their places."""
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
