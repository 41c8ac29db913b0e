"""Breadth-first search over packed words, as text that is compiled together with a machine's steps.

These functions are written in what `assembly` reads, and never run as Python: numbers are 64 bits
and wrap around. `WORDS` and `NOTES` become the machine's: the words of a state, the cells of
`info`. What they work on is in `memory`, and `control` says how far they are.

States stand one after another in `store`, in the order in which they were found, so that a level
is a range of numbers. `parents` holds the number of the state that each was first reached from,
`rules` by which rule.

`table` says which states are there, by open addressing over a hash of their words: the number of
a state plus one in the low bits, which are as many as tell places of the table apart, and in those
above as much of its hash as there is room for, so that other states are seldom looked at. Most of
a search is waiting for memory; so successors are gathered, and looked up many at a time.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from .prelude import clear

Cells = MutableSequence[int]

WORDS = NOTES = 1
DONE, FULL, ROOM, ESCAPED = range(4)  # Why a search came back.
BATCH = 512  # Successors gathered before they are looked up: enough to wait for memory once.
RECENT = 1 << 13  # Cells in which the states are that were met a moment ago.
LOW = (1 << 32) - 1
# Where `control` says what.
NEXT, LAST, COUNT, MOST, FAILING, FAILED, MASK, STATES, PLACES, EDGES, FIRST, CONTROLS = range(12)


w: Cells = []  # The cells that the steps work on.
store: Cells = []
table: Cells = []
parents: Cells = []
rules: Cells = []
out: Cells = []
info: Cells = []
totals: Cells = []
firsts: Cells = []
control: Cells = []
batch: Cells = []  # Of states that are to be looked up the words,
origins: Cells = []  # the state that each comes from and by which rule,
hashes: Cells = []  # and the hash.
recent: Cells = []
ends: Cells = []
edges: Cells = []
marks: Cells = []
ROWS = tuple(name for name, kind in __annotations__.items() if kind == "Cells")


def expand(*given: Cells | int) -> int:
    """The machine's own, which `stepping` writes; see there."""
    raise NotImplementedError


def prefetch(row: Cells, at: int) -> None:
    """Tell the processor that this place is looked at soon."""
    raise NotImplementedError


def mixed(row: Cells, at: int) -> int:
    """A hash of some words: multiplied by numbers of their own, added, and MurmurHash3's finaliser.

    None waits for the one before. Each is folded first, as what differs in its upper half alone
    would be multiplied out of the sum.
    """
    h = 0x9E3779B97F4A7C15
    factor = 0xFF51AFD7ED558CCD
    for i in range(WORDS):
        word = row[at + i]
        h += (word ^ (word >> 32 & LOW)) * factor
        factor += 0x9E3779B97F4A7C16
    h ^= h >> 32 & LOW
    h *= 0xC4CEB9FE1A85EC53
    h ^= h >> 33 & LOW >> 1
    return h


def equal(row: Cells, here: int, other: Cells, there: int) -> int:
    """Whether the words of two states are the same."""
    for i in range(WORDS):
        if row[here + i] != other[there + i]:
            return 0
    return 1


def enter(first: int, count: int) -> None:
    """States that are in the table nowhere are put there: from the first to so many in all."""
    mask = control[MASK]
    while first < count:
        few = min(count - first, BATCH)
        for k in range(few):
            hashes[k] = mixed(store, (first + k) * WORDS)
            prefetch(table, hashes[k] & mask)
        for k in range(few):
            place = hashes[k] & mask
            while table[place] != 0:
                place = place + 1 & mask
            table[place] = first + k + 1 | hashes[k] >> 32 & LOW & ~mask
        first += few


def find(row: Cells, at: int) -> int:
    """The number of the state whose words begin at `row[at]`, or -1 where it is not there."""
    mask = control[MASK]
    hashed = mixed(row, at)
    tag = hashed >> 32 & LOW & ~mask
    place = hashed & mask
    while table[place] != 0:
        number = (table[place] & mask) - 1
        if table[place] & ~mask == tag and equal(store, number * WORDS, row, at):
            return number
        place = place + 1 & mask
    return -1


def gather(n: int, number: int, left: int) -> int:
    """The n states in `out`, successors of a state, to those to be looked up; how many they are.

    `recent` holds, at a place by their hash, states that were met a moment ago: most successors
    are among them, and known without a look at the table.
    """
    mask = control[MASK]
    room = control[PLACES]
    for e in range(n):
        at = e * WORDS
        hashed = mixed(out, at)
        near = ((hashed >> 32 & LOW) * (RECENT // WORDS) >> 32) * WORDS
        if not equal(recent, near, out, at):
            prefetch(table, hashed & mask)
            for i in range(WORDS):
                recent[near + i] = out[at + i]
                batch[left * WORDS + i] = out[at + i]
            hashes[left] = hashed
            origins[2 * left] = number
            origins[2 * left + 1] = out[room * WORDS + e]
            left += 1
    return left


def keep(left: int, count: int) -> int:
    """Of the states that were gathered, new ones are kept. How many states there are then."""
    mask = control[MASK]
    for k in range(left):
        entry = table[hashes[k] & mask]
        if entry != 0 and entry & ~mask == hashes[k] >> 32 & LOW & ~mask:
            prefetch(store, ((entry & mask) - 1) * WORDS)
    for k in range(left):
        tag = hashes[k] >> 32 & LOW & ~mask
        place = hashes[k] & mask
        new = 1
        while new and table[place] != 0:
            number = (table[place] & mask) - 1
            if table[place] & ~mask == tag and equal(store, number * WORDS, batch, k * WORDS):
                new = 0
            place = place + new & mask
        if new:
            for i in range(WORDS):
                store[count * WORDS + i] = batch[k * WORDS + i]
            parents[count] = origins[2 * k]
            rules[count] = origins[2 * k + 1]
            count += 1
            table[place] = count | tag
    return count


def note(number: int) -> int:
    """What was found of a state, added up: whether the search is to stop for it."""
    failed = 0
    for i in range(NOTES):
        if info[i] != 0:
            totals[i] += info[i]
            if firsts[i] < 0:
                firsts[i] = number
            if control[FAILING] <= i < control[FAILED]:
                failed = 1
    return failed


def search() -> int:
    """Expand states from number `control[NEXT]` to `control[LAST]`; why it came back.

    FULL: `store` or `table` has no place for the successors of one more state. ROOM: `out` has
    none. ESCAPED: the state before `control[NEXT]` needs the reference engine. `totals` sums
    `info`; `firsts` keeps for each of its places the first state where it was not 0. Not more than
    `control[MOST]` states are kept; it stops after a state that notes something at a place from
    `control[FAILING]` to `control[FAILED]`.
    """
    number = control[NEXT]
    count = control[COUNT]
    most = control[MOST]
    room = control[PLACES]
    left = 0
    status = DONE
    while number < control[LAST]:
        if left >= BATCH or count + left >= most:
            count = keep(left, count)
            left = 0
            if count >= most:
                break
        if count + left + room > control[STATES]:
            status = FULL
            break
        clear(info, 0, NOTES)
        n = expand(w, store, number * WORDS, out, info, room)
        if n < 0:
            status = ROOM
            break
        number += 1
        if info[1] != 0:
            status = ESCAPED
            break
        failed = note(number - 1)
        left = gather(n, number - 1, left)
        if failed:
            break
    control[COUNT] = keep(left, count)
    control[NEXT] = number
    return status


def follow() -> int:
    """The successors of all states, once all are known: those of state n end at `ends[n]`.

    FULL: `edges` has no place for those of one more state. What `info` counts from
    `control[FIRST]` on are marks, which are kept in `marks`. Successors of states that need the
    reference engine are left out.
    """
    room = control[PLACES]
    number = control[NEXT]
    filled = 0
    if number > 0:
        filled = ends[number - 1]
    first = control[FIRST]
    status = DONE
    while number < control[LAST]:
        if filled + room > control[EDGES]:
            status = FULL
            break
        clear(info, 0, NOTES)
        n = expand(w, store, number * WORDS, out, info, room)
        if n < 0:
            status = ROOM
            break
        for i in range(first, NOTES):
            marks[number * (NOTES - first) + i - first] = info[i]
        if info[1] == 0:
            for e in range(n):
                found = find(out, e * WORDS)
                if found >= 0:
                    edges[filled] = found
                    filled += 1
        ends[number] = filled
        number += 1
    control[NEXT] = number
    return status
