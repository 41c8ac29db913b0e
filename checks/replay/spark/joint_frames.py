"""The input of a joint replay on Spark: one data frame with the rows of all machines, of one
reading of the input; and its one shuffle. The rows are those of `joint_tasks.JOINT`."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..joint.joint_program import JointProgram
from ..preparation.record_paths import names_in
from ..prepared_rows import check_order
from ..sources import Sources, is_orc, numbered
from . import inputs, typed
from .block_tasks import buckets_for
from .joint_tasks import JOINT, JointFiles, JointLines, JointRecords, JointTable
from .json_columns import column_named, json_of, numbered_columns
from .places import PLACE, place
from .shuffle import Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def joint_rows_of_frame(rows: DataFrame, program: JointProgram) -> DataFrame:
    """The rows of the caller's data frame: lines, or any table. ReplayError where a mapping reads
    what it does not have."""
    for mapping in program.mappings:
        check_order(mapping, "a data frame")
    if rows.dtypes in ([(inputs.TEXT, "string")], [(inputs.TEXT, "binary")]):
        return _of_lines(inputs.lines_in(rows, inputs.FRAME), program, program.typed is not None)
    return _of_table(rows, program, _fits(rows, program), "the data frame")


def joint_rows_of_files(spark: SparkSession, files: Sources, program: JointProgram) -> DataFrame:
    """The rows of all files."""
    tables = [_table(spark, path) for path in files.tables]
    columns = program.typed is not None and all(_fits(each, program) for each in tables)
    parts: list[DataFrame] = []
    if files.lines and not by_lines(program):
        parts.append(_of_whole_files(spark, files.lines, program))
    elif files.lines:
        lines = (inputs.read_lines(spark, path) for path in files.lines)
        parts += [_of_lines(each, program, columns) for each in lines]
    for path, table in zip(files.tables, tables, strict=True):
        for mapping in program.mappings:
            check_order(mapping, path)
        parts.append(_of_table(table, program, columns, path))
    return functools.reduce(lambda a, b: a.unionByName(b), parts)


def by_lines(program: JointProgram) -> bool:
    """Whether each line of a file is a record by itself, wherever it stands."""
    return all(each.preparation is None or each.preparation.of_lines for each in program.mappings)


def joint_expected(files: Sources, program: JointProgram) -> Counter[str]:
    """How much there is to read."""
    return inputs.expected_lines(files) if by_lines(program) else Counter()


def folded_jointly(rows: DataFrame, task: Task, schema: str) -> DataFrame:
    """The result of a task over the sorted rows of each partition, as `spark.shuffle` has it."""
    from pyspark.sql import functions as F

    frame: Any = rows
    # Rows without an instance are distributed by their text, or one task would get them all.
    spread = F.coalesce(F.col("instance").cast("binary"), F.col("line"))
    ordered = frame.repartition("program", spread).sortWithinPartitions(
        "program", "instance", "seq"
    )
    out: DataFrame = ordered.mapInArrow(task, schema)
    return out


def _table(spark: SparkSession, path: str) -> DataFrame:
    if is_orc(path):
        return spark.read.orc(inputs.url_of(path))  # Spark does not number its rows.
    table = spark.read.parquet(inputs.url_of(path))
    return table.select("*", place("row_index"))


def _fits(table: DataFrame, program: JointProgram) -> bool:
    """Whether workers can read the columns of all machines of the table as it is."""
    layouts = (layout for _, layout in program.typed or ())
    return program.typed is not None and all(typed.is_plain(table, each) for each in layouts)


def _buckets(spark: SparkSession) -> tuple[int, ...]:
    return tuple(range(buckets_for(spark)))


def _of_lines(lines: Any, program: JointProgram, columns: bool) -> DataFrame:
    buckets = _buckets(lines.sparkSession)
    task = JointLines(program, buckets) if columns else JointRecords(program, table=False)
    out: DataFrame = lines.mapInArrow(task, JOINT)
    return out


def _of_table(table: Any, program: JointProgram, columns: bool, what: str) -> DataFrame:
    from pyspark.sql import functions as F

    wanted: dict[str, None] = {}
    for mapping in program.mappings:
        if mapping.preparation is not None:
            wanted.update(dict.fromkeys(name for name in table.columns if name != PLACE))
            continue
        for path in mapping.paths:
            inputs.check_path(table.schema, path, what)
            wanted[names_in(path)[0]] = None
    where = inputs.told_place(table)
    out: DataFrame
    if columns:
        told = table.select(*numbered_columns(wanted), where.alias(PLACE))
        task = JointTable(program, _buckets(table.sparkSession), [*wanted])
        out = told.mapInArrow(task, JOINT)
    else:
        form = F.lit(inputs.FRAME).alias("form")
        read = [F.col(column_named(name)) for name in wanted]
        lines = table.select(form, json_of(read).alias("line"), where)
        out = lines.mapInArrow(JointRecords(program, table=True), JOINT)
    return out


def _of_whole_files(spark: Any, paths: tuple[str, ...], program: JointProgram) -> DataFrame:
    """The rows of files, each read by one task."""
    told = [(number, str(Path(path).resolve())) for number, path in numbered(paths)]
    files = spark.createDataFrame(told, "file long, path string")
    out: DataFrame = files.repartition(len(paths)).mapInArrow(JointFiles(program), JOINT)
    return out
