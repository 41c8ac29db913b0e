"""Which rows are regular: their columns say all that the mapping reads of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..parquet import arrow
from .layout import BOOLEAN, EVENT, INSTANCE, KEYS, LONG, RAW, SEQ, STRING, Layout


def arrow_types(layout: Layout) -> Any:
    """The schema of a layout in Arrow's types."""
    pa = arrow()
    kinds = {LONG: pa.int64(), STRING: pa.string(), BOOLEAN: pa.bool_()}
    keys = [(INSTANCE, pa.string()), (SEQ, pa.int64()), (EVENT, pa.string()), (RAW, pa.binary())]
    return pa.schema([*keys, *((path, kinds[of]) for path, of in layout.types.items())])


def marked(layout: Layout, columns: Mapping[str, Any], lines: Callable[[], Any]) -> Any:
    """A table of these columns, with the line in `raw` for each row that is not regular.

    `columns` has all but `raw`; `lines()` gives the lines of all rows. They are only asked for
    where there is a row that is not regular.
    """
    import pyarrow.compute as pc

    pa = arrow()
    bad = pc.or_(pc.is_null(columns[INSTANCE]), pc.is_null(columns[SEQ]))
    bad = pc.or_(bad, pc.fill_null(pc.less(columns[SEQ], 0), fill_value=True))
    bad = pc.or_(bad, _incomplete(layout, columns))
    rows = len(columns[SEQ])
    if pc.any(bad).as_py():
        raw = pc.if_else(bad, lines(), pa.scalar(None, pa.binary()))
    else:
        raw = pa.nulls(rows, pa.binary())
    # A row of an instance without a number comes first.
    seq = pc.fill_null(columns[SEQ], -1)
    made = {**columns, SEQ: pc.if_else(pc.is_null(columns[INSTANCE]), None, seq), RAW: raw}
    return pa.table([made[name] for name in (*KEYS, *layout.paths)], schema=arrow_types(layout))


def _incomplete(layout: Layout, columns: Mapping[str, Any]) -> Any:
    """Whether a row lacks a column that its event needs, or its event has no columns."""
    import numpy as np

    pa = arrow()
    codes, names = event_codes(columns[EVENT])
    unknown = [name not in layout.events and name not in layout.skipped for name in names]
    out = np.array([*unknown, True])[codes]
    for path in layout.paths:
        needs = [name in layout.events and path in layout.events[name].paths for name in names]
        needs = [n and name not in layout.skipped for n, name in zip(needs, names, strict=True)]
        if columns[path].null_count:
            absent = columns[path].is_null().to_numpy(zero_copy_only=False)
            out |= np.array([*needs, False])[codes] & absent
    return pa.array(out)


def event_codes(events: Any) -> tuple[Any, list[str]]:
    """The index of each row's event among the names; that after the last one for null."""
    import numpy as np

    pa = arrow()
    if isinstance(events, pa.ChunkedArray):
        events = events.combine_chunks()
    encoded = events.dictionary_encode()
    names: list[str] = encoded.dictionary.to_pylist()
    codes: Any = encoded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)
    return codes.astype(np.int32, copy=False), names
