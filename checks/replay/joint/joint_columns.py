"""The typed columns of each machine of a joint replay, of one reading of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from ..columnar.foreign_tables import places, typed_columns
from ..columnar.json_lines import LineDecoder
from ..columnar.layout import INSTANCE, PLACE, Layout
from ..columnar.local import blocks_of_lines
from ..columnar.regular import arrow_types
from ..columnar.table_files import lines_of, table_file
from ..engine_choice import Tell, silent
from ..parquet import arrow
from ..preparation.formats import record_of_line
from ..preparation.record_paths import names_in
from ..rows import Rejected, object_of
from ..sources import Sources
from .joint_program import JointProgram
from .joint_rows import rows_of_record, table_columns

Place = Callable[[int], str | None]


class JointDecoder:
    """Makes a table of each machine's columns, of the same lines or rows."""

    def __init__(self, program: JointProgram) -> None:
        assert program.typed is not None
        self.program = program
        self.layouts: tuple[Layout, ...] = tuple(layout for _, layout in program.typed)
        self.decoders = [LineDecoder(layout) for layout in self.layouts]
        self.types = [arrow_types(layout) for layout in self.layouts]

    def of_lines(self, lines: Sequence[bytes], place: Place) -> list[Any]:
        """The tables of lines; `place(i)` is where line `i` is."""
        tables = [each.batch(lines, str) for each in self.decoders]

        def rejects(i: int) -> frozenset[int]:
            found = record_of_line(lines[i], self.program.reading)
            assert found is not None  # A blank line is no row of a table.
            return self._rejecting(rows_of_record(self.program, found, 0))

        return self._rejected_once(tables, rejects, place)

    def of_table(self, table: Any, place: Place) -> list[Any]:
        """The tables of rows of a table with the columns that some mapping reads."""
        tables = [
            typed_columns(table.select(_outer(layout)), layout, str) for layout in self.layouts
        ]

        def rejects(i: int) -> frozenset[int]:
            (line,) = lines_of(table.slice(i, 1))
            return self._rejecting(rows_of_record(self.program, object_of(line), 0, line.decode()))

        return self._rejected_once(tables, rejects, place)

    def _rejecting(self, rows: Sequence[tuple[int, object]]) -> frozenset[int]:
        return frozenset(number for number, row in rows if isinstance(row, Rejected))

    def _rejected_once(
        self, tables: list[Any], rejects: Callable[[int], frozenset[int]], place: Place
    ) -> list[Any]:
        """The tables without the rows of no instance that others reject, or judge; the places of
        those that stay are told. Until then a place is the index of the row."""
        pa = arrow()
        told: dict[int, frozenset[int]] = {}
        out: list[Any] = []
        for number, table in enumerate(tables):
            if table.column(PLACE).null_count == table.num_rows:
                out.append(table)
                continue
            names, where = table.column(INSTANCE).to_pylist(), table.column(PLACE).to_pylist()
            kept = [True] * table.num_rows
            for row, index in enumerate(where):
                if index is not None and names[row] is None:
                    i = int(index)
                    told[i] = told[i] if i in told else rejects(i)
                    kept[row] = number in told[i]
            at = pa.array([None if i is None else place(int(i)) for i in where], pa.string())
            placed = table.set_column(table.schema.get_field_index(PLACE), PLACE, at)
            out.append(placed.filter(pa.array(kept)))
        return out


def _outer(layout: Layout) -> list[str]:
    return list(dict.fromkeys(names_in(each)[0] for each in layout.mapping.paths))


def tables_of_files(files: Sources, program: JointProgram, tell: Tell = silent) -> list[Any]:
    """The table of each machine, of all files. ReplayError where one cannot be read."""
    pa = arrow()
    decoder = JointDecoder(program)
    parts: list[list[Any]] = [[types.empty_table()] for types in decoder.types]
    rows = 0
    for tables in chain(_of_lines(files, decoder), _of_tables(files, decoder)):
        rows += tables[0]
        tell(f"{rows:,} rows read")
        for part, table in zip(parts, tables[1], strict=True):
            part.append(table)
    return [pa.concat_tables(part) for part in parts]


def _of_lines(files: Sources, decoder: JointDecoder) -> Iterator[tuple[int, list[Any]]]:
    for path in files.lines:
        before = 0
        for lines in blocks_of_lines(path):
            yield len(lines), decoder.of_lines(lines, places(path, before))
            before += len(lines)


def _of_tables(files: Sources, decoder: JointDecoder) -> Iterator[tuple[int, list[Any]]]:
    pa = arrow()
    for path in files.tables:
        before = 0
        with table_file(path) as file:
            wanted = table_columns(decoder.program, path, file.schema)
            for batch in file.batches(wanted):
                table = pa.Table.from_batches([batch])
                yield batch.num_rows, decoder.of_table(table, places(path, before))
                before += batch.num_rows
