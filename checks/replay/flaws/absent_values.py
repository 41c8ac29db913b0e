"""Outputs and variables that no row tells: their path in the mapping may be misspelt.

A row without such a value says nothing of it, so nothing is compared and nothing deviates.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..mapping import HAPPENED, TraceMapping
from ..program import ReplayProgram
from ..row_state import may_be_none
from ..rows import Absent, Row
from ..sources import Sources
from .unplaced_rows import placed_rows

MOST = 10_000  # Rows that are read: of most logs the first few have every value.
OUTPUT = "output"


def absent_values(files: Sources, program: ReplayProgram) -> str:
    """Which outputs and variables of the mapping no row tells, as text; empty where there is none.

    Rows are those of files on this computer.
    """
    mapping = program.mapping
    if mapping is None:
        return ""
    wanted = _compared(mapping)
    machine = program.steppers[mapping.machine].machine
    silent = {each.name for each in machine.events if not may_be_none(each.output)}
    silent |= {each.name for each in machine.transitions if each.event in silent}
    lacking: set[str] = set()
    read = 0
    for *_, row in islice(placed_rows(files, program), MOST if wanted else 0):
        read += 1
        if isinstance(row, Row) and row.outcome == HAPPENED:
            for name in _told(row):
                wanted.pop(name, None)
            lacking |= {name for name in wanted if name != OUTPUT or row.event in silent}
        if not wanted:
            return ""
    named = ", ".join(f"{path} ({name})" for name, path in wanted.items() if name in lacking)
    who = "no row" if read < MOST else f"none of the first {MOST:,} rows"
    return f"{who} has a value at {named}, so nothing was compared with it" if named else ""


def _compared(mapping: TraceMapping) -> dict[str, str]:
    """The paths that are compared where a row has a value, by their names in the mapping."""
    paths = {OUTPUT: mapping.output, **{f"observed.{k}": v for k, v in mapping.observed.items()}}
    return {name: path for name, path in paths.items() if isinstance(path, str)}


def _told(row: Row) -> Iterator[str]:
    """The names of what a row tells."""
    if not isinstance(row.output, Absent) and row.output is not None:
        yield OUTPUT
    yield from (f"observed.{name}" for name in row.observed)
