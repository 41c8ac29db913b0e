"""How states stand in memory and are found again: text for machine code, see `kernel_rows`.

States stand one after another in `store`, in the order in which they were found, so that a level
is a range of numbers. `parents` holds the number of the state that each was first reached from,
`rules` by which rule.

States of several words are folded: two words at a time are a piece, each piece stands once in
`pieces`, and in `store` a state is the row of the numbers of its pieces, two numbers a word. Most
states share their pieces with many others, so that this takes a third of the memory or less. Where
a state may be in `store`, the pieces there are compared with its words; only a state that is new is
folded, and of that only those pieces are looked up that differ from the state that it comes from.

`table` says which states are there, by open addressing over 32 bits of a hash of their words. An
entry is the number of a state plus one in the low bits, which are as many as tell places of the
table apart, and above those the bits of the hash, so that other states are seldom looked at. The
low bits of the hash say which place. So the lowest bit of the hash in an entry says in which half
of a table of twice the size it is, and the table grows without a look at the states.
`piece_table` says the same of pieces. Places are looked at in groups, the places of a group all at
once: a state is in the first group from its hash on that had a free place.

Most of a search is waiting for memory; so successors are gathered, and looked up many at a time.
"""

from __future__ import annotations

from ..codegen.prelude import popcount
from .kernel_rows import (
    BATCH,
    FOLDED,
    GROUP,
    GROUPED,
    LOCK,
    LOW,
    MASK,
    PIECE,
    PIECE_MASK,
    PIECE_ROOM,
    PIECED,
    PIECES,
    ROOT,
    WHOLE,
    WORDS,
    Cells,
    acquired,
    batch,
    control,
    doubtful,
    fresh,
    hashes,
    likely,
    locked,
    parents,
    piece_table,
    pieces,
    placed,
    prefetch,
    released,
    rest,
    rules,
    scanned,
    shared,
    store,
    table,
    tell,
)


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


def reached(row: Cells, count: int) -> None:
    """Added up in a row: how many of so many states each rule was the first to reach."""
    for number in range(count):
        row[rules[number]] += parents[number] != LOW  # An initial state has -1.


def free_place(place: int) -> int:
    """The first free place from this group on."""
    mask = control[MASK]
    free = scanned(table, place, 0, mask) >> GROUP
    while free == 0:
        place = place + GROUP & mask
        free = scanned(table, place, 0, mask) >> GROUP
    return place + popcount((free & -free) - 1)


def enter(row: Cells, count: int) -> None:
    """So many states, of these numbers, which are in the table nowhere, are put there. Several
    threads may each put others there."""
    mask = control[MASK]
    first = 0
    while first < count:
        few = min(count - first, BATCH)
        for k in range(few):
            unfold(batch, k * WORDS, row[first + k])
            hashes[k] = mixed(batch, k * WORDS, WORDS)
            prefetch(table, hashes[k] >> 32 & mask & WHOLE)
        for k in range(few):
            put(hashes[k], row[first + k])
        first += few


def put(hashed: int, number: int) -> None:
    """A state of this hash, which is not there, gets a place that no other thread takes."""
    mask = control[MASK]
    first = hashed >> 32 & mask & WHOLE
    while not placed(table, free_place(first), number + 1 | hashed >> 32 & LOW & ~mask):
        pass


def full_before(place: int) -> int:
    """Whether the group before this one is full: states of that one may be in this one."""
    mask = control[MASK]
    return scanned(table, place - GROUP & mask, 0, mask) >> GROUP == 0


def crowded(first: int, last: int) -> int:
    """How many states `split` cannot tell the group of, between these places."""
    mask = control[MASK]
    found = 0
    for place in range(first, last, GROUP):
        if full_before(place):
            found += GROUP - popcount(scanned(table, place, 0, mask) >> GROUP)
    return found


def split(row: Cells, first: int, last: int, behind: int) -> None:
    """The table is doubled: of each group between these places, those of the states whose hash has
    the next bit go to the new half. States that may not be in the group of their hash are taken out
    into a row; `behind` says whether the first group is one of those.

    Several threads may each split a part of the table.
    """
    mask = control[MASK]
    size = mask + 1
    out_of_it = 0
    for place in range(first, last, GROUP):
        taken = GROUP - popcount(scanned(table, place, 0, mask) >> GROUP)
        low = 0
        high = 0
        for i in range(taken):
            entry = table[place + i]
            if behind:
                row[out_of_it] = (entry & mask) - 1
                out_of_it += 1
            else:
                table[place + low] = entry & ~size
                table[size + place + high] = entry & ~size
                up = (entry & size) != 0
                low += 1 - up
                high += up
        for i in range(low, taken):
            table[place + i] = 0
        if high < GROUP:
            table[size + place + high] = 0
        behind = taken == GROUP


def enter_pieces(count: int) -> None:
    """The same for all pieces, of which the table is empty."""
    for number in range(count):
        enter_piece(pieces[number * PIECE], pieces[number * PIECE + 1], number)


def enter_piece(a: int, b: int, number: int) -> None:
    """The same for one piece, of these words, which is not there."""
    mask = control[PIECE_MASK]
    hashed = mixed_pair(a, b)
    place = hashed >> 32 & mask & WHOLE
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
    place = hashed >> 32 & mask & WHOLE
    while True:
        found = scanned(piece_table, place, tag, mask)
        like = found & GROUPED
        while like != 0:
            entry = acquired(piece_table, place + popcount((like & -like) - 1))
            number = (entry & mask) - 1
            if pieces[number * PIECE] == a and pieces[number * PIECE + 1] == b:
                return number
            like &= like - 1
        if found >> GROUP != 0:
            return -1
        place = place + GROUP & mask


def piece_for(a: int, b: int) -> int:
    """The same, of a piece that is there now; -1 where there is no room for it.

    Several threads may add pieces, one at a time: a piece has one number, whoever added it.
    """
    number = piece_of(a, b)
    if number < 0:
        while not locked(shared, LOCK):
            rest()
        number = piece_of(a, b)
        if number < 0 and shared[PIECED] < shared[PIECE_ROOM]:
            number = shared[PIECED]
            shared[PIECED] = number + 1
            add_piece(a, b, number)
        tell(shared, LOCK, 0)
    return number


def add_piece(a: int, b: int, number: int) -> None:
    """A piece that is not there gets this number."""
    pieces[number * PIECE] = a
    pieces[number * PIECE + 1] = b
    enter_piece(a, b, number)


def fold(k: int, like: int) -> int:
    """The words of a gathered state become the numbers of its pieces, as in `store`; 0 where there
    is no room for them. It has most pieces in common with another state, if one is given."""
    at = k * WORDS
    for p in range(PIECES):
        a = batch[at + p * PIECE]
        b = 0
        if p * PIECE + 1 < WORDS:
            b = batch[at + p * PIECE + 1]
        number = -1
        if like >= 0:
            number = store[like * ROOT + (p >> 1)] >> 32 * (p & 1) & LOW
            if pieces[number * PIECE] != a or pieces[number * PIECE + 1] != b:
                number = -1
        if number < 0:
            number = piece_for(a, b)
            if number < 0:
                return 0
        if p & 1:
            batch[at + (p >> 1)] |= number << 32
        else:
            batch[at + (p >> 1)] = number
    return 1


def take(row: Cells, at: int) -> None:
    """Words, as the first state that is gathered."""
    for i in range(WORDS):
        batch[i] = row[at + i]
    hashes[0] = mixed(batch, 0, WORDS)


def fill(row: Cells, count: int) -> None:
    """So many states, all different, whose words are there, are the first in `store`."""
    for number in range(count):
        take(row, number * WORDS)
        if FOLDED:
            fold(0, number - 1)
        for i in range(ROOT):
            store[number * ROOT + i] = batch[i]


def find(row: Cells, at: int) -> int:
    """The number of the state whose words begin at `row[at]`, or -1 where it is not there."""
    take(row, at)
    return held(hashes[0], 0, 0)


def unlike(number: int, k: int) -> int:
    """Whether a state is another than one that was gathered; without a branch."""
    differ = 0
    if FOLDED:
        for p in range(PIECES):
            piece = store[number * ROOT + (p >> 1)] >> 32 * (p & 1) & LOW
            for i in range(min(PIECE, WORDS - p * PIECE)):
                differ |= pieces[piece * PIECE + i] ^ batch[k * WORDS + p * PIECE + i]
    else:
        for i in range(WORDS):
            differ |= store[number * WORDS + i] ^ batch[k * WORDS + i]
    return differ != 0


def held(hashed: int, k: int, sifted: int) -> int:
    """The number of a state of this hash, or -1: of one that is gathered, at a place in `batch`, or
    that was sifted, at a place in `fresh`."""
    mask = control[MASK]
    tag = hashed >> 32 & LOW & ~mask
    place = hashed >> 32 & mask & WHOLE
    while True:
        found = scanned(table, place, tag, mask)
        like = found & GROUPED
        while like != 0:
            entry = acquired(table, place + popcount((like & -like) - 1))
            number = (entry & mask) - 1
            if sifted:
                if equal(store, number * ROOT, fresh, k + 2, ROOT):
                    return number
            elif not unlike(number, k):
                return number
            like &= like - 1
        if found >> GROUP != 0:
            return -1
        place = place + GROUP & mask


def add(hashed: int, number: int) -> None:
    """A state of this hash, which is not there and whose words are in `store`, gets a number."""
    mask = control[MASK]
    place = free_place(hashed >> 32 & mask & WHOLE)
    released(table, place, number + 1 | hashed >> 32 & LOW & ~mask)


def look_ahead(first: int, last: int) -> None:
    """Memory in which gathered states may be, from the first to the last, is waited for once for
    all. `likely` has for each the number of the first state in the group of its hash that may be
    the same, or -1."""
    mask = control[MASK]
    for k in range(first, last):
        prefetch(table, hashes[k] >> 32 & mask & WHOLE)
    for k in range(first, last):
        place = hashes[k] >> 32 & mask & WHOLE
        like = scanned(table, place, hashes[k] >> 32 & LOW & ~mask, mask) & GROUPED
        number = -1
        if like != 0:
            number = (acquired(table, place + popcount((like & -like) - 1)) & mask) - 1
            prefetch(store, number * ROOT)
        likely[k] = number


def winnowed(first: int, last: int) -> int:
    """Find the gathered states, from the first to the last, that are not the likely ones:
    `doubtful` has their places in `batch`, in their order. Return how many they are.

    The processor cannot foresee which they are, so there is no branch; most of them are new, which
    it does foresee afterwards.
    """
    few = 0
    for k in range(first, last):
        number = likely[k]
        doubtful[few] = k
        few += (number < 0) | unlike(max(number, 0), k)
    return few
