"""The states that a search met lately: text for machine code, see `kernel_rows`.

`scout` gathers what the states of a block lead to; `collect` keeps what the table does not have.
"""

from __future__ import annotations

from .kernel_rows import (
    BATCH,
    COUNT,
    FOLDED,
    LEFT,
    ROOT,
    WORDS,
    Cells,
    batch,
    control,
    doubtful,
    hashes,
    origins,
    parents,
    rules,
    store,
)
from .state_table import add, fold, held, look_ahead, unfold, winnowed


def collect() -> None:
    """Keep the gathered states that are not there; there is room for them."""
    count = control[COUNT]
    left = control[LEFT]
    for first in range(0, left, BATCH):
        last = min(left, first + BATCH)
        look_ahead(first, last)
        for j in range(winnowed(first, last)):
            k = doubtful[j]
            if held(hashes[k], k, 0) < 0:
                if FOLDED:
                    fold(k, -1)
                    for i in range(ROOT):
                        store[count * ROOT + i] = batch[k * WORDS + i]
                else:
                    for i in range(WORDS):
                        store[count * ROOT + i] = batch[k * WORDS + i]
                parents[count] = origins[k] >> 16
                rules[count] = origins[k]
                add(hashes[k], count)
                count += 1
    control[COUNT] = count


def unfold_from(row: Cells, first: int, count: int) -> None:
    """The words of so many states from that one on."""
    for number in range(count):
        unfold(row, number * WORDS, first + number)
