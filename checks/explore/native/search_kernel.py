"""Breadth-first search over packed words: text for machine code, see `kernel_rows`.

A state is expanded, what it leads to is gathered, and many gathered states are looked up at once:
`state_table` has them then.
"""

from __future__ import annotations

from ..codegen.prelude import clear
from .kernel_rows import (
    BATCH,
    COUNT,
    DONE,
    EDGES,
    ENOUGH,
    ESCAPED,
    FAILED,
    FAILING,
    FIRST,
    FOLDED,
    FULL,
    LABELLED,
    LAST,
    LEFT,
    LOW,
    MOST,
    NEXT,
    NOTED,
    NOTES,
    PAUSED,
    PIECE_ROOM,
    PIECED,
    PIECES,
    PLACES,
    RECENT,
    ROOM,
    ROOT,
    ROUNDS,
    RULE,
    SPENT,
    STATES,
    STOPPED,
    UNFOLDED,
    WORDS,
    Cells,
    batch,
    control,
    copied,
    doubtful,
    edges,
    ends,
    expand,
    firsts,
    hashes,
    info,
    labels,
    marks,
    opened,
    origins,
    out,
    parents,
    recent,
    rules,
    store,
    totals,
    w,
)
from .state_table import add, find, fold, held, look_ahead, mixed, take, unfold, winnowed


def gather(n: int, number: int, left: int) -> int:
    """The n states in `out`, successors of a state, to those to be looked up; how many they are.

    `recent` holds, at a place by their hash, states that were met a moment ago: most successors
    are among them, and known without a look at the table. The processor cannot foresee which, so
    there is no branch: each is put at the next place, and the next one over it if it is known.
    """
    room = control[PLACES]
    for e in range(n):
        hashed = mixed(out, e * WORDS, WORDS)
        near = ((hashed & LOW) * (RECENT // WORDS) >> 32) * WORDS
        unlike = 0
        for i in range(WORDS):
            unlike |= recent[near + i] ^ out[e * WORDS + i]
        copied(recent, near, out, e * WORDS, WORDS)
        copied(batch, left * WORDS, out, e * WORDS, WORDS)
        hashes[left] = hashed
        origins[left] = number << 16 | out[room * WORDS + e] & RULE
        left += unlike != 0
    return left


def looked_up(left: int, count: int) -> int:
    """Keep the new ones of the gathered states; return how many states there are then."""
    look_ahead(0, left)
    for j in range(winnowed(0, left)):
        k = doubtful[j]
        if held(hashes[k], k, 0) < 0:
            if FOLDED:
                fold(k, origins[k] >> 16)
            for i in range(ROOT):
                store[count * ROOT + i] = batch[k * WORDS + i]
            parents[count] = origins[k] >> 16
            rules[count] = origins[k]
            add(hashes[k], count)
            count += 1
    return count


def insert(row: Cells, parent: int, rule: int, number: int) -> int:
    """A state with these words gets this number if it is new; how many states there are then."""
    take(row, 0)
    origins[0] = parent << 16 | rule
    return looked_up(1, number)


def step(number: int) -> int:
    """The successors of a state in `out`: see `codegen.successors`. With `control[UNFOLDED]` the
    states stand in `store` as they are."""
    if FOLDED and control[UNFOLDED] == 0:
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
        left = gather(n, number, left)
        if note(number):
            status = STOPPED
        number += 1
    control[NEXT] = number
    control[LEFT] = left
    return status


def search() -> int:
    """Expand states and keep what they lead to, until `scout` comes back for more than a pause.

    FULL: there is no place for the successors of one more state, or for their pieces. Not more than
    `control[MOST]` states are kept.
    """
    count = control[COUNT]
    status = PAUSED
    while status == PAUSED and count < control[MOST]:
        place = control[STATES] - count
        if FOLDED:
            place = min(place, (control[PIECE_ROOM] - control[PIECED]) // PIECES)
        place -= control[PLACES]
        if place < 0:
            status = FULL
        else:
            control[ENOUGH] = min(BATCH, control[MOST] - count, place + 1)
            status = scout()
            count = looked_up(control[LEFT], count)
    control[COUNT] = count
    return status


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
