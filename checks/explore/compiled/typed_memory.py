"""Integers of fixed width in memory that machine code reads and writes.

They are views of memory that Python itself gives: a search needs no NumPy, whose import takes as
long as many a search. `numpy.asarray` of one is an array over the same memory.
"""

from __future__ import annotations

import ctypes
import mmap
from array import array
from collections.abc import Iterable
from contextlib import suppress
from struct import calcsize
from typing import Any, Literal

# The kinds of integers, as `array`, `memoryview` and `struct` name them.
Kind = Literal["q", "I", "i", "H", "b"]
INT64: Kind = "q"
UINT32: Kind = "I"
INT32: Kind = "i"
UINT16: Kind = "H"
INT8: Kind = "b"
LARGE = 1 << 20  # Bytes that are worth pages of their own.
HUGE = 1 << 28  # Bytes that are worth large pages; those cost the system several times as much.
# Times the room that is asked for: the system gives memory when it is used. It promises no more
# than it has: then the next of these is asked for.
AHEAD = (256, 16, 1)
ALL_ONES = 0xFF  # Each byte of -1.
PLACE: Any = ctypes.c_char * 0


def zeros(size: int, kind: Kind = INT64) -> Any:
    """So many integers of this kind, all 0. Very many are in large pages where there are such:
    looking for a place is faster then."""
    wanted = size * calcsize(kind)
    if wanted < LARGE:
        return memoryview(bytearray(wanted)).cast(kind)
    if hasattr(mmap, "MAP_PRIVATE"):
        pages = mmap.mmap(-1, wanted, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    else:  # On Windows, where memory is private unless it has a name.
        pages = mmap.mmap(-1, wanted)
    if wanted >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(pages).cast(kind)


def of_numbers(numbers: Iterable[int], kind: Kind = INT64) -> Any:
    """These integers."""
    return memoryview(array(kind, numbers))


def viewed(held: Any, kind: Kind) -> Any:
    """The integers of this kind whose bytes these are."""
    return memoryview(held).cast("B").cast(kind)


def without_states(size: int) -> Any:
    """So many integers, all -1, which is no state's number and no state's word."""
    return fill(zeros(size), ALL_ONES)


def copied(held: Any) -> Any:
    """The same integers in other memory."""
    made = zeros(len(held), held.format)
    made[:] = held
    return made


def fill(held: Any, byte: int = 0) -> Any:
    """Itself, each of its bytes being this one."""
    ctypes.memset(address(held), byte, held.nbytes)
    return held


def address(held: Any) -> int:
    """Where integers stand: of a view, an `array` or a NumPy array, all of whose memory is in one
    piece and may be written."""
    return ctypes.addressof(PLACE.from_buffer(held))


def longer(held: Any, size: int) -> Any:
    """So many integers, the new ones 0: the same memory where it has the room, otherwise a copy.

    Raises MemoryError where the system has not so much.
    """
    whole = viewed(held.obj, held.format)
    if size > len(whole):
        made = _ahead(size, held.format)
        made[: len(held)] = held
        return made
    return whole[:size]


def blank(held: Any, size: int) -> Any:
    """So many integers, all 0, where the others are if there is the room: memory that was used
    before comes for nothing, new memory does not."""
    made = longer(held, size)
    fill(made[: len(held)])
    return made


def _ahead(size: int, kind: Kind) -> Any:
    """Integers, all 0, with more room behind them where the system promises so much."""
    for times in AHEAD:
        with suppress(MemoryError, OSError):
            return zeros(times * size, kind)[:size]
    raise MemoryError(f"the system has no {size:,} numbers of {calcsize(kind)} bytes more")
