"""The budget of `make test`: which part of it may take how many seconds of processor time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from .sources import Source, python

BUDGETS = "tests/house/budgets.txt"
WHOLE = 600  # Processor seconds, those of child processes included.
COLLECTING = "collecting"  # Starting and importing all tests, once in each process.
CHECKERS = "checkers"  # ruff, mypy and pyright.


def budgets(text: str) -> dict[str, int]:
    """The table: seconds by part. A part is a file or folder of tests, or one of the two above."""
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {part: int(seconds) for part, seconds in rows}


def part_of(path: str, parts: Mapping[str, int]) -> str | None:
    """The part of a test file: itself, or the innermost folder that has a row in the table."""
    names = (path, *map(str, PurePosixPath(path).parents))
    return next((name for name in names if name in parts), None)


def every_test_has_a_budget(sources: Sequence[Source]) -> Iterator[str]:
    """The budgets are at most those of the whole, and every test file is in one of them."""
    parts = budgets(next((s.text for s in sources if s.path == BUDGETS), ""))
    total = sum(parts.values())
    if total > WHOLE:
        yield f"{BUDGETS} sums to {total} s; `make test` may take {WHOLE} s: make tests cheaper"
    files = [s.path for s in python(sources, ["tests"]) if _is_test(s.path)]
    for path in files:
        if part_of(path, parts) is None:
            yield f"{path} is in no part of {BUDGETS}: add a row for its folder"
    unused = {*parts} - {part_of(path, parts) for path in files} - {COLLECTING, CHECKERS}
    for part in sorted(unused):
        yield f"{BUDGETS}: {part} has no test of its own; remove the row"


def _is_test(path: str) -> bool:
    return PurePosixPath(path).name.startswith("test_")
