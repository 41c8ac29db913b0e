"""Prepared records as the columns of a layout: Python makes the records, some at a time."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ..parquet import arrow
from ..preparation.instance_names import key_of, shown
from ..prepared_rows import Pair
from ..rows import Row
from .json_lines import regular_columns
from .layout import INSTANCE, PLACE, RAW, SEQ, Layout
from .regular import arrow_types

ROWS = 1 << 16  # Rows of a batch.


def batches_of_pairs(pairs: Iterable[Pair], layout: Layout) -> Iterator[Any]:
    """The columns of these rows."""
    types, left = arrow_types(layout), iter(pairs)
    while rows := [_columns(pair, layout) for pair in islice(left, ROWS)]:
        columns = {name: [row.get(name) for row in rows] for name in types.names}
        yield arrow().Table.from_pydict(columns, schema=types)


def _columns(pair: Pair, layout: Layout) -> dict[str, Any]:
    data, row = pair
    if not isinstance(row, Row):
        return {RAW: pickle.dumps(row), PLACE: f"{row.number} {row.file}"}
    # The row fold gets an instance of a regular row by its key.
    plain = not row.sampled and shown(key_of(row.instance)) == row.instance
    found = regular_columns(layout, data, row) if plain else None
    return found or {RAW: pickle.dumps(row), INSTANCE: row.instance, SEQ: row.seq}
