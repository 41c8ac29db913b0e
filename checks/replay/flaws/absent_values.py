"""Outputs and variables that no row tells: their path in the mapping may be misspelt.

A row without such a value says nothing of it, so nothing is compared and nothing deviates.
"""

from __future__ import annotations

from collections import Counter
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
    sought = [*map(Told, program.programs if isinstance(program, JointProgram) else (program,))]
    read = 0
    for index, row in islice(rows, MOST if any(each.lacks() for each in sought) else 0):
        read += 1
        sought[index].take(row)
        if not any(each.lacks() for each in sought):
            return ""
    named = ", ".join(what for each in sought for what in each.absent(joint))
    who = "no row" if read < MOST else f"none of the first {MOST:,} rows"
    return f"{who} has a value at {named}, so nothing was compared with it" if named else ""


class Told:
    """How many rows of one machine tell each output and variable of the mapping, by its path and
    its name there. It says nothing of those that no row could have told."""

    def __init__(self, program: ReplayProgram) -> None:
        mapping = program.mapping
        self.compared = {} if mapping is None else _compared(mapping)
        self.machine = "" if mapping is None else mapping.machine
        self.counts: Counter[str] = Counter()
        self.silent: set[str] = set()  # The events whose output is never None.
        if mapping is not None:
            machine = program.steppers[mapping.machine].machine
            self.silent |= {each.name for each in machine.events if not may_be_none(each.output)}
            self.silent |= {each.name for each in machine.transitions if each.event in self.silent}

    def take(self, row: object) -> None:
        """Note what a row tells, and what it could tell."""
        if not isinstance(row, Row) or row.outcome != HAPPENED:
            return
        told = {*_told(row)}
        for name, path in self.compared.items():
            if name in told or name != OUTPUT or row.event in self.silent:
                self.counts[f"{path} ({name})"] += name in told

    def lacks(self) -> bool:
        """Whether there is something that no row has told so far."""
        return sum(count > 0 for count in self.counts.values()) < len(self.compared)

    def absent(self, joint: bool) -> list[str]:
        """What no row has, with its machine where there are several."""
        of = f" of {self.machine})" if joint else ")"
        return [name[:-1] + of for name, count in self.counts.items() if not count]


def _compared(mapping: TraceMapping) -> dict[str, str]:
    """The paths that are compared where a row has a value, by their names in the mapping."""
    paths = {OUTPUT: mapping.output, **{f"observed.{k}": v for k, v in mapping.observed.items()}}
    return {name: path for name, path in paths.items() if isinstance(path, str)}


def _told(row: Row) -> Iterator[str]:
    """The names of what a row tells."""
    if not isinstance(row.output, Absent) and row.output is not None:
        yield OUTPUT
    yield from (f"observed.{name}" for name in row.observed)
