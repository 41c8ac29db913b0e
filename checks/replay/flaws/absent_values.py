"""Outputs and variables that no row tells: their path in the mapping may be misspelt.

A row without such a value says nothing of it, so nothing is compared and nothing deviates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ..joint.joint_program import JointProgram
from ..joint.joint_rows import OfProgram
from ..mapping import HAPPENED, TraceMapping
from ..program import ReplayProgram
from ..row_state import may_be_none
from ..rows import Absent, Row
from ..sources import Sources
from .unplaced_rows import placed_rows

MOST = 10_000  # Rows that are read: of most logs the first few have every value.
OUTPUT = "output"


def absent_values(files: Sources, program: ReplayProgram | JointProgram) -> str:
    """Which outputs and variables of the mappings no row tells, as text; empty where there is none.

    Rows are those of files on this computer.
    """
    rows = ((index, row) for *_, index, row in placed_rows(files, program) if row is not None)
    return absent_in(rows, program)


def absent_in(rows: Iterable[OfProgram], program: ReplayProgram | JointProgram) -> str:
    """The same of these rows, each with the index of its program among those of the machines."""
    joint = isinstance(program, JointProgram)
    sought = [*map(_Absent, program.programs if isinstance(program, JointProgram) else (program,))]
    read = 0
    for index, row in islice(rows, MOST if any(each.wanted for each in sought) else 0):
        read += 1
        sought[index].take(row)
        if not any(each.wanted for each in sought):
            return ""
    named = ", ".join(what for each in sought for what in each.named(joint))
    who = "no row" if read < MOST else f"none of the first {MOST:,} rows"
    return f"{who} has a value at {named}, so nothing was compared with it" if named else ""


class _Absent:
    """What no row of one machine has told so far."""

    def __init__(self, program: ReplayProgram) -> None:
        mapping = program.mapping
        self.wanted = {} if mapping is None else _compared(mapping)
        self.machine = "" if mapping is None else mapping.machine
        self.lacking: set[str] = set()
        self.silent: set[str] = set()  # The events whose output is never None.
        if mapping is not None:
            machine = program.steppers[mapping.machine].machine
            self.silent |= {each.name for each in machine.events if not may_be_none(each.output)}
            self.silent |= {each.name for each in machine.transitions if each.event in self.silent}

    def take(self, row: object) -> None:
        """Note what a row tells, and what it could tell."""
        if not isinstance(row, Row) or row.outcome != HAPPENED:
            return
        for name in _told(row):
            self.wanted.pop(name, None)
        self.lacking |= {n for n in self.wanted if n != OUTPUT or row.event in self.silent}

    def named(self, joint: bool) -> list[str]:
        """The paths that no row has, with their names in the mapping."""
        of = f" of {self.machine}" if joint else ""
        pairs = self.wanted.items()
        return [f"{path} ({name}{of})" for name, path in pairs if name in self.lacking]


def _compared(mapping: TraceMapping) -> dict[str, str]:
    """The paths that are compared where a row has a value, by their names in the mapping."""
    paths = {OUTPUT: mapping.output, **{f"observed.{k}": v for k, v in mapping.observed.items()}}
    return {name: path for name, path in paths.items() if isinstance(path, str)}


def _told(row: Row) -> Iterator[str]:
    """The names of what a row tells."""
    if not isinstance(row.output, Absent) and row.output is not None:
        yield OUTPUT
    yield from (f"observed.{name}" for name in row.observed)
