"""Paths of conditions that no record has: they may be misspelt.

A condition that asks about a path without a value is false. So a misspelt path in an `$if` gives
each row the value after `else`, and one in a form of rows leaves out these rows, without an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from ..joint.joint_program import JointProgram
from ..mapping import TraceMapping
from ..preparation.formats import Found, records_of_file
from ..preparation.path_templates import MissingPath, Record, conditions_in, value_at
from ..preparation.preparation_table import Preparation
from ..prepared_rows import made_of_record
from ..program import ReplayProgram
from ..sources import Sources, remote

MOST = 10_000  # Records that are read: of most logs the first few have every value.


def unmet_conditions(files: Sources, program: ReplayProgram | JointProgram) -> str:
    """Which paths of conditions no record has, as text; empty where there is none.

    Records are those of files on this computer.
    """
    mappings = program.mappings if isinstance(program, JointProgram) else (program.mapping,)
    found = [_unmet(files, each) for each in mappings if each is not None]
    missing = [path for each in found for path in each[0]]
    if not missing:
        return ""
    cut = any(paths and read == MOST for paths, read in found)
    who = f"none of the first {MOST:,} records" if cut else "no record"
    named = ", ".join(dict.fromkeys(missing))
    return f"{who} has a value at {named}, so a condition that asks for it is false"


def _unmet(files: Sources, mapping: TraceMapping) -> tuple[list[str], int]:
    """The paths of one mapping that no record has, and how many records were read."""
    if mapping.preparation is None:
        return [], 0
    how = replace(mapping.preparation, hash=(), drop=())  # They come after all conditions.
    left = [*dict.fromkeys(_asked(how))]
    read = 0
    for record in islice(_records(files, replace(mapping, preparation=how), how), MOST):
        left = [path for path in left if not _has(record, path)]
        if not left:
            break
        read += 1
    return left, read


def _asked(how: Preparation) -> Iterator[str]:
    """The paths about which a preparation asks, but for `when` of all records: without these a
    record is left out, and a replay without any is an error."""
    for form in how.rows:
        yield from form.when
    for fields in (how.fields, *(form.fields for form in how.rows)):
        for asked in conditions_in(dict(fields)):
            yield from asked


def _records(files: Sources, mapping: TraceMapping, how: Preparation) -> Iterator[Record]:
    """The prepared records of files on this computer."""
    for path in files.lines:
        if not remote(path):
            for _, found in records_of_file(path, how):
                yield from _prepared(found, mapping)
    for path in files.tables:
        if not remote(path):
            from ..columnar.foreign_tables import pairs_of_table

            yield from (data for data, _ in pairs_of_table(path, mapping))


def _prepared(found: Found, mapping: TraceMapping) -> Iterator[Record]:
    return (data for data, _ in made_of_record(found, mapping, 0))


def _has(record: Record, path: str) -> bool:
    try:
        value_at(path, record)
    except MissingPath:
        return False
    return True
