"""A journal of many short lives: their names take no memory, and no number is written twice."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, transition
from lawful.runtime import journal_numbers
from lawful.runtime.journal import Journal, JournalError, read, rotated
from lawful.runtime.journal_numbers import Numbers


class Job(Machine):
    steps: Nat = 0

    @transition()
    def step(self) -> None:
        self.steps += 1


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four names are many."""
    monkeypatch.setattr(journal_numbers, "MOST", 4)


def names_in_memory(journal: Journal) -> int:
    numbers: Any = vars(journal)["_next"]
    return len(numbers._few)


def live(journal: Journal, name: str) -> None:
    job = Job()
    end = journal.attach(job, name)
    job.step()
    end()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("largest", [None, 3_000])
def test_names_that_come_again_are_numbered_on(largest: int | None, tmp_path: Path) -> None:
    path, of = tmp_path / "rows", random.Random(5)
    lives = [f"job {of.randrange(30)}" for _ in range(120)]
    for begin in (0, 60):  # Another process goes on with the file.
        with Journal(path, largest=largest, buffer=0) as journal:
            for name in lives[begin : begin + 60]:
                live(journal, name)
                assert names_in_memory(journal) <= 4
    files = [*rotated(path), path]
    assert len(files) > 5 or largest is None
    rows = [row for each in files for row in read(each)]
    for name in set(lives):
        seqs = [row["seq"] for row in rows if row["instance"] == name]
        assert seqs == [*range(len(seqs))]
        assert len(seqs) >= 2 * lives.count(name)  # And a row where it was when a file began.


@pytest.mark.usefixtures("few")
def test_a_reader_of_many_names_still_finds_that_a_row_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    with Journal(path) as journal:
        for number in [*range(20), *range(20)]:
            live(journal, f"job {number}")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line.split(b',"sum":')[0] + b"}\n" for line in lines))
    assert len([*read(path)]) == 80
    del lines[3]
    path.write_bytes(b"".join(line.split(b',"sum":')[0] + b"}\n" for line in lines))
    with pytest.raises(JournalError, match="row 2 of job 1, where 1 is the next"):
        list(read(path))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.text(max_size=2), st.integers(0, 2**70)), max_size=20))
def test_numbers_are_those_of_a_dict(puts: list[tuple[str, int]]) -> None:
    known = dict[str, int]()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(journal_numbers, "MOST", 3)
        numbers = Numbers()
        for name, number in puts:
            numbers.put(name, number)
            known[name] = number
            assert len(vars(numbers)["_few"]) < 3
        assert {name: numbers.get(name) for name in known} == known
        assert numbers.get("none of them") is None
        numbers.put("\ud800", 7)  # In the file of somebody else.
        numbers.put("x", 8)
        numbers.put("y", 9)
        assert numbers.get("\ud800") == 7


class Full:
    """A database on a disk that takes nothing, and of which nothing can be read."""

    def __init__(self, made: sqlite3.Connection, reads: bool) -> None:
        self.made = made
        self.reads = reads

    def execute(self, query: str, *values: Any) -> Any:
        if query.startswith("SELECT") and not self.reads:
            raise sqlite3.OperationalError("disk I/O error")
        return self.made.execute(query, *values)

    def executemany(self, *_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    def rollback(self) -> None:
        self.made.rollback()


@pytest.mark.usefixtures("few")
def test_where_the_temporary_file_takes_nothing_names_stay_in_memory(tmp_path: Path) -> None:
    with Journal(tmp_path / "rows") as journal:
        for number in range(6):
            live(journal, f"job {number}")
        numbers: Any = vars(journal)["_next"]
        made = numbers._many
        numbers._many = Full(made, True)
        for number in [*range(20), *range(20)]:
            live(journal, f"job {number}")
        numbers._many = Full(made, False)
        with pytest.raises(OSError, match="the numbers of a journal's instances: disk") as found:
            live(journal, "new")
        assert found.value.errno == errno.EIO
        numbers._many = made
        for number in range(20):
            live(journal, f"job {number}")
        assert names_in_memory(journal) < 40
    rows = [*read(tmp_path / "rows")]
    assert [row["seq"] for row in rows if row["instance"] == "job 3"] == [*range(8)]
    assert len(rows) == 6 * 2 + 40 * 2 + 20 * 2


@pytest.mark.usefixtures("few")
def test_a_forked_process_leaves_the_file_alone(tmp_path: Path) -> None:
    with Journal(tmp_path / "rows") as journal:
        ends = [journal.attach(Job(), f"job {number}") for number in range(20)]

        def child() -> None:
            with pytest.raises(RuntimeError, match="the process that opened it"):
                journal.attach(Job(), "job 30")
            for end in ends:
                end()
            os._exit(names_in_memory(journal))

        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
        assert process.exitcode == 20
        for end in ends:
            end()
        for number in range(20):
            live(journal, f"job {number}")
    assert len([*read(tmp_path / "rows")]) == 60
