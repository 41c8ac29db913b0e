"""Laws of the table of states: each state is found under its number, and no other is."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks.explore.compiled import llvm
from lawful.checks.explore.compiled.arrays import Arrays, empty
from lawful.checks.explore.compiled.llvm import Native, compiled
from lawful.checks.explore.compiled.typed_memory import (
    INT32,
    UINT16,
    UINT32,
    address,
    blank,
    fill,
    longer,
    of_numbers,
    zeros,
)
from lawful.checks.explore.expansion.successors import Text
from lawful.checks.explore.native import kernel_rows
from lawful.checks.explore.native.kernel_rows import GROUP
from tests.checks.explore.compiled.counted_kernel import CountedKernel, placed

pytestmark = pytest.mark.optimised

# Few bits at the two ends of a word, so that states differ in their upper halves alone too.
WORDS = st.sampled_from([0, 1, 2, 3, 1 << 31, 1 << 32, 1 << 61, 1 << 62, (1 << 63) - 1])
PLACES = 128


@cache
def code(words: int) -> Native:
    return compiled(expanding_nothing(words))


def expanding_nothing(words: int) -> Text:
    return Text("def expand(w, store, at, out, info, room):\n    return 0", words, 1)


@st.composite
def stores(draw: st.DrawFn) -> tuple[int, list[tuple[int, ...]]]:
    words = draw(st.integers(1, 5))
    rows = st.tuples(*(WORDS for _ in range(words)))
    return words, draw(st.lists(rows, min_size=1, max_size=64, unique=True))


def entered(words: int, held: list[tuple[int, ...]], places: int, once: bool) -> Arrays:
    """The arrays of a search, with these states in its store and table."""
    rows = empty(words, [0], 1).with_room(words, 1, kernel_rows.BATCH)
    rows = rows._replace(table=np.zeros(places, np.uint32))
    rows.control[kernel_rows.MASK] = places - 1
    rows.control[kernel_rows.PIECE_MASK] = len(rows.piece_table) - 1
    rows.control[kernel_rows.PIECE_ROOM] = len(rows.piece_table)
    code(words)("fill", rows, np.array(held, np.int64).reshape(-1), len(held))
    first = 0
    for end in [len(held)] if once else range(1, len(held) + 1):
        code(words)("enter", rows, np.arange(first, end), end - first)
        first = end
    return rows


@given(stores())
@pytest.mark.nightly
def test_folded_states_are_unfolded_again(made: tuple[int, list[tuple[int, ...]]]) -> None:
    words, held = made
    rows = entered(words, held, PLACES, True)
    found = np.zeros(len(held) * words, np.int64)
    code(words)("unfold_all", rows, found, len(held))
    assert found.tolist() == [word for row in held for word in row]
    one = np.zeros(words, np.int64)
    code(words)("unfold", rows, one, 0, len(held) - 1)
    assert tuple(one.tolist()) == held[-1]


def test_pieces_of_one_hash_are_told_apart() -> None:
    """Among 300,000 pieces some ten pairs have all 32 bits of their hash in common."""
    count, places = 150_000, 1 << 20
    held = np.random.default_rng(1).integers(0, 1 << 62, count * 4)
    rows = empty(4, [0], 1).with_room(4, 1, kernel_rows.BATCH)
    rows = rows._replace(
        store=np.zeros(count, np.int64),
        pieces=np.zeros(4 * count, np.int64),
        piece_table=np.zeros(places, np.uint32),
    )
    rows.control[kernel_rows.PIECE_MASK] = places - 1
    rows.control[kernel_rows.PIECE_ROOM] = places
    code(4)("fill", rows, held, count)
    found = np.zeros(count * 4, np.int64)
    code(4)("unfold_all", rows, found, count)
    assert (found == held).all()
    assert rows.control[kernel_rows.PIECED] == 2 * count
    code(4)("fill", rows, held, count)
    assert rows.control[kernel_rows.PIECED] == 2 * count  # Each was found again.


def test_a_piece_that_another_thread_added_meanwhile_gets_no_second_number() -> None:
    row = np.array([3, 4, 3, 4], np.int64)
    mine, other = (empty(4, [0], 1).with_room(4, 1, kernel_rows.BATCH) for _ in range(2))
    for rows in (mine, other):
        rows.control[kernel_rows.MASK] = len(rows.table) - 1
        rows.control[kernel_rows.PIECE_MASK] = len(rows.piece_table) - 1
        rows.control[kernel_rows.PIECE_ROOM] = len(rows.piece_table)
    code(4)("fill", other, row, 1)
    mine.control[kernel_rows.LOCK] = 1  # The other thread is about to add it.
    with ThreadPoolExecutor(1) as pool:
        inserted = pool.submit(code(4), "insert", mine, row, -1, 0, 0)
        for _ in range(10_000):
            os.sched_yield()
        mine.pieces[:] = other.pieces
        mine.piece_table[:] = other.piece_table
        mine.control[kernel_rows.PIECED] = other.control[kernel_rows.PIECED]
        mine.control[kernel_rows.LOCK] = 0
        assert inserted.result() == 1
    assert mine.control[kernel_rows.PIECED] == 1
    assert mine.control[kernel_rows.LOCK] == 0


@given(stores(), st.booleans())
def test_each_state_is_found_and_no_other(
    made: tuple[int, list[tuple[int, ...]]], once: bool
) -> None:
    words, rows = made
    held = rows[: (len(rows) + 1) // 2]
    kept = entered(words, held, PLACES, once)
    found = [code(words)("find", kept, np.array(row, np.int64), 0) for row in rows]
    assert found == [*range(len(held)), *[-1] * (len(rows) - len(held))]
    assert np.count_nonzero(kept.table) == len(held)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("words", [1, 3, 4])
def test_states_of_one_hash_are_told_apart(words: int) -> None:
    """Among 60,000 states that differ in their last word alone some pairs have the same group and
    the same tag."""
    held = np.zeros((90_000, words), np.int64)
    held[:, -1] = np.random.default_rng(2).integers(0, 1 << 62, len(held))
    kept = with_places(words, len(held))
    code(words)("fill", kept, held.reshape(-1), len(held))
    code(words)("enter", kept, np.arange(len(held)), len(held))
    mask = len(kept.table) - 1
    marks = (np.arange(len(kept.table)) // kernel_rows.GROUP) << 32 | kept.table & ~np.uint32(mask)
    taken = kept.table > 0
    known, counts = np.unique(marks[taken], return_counts=True)
    alike = (kept.table[taken] & mask)[np.isin(marks[taken], known[counts > 1])].astype(int) - 1
    assert len(alike) > 10
    assert all(code(words)("find", kept, held[n].copy(), 0) == n for n in alike)
    one_by_one = with_places(words, len(held))
    for number, n in enumerate(alike):
        assert code(words)("insert", one_by_one, held[n].copy(), number - 1, 7, number) > number
    for number, n in enumerate(alike):
        count = len(alike)
        assert code(words)("insert", one_by_one, held[n].copy(), 0, 0, count) == count
        assert code(words)("find", one_by_one, held[n].copy(), 0) == number
    origins = np.arange(len(alike), dtype=np.uint32) - np.uint32(1)
    assert (np.asarray(one_by_one.parents)[: len(alike)].view(np.uint32) == origins).all()
    assert (np.asarray(one_by_one.rules)[: len(alike)] == 7).all()


def with_places(words: int, states: int) -> Arrays:
    """The arrays of a search, without a state, with room for so many."""
    rows = empty(words, [0], 1).with_room(words, 1, kernel_rows.BATCH)
    rows = rows._replace(
        store=np.zeros(states * words, np.int64),
        table=np.zeros(1 << 17, np.uint32),
        pieces=np.zeros(4 * states, np.int64),
        piece_table=np.zeros(1 << 17, np.uint32),
    )
    rows.control[kernel_rows.MASK] = len(rows.table) - 1
    rows.control[kernel_rows.PIECE_MASK] = rows.control[kernel_rows.PIECE_ROOM] = (1 << 17) - 1
    return rows


def test_the_rules_that_reached_states_are_counted() -> None:
    """An initial state was reached by none."""
    rows = empty(1, [0], 1)
    rows.parents[:6] = of_numbers((-1, -1, 0, 0, 2, 3), INT32)
    rows.rules[:6] = of_numbers((0, 0, 1, 2, 1, 0), UINT16)
    found = np.zeros(3, np.int64)
    code(1)("reached", rows, found, 5)
    assert found.tolist() == [0, 2, 1]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("words", [1, 5])
def test_a_table_of_twice_the_size_has_each_state_where_it_is_looked_for(
    words: int, parts: int
) -> None:
    """Of states behind a full group nobody knows the group: they are entered anew. The last part is
    split first, as threads may do it in any order."""
    ends = [PLACES // GROUP * i // parts * GROUP for i in range(parts + 1)]
    shares = [*itertools.pairwise(ends)][::-1]
    taken_out = 0
    for seed in range(20):
        held = np.random.default_rng(seed).integers(0, 1 << 62, (110, words)).tolist()
        kept = entered(words, [tuple(row) for row in held], PLACES, True)
        kept = kept._replace(table=np.append(kept.table, np.zeros(PLACES, np.uint32)))
        behind = [code(words)("full_before", kept, first) for first, _ in shares]
        rows = [np.full(code(words)("crowded", kept, *share), -1) for share in shares]
        for row, share, full in zip(rows, shares, behind, strict=True):
            code(words)("split", kept, row, *share, full)
        left = np.concatenate(rows)
        assert np.count_nonzero(kept.table) == len(held) - len(left)
        kept.control[kernel_rows.MASK] = 2 * PLACES - 1
        code(words)("enter", kept, left, len(left))
        assert np.count_nonzero(kept.table) == len(held)
        found = [code(words)("find", kept, np.array(row, np.int64), 0) for row in held]
        assert found == [*range(len(held))]
        taken_out += len(left)
    assert taken_out > 100


def test_a_place_that_another_thread_has_just_taken_is_left_to_it() -> None:
    """Between the look at a free place and its taking, the other state is there."""
    kept = entered(1, [(5,), (6,)], PLACES, True)
    fill(kept.table)
    kernel = CountedKernel(expanding_nothing(1), {})
    taken = list[int]()

    def late(row: list[int], at: int, number: int) -> int:
        if not taken:
            taken.append(at)
            row[at] = 1
        return placed(row, at, number)

    kernel.names["placed"] = late
    kernel("enter", kept, np.array([1]), 1)
    table = np.asarray(kept.table)
    assert kernel("find", kept, np.array([6]), 0) == 1
    assert table[taken[0]] == 1 and np.count_nonzero(table) == 2


def test_a_table_grows_where_it_stands_and_is_blank_again() -> None:
    """Room that an array has is taken; what stood there would be states of other places."""
    table = fill(longer(zeros(8, UINT32), 1 << 18), 7)
    grown = blank(table, 1 << 20)
    assert address(grown) == address(table) and len(grown) == 1 << 20
    assert not np.asarray(grown).any()
    assert len(blank(grown, 1 << 23)) == 1 << 23  # Beyond that room it is another array.


@pytest.mark.parametrize(("words", "word", "shift"), [(1, 0, 0), (1, 0, 40), (3, 2, 0)])
def test_states_seldom_stand_in_each_others_way(words: int, word: int, shift: int) -> None:
    """Counters in one word, in its upper half, and in the last of three words."""
    rows = [tuple(n << shift if i == word else 0 for i in range(words)) for n in range(4096)]
    table = np.asarray(entered(words, rows, 8192, True).table).reshape(-1, kernel_rows.GROUP)
    taken = np.count_nonzero(table, axis=1)
    assert 6.4 < taken.var() < 10.2  # Thrown at random, 512 groups of 8 have 8, less what is full.
    assert np.count_nonzero(taken == kernel_rows.GROUP) < 12
    assert all((group[: int(n)] != 0).all() for group, n in zip(table, taken, strict=True))


def test_the_rows_stand_in_their_order() -> None:
    assert Arrays._fields == kernel_rows.ARRAYS


def test_where_arrays_stand_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search gives the same arrays again and again, one state at a time; others are others."""
    looked, place = list[int](), llvm.place_of_array

    def noted(held: Any) -> int:
        looked.append(1)
        return place(held)

    monkeypatch.setattr(llvm, "place_of_array", noted)
    rows, other = with_places(1, 16), with_places(1, 16)
    for number in range(3):
        assert code(1)("insert", rows, of_numbers([number]), -1, 0, number) > number
    assert len(looked) == len(rows) + 3
    assert code(1)("find", other, of_numbers([2]), 0) == -1
    assert code(1)("find", rows, of_numbers([2]), 0) == 2
