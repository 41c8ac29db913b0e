"""Breadth-first search over packed words, as text that is compiled together with a machine's steps.

These functions are text for `llvm_text`, and never run as Python: numbers are 64 bits and wrap
around. `WORDS`, `NOTES`, `NOTED`, `ROUNDS` and `LABELLED` become the machine's: the words of a
state, the cells of `info`, how many of them are added up, the cell of `w` that has the rounds of
long loops that are left, and whether rules come with arguments, as labels. What
`folding.shape` gives becomes a number, too.
`Arrays` holds what they work on, and `control` says how far they are.

States stand one after another in `store`, in the order in which they were found, so that a level
is a range of numbers. `parents` holds the number of the state that each was first reached from,
`rules` by which rule.

States of several words are folded: two words at a time are a piece, each piece stands once in
`pieces`, and in `store` a state is the row of the numbers of its pieces, two numbers a word. Most
states share their pieces with many others, so that this takes a third of the memory or less.

`table` says which states are there, by open addressing over a hash of their words: the number of
a state plus one in the low bits, which are as many as tell places of the table apart, and in those
above as much of its hash as there is room for, so that other states are seldom looked at.
`piece_table` says the same of pieces. Most of a search is waiting for memory; so successors are
gathered, and looked up many at a time.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from ..codegen.prelude import clear

Cells = MutableSequence[int]

WORDS = NOTES = NOTED = ROUNDS = 1
LABELLED: int = 0
FOLDED = PIECE = PIECES = ROOT = WIDE = 1
DONE, FULL, ROOM, ESCAPED, STOPPED, PAUSED, SPENT = range(7)  # Why a search came back.
BATCH = 512  # Successors gathered before they are looked up: enough to wait for memory once.
RECENT = 1 << 13  # Cells in which the states are that were met a moment ago.
LOW = (1 << 32) - 1
# Where `control` says what.
NEXT, LAST, COUNT, MOST, FAILING, FAILED, MASK, STATES, PLACES, EDGES = range(10)
FIRST, ENOUGH, LEFT, BEGIN, TURN, WORKER, WORKERS, STATUS = range(10, 18)
PIECED, PIECE_MASK, PIECE_ROOM, CONTROLS = range(18, 22)
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
hashes: Cells = []  # and the hash; of folded ones
known: Cells = []  # of each piece the number plus one, 0 where it is not known yet,
traces: Cells = []  # the hash of each piece,
roots: Cells = []  # and the words in `store`.
recent: Cells = []
opened: Cells = []  # The words of the state that is expanded.
pieces: Cells = []
piece_table: Cells = []
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


def acquired(row: Cells, at: int) -> int:
    """A number of 32 bits; what was written before it was released is seen."""
    raise NotImplementedError


def released(row: Cells, at: int, number: int) -> None:
    """Put a number of 32 bits there, for others who may look at it at any time."""
    raise NotImplementedError


def mixed(row: Cells, at: int, count: int) -> int:
    """A hash of some words: multiplied by numbers of their own, added, and MurmurHash3's finaliser.

    None waits for the one before. Each is folded first, as what differs in its upper half alone
    would be multiplied out of the sum.
    """
    h = 0x9E3779B97F4A7C15
    factor = 0xFF51AFD7ED558CCD
    for i in range(count):
        word = row[at + i]
        h += (word ^ (word >> 32 & LOW)) * factor
        factor += 0x9E3779B97F4A7C16
    h ^= h >> 32 & LOW
    h *= 0xC4CEB9FE1A85EC53
    h ^= h >> 33 & LOW >> 1
    return h


def equal(row: Cells, here: int, other: Cells, there: int, count: int) -> int:
    """Whether so many words are the same."""
    for i in range(count):
        if row[here + i] != other[there + i]:
            return 0
    return 1


def enter(first: int, count: int) -> None:
    """States that are in the table nowhere are put there: from the first to so many in all."""
    mask = control[MASK]
    while first < count:
        few = min(count - first, BATCH)
        for k in range(few):
            hashes[k] = mixed(store, (first + k) * ROOT, ROOT)
            prefetch(table, hashes[k] & mask)
        for k in range(few):
            place = hashes[k] & mask
            while table[place] != 0:
                place = place + 1 & mask
            table[place] = first + k + 1 | hashes[k] >> 32 & LOW & ~mask
        first += few


def enter_pieces(count: int) -> None:
    """The same for all pieces, of which the table is empty."""
    mask = control[PIECE_MASK]
    for number in range(count):
        hashed = mixed(pieces, number * PIECE, PIECE)
        place = hashed & mask
        while piece_table[place] != 0:
            place = place + 1 & mask
        piece_table[place] = number + 1 | hashed >> 32 & LOW & ~mask


def unfold(row: Cells, at: int, number: int) -> None:
    """The words of a state, put into a row."""
    if FOLDED:
        for p in range(PIECES):
            piece = store[number * ROOT + (p >> 1)] >> 32 * (p & 1) & LOW
            for i in range(min(PIECE, WORDS - p * PIECE)):
                row[at + p * PIECE + i] = pieces[piece * PIECE + i]
    else:
        for i in range(WORDS):
            row[at + i] = store[number * WORDS + i]


def unfold_all(row: Cells, count: int) -> None:
    """The words of so many states."""
    for number in range(count):
        unfold(row, number * WORDS, number)


def piece_of(k: int, p: int, mask: int) -> int:
    """The number plus one of a piece of a state that was gathered, 0 where it is not there yet;
    `traces` has its place then."""
    hashed = traces[k * PIECES + p]
    tag = hashed >> 32 & LOW & ~mask
    place = hashed & mask
    entry = acquired(piece_table, place)
    while entry != 0:
        number = entry & mask
        same = entry & ~mask == tag
        if same and equal(pieces, (number - 1) * PIECE, batch, k * WIDE + p * PIECE, PIECE):
            return number
        place = place + 1 & mask
        entry = acquired(piece_table, place)
    return 0


def look_for_pieces(first: int, last: int, adding: int) -> None:
    """Of the states gathered from the first to the last: the words in `store` and their hash.

    If `adding`, pieces that are not there are added; otherwise the hash of a state with such a
    piece is 0, and its words are none. Memory is waited for once for all of them.
    """
    mask = control[PIECE_MASK]
    for k in range(first, last):
        for p in range(PIECES):
            if known[k * PIECES + p] == 0:
                hashed = mixed(batch, k * WIDE + p * PIECE, PIECE)
                traces[k * PIECES + p] = hashed
                prefetch(piece_table, hashed & mask)
    for k in range(first, last):
        complete = 1
        for i in range(ROOT):
            roots[k * ROOT + i] = 0
        for p in range(PIECES):
            if known[k * PIECES + p] == 0:
                number = piece_of(k, p, mask)
                if number == 0:
                    if adding:
                        number = add_piece(k, p, mask)
                    else:
                        complete = 0
                known[k * PIECES + p] = number
            roots[k * ROOT + (p >> 1)] |= (known[k * PIECES + p] - 1) << 32 * (p & 1)
        hashes[k] = 0
        if complete:
            hashes[k] = mixed(roots, k * ROOT, ROOT)


def add_piece(k: int, p: int, mask: int) -> int:
    """The number plus one of a piece that is not there, and is now."""
    number = shared[PIECED]
    shared[PIECED] = number + 1
    for i in range(PIECE):
        pieces[number * PIECE + i] = batch[k * WIDE + p * PIECE + i]
    hashed = traces[k * PIECES + p]
    place = hashed & mask
    while piece_table[place] != 0:
        place = place + 1 & mask
    released(piece_table, place, number + 1 | hashed >> 32 & LOW & ~mask)
    return number + 1


def take(row: Cells, at: int, k: int) -> None:
    """Words that are not folded, as the state that is gathered at a place."""
    for i in range(WORDS):
        batch[k * WIDE + i] = row[at + i]
    if FOLDED:
        for p in range(PIECES):
            known[k * PIECES + p] = 0
    else:
        hashes[k] = mixed(row, at, WORDS)


def fill(row: Cells, count: int) -> None:
    """So many states, all different, whose words are there, are the first in `store`."""
    for number in range(count):
        take(row, number * WORDS, 0)
        if FOLDED:
            look_for_pieces(0, 1, 1)
            for i in range(ROOT):
                store[number * ROOT + i] = roots[i]
        else:
            for i in range(WORDS):
                store[number * WORDS + i] = batch[i]


def find(row: Cells, at: int) -> int:
    """The number of the state whose words begin at `row[at]`, or -1 where it is not there."""
    take(row, at, 0)
    if FOLDED:
        look_for_pieces(0, 1, 0)
        return held(roots, 0, hashes[0])
    return held(batch, 0, hashes[0])


def held(row: Cells, at: int, hashed: int) -> int:
    """The number of the state that is in `store` as these words with this hash, or -1."""
    mask = control[MASK]
    tag = hashed >> 32 & LOW & ~mask
    place = hashed & mask
    entry = acquired(table, place)
    while entry != 0:
        number = (entry & mask) - 1
        if entry & ~mask == tag and equal(store, number * ROOT, row, at, ROOT):
            return number
        place = place + 1 & mask
        entry = acquired(table, place)
    return -1


def gather(n: int, number: int, left: int) -> int:
    """The n states in `out`, successors of a state, to those to be looked up; how many they are.

    `recent` holds, at a place by their hash, states that were met a moment ago: most successors
    are among them, and known without a look at the table.
    """
    room = control[PLACES]
    for e in range(n):
        at = e * WORDS
        hashed = mixed(out, at, WORDS)
        near = ((hashed >> 32 & LOW) * (RECENT // WORDS) >> 32) * WORDS
        if not equal(recent, near, out, at, WORDS):
            for i in range(WORDS):
                recent[near + i] = out[at + i]
                batch[left * WIDE + i] = out[at + i]
            if FOLDED:
                for p in range(PIECES):
                    same = equal(opened, p * PIECE, batch, left * WIDE + p * PIECE, PIECE)
                    piece = store[number * ROOT + (p >> 1)] >> 32 * (p & 1) & LOW
                    known[left * PIECES + p] = same * (piece + 1)
            hashes[left] = hashed
            origins[2 * left] = number
            origins[2 * left + 1] = out[room * WORDS + e]
            left += 1
    return left


def look_ahead(first: int, last: int, mask: int) -> None:
    """Memory in which states from the first to the last may be is waited for once for all."""
    for k in range(first, last):
        prefetch(table, hashes[k] & mask)
    for k in range(first, last):
        entry = acquired(table, hashes[k] & mask)
        if entry != 0 and entry & ~mask == hashes[k] >> 32 & LOW & ~mask:
            prefetch(store, ((entry & mask) - 1) * ROOT)


def sift(left: int) -> int:
    """Of the states that were gathered those are left that were not there; how many they are.

    Other threads may add states meanwhile, so that some of those left may be there after all.
    """
    mask = control[MASK]
    few = 0
    first = 0
    while first < left:
        last = min(first + BATCH, left)
        if FOLDED:
            look_for_pieces(first, last, 0)
        look_ahead(first, last, mask)
        for k in range(first, last):
            found = -1
            if FOLDED:
                if hashes[k] != 0:
                    found = held(roots, k * ROOT, hashes[k])
            else:
                found = held(batch, k * ROOT, hashes[k])
            if found < 0:
                move(k, few)
                few += 1
        first = last
    return few


def move(k: int, to: int) -> None:
    """What was gathered of a state, to an earlier place."""
    for i in range(WIDE):
        batch[to * WIDE + i] = batch[k * WIDE + i]
    if FOLDED:
        for p in range(PIECES):
            known[to * PIECES + p] = known[k * PIECES + p]
    origins[2 * to] = origins[2 * k]
    origins[2 * to + 1] = origins[2 * k + 1]
    hashes[to] = hashes[k]


def keep(left: int, count: int) -> int:
    """Of the states that were gathered, new ones are kept. How many states there are then."""
    first = 0
    while first < left:
        last = min(first + BATCH, left)
        count = looked_up(first, last, count)
        first = last
    return count


def looked_up(first: int, last: int, count: int) -> int:
    """The same for those from the first to the last."""
    if FOLDED:
        look_for_pieces(first, last, 1)
        return new_ones(roots, first, last, count)
    return new_ones(batch, first, last, count)


def new_ones(row: Cells, first: int, last: int, count: int) -> int:
    """The same, whose words for `store` are in this row."""
    mask = control[MASK]
    look_ahead(first, last, mask)
    for k in range(first, last):
        tag = hashes[k] >> 32 & LOW & ~mask
        place = hashes[k] & mask
        new = 1
        while new and table[place] != 0:
            number = (table[place] & mask) - 1
            if table[place] & ~mask == tag and equal(store, number * ROOT, row, k * ROOT, ROOT):
                new = 0
            place = place + new & mask
        if new:
            for i in range(ROOT):
                store[count * ROOT + i] = row[k * ROOT + i]
            parents[count] = origins[2 * k]
            rules[count] = origins[2 * k + 1]
            count += 1
            released(table, place, count | tag)
    return count


def insert(row: Cells, parent: int, rule: int, number: int) -> int:
    """A state with these words gets this number if it is new; how many states there are then."""
    take(row, 0, 0)
    origins[0] = parent
    origins[1] = rule
    return looked_up(0, 1, number)


def step(number: int) -> int:
    """The successors of a state in `out`: see `codegen.successors`."""
    if FOLDED:
        unfold(opened, 0, number)
        return expand(w, opened, 0, out, info, control[PLACES])
    return expand(w, store, number * WORDS, out, info, control[PLACES])


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
    left = 0
    status = DONE
    while number < last and status == DONE:
        if left >= enough:
            status = PAUSED
            break
        clear(info, 0, NOTES)
        n = step(number)
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
        most_pieces = (BATCH + control[PLACES]) * PIECES
        if place < 0 or control[PIECED] + most_pieces * FOLDED > control[PIECE_ROOM]:
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
        control[LEFT] = sift(control[LEFT])
        if turn_of(shared, TURN, chunk) != chunk:
            forget()
            return DONE
        next_turn = chunk + 1
        most_pieces = control[LEFT] * PIECES * FOLDED
        no_room = shared[PIECED] + most_pieces > shared[PIECE_ROOM]
        if no_room or shared[COUNT] + control[LEFT] > shared[ENOUGH]:
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
        n = step(number)
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
