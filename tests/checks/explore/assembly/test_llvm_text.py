"""What the little Python of generated steps means as machine code: what it means in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lawful.checks.explore.assembly.llvm_text import assembly
from lawful.checks.explore.codegen import prelude
from lawful.checks.explore.compiled.llvm import Native, compiled
from lawful.checks.explore.compiled.plain import interpreted
from lawful.checks.explore.expansion.successors import Text

pytestmark = pytest.mark.optimised

STEPS = """
def called(w, x):
    '''Counts, and keeps what is small.'''
    w[4] += 1
    if x > 3: return 7
    w[5] = x
    return 0


def expand(w, store, at, out, info, room):
    a = store[at]
    b = store[at + 1]
    c = store[at + 2]
    out[0] = a // b if b != 0 else 0
    out[1] = a % b if b != 0 else 0
    out[2] = a and b
    out[3] = a or b or c
    out[4] = a < b <= c
    out[5] = not a
    out[6] = (a > 0 and b > 0) or not c
    out[7] = min(a, b, c)
    out[8] = max(a, max(b, c))
    out[9] = a >> (b & 31)
    out[10] = (a & 255) << (c & 31)
    out[11] = ~a ^ b | c & -b
    out[12] = called(w, c)
    called(w, b)
    out[13] = w[4] * 10 + w[5]
    total = 0
    for i in range(c & 7, b & 15):
        if i == 4: continue
        if i == 9: break
        total += i
        i = 100
    for j in range(a & 7, -1, -1):
        total -= j
    out[14] = total
    n = a & 15
    while True:
        if n == 0:
            break
        n = n - 1
        w[6], w[7] = w[7] + 1, w[6]
    out[15] = w[6] * 100 + w[7]
    if a == b:
        return 1
        out[16] = 5
    elif a < b:
        out[16] = True
    else:
        pass
    out[17] = -a + (b == c) + popcount(c & 1023)
    out[18] = a - b - c
    return 2
"""
SMALL = st.integers(-(2**31), 2**31) | st.integers(-9, 9)


@cache
def both() -> tuple[Native, Callable[..., int]]:
    return compiled(Text(STEPS, 1, 1)), interpreted(STEPS)


@given(SMALL, SMALL, SMALL)
@example(-7, 2, -1)
@example(7, -2, 0)
@example(0, 0, 0)
def test_it_means_what_python_means(a: int, b: int, c: int) -> None:
    native, plain = both()
    cells: list[Any] = [[0] * 8, [9, a, b, c], [0] * 19, [0]]
    rows = [np.array(row, np.int64) for row in cells]
    w, store, out, info = cells
    gives = plain(w, store, 1, out, info, 0)
    assert native("expand", *rows[:2], 1, *rows[2:], 0) == gives
    assert [row.tolist() for row in rows] == cells


LEAST = -(2**63)
DIVIDE = """
def expand(w, store, at, out, info, room):
    out[0] = store[0] // store[1]
    out[1] = store[0] % store[1]
    return store[0] + store[1] * 2
"""


@pytest.mark.parametrize(
    ("a", "b", "quotient", "rest", "wraps"),
    [
        (LEAST, -1, LEAST, 0, 2**63 - 2),
        (LEAST, 1, LEAST, 0, LEAST + 2),
        (5, 0, 0, 0, 5),
        (LEAST, 0, 0, 0, LEAST),
        (2**63 - 1, -2, -(2**62), -1, 2**63 - 5),
        (1, 2**63 - 1, 0, 1, -1),
        (-1, 2**63 - 1, -1, 2**63 - 2, -3),
    ],
)
def test_at_the_ends_of_64_bits_it_wraps_and_never_traps(
    a: int, b: int, quotient: int, rest: int, wraps: int
) -> None:
    rows = [np.array(row, np.int64) for row in ([0], [a, b], [0, 0], [0])]
    native = compiled(Text(DIVIDE, 1, 1))
    assert native("expand", *rows[:2], 0, *rows[2:], 0) == wraps
    assert rows[2].tolist() == [quotient, rest]


@pytest.mark.parametrize("text", ["x = 1 / 2", "x = w.y", "x = [1]", "del x", "w[0][1] = 2"])
def test_what_steps_do_not_contain_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        assembly([f"def f(w):\n    {text}\n"], {}, ("f",))


SEVERAL = """
def expand(w, store, at, out, info, room):
    out[0] = scanned(info, at, out[1], out[2])
    return 0
"""


@given(
    st.lists(st.integers(0, 3) | st.integers(64, 67), min_size=18, max_size=18),
    st.sampled_from([0, 64]),
    st.integers(0, 2),
)
def test_several_numbers_are_looked_at_together(entries: list[int], tag: int, at: int) -> None:
    """Entries have six bits for a number, and a tag above them; 0 is none, whatever the tag."""
    none, short = np.zeros(1, np.int64), np.array(entries, np.uint32)
    out = np.array([0, tag, 63], np.int64)
    compiled(Text(SEVERAL, 1, 1))("expand", none, none, at, out, short, 0)
    group = entries[at : at + 16]
    like = sum((x != 0 and x & ~63 == tag) << i for i, x in enumerate(group))
    free = sum((x == 0) << i for i, x in enumerate(group))
    assert out[0] == like | free << 16


@given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=6), st.integers(0, 3))
def test_the_first_item_is_taken_as_any_item(items: list[tuple[int, int]], more: int) -> None:
    room = len(items) + more
    row = [len(items), *(cell for item in items for cell in item), *[0] * (2 * more)]
    known = [9, *row, 9]
    taken = list(known)
    prelude.take_out(known, 1, 2, 0)
    prelude.take_first(taken, 1, 2 * room, 2)
    assert taken == known


def test_what_nothing_calls_is_not_compiled() -> None:
    """The prelude has functions that few machines need."""
    text = "".join(
        f"def {name}(w):\n    return {called}\n"
        for name, called in [("a", "b(w)"), ("b", "c(w)"), ("c", "1"), ("d", "c(w)"), ("e", "e(w)")]
    )
    found = re.findall(r"define (.*)i64 @(\w)\(ptr", assembly((text,), {}, ("a", "c")))
    assert sorted(found, key=lambda each: each[1]) == [("", "a"), ("internal ", "b"), ("", "c")]
