"""Breadth-first search over packed words: compiled once, for every machine.

States stand one after another in `store`, in the order in which they were found, so that a level
is a range of numbers. `table` holds numbers of states plus one, by open addressing over a hash of
their words; `parents` the number of the state that each was first reached from, `rules` by which
rule. The machine's `expand` (see `stepping`) comes as a function, so that nothing here is compiled
for it anew.
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
    places: Any
    heads: Any
    recent: Any


class Graph(NamedTuple):
    """The edges of all states, and for each state its marks (see `Layout.marking`)."""

    ends: Any
    edges: Any
    marks: Any


NUMBERS, RULES = numba.types.int32[::1], numba.types.uint16[::1]
NAMED: Any = numba.types.NamedTuple
ARRAYS_TYPE = NAMED(
    (CELLS, CELLS, NUMBERS, NUMBERS, RULES, *(CELLS,) * 8), Arrays
)
GRAPH_TYPE = NAMED((CELLS, CELLS, numba.types.int8[::1]), Graph)
DONE, FULL, ROOM, ESCAPED = range(4)
RECENT = 14  # Bits of the hash by which a state that was met a moment ago is known again.
COMPILED = {f.__name__: uncounted(cache=True)(f) for f in prelude.FUNCTIONS}
# Where `control` says what.
NEXT, LAST, COUNT, MOST, NEAR, FAILING, FAILED = range(7)


@uncounted(cache=True, inline="always")
def mixed(store: Any, at: int, words: int) -> Any:
    """A hash of some words, each multiplied in; its end is MurmurHash3's finaliser."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for i in range(words):
        h = (h ^ np.uint64(store[at + i])) * np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    h ^= h >> np.uint64(33)
    return h


@uncounted(cache=True)
def rebuild(table: Any, store: Any, words: int, count: int) -> None:
    """All states put into an empty table."""
    mask = np.uint64(len(table) - 1)
    for number in range(count):
        place = mixed(store, number * words, words) & mask
        while table[place] != 0:
            place = (place + np.uint64(1)) & mask
        table[place] = number + 1


@uncounted(cache=True)
def find(table: Any, store: Any, words: int, out: Any, at: int) -> Any:
    """The number of the state whose words begin at `out[at]`, or -1 - its place in the table."""
    mask = np.uint64(len(table) - 1)
    place = mixed(out, at, words) & mask
    while True:
        number = np.int64(table[place]) - 1
        if number < 0:
            return -1 - np.int64(place)
        equal = True
        for i in range(words):
            if store[number * words + i] != out[at + i]:
                equal = False
                break
        if equal:
            return number
        place = (place + np.uint64(1)) & mask


@uncounted(cache=True)
def keep(arrays: Arrays, words: int, n: int, number: int, count: int) -> int:
    """The n states in `out`, successors of a state: new ones are kept. How many there are then.

    `recent` holds, at a place by their hash, states that were met a moment ago: most successors
    are among them, and known without a look at the table.
    """
    store, table, parents, rules = arrays.store, arrays.table, arrays.parents, arrays.rules
    out, places, heads, recent = arrays.out, arrays.places, arrays.heads, arrays.recent
    room = len(out) // (words + 1)
    mask = np.uint64(len(table) - 1)
    left = 0
    for e in range(n):
        at = e * words
        hashed = mixed(out, at, words)
        near = np.int64(hashed >> np.uint64(64 - RECENT)) * words
        known = True
        for i in range(words):
            if recent[near + i] != out[at + i]:
                known = False
                break
        if known:
            continue
        for i in range(words):
            recent[near + i] = out[at + i]
        places[left] = e
        heads[left] = hashed & mask
        left += 1
    # Memory is waited for once for all of them, not once for each.
    waited = 0
    for k in range(left):
        waited ^= table[heads[k]]
    for k in range(left):
        head = np.int64(table[heads[k]])
        if head != 0:
            waited ^= store[(head - 1) * words] ^ store[head * words - 1]
    arrays.control[NEAR] = waited
    for k in range(left):
        e = places[k]
        at = e * words
        place = np.uint64(heads[k])
        while True:
            found = np.int64(table[place]) - 1
            if found < 0:
                for i in range(words):
                    store[count * words + i] = out[at + i]
                parents[count] = number
                rules[count] = out[room * words + e]
                count += 1
                table[place] = count
                break
            equal = True
            for i in range(words):
                if store[found * words + i] != out[at + i]:
                    equal = False
                    break
            if equal:
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
    w, store, table, parents = arrays.w, arrays.store, arrays.table, arrays.parents
    out, info, control = arrays.out, arrays.info, arrays.control
    totals, firsts = arrays.totals, arrays.firsts
    room = len(out) // (words + 1)
    size = len(info)
    number = control[NEXT]
    last = control[LAST]
    count = control[COUNT]
    status = DONE
    while number < last and count < control[MOST]:
        if count + room > len(parents) or 2 * (count + room) > len(table):
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
        count = keep(arrays, words, n, number - 1, count)
        if failed:
            break
    control[NEXT] = number
    control[COUNT] = count
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
