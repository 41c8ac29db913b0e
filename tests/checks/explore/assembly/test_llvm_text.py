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
    known = b
    if a > c:
        known = a < b
        once = known
    else:
        once = c
        if c > 3: known = 5
    if b > c:
        known += 1
        if b > 9: return 3
    out[19] = known * 100 + once
    late = 0
    if (a > b and b > c) or (late == 0 and a + c > late): late = a + c
    out[20] = late + (a if b < c else late)
    last = c & 3
    rounds = 0
    while rounds < 5 and last != 9:
        rounds += 1
        if rounds == b & 7: continue
        if rounds == a & 7: break
        if rounds & 1:
            last = rounds
        known = last == rounds
    if a > b and last > 1: out[24] = last
    else: out[24] = last + 7
    out[21] = last * 10 + known
    if (not a < b) and not (-9223372036854775808 <= a <= 9223372036854775807): out[22] = 1
    if a != 0 or not -9223372036854775808 <= a <= 9223372036854775807: out[23] = 1
    if b == 3 or not -9223372036854775808 <= a <= 4: out[25] = 1
    if b != 3 and -4 <= a <= 9223372036854775807: out[26] = 1
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
    cells: list[Any] = [[0] * 8, [9, a, b, c], [0] * 27, [0]]
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


@pytest.mark.one_in(4)
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


PLACES = """
def expand(w, store, at, out, info, room):
    known = store[at]
    again = known
    truth = known > room
    if truth: again = 3
    for i in range(known):
        total = out[i] + known
        out[i] = total * total + again
    return total * total + truth
"""


def test_only_locals_with_several_values_have_places() -> None:
    """`known` and `truth` have one value each; what `total` is after the loop, some round says.
    A place is read once as long as its value is known."""
    text = assembly((PLACES,), {}, ("expand",))
    places = re.findall(r"%v\.([a-z]+)\S* = alloca", text)
    assert sorted(places) == ["again", "i", "total"]
    assert len(re.findall(r"load i64, ptr %v", text)) == 3
    assert len(re.findall(r"store i64 \S+ ptr %v", text)) == 3 + 2 + 2 + 1


def test_no_number_is_compared_with_the_ends_of_64_bits() -> None:
    """Steps do so where they add, for the sake of Python, whose numbers are longer."""
    test = "not -9223372036854775808 <= a <= 9223372036854775807"
    steps = "def expand(w, a):\n    if a < 0 or {}: return 6\n    return 0\n"
    with_ends, without = (
        assembly((steps.format(each),), {}, ("expand",)) for each in (test, "a < 0")
    )
    assert len(with_ends.splitlines()) == len(without.splitlines()) - 3
    assert "9223372036854775807" not in with_ends


def test_a_function_gets_the_shared_rows_that_it_works_on() -> None:
    text = (
        "from x import y\nout: y\ninfo: y\ntotals: y\n"
        "def a(n):\n    return b(info, n)\n"
        "def b(row, n):\n    row[n] = totals[0]\n    return 0\n"
    )
    found = assembly((text,), {}, ("a",)).partition("define i64 @a")[2]
    first, second = found.split("define internal i64 @b")
    assert re.findall(r"ptr, ptr %rows, i64 (\d)", first) == ["1"]
    assert re.findall(r"ptr, ptr %rows, i64 (\d)", second) == ["2"]


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
