"""Sorted runs of packed states: text for machine code, as `kernel_rows` says of its own.

A row of `SIZE` numbers has the words of a state behind a number of its own; a run has the words
alone, in the order of their hashes. The hash of a state is a number of 63 bits, so that it has no
sign; it is worked out from the words wherever it is asked for, and so takes no place in a file.
`control` has the numbers that a function is given, at the places that are named for it.
"""

from __future__ import annotations

from ..codegen.prelude import clear
from ..native.kernel_rows import BATCH, LOW, WORDS, Cells, prefetch
from ..native.state_table import mixed

SIZE = 2
PLAIN = (1 << 63) - 1
# Where `control` says what: of rows how many there are, of bins, and from where on;
COUNT, BINS, NEXT = range(3)
# of a run how many states there are, and from where on; how many states may be written; and for how
# many there is a place in a cache.
STATES, AT, ROOM, PLACES, CONTROLS = range(3, 8)


def hash_of(row: Cells, at: int) -> int:
    """The hash of the words from there on."""
    return mixed(row, at, WORDS) >> 1 & PLAIN


def sort_rows(row: Cells, out: Cells, hashes: Cells, other: Cells, control: Cells) -> None:
    """COUNT rows by their hashes, put into `out`; rows of one hash keep their order.

    Hashes are spread evenly, so rows go to BINS bins, about as many as there are rows, and those of
    a bin are then put in order. `other` is used: a number for each bin and one more, and two for
    each row.
    """
    count = control[COUNT]
    bins = control[BINS]
    own = bins + 1
    place = own + count
    low = PLAIN
    high = 0
    for i in range(count):
        h = hash_of(row, i * SIZE + 1)
        other[own + i] = h
        low = min(low, h)
        high = max(high, h)
    shift = 0
    while high - low >> shift >= bins:
        shift += 1
    clear(other, 0, own)
    for i in range(count):
        other[(other[own + i] - low >> shift) + 1] += 1
    for b in range(bins):
        other[b + 1] += other[b]
    for i in range(count):
        b = other[own + i] - low >> shift
        at = other[b]
        other[b] = at + 1
        hashes[at] = other[own + i]
        other[place + at] = i
    for i in range(1, count):
        h = hashes[i]
        if hashes[i - 1] > h:
            number = other[place + i]
            j = i
            while j > 0 and hashes[j - 1] > h:
                hashes[j] = hashes[j - 1]
                other[place + j] = other[place + j - 1]
                j -= 1
            hashes[j] = h
            other[place + j] = number
    for i in range(count):
        of = other[place + i] * SIZE
        for c in range(SIZE):
            out[i * SIZE + c] = row[of + c]


def first_of_each(row: Cells, hashes: Cells, count: int) -> int:
    """Keep one of the sorted rows with equal words, that with the least first number. Return how
    many are kept."""
    kept = 0
    for i in range(count):
        h = hashes[i]
        like = -1
        k = kept - 1
        while like < 0 and k >= 0 and hashes[k] == h:
            differ = 0
            for c in range(1, SIZE):
                differ |= row[k * SIZE + c] ^ row[i * SIZE + c]
            if differ == 0:
                like = k
            k -= 1
        if like >= 0:
            row[like * SIZE] = min(row[like * SIZE], row[i * SIZE])
        else:
            hashes[kept] = h
            for c in range(SIZE):
                row[kept * SIZE + c] = row[i * SIZE + c]
            kept += 1
    return kept


def mark(row: Cells, hashes: Cells, other: Cells, marks: Cells, control: Cells) -> None:
    """Mark the sorted rows, from NEXT to COUNT, that stand in a run of STATES states from the
    place AT on. AT is where the search for later rows goes on.

    The way to the next row is doubled until it is too long, and then halved: few rows look at few
    states of a long run.
    """
    size = control[STATES]
    at = control[AT]
    for i in range(control[NEXT], control[COUNT]):
        h = hashes[i]
        way = 1
        while at + way <= size and hash_of(other, (at + way - 1) * WORDS) < h:
            at += way
            way += way
        end = min(at + way - 1, size)
        while at < end:
            middle = at + end >> 1
            if hash_of(other, middle * WORDS) < h:
                at = middle + 1
            else:
                end = middle
        k = at
        while k < size and hash_of(other, k * WORDS) == h:
            differ = 0
            for c in range(WORDS):
                differ |= other[k * WORDS + c] ^ row[i * SIZE + 1 + c]
            if differ == 0:
                marks[i] = 1
            k += 1
    control[AT] = at


def drop_marked(row: Cells, count: int, marks: Cells) -> int:
    """The rows that are not marked, close together. How many they are."""
    kept = 0
    for i in range(count):
        for c in range(SIZE):
            row[kept * SIZE + c] = row[i * SIZE + c]
        kept += marks[i] == 0
    return kept


def merge(row: Cells, other: Cells, out: Cells, control: Cells) -> int:
    """States of two runs in one order, of the first from NEXT to COUNT, of the other from AT to
    STATES; at most ROOM. How many they are."""
    i = control[NEXT]
    count = control[COUNT]
    j = control[AT]
    size = control[STATES]
    room = control[ROOM]
    a = PLAIN
    b = PLAIN
    if i < count:
        a = hash_of(row, i * WORDS)
    if j < size:
        b = hash_of(other, j * WORDS)
    made = 0
    while made < room and (i < count or j < size):
        if j >= size or (i < count and a <= b):
            for c in range(WORDS):
                out[made * WORDS + c] = row[i * WORDS + c]
            i += 1
            if i < count:
                a = hash_of(row, i * WORDS)
        else:
            for c in range(WORDS):
                out[made * WORDS + c] = other[j * WORDS + c]
            j += 1
            if j < size:
                b = hash_of(other, j * WORDS)
        made += 1
    control[NEXT] = i
    control[AT] = j
    return made


def place_of(batch: Cells, k: int, places: int) -> int:
    """Where in a cache of so many places a gathered state is, if it is there."""
    return ((mixed(batch, k * WORDS, WORDS) >> 32 & LOW) * places >> 32) * WORDS


def unsent(batch: Cells, origins: Cells, recent: Cells, row: Cells, control: Cells) -> int:
    """Put those of STATES gathered states (see `kernel_rows`) that are not in a cache behind COUNT
    rows, each behind its origin, and into the cache. Return how many rows there are then.

    `recent` is a direct-mapped cache with PLACES places, one for each state by its hash. The
    processor cannot foresee which states are there, so there is no branch.
    """
    count = control[COUNT]
    left = control[STATES]
    places = control[PLACES]
    for first in range(0, left, BATCH):
        last = min(left, first + BATCH)
        for k in range(first, last):
            prefetch(recent, place_of(batch, k, places))
        for k in range(first, last):
            place = place_of(batch, k, places)
            unlike = 0
            row[count * SIZE] = origins[k]
            for c in range(WORDS):
                unlike |= recent[place + c] ^ batch[k * WORDS + c]
                recent[place + c] = batch[k * WORDS + c]
                row[count * SIZE + 1 + c] = batch[k * WORDS + c]
            count += unlike != 0
    return count
