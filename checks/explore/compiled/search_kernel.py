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
`piece_table` says the same of pieces. Places are looked at in groups, the places of a group all at
once: a state is in the first group from its hash on that had a free place.

Most of a search is waiting for memory; so successors are gathered, and looked up many at a time.
A successor of a folded state has most pieces in common with that state: only those that differ are
looked up.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from ..codegen.prelude import clear, popcount

Cells = MutableSequence[int]

WORDS = NOTES = NOTED = ROUNDS = 1
LABELLED: int = 0
FOLDED = PIECE = PIECES = ROOT = 1
DONE, FULL, ROOM, ESCAPED, STOPPED, PAUSED, SPENT = range(7)  # Why a search came back.
BATCH = 512  # Successors gathered before they are looked up: enough to wait for memory once.
AT_ONCE = 8  # Words that `differing` compares; rows that it reads have room for them at their end.
RECENT = 1 << 13  # Cells in which the states are that were met a moment ago.
LOW = (1 << 32) - 1
# Where `control` says what.
NEXT, LAST, COUNT, MOST, FAILING, FAILED, MASK, STATES, PLACES, EDGES = range(10)
FIRST, ENOUGH, LEFT, BEGIN, TURN, WORKER, WORKERS, STATUS = range(10, 18)
PIECED, PIECE_MASK, PIECE_ROOM, LOCK, CONTROLS = range(18, 23)
GROUP = 16  # Places of a table that are looked at together: those of a line of the cache.
GROUPED = (1 << GROUP) - 1
WHOLE = ~(GROUP - 1)
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
batch: Cells = []  # Of states that are to be looked up the words in `store`,
origins: Cells = []  # the state that each comes from and by which rule,
hashes: Cells = []  # and the hash.
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


def differing(row: Cells, at: int, other: Cells, there: int) -> int:
    """A bit for each of eight words: whether it differs from the other row's."""
    raise NotImplementedError


def scanned(row: Cells, at: int, tag: int, mask: int) -> int:
    """Of the `GROUP` numbers of 32 bits from there: a bit for each that is not 0 and has this tag
    where the mask has no bits, and above those a bit for each that is 0."""
    raise NotImplementedError


def lock(row: Cells, at: int) -> None:
    """Wait until the number there is 0, and put 1."""
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


def mixed_pair(a: int, b: int) -> int:
    """The same of two words that are no row."""
    h = 0x9E3779B97F4A7C15
    h += (a ^ (a >> 32 & LOW)) * 0xFF51AFD7ED558CCD
    h += (b ^ (b >> 32 & LOW)) * 0x9D8929916CA008E3
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
            prefetch(table, hashes[k] & mask & WHOLE)
        for k in range(few):
            place = hashes[k] & mask & WHOLE
            free = scanned(table, place, 0, mask) >> GROUP
            while free == 0:
                place = place + GROUP & mask
                free = scanned(table, place, 0, mask) >> GROUP
            place += popcount((free & -free) - 1)
            table[place] = first + k + 1 | hashes[k] >> 32 & LOW & ~mask
        first += few


def enter_pieces(count: int) -> None:
    """The same for all pieces, of which the table is empty."""
    for number in range(count):
        enter_piece(pieces[number * PIECE], pieces[number * PIECE + 1], number)


def enter_piece(a: int, b: int, number: int) -> None:
    """The same for one piece, of these words, which is not there."""
    mask = control[PIECE_MASK]
    hashed = mixed_pair(a, b)
    place = hashed & mask & WHOLE
    free = scanned(piece_table, place, 0, mask) >> GROUP
    while free == 0:
        place = place + GROUP & mask
        free = scanned(piece_table, place, 0, mask) >> GROUP
    place += popcount((free & -free) - 1)
    released(piece_table, place, number + 1 | hashed >> 32 & LOW & ~mask)


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


def piece_of(a: int, b: int) -> int:
    """The number of the piece of these two words, or -1 where it is not there."""
    mask = control[PIECE_MASK]
    hashed = mixed_pair(a, b)
    tag = hashed >> 32 & LOW & ~mask
    place = hashed & mask & WHOLE
    while True:
        seen = scanned(piece_table, place, tag, mask)
        like = seen & GROUPED
        while like != 0:
            entry = acquired(piece_table, place + popcount((like & -like) - 1))
            number = (entry & mask) - 1
            if pieces[number * PIECE] == a and pieces[number * PIECE + 1] == b:
                return number
            like &= like - 1
        if seen >> GROUP != 0:
            return -1
        place = place + GROUP & mask


def piece_for(a: int, b: int) -> int:
    """The same, of a piece that is there now; -1 where there is no room for it.

    Several threads may add pieces, one at a time: a piece has one number, whoever added it.
    """
    number = piece_of(a, b)
    if number < 0:
        lock(shared, LOCK)
        number = piece_of(a, b)
        if number < 0 and shared[PIECED] < shared[PIECE_ROOM]:
            number = shared[PIECED]
            shared[PIECED] = number + 1
            add_piece(a, b, number)
        give_turn(shared, LOCK, 0)
    return number


def add_piece(a: int, b: int, number: int) -> None:
    """A piece that is not there gets this number."""
    pieces[number * PIECE] = a
    pieces[number * PIECE + 1] = b
    enter_piece(a, b, number)


def fold_all(row: Cells, at: int, k: int, adding: int) -> int:
    """Words, as the state that is gathered at a place; 0 where one of its pieces is not there, and
    is not to be added."""
    for i in range(ROOT):
        batch[k * ROOT + i] = 0
    for p in range(PIECES):
        a = row[at + p * PIECE]
        b = 0
        if p * PIECE + 1 < WORDS:
            b = row[at + p * PIECE + 1]
        number = piece_for(a, b) if adding else piece_of(a, b)
        if number < 0:
            return 0
        batch[k * ROOT + (p >> 1)] |= number << 32 * (p & 1)
    return 1


def fold(e: int, number: int, k: int) -> int:
    """The e-th state in `out`, as the state that is gathered at a place; 0 where there is no room
    for its pieces.

    It has most pieces in common with the state that it comes from, which is `opened`: of those the
    numbers are known.
    """
    for i in range(ROOT):
        batch[k * ROOT + i] = store[number * ROOT + i]
    for first in range(0, WORDS, 64):
        changed = 0
        for word in range(first, min(WORDS, first + 64), AT_ONCE):
            changed |= differing(out, e * WORDS + word, opened, word) << word - first
        if WORDS - first < 64:
            changed &= (1 << (WORDS - first & 63)) - 1
        changed = (changed | changed >> 1) & 0x5555555555555555
        while changed != 0:
            word = first + popcount((changed & -changed) - 1)
            changed &= changed - 1
            a = out[e * WORDS + word]
            b = 0
            if word + 1 < WORDS:
                b = out[e * WORDS + word + 1]
            piece = piece_of(a, b)
            if piece < 0:
                piece = piece_for(a, b)
                if piece < 0:
                    return 0
            at = k * ROOT + (word >> 2)
            half = word << 4 & 32
            batch[at] = batch[at] & ~(LOW << half) | piece << half
    return 1


def take(row: Cells, at: int, k: int, adding: int) -> int:
    """Words, as the state that is gathered at a place, and its hash; as `fold_all`."""
    if FOLDED:
        if not fold_all(row, at, k, adding):
            return 0
    else:
        for i in range(WORDS):
            batch[k * ROOT + i] = row[at + i]
    hashes[k] = mixed(batch, k * ROOT, ROOT)
    return 1


def fill(row: Cells, count: int) -> None:
    """So many states, all different, whose words are there, are the first in `store`."""
    for number in range(count):
        take(row, number * WORDS, 0, 1)
        for i in range(ROOT):
            store[number * ROOT + i] = batch[i]


def find(row: Cells, at: int) -> int:
    """The number of the state whose words begin at `row[at]`, or -1 where it is not there."""
    if take(row, at, 0, 0):
        return held(0, hashes[0])
    return -1


def held(k: int, hashed: int) -> int:
    """The number of the state that is gathered at a place and has this hash, or -1."""
    mask = control[MASK]
    tag = hashed >> 32 & LOW & ~mask
    place = hashed & mask & WHOLE
    while True:
        seen = scanned(table, place, tag, mask)
        like = seen & GROUPED
        while like != 0:
            entry = acquired(table, place + popcount((like & -like) - 1))
            number = (entry & mask) - 1
            if equal(store, number * ROOT, batch, k * ROOT, ROOT):
                return number
            like &= like - 1
        if seen >> GROUP != 0:
            return -1
        place = place + GROUP & mask


def gather(n: int, number: int, left: int) -> int:
    """The n states in `out`, successors of a state, to those to be looked up; how many they are, or
    -1 where there is no room for their pieces.

    `recent` holds, at a place by their hash, states that were met a moment ago: most successors
    are among them, and known without a look at the table. The processor cannot foresee which, so
    there is no branch: each is put at the next place, and the next one over it if it is known.
    """
    room = control[PLACES]
    for e in range(n):
        if FOLDED:
            if not fold(e, number, left):
                return -1
        else:
            for i in range(WORDS):
                batch[left * ROOT + i] = out[e * WORDS + i]
        hashed = mixed(batch, left * ROOT, ROOT)
        near = ((hashed >> 32 & LOW) * (RECENT // ROOT) >> 32) * ROOT
        unlike = 0
        for i in range(ROOT):
            word = batch[left * ROOT + i]
            unlike |= recent[near + i] ^ word
            recent[near + i] = word
        hashes[left] = hashed
        origins[2 * left] = number
        origins[2 * left + 1] = out[room * WORDS + e]
        left += unlike != 0
    return left


def look_ahead(first: int, last: int, mask: int) -> None:
    """Memory in which states from the first to the last may be is waited for once for all."""
    for k in range(first, last):
        prefetch(table, hashes[k] & mask & WHOLE)
    for k in range(first, last):
        place = hashes[k] & mask & WHOLE
        like = scanned(table, place, hashes[k] >> 32 & LOW & ~mask, mask) & GROUPED
        if like != 0:
            entry = acquired(table, place + popcount((like & -like) - 1))
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
        look_ahead(first, last, mask)
        for k in range(first, last):
            if held(k, hashes[k]) < 0:
                move(k, few)
                few += 1
        first = last
    return few


def move(k: int, to: int) -> None:
    """What was gathered of a state, to an earlier place."""
    for i in range(ROOT):
        batch[to * ROOT + i] = batch[k * ROOT + i]
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
    mask = control[MASK]
    look_ahead(first, last, mask)
    for k in range(first, last):
        tag = hashes[k] >> 32 & LOW & ~mask
        place = hashes[k] & mask & WHOLE
        new = 1
        free = 0
        while new and free == 0:
            seen = scanned(table, place, tag, mask)
            like = seen & GROUPED
            while like != 0:
                at = place + popcount((like & -like) - 1)
                if equal(store, ((table[at] & mask) - 1) * ROOT, batch, k * ROOT, ROOT):
                    new = 0
                like &= like - 1
            free = seen >> GROUP
            if free == 0:
                place = place + GROUP & mask
        if new:
            for i in range(ROOT):
                store[count * ROOT + i] = batch[k * ROOT + i]
            parents[count] = origins[2 * k]
            rules[count] = origins[2 * k + 1]
            count += 1
            released(table, place + popcount((free & -free) - 1), count | tag)
    return count


def insert(row: Cells, parent: int, rule: int, number: int) -> int:
    """A state with these words gets this number if it is new; how many states there are then."""
    take(row, 0, 0, 1)
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
        if info[1] != 0:
            number += 1
            status = ESCAPED
            break
        more = gather(n, number, left)
        if more < 0:
            forget()
            status = FULL
            break
        left = more
        if note(number):
            status = STOPPED
        number += 1
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
        control[LEFT] = sift(control[LEFT])
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
