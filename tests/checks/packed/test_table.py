"""Laws of the table of states: each state is found under its number, and no other is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks.packed import core

# Few bits at the two ends of a word, so that states differ in their upper halves alone too.
WORDS = st.sampled_from([0, 1, 2, 3, 1 << 31, 1 << 32, 1 << 61, 1 << 62, (1 << 63) - 1])


@st.composite
def stores(draw: st.DrawFn) -> tuple[int, list[tuple[int, ...]]]:
    words = draw(st.integers(1, 3))
    rows = st.tuples(*(WORDS for _ in range(words)))
    return words, draw(st.lists(rows, min_size=1, max_size=64, unique=True))


@given(stores(), st.booleans())
def test_each_state_is_found_and_no_other(made: tuple[int, list[tuple[int, ...]]],
                                          again: bool) -> None:
    words, rows = made
    held = rows[: (len(rows) + 1) // 2]
    store = np.array(held, np.int64).reshape(-1)
    table = np.zeros(128, np.uint32)
    if again:
        core.rebuild(table, store, words, len(held))
    else:
        for number in range(len(held)):
            core.put(table, store, words, number)
    found = [core.find(table, store, words, np.array(row, np.int64), 0) for row in rows]
    assert found == [*range(len(held)), *[-1] * (len(rows) - len(held))]
    assert np.count_nonzero(table) == len(held)


def test_states_seldom_share_a_place() -> None:
    """Counters in one word, in the upper half of it, and in the last of three words."""
    for words, word, shift in ((1, 0, 0), (1, 0, 40), (3, 2, 0)):
        store = np.zeros(4096 * words, np.int64)
        store[word::words] = np.arange(4096) << shift
        hashes = {int(core.mixed(store, n * words, words)) & 8191 for n in range(4096)}
        assert 3000 < len(hashes) < 3500  # Thrown at random, 3,223 places are met.
