"""A replay of typed columns in one process: read, sort, judge.

All columns are in memory at once: some 50 bytes a row, and the lines of rows that are not regular.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..engine_choice import Tell, silent
from ..parquet import arrow
from ..prepared_rows import pairs_of_file
from ..program import ReplayProgram
from ..rows import Rejected
from ..sources import UNREADABLE, ReplayError, Sources, opened, remote
from ..tally import Tallies
from . import kernel
from .foreign_tables import batches_of_table, pairs_of_table, places
from .json_lines import LineDecoder
from .layout import Layout
from .prepared_columns import batches_of_pairs
from .row_order import in_order

BLOCK = 1 << 23  # Bytes of lines that are parsed at once.


def tally_columns(
    files: Sources, program: ReplayProgram, layout: Layout, tell: Tell = silent
) -> Tallies:
    """The tallies of a replay. ReplayError where a file cannot be read."""
    table = arrow().concat_tables(counted(batches_of_files(files, layout), tell))
    tell(f"{table.num_rows:,} rows are judged")
    return tally_table(table, program, layout)


def tally_table(table: Any, program: ReplayProgram, layout: Layout) -> Tallies:
    """The tallies of all rows of a table of a layout's columns."""
    tallies = Tallies(program.every)
    for each in kernel.Kernel(program, layout).judge(in_order(table, kernel.ROWS)):
        if isinstance(each, Rejected):
            number, _, file = each.file.partition(" ")
            tallies.add(each.at(file, int(number)))
        else:
            tallies.add(each)
    return tallies


def counted(batches: Iterable[Any], tell: Tell) -> Iterator[Any]:
    """The batches, with how many rows were read."""
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        tell(f"{rows:,} rows read")
        yield batch


def batches_of_files(files: Sources, layout: Layout) -> Iterator[Any]:
    """The columns of all files."""
    mapping = layout.mapping
    if mapping.preparation is not None:
        for number, path in files.numbered:
            yield from batches_of_pairs(pairs_of_file(path, number, mapping), layout)
        for path in files.tables:
            yield from batches_of_pairs(pairs_of_table(path, mapping), layout)
        return
    decoder = LineDecoder(layout)
    for path in files.lines:
        before = 0
        for lines in blocks_of_lines(path):
            yield decoder.batch(lines, places(path, before))
            before += len(lines)
    for path in files.tables:
        yield from batches_of_table(path, layout)


def blocks_of_lines(path: str) -> Iterator[list[bytes]]:
    """The lines of a file, some at a time."""
    if remote(path):
        raise ReplayError(f"{path}: only the Spark engine reads remote files")
    try:
        with opened(Path(path)) as file:
            while lines := file.readlines(BLOCK):
                yield [line.rstrip(b"\n") for line in lines]
    except UNREADABLE as error:
        raise ReplayError(f"{path}: {error}") from error
