"""What the workers of Spark do in a joint replay: they read each row once, for all machines.

    program int, instance string, seq long, form string, line binary, place string

is a row of one machine, as `spark.partitions` has it, with the index of its program. Where all
machines have typed columns, the rows are blocks of them (`columnar.blocks`): the form is `BLOCK`,
the instance a bucket.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from ..columnar.blocks import BLOCKS, Packer, WholeInstances, rows_of_blocks
from ..columnar.kernel import Kernel
from ..columnar.regular import arrow_types
from ..joint.joint_columns import JointDecoder, Place
from ..joint.joint_program import JointProgram
from ..joint.joint_rows import OfProgram, rows_of_record
from ..parquet import arrow
from ..preparation.formats import record_of_line, records_of_file
from ..preparation.row_numbers import position
from ..rows import Rejected, Row, object_of
from ..tally import Judged
from .block_tasks import task_number
from .partitions import COUNT, KEYED, NAMES, PICKLED, judged_lines
from .places import LineCounter
from .prepared import in_batches

JOINT = f"program int, {KEYED}"
COLUMNS = ["program", *NAMES]
BLOCK = "block"
Told = tuple[int, Row | Rejected, str | None]  # Where a row is, if it is of no instance.


class JointLines:
    """Makes blocks of typed rows of lines (`form`, `line`, `place`), for each machine."""

    def __init__(self, program: JointProgram, buckets: tuple[int, ...]) -> None:
        self.program = program
        self.buckets = buckets

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The blocks."""
        decoder, counter = JointDecoder(self.program), LineCounter()
        packers = _Packers(decoder, self.buckets)
        for batch in batches:
            if not batch.num_rows:
                continue
            lines = batch.column(1).to_pylist()
            place = counter.later(batch.column(2))
            packers.read[batch.column(0)[0].as_py()] += sum(map(len, lines)) + len(lines)
            yield from packers.add(decoder.of_lines(lines, place))
        yield from packers.flushed()


class JointTable:
    """Makes blocks of the rows of a table whose columns have the types of all layouts. It has the
    columns of these `names`; if there is one more, it says where the rows are."""

    def __init__(self, program: JointProgram, buckets: tuple[int, ...], names: list[str]) -> None:
        self.program = program
        self.buckets = buckets
        self.names = names

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The blocks."""
        decoder = JointDecoder(self.program)
        packers = _Packers(decoder, self.buckets)
        for batch in batches:
            table = arrow().Table.from_batches([batch])
            count = len(self.names)
            read = table.select([*range(count)]).rename_columns(self.names)
            yield from packers.add(decoder.of_table(read, _place_in(batch, count)))
        yield from packers.flushed()


def _place_in(batch: Any, number: int) -> Place:
    where = batch.column(number) if batch.num_columns > number else None
    return lambda row: None if where is None else where[row].as_py()


class _Packers:
    """A packer for each machine. `read` is told once, with the rows of the first."""

    def __init__(self, decoder: JointDecoder, buckets: tuple[int, ...]) -> None:
        placing, task = WholeInstances(buckets), task_number()
        self.each = [Packer(types, placing, task) for types in decoder.types]
        self.read: Counter[str] = Counter()

    def add(self, tables: Iterable[Any]) -> Iterator[Any]:
        """Take the rows of the tables; the blocks that are full."""
        for number, (packer, table) in enumerate(zip(self.each, tables, strict=True)):
            yield from (_of_program(number, batch) for batch in packer.add(table))

    def flushed(self) -> Iterator[Any]:
        """The blocks of all other rows, with what was read."""
        for form, much in self.read.items():
            yield from (_of_program(0, batch) for batch in self.each[0].count(form, much))
        for number, packer in enumerate(self.each):
            yield from (_of_program(number, batch) for batch in packer.flushed())


def _of_program(number: int, blocks: Any) -> Any:
    """Blocks as rows of `JOINT`."""
    pa, count = arrow(), blocks.num_rows
    columns = [
        pa.array([number] * count, pa.int32()),
        blocks.column(0).cast(pa.string()),
        blocks.column(1),
        pa.array([BLOCK] * count, pa.string()),
        blocks.column(2),
        pa.nulls(count, pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=COLUMNS)


class JointRecords:
    """Makes rows of lines, or of rows of a table as JSON: `form`, `line`, `place`."""

    def __init__(self, program: JointProgram, table: bool) -> None:
        self.program = program
        self.table = table

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The rows of all machines; after each batch a row says how much was read."""
        counter = LineCounter()
        for batch in batches:
            forms, lines = (batch.column(i).to_pylist() for i in range(2))
            made = [self.made(line) for line in lines]
            lost = [any(isinstance(row, Rejected) for _, row in rows) for rows in made]
            where = counter.places(batch.column(2).to_pylist(), forms, lost)
            pairs = zip(made, where, strict=True)
            told = [(number, row, place) for rows, place in pairs for number, row in rows]
            read = sum(map(len, lines)) + len(lines)
            yield _keyed(told, (forms[0], read) if forms else None)

    def made(self, line: bytes) -> list[OfProgram]:
        """The rows of all machines of a line."""
        if self.table:
            return rows_of_record(self.program, object_of(line), 0, line.decode())
        found = record_of_line(line, self.program.reading)
        return [] if found is None else rows_of_record(self.program, found, 0)


class JointFiles:
    """Makes rows of whole files: `file` (its number) and `path`."""

    def __init__(self, program: JointProgram) -> None:
        self.program = program

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The rows of the files that the batches name."""
        return map(_keyed, in_batches(batches, self._of_file))

    def _of_file(self, path: str, file: int) -> Iterator[Told]:
        url = Path(path).as_uri()
        for at, found in records_of_file(path, self.program.reading):
            for number, row in rows_of_record(self.program, found, position(file, at)):
                yield number, row, None if isinstance(row, Row) else f"{at - 1} {url}"


def _keyed(told: Iterable[Told], read: tuple[str, int] | None = None) -> Any:
    """A batch of `JOINT`."""
    rows: list[tuple[Any, ...]] = []
    for number, row, place in told:
        key = (row.instance, row.seq) if isinstance(row, Row) else (None, None)
        rows.append((number, *key, PICKLED, pickle.dumps(row), None if key[0] else place))
    if read is not None:
        rows.append((0, None, read[1], COUNT, read[0].encode(), None))
    pa = arrow()
    kinds = (pa.int32(), pa.string(), pa.int64(), pa.string(), pa.binary(), pa.string())
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    return pa.RecordBatch.from_arrays(columns, names=COLUMNS)


def judged_jointly(
    program: JointProgram, batches: Iterable[Any], read: Counter[str]
) -> Iterator[Judged]:
    """The verdicts of all machines on the rows of `JOINT` in a sorted partition."""
    for number, parts in groupby(_by_program(batches), key=lambda part: part[0]):
        blocks = (part for _, part in parts)
        first = next(blocks)
        rows = chain([first], blocks)
        if first.column(2)[0].as_py() != BLOCK:
            yield from judged_lines(program.programs[number], rows, read)
            continue
        assert program.typed is not None
        apart, layout = program.typed[number]
        packed = rows_of_blocks(map(_blocks, rows), arrow_types(layout), read)
        yield from Kernel(apart, layout).judge(packed)


def _by_program(batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Each batch cut where another program begins, with the number of the program, as rows of
    `KEYED`."""
    pa = arrow()
    for batch in batches:
        numbers = batch.column(0).to_pylist()
        begin = 0
        for number, run in groupby(numbers):
            end = begin + sum(1 for _ in run)
            part = batch.slice(begin, end - begin)
            yield number, pa.RecordBatch.from_arrays(part.columns[1:], names=NAMES)
            begin = end


def _blocks(rows: Any) -> Any:
    """Rows of `KEYED` as blocks."""
    pa = arrow()
    columns = [rows.column(0).cast(pa.int32()), rows.column(1), rows.column(3)]
    return pa.RecordBatch.from_arrays(columns, names=[c.split()[0] for c in BLOCKS.split(", ")])
