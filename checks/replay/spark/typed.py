"""The rows of a table as typed columns, made by Spark itself: what `columnar.layout` says.

instance string, seq long, event short, raw binary, place string, then the columns of the layout
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..columnar.layout import BOOLEAN, EVENT, INSTANCE, LONG, PLACE, RAW, SEQ, STRING, Layout
from ..preparation.record_paths import names_in
from .json_columns import name_at, quoted, type_at

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# The types that a column of a table may have, so that each of its values is one of the layout's.
FITS = {
    LONG: ("bigint", "int", "smallint", "tinyint"),
    STRING: ("string",),
    BOOLEAN: ("boolean",),
}


def of_table(table: DataFrame, layout: Layout, line: Column, place: Column) -> DataFrame:
    """The rows of any table; `line` is a row as JSON, for rows that are not regular, and `place`
    says where it is, for rows of no instance."""
    from pyspark.sql import functions as F

    m = layout.mapping
    named = plain_name(table, m.instance)
    seq = _column(table, m.seq, LONG)
    event = _column(table, m.event, STRING)
    bad = F.lit(named is None or seq is None or event is None)
    instance = name_at(table, m.instance) if named is None else named
    number = F.col(quoted(m.seq)).try_cast("long") if seq is None else seq
    what = F.lit(None).cast("string") if event is None else event
    bad = bad | instance.isNull() | number.isNull() | (number < 0) | what.isNull()
    codes = F.lit(None).cast("short")
    for code, name in reversed([*enumerate(layout.names)]):
        codes = F.when(what == name, F.lit(code).cast("short")).otherwise(codes)
    bad = bad | codes.isNull()
    columns: list[Column] = []
    for path, kind in layout.types.items():
        found = _column(table, path, kind)
        value = F.lit(None).cast(kind) if found is None else found
        bad = bad | (what.isin(layout.needing(path)) & value.isNull())
        # An output that the column cannot hold must not look like none.
        whole = F.col(quoted(path)).isNotNull()
        lost = layout.telling(path) if found is None else layout.giving_none(path)
        bad = bad | (what.isin(lost) & whole)
        columns.append(value)
    raw = F.when(F.coalesce(bad, F.lit(True)), line)
    if m.elsewhere and not m.dense:
        table = table.where(~F.coalesce(what.isin(*m.elsewhere), F.lit(False)))
    return table.select(
        instance.alias(INSTANCE),
        F.when(instance.isNotNull(), F.coalesce(number, F.lit(-1))).alias(SEQ),
        codes.alias(EVENT),
        raw.alias(RAW),
        F.when(instance.isNull() | number.isNull(), place).alias(PLACE),
        *(each.alias(f"c{i}") for i, each in enumerate(columns)),
    )


def is_plain(table: DataFrame, layout: Layout) -> bool:
    """Whether all that the mapping reads is in columns of the layout's types. Then the workers find
    the regular rows, with less work than Spark has with expressions."""
    kinds = dict(table.dtypes)
    fits = [kind for of in FITS.values() for kind in of]
    told = [*map(names_in, layout.mapping.paths)]
    return all(len(names) == 1 and kinds.get(names[0]) in fits for names in told)


def plain_name(table: DataFrame, path: str) -> Column | None:
    """The names of instances at a path, if they are texts or whole numbers."""
    from pyspark.sql import functions as F

    return F.col(quoted(path)).cast("string") if is_name(table, path) else None


def is_name(table: DataFrame, path: str) -> bool:
    """Whether the values at a path are texts or whole numbers."""
    return type_at(table, path) in (*FITS[LONG], *FITS[STRING])


def _column(table: DataFrame, path: str, kind: str) -> Column | None:
    """The column at a path; None where its type is another."""
    from pyspark.sql import functions as F

    if type_at(table, path) not in FITS[kind]:
        return None
    return F.col(quoted(path)).cast(kind)
