"""Columns of a table as JSON, in the form in which this process writes them, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..preparation.record_paths import names_in

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# How `columnar.table_files` writes values, too.
JSON = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
# Types whose text in SQL is another: it has the session's time zone, or other bytes.
OTHER_TEXTS = ("timestamp", "timestamp_ntz", "binary")


def json_of(columns: list[Column]) -> Column:
    """The columns as a JSON object in bytes."""
    from pyspark.sql import functions as F

    return F.to_json(F.struct(*columns), JSON).cast("binary")


def quoted(path: str) -> str:
    """The column at a path of a mapping: "`a`.`b`" for "$.a.b"."""
    return ".".join(map(column_named, names_in(path)))


def column_named(name: str) -> str:
    """The expression of a column of this name, which may have dots and backticks."""
    return "`" + name.replace("`", "``") + "`"


def numbered_columns(names: Iterable[str]) -> list[Column]:
    """The columns of these names as c0, c1 ...: `mapInArrow` takes no name with a dot."""
    from pyspark.sql import functions as F

    return [F.col(column_named(name)).alias(f"c{i}") for i, name in enumerate(names)]


def type_at(table: DataFrame, path: str) -> str:
    """The type of the column at a path."""
    return table.select(quoted(path)).dtypes[0][1]


def name_at(table: DataFrame, path: str) -> Column:
    """The names of instances at a path: a text as it is, and of another value its text in JSON."""
    from pyspark.sql import functions as F

    column = F.col(quoted(path))
    if type_at(table, path) not in OTHER_TEXTS:
        return column.cast("string")
    return F.get_json_object(F.to_json(F.struct(column.alias("name")), JSON), "$.name")
