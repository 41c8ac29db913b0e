"""The input of a replay as one data frame: a keyed line for each recorded row.

    instance string, seq long, form string, line binary, place string

`instance` and `seq` bring the rows of an instance together and into order; both are null for a line
that belongs to no instance. `line` is what the workers parse, all forms with the code of the local
engine: a line of a file as it is, or a row of a table as a JSON object. `place` says where a line
is that belongs to no instance (`places`).

Where the program has typed columns (`columnar.layout`), the frame has blocks of such rows instead:
see `columnar.blocks`.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..columnar.layout import INSTANCE, layout_of
from ..flaws.row_texts import no_column
from ..parquet import NEEDED, NO_JOURNAL, check_columns, length
from ..preparation.preparation_table import Preparation
from ..preparation.record_paths import names_in
from ..prepared_rows import check_order
from ..program import ReplayProgram
from ..sources import MARK, UNPACKED, ReplayError, Sources, beginning, is_orc, remote
from . import prepared, typed
from .block_tasks import ALL, DecodeLines, PackRows, PackTable, Reading
from .json_columns import column_named, json_of, name_at, numbered_columns, quoted
from .partitions import BEFORE_ALL, KEYED, STATE, KeyPartition
from .places import PLACE, place

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

# The forms of a line. This process knows how much there is to read of `PLAIN` and `TABLE`.
PLAIN, TABLE, PACKED, FAR_TABLE, FRAME = "plain", "table", "packed", "far table", "frame"
TEXT = "value"  # The column of a data frame of lines, as `spark.read.text` names it.


def of_frame(rows: DataFrame, program: ReplayProgram, how: Reading = ALL) -> DataFrame:
    """The rows of the caller's data frame: lines, a journal, or any table with a mapping; `how` is
    for typed columns.

    Raises ReplayError where the columns are none of these.
    """
    check_order(program.mapping, "a data frame")
    if rows.dtypes in ([(TEXT, "string")], [(TEXT, "binary")]):
        return _of_lines(lines_in(rows, FRAME), program, how)
    if program.mapping is not None:
        return _mapped(rows, program, how, "the data frame")
    return _table(rows, program, "the data frame", FAR_TABLE)


def of_states(states: DataFrame) -> DataFrame:
    """The states of instances as keyed lines, each before all rows of its instance."""
    from pyspark.sql import functions as F

    if sorted(states.dtypes) != [("instance", "string"), ("state", "string")]:
        there = ", ".join(f"{name} {kind}" for name, kind in states.dtypes)
        raise ReplayError(f"states have the columns instance and state, both texts; here: {there}")
    return states.select(
        "instance",
        F.lit(BEFORE_ALL).cast("long").alias("seq"),
        F.lit(STATE).alias("form"),
        F.col("state").cast("binary").alias("line"),
        F.lit(None).cast("string").alias("place"),
    )


def of_files(
    spark: SparkSession, files: Sources, program: ReplayProgram, how: Reading = ALL
) -> DataFrame:
    """The rows of all files; `how` is for typed columns."""
    whole = _preparation(program)
    if whole is not None and files.lines and not whole.of_lines:
        parts = [prepared.of_whole_files(spark, [*files.lines], program)]
    else:
        parts = [_of_lines(read_lines(spark, path), program, how) for path in files.lines]
    parts += [_read_table(spark, path, program, how) for path in files.tables]
    return functools.reduce(lambda a, b: a.unionByName(b), parts)


def expected_of(files: Sources, program: ReplayProgram) -> Counter[str]:
    """How much there is to read: bytes of lines, rows of journals' tables; without remote or packed
    files."""
    how = _preparation(program)
    out = expected_lines(files) if how is None or how.of_lines else Counter[str]()
    for path in files.tables:
        if program.mapping is None and not remote(path):
            out[TABLE] += length(path)
    return out


def expected_lines(files: Sources) -> Counter[str]:
    """How many bytes of lines there are to read, without remote or packed files."""
    plain = (path for path in files.lines if _form(path) == PLAIN)
    return Counter({PLAIN: sum(_bytes(Path(path)) for path in plain)})


def _preparation(program: ReplayProgram) -> Preparation | None:
    return None if program.mapping is None else program.mapping.preparation


def _form(path: str) -> str:
    return PACKED if remote(path) or path.lower().endswith(UNPACKED) else PLAIN


def _bytes(path: Path) -> int:
    """The size of a file, without a byte order mark, which Hadoop drops; a missing newline at its
    end is counted."""
    mark = len(MARK) * (beginning(path) == MARK)
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(-1, os.SEEK_END)
        return size - mark + (file.read(1) not in (b"", b"\n"))


def read_lines(spark: SparkSession, path: str) -> DataFrame:
    """The lines of a file, without their keys: `form`, `line`, `place`."""
    # Only "\n" ends a line, as in Python; Spark's own rule also takes a lone "\r".
    text = spark.read.text(url_of(path), lineSep="\n")
    return lines_in(text.select(TEXT, place("file_block_start")), _form(path))


def lines_in(text: DataFrame, form: str) -> DataFrame:
    """The lines of a data frame with the column `value`, without their keys."""
    from pyspark.sql import functions as F

    blank = F.lit("").cast("binary")  # In place of null, which only a caller's data frame has.
    line = F.coalesce(F.col(TEXT).cast("binary"), blank)
    return text.select(F.lit(form).alias("form"), line.alias("line"), told_place(text))


def told_place(rows: DataFrame) -> Column:
    """Where each row is; null where the data frame does not say it."""
    from pyspark.sql import functions as F

    told = F.col(f"`{PLACE}`") if PLACE in rows.columns else F.lit(None)
    return told.cast("string").alias("place")


def _of_lines(lines: DataFrame, program: ReplayProgram, how: Reading) -> DataFrame:
    """Lines as blocks where the program has typed columns, else with their keys."""
    if _preparation(program) is not None:
        return prepared.of_records(lines, program, table=False)
    if layout_of(program) is None:
        return _keyed(lines, program)
    return how.packed(lines, program, DecodeLines)


def _keyed(lines: DataFrame, program: ReplayProgram) -> DataFrame:
    """Lines with their keys; a worker parses each line for them."""
    frame: Any = lines  # Its `mapInArrow` has no types.
    keyed: DataFrame = frame.mapInArrow(KeyPartition(program), KEYED)
    return keyed


def _read_table(spark: SparkSession, path: str, program: ReplayProgram, how: Reading) -> DataFrame:
    form = FAR_TABLE if remote(path) else TABLE
    if is_orc(path):
        if program.mapping is None:
            raise ReplayError(f"{path}: {NO_JOURNAL}")
        table = spark.read.orc(url_of(path))  # Spark does not number its rows.
        return _mapped(table, program, how, path)
    table = spark.read.parquet(url_of(path))
    table = table.select("*", place("row_index"))
    if program.mapping is None:
        return _table(table, program, path, form)
    return _mapped(table, program, how, path)


def _table(table: DataFrame, program: ReplayProgram, name: str, form: str) -> DataFrame:
    """The rows of a journal kept as a table. `name` is for errors.

    The columns have the keys, but for lines that were no complete rows: these are parsed for them.
    """
    from pyspark.sql import functions as F

    types = {f.name: f.dataType.simpleString().replace("bigint", "int") for f in table.schema}
    check_columns(name, types)
    columns: list[Column] = [F.col(each) for each in NEEDED]
    if "universe" in types:
        columns.append(F.col("universe"))
    if "corrupt" not in types:
        return _as_lines(table, F.col("instance"), F.col("seq"), columns, form)
    whole = table.where(F.col("corrupt").isNull())
    rows = _as_lines(whole, F.col("instance"), F.col("seq"), columns, form)
    columns.append(F.hex("corrupt").alias("corrupt"))
    corrupt = table.where(F.col("corrupt").isNotNull())
    parts = F.lit(form).alias("form"), json_of(columns).alias("line"), told_place(corrupt)
    lines = corrupt.select(*parts)
    return rows.unionByName(_keyed(lines, program))


def _mapped(table: DataFrame, program: ReplayProgram, how: Reading, what: str) -> DataFrame:
    """The rows of any table: each is the JSON object that the paths of the mapping are about.
    `what` is for errors."""
    from pyspark.sql import functions as F

    mapping = program.mapping
    assert mapping is not None
    if mapping.preparation is not None:
        check_order(mapping, what)
        every = [F.col(column_named(name)) for name in table.columns if name != PLACE]
        parts = F.lit(FRAME).alias("form"), json_of(every).alias("line"), told_place(table)
        return prepared.of_records(table.select(*parts), program, table=True)
    for path in mapping.paths:
        check_path(table.schema, path, what)
    names = dict.fromkeys(names_in(path)[0] for path in mapping.paths)
    columns = [F.col(column_named(name)) for name in names]
    layout = layout_of(program)
    if layout is not None:
        if typed.is_plain(table, layout):
            place = [told_place(table).alias(PLACE)] if PLACE in table.columns else []
            read = table.select(*numbered_columns(names), *place)
            named = typed.is_name(table, mapping.instance)
            at = f"c{[*names].index(names_in(mapping.instance)[0])}"
            instance = F.col(at).cast("string") if named else None
            return how.packed(read, program, PackTable, instance)
        rows = typed.of_table(table, layout, json_of(columns), told_place(table))
        return how.packed(rows, program, PackRows, F.col(INSTANCE))
    key, seq = name_at(table, mapping.instance), F.col(quoted(mapping.seq))
    return _as_lines(table, key, seq, columns, FRAME)


def _as_lines(
    table: DataFrame, instance: Column, seq: Column, columns: list[Column], form: str
) -> DataFrame:
    """Rows of a table as keyed lines of JSON with these columns."""
    from pyspark.sql import functions as F

    return table.select(
        instance.cast("string").alias("instance"),
        seq.try_cast("long").alias("seq"),
        F.lit(form).alias("form"),
        json_of(columns).alias("line"),
        F.when(instance.isNull(), told_place(table)).alias("place"),
    )


def check_path(schema: StructType, path: str, what: str) -> None:
    """ReplayError where the columns have nothing at a path of a mapping; `what` has the columns."""
    from pyspark.sql.types import MapType, StructType

    inside: Any = schema
    for name in names_in(path):
        if isinstance(inside, MapType):  # Each row has keys of its own.
            inside = inside.valueType
            continue
        names = inside.names if isinstance(inside, StructType) else []
        if name not in names:
            told = (each for each in names if each != PLACE)
            raise ReplayError(no_column(path, name, what, told))
        inside = inside[name].dataType


def url_of(path: str) -> str:
    """The path as a URL for Spark, with the characters of patterns escaped."""
    if remote(path):
        return path
    # A link keeps its own name, which `sources` has checked.
    whole = str(Path(path).parent.resolve() / Path(path).name)
    plain_path = "".join(f"\\{c}" if c in "[]{}*?\\" else c for c in whole)
    return f"file://{plain_path}"
