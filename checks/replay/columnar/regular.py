"""Which rows are regular: their columns say all that the mapping reads of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..parquet import arrow
from .layout import BOOLEAN, EVENT, INSTANCE, KEYS, LONG, PLACE, RAW, SEQ, STRING, Layout


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a sorted batch as arrays: where instances begin, and of each row its number, the
    code of its event, and whether only the row fold takes it (`bad`); such a code may be wrong.
    """

    starts: Any
    seqs: Any
    codes: Any
    bad: Any


def keys_of(columns: Any, starts: Any, layout: Layout) -> Keys:
    """The keys of a batch in which an instance begins at each of `starts`."""
    pc = arrow().compute

    seqs = pc.fill_null(columns.column(SEQ), -1).to_numpy(zero_copy_only=False)
    codes = pc.fill_null(columns.column(EVENT), -1).to_numpy(zero_copy_only=False)
    bad = columns.column(RAW).is_valid().to_numpy(zero_copy_only=False).copy()
    bad |= seqs < 0
    gap = seqs[1:] != seqs[:-1] + 1 if layout.mapping.dense else seqs[1:] <= seqs[:-1]
    gap[starts[1:] - 1] = False  # The rows before and after belong to two instances.
    bad[1:] |= gap
    return Keys(starts, seqs, codes, bad)


def arrow_types(layout: Layout) -> Any:
    """The schema of a layout in Arrow's types."""
    pa = arrow()
    kinds = {LONG: pa.int64(), STRING: pa.string(), BOOLEAN: pa.bool_()}
    keys = [(INSTANCE, pa.string()), (SEQ, pa.int64()), (EVENT, pa.int16()), (RAW, pa.binary())]
    keys.append((PLACE, pa.string()))
    return pa.schema([*keys, *((path, kinds[of]) for path, of in layout.types.items())])


def marked(
    layout: Layout,
    columns: Mapping[str, Any],
    lines: Callable[[], Any],
    place: Callable[[int], str | None],
) -> Any:
    """A table of these columns, with the line in `raw` for each row that is not regular.

    `columns` has all but `raw` and `place`, and the events by name; `lines()` gives the lines of
    all rows, `place(i)` where row `i` is. They are only asked for where there is a row that is not
    regular, or that may be of no instance.
    """
    pc = arrow().compute

    pa = arrow()
    m = layout.mapping
    if m.elsewhere and not m.dense:
        columns, lines, place = _without(m.elsewhere, columns, lines, place)
    bad = pc.or_(pc.is_null(columns[INSTANCE]), pc.is_null(columns[SEQ]))
    bad = pc.or_(bad, pc.fill_null(pc.less(columns[SEQ], layout.mapping.first), fill_value=True))
    codes = pc.index_in(columns[EVENT], pa.array(layout.names))
    bad = pc.or_(bad, _incomplete(layout, columns, codes))
    rows = len(columns[SEQ])
    if pc.any(bad).as_py():
        raw = pc.if_else(bad, lines(), pa.scalar(None, pa.binary()))
    else:
        raw = pa.nulls(rows, pa.binary())
    # A row of an instance without a number comes first.
    seq = pc.fill_null(columns[SEQ], -1)
    seq = pc.if_else(pc.is_null(columns[INSTANCE]), None, seq)
    codes = codes.cast(pa.int16())
    lost = pc.or_(columns[INSTANCE].is_null(), columns[SEQ].is_null())
    lost = lost.to_numpy(zero_copy_only=False).nonzero()[0].tolist()
    where: list[str | None] = [None] * rows if lost else []
    for i in lost:
        where[i] = place(i)
    places = pa.array(where, pa.string()) if lost else pa.nulls(rows, pa.string())
    made = {**columns, SEQ: seq, EVENT: codes, RAW: raw, PLACE: places}
    return pa.table([made[name] for name in (*KEYS, *layout.paths)], schema=arrow_types(layout))


def _without(
    events: Sequence[str],
    columns: Mapping[str, Any],
    lines: Callable[[], Any],
    place: Callable[[int], str | None],
) -> tuple[Mapping[str, Any], Callable[[], Any], Callable[[int], str | None]]:
    """What `marked` takes, without the rows of these events."""
    pc = arrow().compute

    theirs = pc.is_in(columns[EVENT], arrow().array(events, arrow().string()))
    if not pc.any(theirs).as_py():
        return columns, lines, place
    at = pc.indices_nonzero(pc.invert(theirs))
    kept = {name: column.take(at) for name, column in columns.items()}
    return kept, lambda: lines().take(at), lambda i: place(at[i].as_py())


def _incomplete(layout: Layout, columns: Mapping[str, Any], found: Any) -> Any:
    """Whether a row lacks a column that its event needs, has an output where its event has none, or
    its event, of which `found` has the indices, has no columns."""
    pc = arrow().compute

    pa = arrow()
    codes = pc.fill_null(found, len(layout.names)).to_numpy(zero_copy_only=False)
    out: Any = codes == len(layout.names)
    for path in layout.paths:
        if columns[path].null_count:
            absent = columns[path].is_null().to_numpy(zero_copy_only=False)
            out |= _among(layout, layout.needing(path))[codes] & absent
        if none := layout.giving_none(path):
            present = columns[path].is_valid().to_numpy(zero_copy_only=False)
            out |= _among(layout, none)[codes] & present
    return pa.array(out)


def _among(layout: Layout, names: Sequence[str]) -> Any:
    """Whether each index of an event, and that of no event, is one of these."""
    import numpy as np

    return np.array([*(name in names for name in layout.names), False])
