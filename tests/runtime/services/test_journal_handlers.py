"""A signal handler calls an event while a journal makes rows or writes them: each has one row.

An event that comes while the journal closes may have none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from lawful import Machine, Nat, transition
from lawful.runtime import journal
from lawful.runtime.instances import journal_lines, journal_rows, observers, row_checksums
from lawful.runtime.journal import Journal, read, rotated
from tests.runtime.services.interrupting import handled


class Counter(Machine):
    count: Nat = 0

    @transition()
    def add(self, by: Nat) -> Nat:
        self.count += by
        return self.count


FILES = tuple(
    str(each.__file__) for each in (journal, journal_lines, journal_rows, observers, row_checksums)
)
Two = tuple[Counter, Counter]
Act = Callable[[Journal, Two], object]
ACTS: dict[str, Act] = {
    "an event": lambda kept, several: several[0].add(1),
    "flush": lambda kept, several: kept.flush(),
    "close": lambda kept, several: kept.close(),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("other", [0, 1])
@pytest.mark.parametrize("flushes", [False, True])
@pytest.mark.parametrize("buffer", [0, 64])
def test_no_row_is_lost_or_written_twice(
    act: str, other: int, buffer: int, flushes: bool, tmp_path: Path
) -> None:
    """The handler may flush, too."""
    path = tmp_path / "j.jsonl"
    for number in count():
        path.unlink(missing_ok=True)
        several = Counter(), Counter()
        with Journal(path, buffer=buffer) as kept:
            for name, each in zip("ab", several, strict=True):
                kept.attach(each, name)
            several[0].add(1)

            def handler(several: Two = several, kept: Journal = kept) -> None:
                try:
                    several[other].add(5)
                except RuntimeError as error:  # One event of the instance is not over.
                    assert "is not over" in str(error)
                if flushes:
                    kept.flush()

            came = handled(number, FILES, partial(ACTS[act], kept, several), handler)
            soon = [*read(path)]
        rows = [*read(path)]
        assert buffer or soon == rows
        for name, each in zip("ab", several, strict=True):
            mine = [row for row in rows if row["instance"] == name]
            assert [row["seq"] for row in mine] == [*range(len(mine))]
            assert [row["outcome"] for row in mine] == ["made"] + ["done"] * (len(mine) - 1)
            said = sum(row["args"].get("by", 0) for row in mine)
            assert said == each.count or (act == "close" and said == each.count - 5)
        if not came:
            assert number > 5
            break


@pytest.mark.one_in(4)
@pytest.mark.parametrize("other", [0, 1])
@pytest.mark.parametrize("flushes", [False, True])
@pytest.mark.parametrize("buffer", [0, 2])
@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_file_that_begins_anew_begins_with_how_the_instances_are(
    other: int, flushes: bool, buffer: int, every: int, tmp_path: Path
) -> None:
    path = tmp_path / "j.jsonl"
    for number in count(0, every):
        for each in (path, *rotated(path)):
            each.unlink(missing_ok=True)
        several = Counter(), Counter()
        with Journal(path, buffer=buffer, largest=1000) as kept:
            for name, entry in zip("ab", several, strict=True):
                kept.attach(entry, name)

            def act(several: Two = several) -> None:
                for _ in range(2 + 2 * buffer):
                    several[0].add(1)

            def handler(several: Two = several, kept: Journal = kept) -> None:
                before = several[other].count
                try:
                    several[other].add(5)
                except RuntimeError:  # It runs an event, or its first row is made.
                    assert several[other].count == before
                if flushes:
                    kept.flush()

            came = handled(number, (*FILES, __file__), act, handler)
        files = [[*read(each)] for each in (*rotated(path), path)]
        for name, entry in zip("ab", several, strict=True):
            told = [[row for row in rows if row["instance"] == name] for rows in files]
            assert [rows[0]["event"] for rows in told] == [None] * len(files)
            mine, at = [row for rows in told for row in rows], 0
            assert [row["seq"] for row in mine] == [*range(len(mine))]
            for row in mine:
                at += row["args"].get("by", 0)
                assert row["changed"]["count"] == at
            assert at == entry.count
        if not came:
            assert number > 5
            assert rotated(path)
            break
