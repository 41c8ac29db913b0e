"""Several threads search together, in the order of one: text for machine code, see `kernel_rows`.

The states of a level are taken in chunks. A thread takes the next chunk, expands it, and leaves
those of its successors that are not in the table yet in a slot, folded. Whoever finds the slot of
the chunk whose turn it is ready keeps what is in it, one at a time, while others expand: the states
are then numbered as one thread numbers them. So no thread waits for a slower one, as long as there
are slots.
"""

from __future__ import annotations

from .kernel_rows import (
    BATCH,
    BEGIN,
    CHUNK,
    CLAIMED,
    COMMITTING,
    COUNT,
    DONE,
    ENOUGH,
    FOLDED,
    FULL,
    LAST,
    LEFT,
    MASK,
    NEW,
    NEW_ROOM,
    NEXT,
    NOTED,
    PAUSED,
    PLACES,
    READY,
    RECENT,
    ROOT,
    SLOT,
    SLOTS,
    STATUS,
    THEN,
    TURN,
    WHOLE,
    WHY,
    WORDS,
    batch,
    claimed,
    control,
    doubtful,
    earliest,
    firsts,
    fresh,
    hashes,
    locked,
    origins,
    parents,
    prefetch,
    recent,
    rest,
    rules,
    seen,
    shared,
    slots,
    store,
    sums,
    table,
    tell,
    totals,
)
from .search_kernel import scout
from .state_table import add, fold, held, look_ahead, winnowed


def forget() -> None:
    """What was gathered is not kept, so nothing of it is known."""
    for i in range(max(RECENT, WORDS)):
        recent[i] = -1


def slot_of(chunk: int) -> int:
    """Where `slots` has this chunk."""
    return (chunk & SLOTS - 1) * (SLOT + 2 * NOTED)


def fresh_of(chunk: int) -> int:
    """Where `fresh` has what this chunk leads to."""
    return (chunk & SLOTS - 1) * control[NEW_ROOM] * (ROOT + 2)


def sift(chunk: int, few: int) -> int:
    """Put the gathered states that are not there behind so many others of this chunk. Return how
    many they are then, or -1 where there is no room for their pieces.

    Other threads may add states meanwhile, so that some of these may be there after all.
    """
    left = control[LEFT]
    at = fresh_of(chunk) + few * (ROOT + 2)
    look_ahead(0, left)
    for j in range(winnowed(0, left)):
        k = doubtful[j]
        if held(hashes[k], k, 0) < 0:
            if FOLDED and not fold(k, origins[k] >> 16):
                return -1
            fresh[at] = hashes[k]
            fresh[at + 1] = origins[k]
            for i in range(ROOT):
                fresh[at + 2 + i] = batch[k * WORDS + i]
            at += ROOT + 2
            few += 1
    return few


def explored(chunk: int) -> None:
    """Expand the states of a chunk, and leave what they lead to in its slot."""
    slot = slot_of(chunk)
    control[NEXT] = shared[BEGIN] + chunk * CHUNK
    control[LAST] = min(control[NEXT] + CHUNK, shared[LAST])
    for i in range(NOTED):
        totals[i] = 0
        firsts[i] = -1
    few = 0
    status = PAUSED
    while status == PAUSED and few + BATCH + control[PLACES] <= control[NEW_ROOM]:
        status = scout()
        few = sift(chunk, few)
        if few < 0:
            status = FULL
    for i in range(NOTED):
        slots[slot + SLOT + i] = totals[i]
        slots[slot + SLOT + NOTED + i] = firsts[i]
    slots[slot + NEW] = few
    slots[slot + WHY] = status
    slots[slot + THEN] = control[NEXT]
    tell(slots, slot + READY, chunk + 1)


def keep(at: int, few: int, count: int) -> int:
    """Keep the new ones of so many states in `fresh`; return how many states there are then."""
    mask = control[MASK]
    end = at + few * (ROOT + 2)
    while at < end:
        last = min(at + BATCH * (ROOT + 2), end)
        for k in range(at, last, ROOT + 2):
            prefetch(table, fresh[k] >> 32 & mask & WHOLE)
        for k in range(at, last, ROOT + 2):
            if held(fresh[k], k, 1) < 0:
                for i in range(ROOT):
                    store[count * ROOT + i] = fresh[k + 2 + i]
                parents[count] = fresh[k + 1] >> 16
                rules[count] = fresh[k + 1]
                add(fresh[k], count)
                count += 1
        at = last
    return count


def kept(chunk: int) -> int:
    """What this chunk leads to is kept: the next one, or -1 where the search is to stop for it."""
    slot = slot_of(chunk)
    status = slots[slot + WHY]
    few = slots[slot + NEW]
    if status == FULL or shared[COUNT] + few > shared[ENOUGH]:
        return -1
    shared[COUNT] = keep(fresh_of(chunk), few, shared[COUNT])
    shared[NEXT] = slots[slot + THEN]
    for i in range(NOTED):
        sums[i] += slots[slot + SLOT + i]
        if earliest[i] < 0:
            earliest[i] = slots[slot + SLOT + NOTED + i]
    if status != DONE:
        shared[STATUS] = status
        return -1
    return chunk + 1


def ready(chunk: int) -> int:
    """Whether there is such a chunk, and it is expanded."""
    return chunk >= 0 and seen(slots, slot_of(chunk) + READY) == chunk + 1


def commit() -> None:
    """Keep what chunks lead to whose turn it is, unless another thread does."""
    while ready(seen(shared, TURN)):
        if not locked(shared, COMMITTING):
            return
        turn = seen(shared, TURN)
        while ready(turn):
            turn = kept(turn)
            tell(shared, TURN, turn)
        tell(shared, COMMITTING, 0)


def has_slot(chunk: int) -> int:
    """Wait until there is a slot for this chunk; 0 where the search stops before."""
    turn = seen(shared, TURN)
    while chunk >= turn + SLOTS:
        if turn < 0:
            return 0
        commit()
        rest()
        turn = seen(shared, TURN)
    return turn >= 0


def work() -> int:
    """One of several threads: expands chunks of the states from `shared[BEGIN]` to `shared[LAST]`,
    until there is none left, or one ends the search for all.

    A chunk ends it whose thread comes back for more than a pause, or which has no place.
    """
    begin = shared[BEGIN]
    last = shared[LAST]
    chunk = claimed(shared, CLAIMED)
    while begin + chunk * CHUNK < last and has_slot(chunk):
        explored(chunk)
        commit()
        chunk = claimed(shared, CLAIMED)
    turn = seen(shared, TURN)
    while turn >= 0 and begin + turn * CHUNK < last:
        commit()
        rest()
        turn = seen(shared, TURN)
    if turn < 0:
        forget()
    return DONE
