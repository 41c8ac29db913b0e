"""The functions that generated code calls: loops over cells, the same for every machine. None calls
another.
"""

from __future__ import annotations

from collections.abc import MutableSequence

Cells = MutableSequence[int]
ESCAPE = 6


def popcount(x: int) -> int:
    """How many bits of a word are set."""
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((x * 0x0101010101010101) >> 56) & 0xFF


def copy(w: Cells, to: int, of: int, count: int) -> None:
    """Cells to another place; the two do not overlap."""
    for i in range(count):
        w[to + i] = w[of + i]


def clear(w: Cells, at: int, count: int) -> None:
    """Cells made blank."""
    for i in range(count):
        w[at + i] = 0


def same(w: Cells, a: int, b: int, count: int) -> int:
    """Whether two rows of cells are equal."""
    for i in range(count):
        if w[a + i] != w[b + i]:
            return 0
    return 1


def ordered(w: Cells, a: int, b: int, count: int) -> int:
    """-1, 0 or 1: how two rows of cells compare, the first difference deciding."""
    for i in range(count):
        if w[a + i] != w[b + i]:
            return -1 if w[a + i] < w[b + i] else 1
    return 0


def count_of(w: Cells, at: int, code: int) -> int:
    """How often an element is in a bag."""
    for i in range(w[at]):
        if w[at + 1 + 2 * i] == code:
            return w[at + 2 + 2 * i]
    return 0


def put_count(w: Cells, at: int, room: int, code: int, count: int) -> int:
    """An element of a bag gets a count; entries stay in the order of their codes."""
    n = w[at]
    i = 0
    while i < n and w[at + 1 + 2 * i] < code:
        i += 1
    if i < n and w[at + 1 + 2 * i] == code:
        if count != 0:
            w[at + 2 + 2 * i] = count
            return 0
        for j in range(i, n - 1):
            w[at + 1 + 2 * j] = w[at + 3 + 2 * j]
            w[at + 2 + 2 * j] = w[at + 4 + 2 * j]
        w[at + 2 * n - 1] = 0
        w[at + 2 * n] = 0
        w[at] = n - 1
        return 0
    if count == 0:
        return 0
    if n == room:
        return ESCAPE
    for j in range(n, i, -1):
        w[at + 1 + 2 * j] = w[at - 1 + 2 * j]
        w[at + 2 + 2 * j] = w[at + 2 * j]
    w[at + 1 + 2 * i] = code
    w[at + 2 + 2 * i] = count
    w[at] = n + 1
    return 0


def take_out(w: Cells, at: int, size: int, index: int) -> None:
    """Remove the item at an index, which must be valid."""
    first = at + 1 + index * size
    last = at + 1 + (w[at] - 1) * size
    for i in range(first, last):
        w[i] = w[i + size]
    for i in range(last, last + size):
        w[i] = 0
    w[at] -= 1


def take_first(w: Cells, at: int, count: int, size: int) -> None:
    """Remove the first item of a row with room for so many cells. All of them move, those of no
    item too, so that the processor need not foresee how many items there are."""
    for i in range(at + 1, at + 1 + count - size):
        w[i] = w[i + size]
    for i in range(at + 1 + count - size, at + 1 + count):
        w[i] = 0
    w[at] -= 1


def make_place(w: Cells, at: int, size: int, index: int) -> None:
    """Make a place for one more item before an index; there is room."""
    first = at + 1 + index * size
    for i in range(at + w[at] * size, first - 1, -1):
        w[i + size] = w[i]
    w[at] += 1


def in_row(w: Cells, at: int, size: int, keys: int, item: int) -> int:
    """The first index of an item whose first `keys` cells are those at `item`; -1 without one."""
    for i in range(w[at]):
        equal = 1
        for j in range(keys):
            if w[at + 1 + i * size + j] != w[item + j]:
                equal = 0
        if equal:
            return i
    return -1


def new_row(w: Cells, at: int, size: int, keys: int, item: int) -> int:
    """The index of a new item, whose first `keys` cells are those at `item` and the others blank.

    Items are in the order of these cells; there is room, and no item with the same.
    """
    i = w[at]
    order = 1
    while i > 0 and order > 0:
        order = 0
        for j in range(keys):
            if order == 0 and w[at + 1 + (i - 1) * size + j] != w[item + j]:
                order = 1 if w[at + 1 + (i - 1) * size + j] > w[item + j] else -1
        if order > 0:
            i -= 1
    first = at + 1 + i * size
    for j in range(at + w[at] * size, first - 1, -1):
        w[j + size] = w[j]
    for j in range(size):
        w[first + j] = w[item + j] if j < keys else 0
    w[at] += 1
    return i


def sort(w: Cells, at: int, size: int) -> None:
    """A row put in order: by its cells, the first difference deciding."""
    for i in range(1, w[at]):
        j = i
        while j > 0:
            a = at + 1 + (j - 1) * size
            order = 0
            for c in range(size):
                if order == 0 and w[a + c] != w[a + size + c]:
                    order = 1 if w[a + c] > w[a + size + c] else -1
            if order <= 0:
                break
            for c in range(size):
                w[a + c], w[a + size + c] = w[a + size + c], w[a + c]
            j -= 1


def spent(w: Cells, at: int, rounds: int) -> int:
    """Whether a long loop has no such number of rounds left; the cell has the remaining number.

    The caller of the steps sets this number, and decides whether to continue when it is used up.
    """
    w[at] -= rounds
    return 1 if w[at] < 0 else 0


FUNCTIONS = (
    spent,
    popcount,
    copy,
    clear,
    same,
    ordered,
    count_of,
    put_count,
    take_out,
    take_first,
    make_place,
    in_row,
    new_row,
    sort,
)
