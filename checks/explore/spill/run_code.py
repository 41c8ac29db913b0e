"""The machine code of `run_kernel` for states of so many words, over NumPy arrays.

Rows are an array of shape (rows, 1 + words), a run is one of shape (states, words); both are of 64
bits and contiguous.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..assembly import llvm_text
from ..codegen import prelude
from ..compiled import llvm
from ..compiled.arrays import Arrays
from ..native import kernel_rows as kernel
from ..native.state_table import mixed
from . import run_kernel

NUMBERS = {name: value for name, value in vars(run_kernel).items() if isinstance(value, int)}
SEEN = ("sort_rows", "first_of_each", "mark", "drop_marked", "merge", "unsent")


class RunCode:
    """What is done with rows and runs of states of so many words."""

    def __init__(self, words: int, speed: int) -> None:
        self.words = words
        sources = texts()
        numbers = {
            **NUMBERS,
            "WORDS": words,
            "SIZE": words + 1,
            "LOW": kernel.LOW,
            "BATCH": kernel.BATCH,
        }

        def made() -> bytes:
            return llvm.emitted(llvm_text.assembly(sources, numbers, SEEN), speed, False)

        self.code = llvm.native(llvm.file_of((*sources, str(words)), speed), made)

    def sort(self, rows: Any) -> tuple[Any, Any]:
        """The rows by their hashes, and the hashes. Rows of one hash keep their order."""
        rows = np.ascontiguousarray(rows)
        count = len(rows)
        bins = 1 << max(count >> 1, 1).bit_length()
        out, hashes = np.empty_like(rows), np.empty(count, np.int64)
        other = np.empty(bins + 1 + 2 * count, np.int64)
        self.code("sort_rows", rows, out, hashes, other, _control(COUNT=count, BINS=bins))
        return out, hashes

    def first_of_each(self, rows: Any, hashes: Any) -> tuple[Any, Any]:
        """Keep the row with the least first number of sorted rows with equal words, in place."""
        kept = self.code("first_of_each", rows, hashes, len(rows))
        return rows[:kept], hashes[:kept]

    def mark(self, rows: tuple[Any, Any], run: Any, marks: Any, control: Any) -> None:
        """Mark those of sorted rows that a run has. `control`, of `looking`, says where to look in
        both, and afterwards where to go on in the run."""
        self.code("mark", *rows, run, marks, control)

    def unmarked(self, rows: Any, marks: Any) -> Any:
        """The rows that are not marked, in place."""
        return rows[: self.code("drop_marked", rows, len(rows), marks)]

    def unsent(self, gathered: Arrays, left: int, recent: Any, rows: Any, count: int) -> int:
        """Put those of so many gathered states that a cache does not have behind `count` rows. How
        many rows there are. `recent` is the cache: an array of shape (places, words)."""
        control = _control(COUNT=count, STATES=left, PLACES=len(recent))
        return self.code("unsent", gathered.batch, gathered.origins, recent, rows, control)

    def merged(self, one: Any, other: Any, room: int) -> Iterator[Any]:
        """The states of two runs as parts of one run, each of at most so many states. A part is
        gone when the next is asked for."""
        out = np.empty((room, self.words), np.int64)
        control = _control(COUNT=len(one), STATES=len(other), ROOM=room)
        while made := self.code("merge", one, other, out, control):
            yield out[:made]


def looking(states: int) -> Any:
    """What `mark` is given to look through a run of so many states; see `look_at`."""
    return _control(STATES=states)


def look_at(control: Any, first: int, last: int) -> None:
    """Let `mark` look for the rows from the first to the last."""
    control[run_kernel.NEXT], control[run_kernel.COUNT] = first, last


def _control(**given: int) -> Any:
    made = np.zeros(run_kernel.CONTROLS, np.int64)
    for name, value in given.items():
        made[NUMBERS[name]] = value
    return made


def texts() -> Sequence[str]:
    """What the code is made of."""
    return inspect.getsource(prelude), inspect.getsource(mixed), inspect.getsource(run_kernel)


@functools.lru_cache(maxsize=16)
def run_code(words: int) -> RunCode:
    """The code for states of so many words; made once, and kept on disk."""
    return RunCode(words, llvm.SPEED)
