"""Breadth-first search over packed words, as text that is compiled together with a machine's steps.

These functions are text for `llvm_text`, and never run as Python: numbers are 64 bits and wrap
around. `WORDS`, `NOTES`, `NOTED`, `ROUNDS` and `LABELLED` become the machine's: the words of a
state, the cells of `info`, how many of them are added up, the cell of `w` that has the rounds of
long loops that are left, and whether rules come with arguments, as labels.
`Arrays` holds what they work on, and `control` says how far they are.

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

from ..codegen.prelude import clear

Cells = MutableSequence[int]

WORDS = NOTES = NOTED = ROUNDS = 1
LABELLED: int = 0
DONE, FULL, ROOM, ESCAPED, STOPPED, PAUSED, SPENT = range(7)  # Why a search came back.
BATCH = 512  # Successors gathered before they are looked up: enough to wait for memory once.
RECENT = 1 << 13  # Cells in which the states are that were met a moment ago.
LOW = (1 << 32) - 1
# Where `control` says what.
NEXT, LAST, COUNT, MOST, FAILING, FAILED, MASK, STATES, PLACES, EDGES = range(10)
FIRST, ENOUGH, LEFT, BEGIN, TURN, WORKER, WORKERS, STATUS, CONTROLS = range(10, 19)
CHUNK = 1 << 9  # States that one of several threads expands before what it gathered is kept.


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
labels: Cells = []
marks: Cells = []
shared: Cells = []  # Of several threads: what `control`, `totals` and `firsts` are of the search.
sums: Cells = []
earliest: Cells = []
ARRAYS = tuple(name for name, kind in __annotations__.items() if kind == "Cells")


def expand(*given: Cells | int) -> int:
    """The step function of the machine; see `expansion.successors`."""
    raise NotImplementedError


def prefetch(row: Cells, at: int) -> None:
    """Tell the processor that this place is looked at soon."""
    raise NotImplementedError


def turn_of(row: Cells, at: int, mine: int) -> int:
    """Wait until the number there is this or negative; which it is."""
    raise NotImplementedError


def give_turn(row: Cells, at: int, turn: int) -> None:
    """Put a number there, for others who wait; what was written before is seen by them."""
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
    room = control[PLACES]
    for e in range(n):
        at = e * WORDS
        hashed = mixed(out, at)
        near = ((hashed >> 32 & LOW) * (RECENT // WORDS) >> 32) * WORDS
        if not equal(recent, near, out, at):
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
    first = 0
    while first < left:
        last = min(first + BATCH, left)
        count = looked_up(first, last, count)
        first = last
    return count


def looked_up(first: int, last: int, count: int) -> int:
    """The same for those from the first to the last; memory is waited for once for all of them."""
    mask = control[MASK]
    for k in range(first, last):
        prefetch(table, hashes[k] & mask)
    for k in range(first, last):
        entry = table[hashes[k] & mask]
        if entry != 0 and entry & ~mask == hashes[k] >> 32 & LOW & ~mask:
            prefetch(store, ((entry & mask) - 1) * WORDS)
    for k in range(first, last):
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
    for i in range(NOTED):
        if info[i] != 0:
            totals[i] += info[i]
            if firsts[i] < 0:
                firsts[i] = number
            if control[FAILING] <= i < control[FAILED]:
                failed = 1
    return failed


def scout() -> int:
    """Expand states from number `control[NEXT]` to `control[LAST]`, and gather what they lead to.

    It comes back when as many as `control[ENOUGH]` are gathered, `control[LEFT]` says how many, or
    for ROOM: `out` has none for the successors of one more state; ESCAPED: the state before
    `control[NEXT]` needs the reference engine; SPENT: that state needs more rounds of long loops
    than were left; STOPPED: it notes something at a place from
    `control[FAILING]` to `control[FAILED]`. `totals` sums `info`; `firsts` keeps for each of its
    places the first state where it was not 0.
    """
    number = control[NEXT]
    last = control[LAST]
    enough = control[ENOUGH]
    room = control[PLACES]
    left = 0
    status = DONE
    while number < last and status == DONE:
        if left >= enough:
            status = PAUSED
            break
        clear(info, 0, NOTES)
        n = expand(w, store, number * WORDS, out, info, room)
        if n < 0:
            status = ROOM
            break
        if info[1] != 0 and w[ROUNDS] < 0:
            status = SPENT
            break
        number += 1
        if info[1] != 0:
            status = ESCAPED
            break
        if note(number - 1):
            status = STOPPED
        left = gather(n, number - 1, left)
    control[NEXT] = number
    control[LEFT] = left
    return status


def search() -> int:
    """Expand states and keep what they lead to, until `scout` comes back for more than a pause.

    FULL: `store` or `table` has no place for the successors of one more state. Not more than
    `control[MOST]` states are kept.
    """
    count = control[COUNT]
    status = PAUSED
    while status == PAUSED and count < control[MOST]:
        place = control[STATES] - control[PLACES] - count
        if place < 0:
            status = FULL
        else:
            control[ENOUGH] = min(BATCH, control[MOST] - count, place + 1)
            status = scout()
            count = keep(control[LEFT], count)
    control[COUNT] = count
    return status


def forget() -> None:
    """What was gathered is not kept, so nothing of it is known."""
    for i in range(max(RECENT, WORDS)):
        recent[i] = -1


def work() -> int:
    """One of several threads: expands every so-manieth chunk of the states, from `shared[BEGIN]` to
    `shared[LAST]`, and keeps what it gathered when it is the turn of that chunk.

    The search is then where one thread would have it. Who comes back for more than a pause, or has
    no place, ends it for all.
    """
    begin = shared[BEGIN]
    last = shared[LAST]
    chunk = control[WORKER]
    while begin + chunk * CHUNK < last:
        control[NEXT] = begin + chunk * CHUNK
        control[LAST] = min(control[NEXT] + CHUNK, last)
        for i in range(NOTED):
            totals[i] = 0
            firsts[i] = -1
        status = scout()
        if turn_of(shared, TURN, chunk) != chunk:
            forget()
            return DONE
        next_turn = chunk + 1
        if shared[COUNT] + control[LEFT] > shared[ENOUGH]:
            forget()
            next_turn = -1
        else:
            shared[COUNT] = keep(control[LEFT], shared[COUNT])
            shared[NEXT] = control[NEXT]
            for i in range(NOTED):
                sums[i] += totals[i]
                if earliest[i] < 0:
                    earliest[i] = firsts[i]
            if status != DONE:
                shared[STATUS] = status
                next_turn = -1
        give_turn(shared, TURN, next_turn)
        if next_turn < 0:
            return DONE
        chunk += control[WORKERS]
    return DONE


def follow() -> int:
    """The successors of all states, once all are known: those of state n end at `ends[n]`; -1 for
    one that is none of them. `labels` has the labels of the steps that lead there.

    FULL: `edges` has no place for those of one more state; SPENT: as `scout` has it. What `info`
    counts from `control[FIRST]` on are marks, which are kept in `marks`. Successors of states that
    need the reference engine are left out.
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
        if info[1] != 0 and w[ROUNDS] < 0:
            status = SPENT
            break
        for i in range(first, NOTES):
            marks[number * (NOTES - first) + i - first] = info[i]
        if info[1] == 0:
            for e in range(n):
                edges[filled] = -1
                if LABELLED == 0:
                    edges[filled] = find(out, e * WORDS)
                else:
                    labels[filled] = out[room * WORDS + e]
                    if labels[filled] >= 0:
                        edges[filled] = find(out, e * WORDS)
                filled += 1
        ends[number] = filled
        number += 1
    control[NEXT] = number
    return status
