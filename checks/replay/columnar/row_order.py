"""The order of rows in columns: by instance, then by number; rows that are alike stay in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..parquet import arrow
from .layout import INSTANCE, SEQ


def in_order(table: Any, rows: int) -> Iterator[Any]:
    """Batches of at most so many rows of a table, sorted."""
    import numpy as np

    encoded = table.column(INSTANCE).combine_chunks().dictionary_encode()
    instances = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    seqs = table.column(SEQ).combine_chunks().fill_null(-1).to_numpy(zero_copy_only=False)
    order = sorted_by(instances.astype(np.int64), seqs)
    for start in range(0, len(order), rows):
        part = arrow().array(order[start : start + rows])
        yield from table.take(part).combine_chunks().to_batches()


def sorted_by(first: Any, second: Any) -> Any:
    """The indices that sort rows by two arrays of 64-bit integers; the sort is stable.

    Where both numbers and the index of the row fit into 63 bits, one array is sorted, and not an
    index by two: NumPy does that with vectors, many times faster.
    """
    import numpy as np

    rows = len(first)
    if not rows:
        return np.zeros(0, dtype=np.int64)
    (low, span), (least, width) = _span(first), _span(second)
    index = rows.bit_length()
    if span + width + index > 63:
        return np.lexsort((second, first))
    keys = ((first - low) << (width + index)) | ((second - least) << index) | np.arange(rows)
    keys.sort()
    return keys & ((1 << index) - 1)


def _span(values: Any) -> tuple[int, int]:
    """The least value, and the bits of the difference between it and the greatest."""
    low, high = int(values.min()), int(values.max())
    return low, (high - low).bit_length()
