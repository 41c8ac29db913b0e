"""The rows that each machine of a joint replay gets of one record."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from ..columnar.foreign_tables import checked
from ..columnar.table_files import lines_of, table_file
from ..mapping import SKIPPED, TraceMapping
from ..preparation.formats import Found, records_of_file
from ..preparation.masks import WITHHELD
from ..preparation.path_templates import Record
from ..preparation.row_numbers import position
from ..prepared_rows import FAR, check_order, made_of_record
from ..rows import Rejected, Row, object_of
from ..sources import ReplayError, Sources, remote
from .joint_program import JointProgram

Made = tuple[Record, Row | Rejected | None]
OfProgram = tuple[int, Row | Rejected]  # The index of a program, and a row of its machine.


def rows_of_record(
    program: JointProgram, found: Found, place: int, line: str | None = None
) -> list[OfProgram]:
    """The rows of a record; `line` is the row of a table that it is.

    A record of no machine whose instance no mapping finds is rejected once, by the first machine
    that rejects it.
    """
    if isinstance(found, Rejected):
        private = any(each.preparation and each.preparation.private for each in program.mappings)
        return [(0, dataclasses.replace(found, text=WITHHELD) if private else found)]
    made: list[list[Made]] = [
        [*made_of_record(found, mapping, place, line)] for mapping in program.mappings
    ]
    pairs = zip(program.mappings, program.alphabets, made, strict=True)
    events = [[mapping.event_of(data) for data, _ in rows] for mapping, _, rows in pairs]
    taken = [
        not alphabet.isdisjoint(each)
        for alphabet, each in zip(program.alphabets, events, strict=True)
    ]
    out: list[OfProgram] = []
    for number, mapping in enumerate(program.mappings):
        for (_, row), event in zip(made[number], events[number], strict=True):
            if row is None:
                continue
            if not _is_elsewhere(program, number, event, taken):
                out.append((number, row))
            elif mapping.dense and isinstance(row, Row):
                out.append((number, _only_a_number(row)))
    return out if any(taken) else _rejected_once(out)


def _is_elsewhere(
    program: JointProgram, number: int, event: str | None, taken: Sequence[bool]
) -> bool:
    """Whether a row of a program is left out, because other machines take its record.

    A program that makes rows in the same way has the same row, so its name says whose it is. One
    that makes them in another way is asked for the record as a whole.
    """
    if event in program.alphabets[number]:
        return False
    return any(
        taken[other]
        and (
            event in program.alphabets[other] if program.alike(number, other) else not taken[number]
        )
        for other in range(len(taken))
        if other != number
    )


def _only_a_number(row: Row) -> Row:
    """A row of another machine, where the numbers of an instance count the rows of both."""
    return Row(row.instance, row.seq, row.machine, outcome=SKIPPED)


def _rejected_once(rows: list[OfProgram]) -> list[OfProgram]:
    """Rows of a record that no machine takes: where some mapping finds an instance, only those of
    instances; else the first rejection."""
    of_instances = [each for each in rows if isinstance(each[1], Row)]
    return of_instances or rows[:1]


def read_joint_rows(files: Sources, program: JointProgram) -> Iterator[OfProgram]:
    """Every row of the files, in their order. ReplayError where a file cannot be read."""
    for path, at, each, row in placed_joint_rows(files, program):
        yield each, row if isinstance(row, Row) else row.at(path, at)


def placed_joint_rows(
    files: Sources, program: JointProgram
) -> Iterator[tuple[str, int, int, Row | Rejected]]:
    """The same, each after its file and the number of its line or record."""
    for number, path in files.numbered:
        if remote(path):
            raise ReplayError(f"{path}: {FAR.format(program.reading.format)}")
        for at, found in records_of_file(path, program.reading):
            for each, row in rows_of_record(program, found, position(number, at)):
                yield path, at, each, row
    for path in files.tables:
        with table_file(path) as file:
            wanted = table_columns(program, path, file.schema)
            lines = (line for batch in file.batches(wanted) for line in lines_of(batch))
            for at, line in enumerate(lines, 1):
                for each, row in rows_of_record(program, object_of(line), 0, line.decode()):
                    yield path, at, each, row


def table_columns(program: JointProgram, path: str, schema: object) -> list[str] | None:
    """The columns of a table that some mapping reads; None for all of them."""
    wanted: dict[str, None] = {}
    for mapping in program.mappings:
        check_order(mapping, path)
        if mapping.preparation is None:
            wanted.update(dict.fromkeys(checked(path, schema, mapping)))
    return None if _some_prepared(program.mappings) else [*wanted]


def _some_prepared(mappings: tuple[TraceMapping, ...]) -> bool:
    return any(each.preparation is not None for each in mappings)
