"""Breadth-first search over packed words: compiled once, for every machine.

States stand one after another in `store`, in the order in which they were found, so that a level
is a range of numbers. `parents` holds the number of the state that each was first reached from,
`rules` by which rule. The machine's `expand` (see `stepping`) comes as a function, so that nothing
here is compiled for it anew.

`table` says which states are there, by open addressing over a hash of their words: the number of
a state plus one in the low bits, which are as many as tell places of the table apart, and in those
above as much of its hash as there is room for, so that other states are seldom looked at. Most of
a search is waiting for memory; so successors are gathered, and looked up many at a time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np

from . import kept, prelude

ARRAYS = frozenset({"w", "store", "out", "info"})
CELLS = numba.types.int64[::1]
BARE: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # Nobody else calls it.
SIGNATURE = numba.types.int64(CELLS, CELLS, numba.int64, CELLS, CELLS, numba.int64)
EXPAND = numba.types.FunctionType(SIGNATURE)


F = TypeVar("F", bound=Callable[..., Any])


def uncounted(*signature: Any, **options: Any) -> Callable[[F], F]:
    """Compiles a function that makes no array: nobody counts who holds those that are given.

    To count them would take longer than the steps themselves.
    """
    njit: Any = numba.njit
    made: Callable[[F], F] = njit(*signature, _nrt=False, **options)
    return made


class Arrays(NamedTuple):
    """What a search works on: cells of its own, the states found, and what it notes."""

    w: Any
    store: Any
    table: Any
    parents: Any
    rules: Any
    out: Any
    info: Any
    totals: Any
    firsts: Any
    control: Any
    batch: Any
    origins: Any
    hashes: Any
    recent: Any


class Graph(NamedTuple):
    """The edges of all states, and for each state its marks (see `Layout.marking`)."""

    ends: Any
    edges: Any
    marks: Any


ENTRIES, NUMBERS, RULES = numba.types.uint32[::1], numba.types.int32[::1], numba.types.uint16[::1]
HASHES = numba.types.uint64[::1]
NAMED: Any = numba.types.NamedTuple
ARRAYS_TYPE = NAMED(
    (CELLS, CELLS, ENTRIES, NUMBERS, RULES, *(CELLS,) * 7, HASHES, CELLS), Arrays
)
GRAPH_TYPE = NAMED((CELLS, CELLS, numba.types.int8[::1]), Graph)
DONE, FULL, ROOM, ESCAPED = range(4)
BATCH = 512  # Successors gathered before they are looked up: enough to wait for memory once.
RECENT = 13  # Of so many cells, as a power of two, are the states that were met a moment ago.
LOW = np.uint64(0xFFFFFFFF)
COMPILED = {f.__name__: uncounted(cache=True)(f) for f in prelude.FUNCTIONS}
# Where `control` says what.
NEXT, LAST, COUNT, MOST, TOUCHED, FAILING, FAILED = range(7)


@uncounted(cache=True, inline="always")
def mixed(store: Any, at: int, words: int) -> Any:
    """A hash of some words: multiplied by numbers of their own, added, and MurmurHash3's finaliser.

    None waits for the one before. Each is folded first, as what differs in its upper half alone
    would be multiplied out of the sum.
    """
    h = np.uint64(0x9E3779B97F4A7C15)
    factor = np.uint64(0xFF51AFD7ED558CCD)
    for i in range(words):
        word = np.uint64(store[at + i])
        h += (word ^ (word >> np.uint64(32))) * factor
        factor += np.uint64(0x9E3779B97F4A7C16)
    h ^= h >> np.uint64(32)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    h ^= h >> np.uint64(33)
    return h


@uncounted(cache=True, inline="always")
def tagged(hashed: Any, mask: Any) -> Any:
    """What of a hash stands in the table, above the bits of the mask."""
    return (hashed >> np.uint64(32)) & ~mask & LOW


@uncounted(cache=True, inline="always")
def same(store: Any, number: Any, other: Any, at: int, words: int) -> Any:
    """Whether the state of that number has the words that begin at `other[at]`."""
    i = 0
    while i < words and store[number * words + i] == other[at + i]:
        i += 1
    return i == words


@uncounted(cache=True)
def put(table: Any, store: Any, words: int, number: int) -> None:
    """A state that is in the store, and in the table nowhere, is put there."""
    mask = np.uint64(len(table) - 1)
    hashed = mixed(store, number * words, words)
    place = hashed & mask
    while table[place] != 0:
        place = (place + np.uint64(1)) & mask
    table[place] = np.uint32(np.uint64(number + 1) | tagged(hashed, mask))


@uncounted(cache=True)
def rebuild(table: Any, store: Any, words: int, count: int) -> None:
    """All states put into an empty table."""
    for number in range(count):
        put(table, store, words, number)


@uncounted(cache=True)
def find(table: Any, store: Any, words: int, out: Any, at: int) -> Any:
    """The number of the state whose words begin at `out[at]`, or -1 where it is not there."""
    mask = np.uint64(len(table) - 1)
    hashed = mixed(out, at, words)
    place = hashed & mask
    tag = tagged(hashed, mask)
    while True:
        entry = np.uint64(table[place])
        if entry == 0:
            return -1
        number = np.int64(entry & mask) - 1
        if entry & ~mask == tag and same(store, number, out, at, words):
            return number
        place = (place + np.uint64(1)) & mask


@uncounted(cache=True, inline="always")
def gather(arrays: Arrays, words: int, n: int, number: int, left: int) -> int:
    """The n states in `out`, successors of a state, to those to be looked up; how many they are.

    `recent` holds, at a place by their hash, states that were met a moment ago: most successors
    are among them, and known without a look at the table.
    """
    out, recent, batch = arrays.out, arrays.recent, arrays.batch
    room = len(out) // (words + 1)
    few = np.uint64(len(recent) // words)
    for e in range(n):
        at = e * words
        hashed = mixed(out, at, words)
        near = np.int64(((hashed >> np.uint64(32)) * few) >> np.uint64(32))
        if same(recent, near, out, at, words):
            continue
        for i in range(words):
            recent[near * words + i] = out[at + i]
            batch[left * words + i] = out[at + i]
        arrays.hashes[left] = hashed
        arrays.origins[2 * left] = number
        arrays.origins[2 * left + 1] = out[room * words + e]
        left += 1
    return left


@uncounted(cache=True)
def touch(arrays: Arrays, words: int, left: int) -> None:
    """Memory is waited for once for all that are looked up, not once for each."""
    store, table, hashes = arrays.store, arrays.table, arrays.hashes
    mask = np.uint64(len(table) - 1)
    touched = np.uint64(0)
    for k in range(left):
        touched ^= np.uint64(table[hashes[k] & mask])
    for k in range(left):
        entry = np.uint64(table[hashes[k] & mask])
        if entry != 0 and entry & ~mask == tagged(hashes[k], mask):
            number = np.int64(entry & mask) - 1
            touched ^= np.uint64(store[number * words] ^ store[number * words + words - 1])
    arrays.control[TOUCHED] = np.int64(touched)


@uncounted(cache=True)
def keep(arrays: Arrays, words: int, left: int, count: int) -> int:
    """Of the states that were gathered, new ones are kept. How many states there are then."""
    store, table, batch, origins = arrays.store, arrays.table, arrays.batch, arrays.origins
    mask = np.uint64(len(table) - 1)
    touch(arrays, words, left)
    for k in range(left):
        at = k * words
        hashed = arrays.hashes[k]
        place = hashed & mask
        tag = tagged(hashed, mask)
        while True:
            entry = np.uint64(table[place])
            if entry == 0:
                for i in range(words):
                    store[count * words + i] = batch[at + i]
                arrays.parents[count] = origins[2 * k]
                arrays.rules[count] = origins[2 * k + 1]
                count += 1
                table[place] = np.uint32(np.uint64(count) | tag)
                break
            if entry & ~mask == tag and same(
                store, np.int64(entry & mask) - 1, batch, at, words
            ):
                break
            place = (place + np.uint64(1)) & mask
    return count


@uncounted(numba.int64(EXPAND, ARRAYS_TYPE, numba.int64), cache=True)
def search(expand: Any, arrays: Arrays, words: int) -> int:
    """Expand states from number `control[NEXT]` to `control[LAST]`; why it came back.

    FULL: `store` or `table` has no place for the successors of one more state. ROOM: `out` has
    none. ESCAPED: the state before `control[NEXT]` needs the reference engine. `totals` sums
    `info`; `firsts` keeps for each of its places the first state where it was not 0. Not more than
    `control[MOST]` states are kept; it stops after a state that notes something at a place from
    `control[FAILING]` to `control[FAILED]`.
    """
    w, store, out, info = arrays.w, arrays.store, arrays.out, arrays.info
    control, totals, firsts = arrays.control, arrays.totals, arrays.firsts
    room = len(out) // (words + 1)
    size = len(info)
    number = control[NEXT]
    count = control[COUNT]
    most = min(len(arrays.parents), len(arrays.table) // 2) - room
    left = 0
    status = DONE
    while number < control[LAST]:
        if left >= BATCH or count + left >= control[MOST]:
            count = keep(arrays, words, left, count)
            left = 0
            if count >= control[MOST]:
                break
        if count + left > most:
            status = FULL
            break
        for i in range(size):
            info[i] = 0
        n = expand(w, store, number * words, out, info, room)
        if n < 0:
            status = ROOM
            break
        number += 1
        if info[1] != 0:
            status = ESCAPED
            break
        failed = False
        for i in range(size):
            if info[i] != 0:
                totals[i] += info[i]
                if firsts[i] < 0:
                    firsts[i] = number - 1
                failed = failed or control[FAILING] <= i < control[FAILED]
        left = gather(arrays, words, n, number - 1, left)
        if failed:
            break
    control[COUNT] = keep(arrays, words, left, count)
    control[NEXT] = number
    return status


@uncounted(numba.int64(EXPAND, ARRAYS_TYPE, GRAPH_TYPE, numba.int64), cache=True)
def follow(expand: Any, arrays: Arrays, graph: Graph, words: int) -> int:
    """The successors of all states, once all are known: those of state n end at `ends[n]`.

    FULL: `edges` has no place for those of one more state. Where `info` counts marks, from
    `control[COUNT]` on, they are kept in `marks`. Successors of states that need the reference
    engine are left out.
    """
    w, store, table = arrays.w, arrays.store, arrays.table
    out, info, control = arrays.out, arrays.info, arrays.control
    ends, edges, marks = graph.ends, graph.edges, graph.marks
    room = len(out) // (words + 1)
    size = len(info)
    number = control[NEXT]
    filled = ends[number - 1] if number else 0
    first = control[COUNT]
    kept = size - first
    status = DONE
    while number < control[LAST]:
        if filled + room > len(edges):
            status = FULL
            break
        for i in range(size):
            info[i] = 0
        n = expand(w, store, number * words, out, info, room)
        if n < 0:
            status = ROOM
            break
        for i in range(kept):
            marks[number * kept + i] = info[first + i]
        if info[1] == 0:
            for e in range(n):
                found = find(table, store, words, out, e * words)
                if found >= 0:
                    edges[filled] = found
                    filled += 1
        ends[number] = filled
        number += 1
    control[NEXT] = number
    return status


def compiled(source: str) -> Callable[..., int]:
    """`expand` of a generated module, compiled to machine code as a function of its own.

    The machine code is kept on disk where that is possible, so that the same text is compiled
    once. Functions are compiled in the order of the text, each before those that call it, for
    whole numbers: a compiler that found out what they are called with would compile them twice.
    """
    tree = ast.parse(source)
    folder = kept.folder(source)
    if folder is None:
        namespace: dict[str, Any] = dict(COMPILED)
        exec(compile(tree, "<steps>", "exec"), namespace)  # Text that `stepping` wrote.
    else:
        namespace = kept.loaded(folder, COMPILED)
    if folder is None or not kept.is_there(folder):
        for node in tree.body[:-1]:
            assert isinstance(node, ast.FunctionDef)
            kinds = [CELLS if a.arg in ARRAYS else numba.int64 for a in node.args.args]
            inner = uncounted(numba.int64(*kinds), error_model="numpy", **BARE)
            namespace[node.name] = inner(namespace[node.name])
    last = uncounted(SIGNATURE, error_model="numpy", cache=folder is not None)
    made: Callable[..., int] = last(namespace["expand"])
    if folder is not None:
        kept.note(folder)
    return made
