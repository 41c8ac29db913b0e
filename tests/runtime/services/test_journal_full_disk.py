"""A journal whose file takes no more rows, at any place: it goes on once there is room again."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, transition
from lawful.runtime import journal as journals
from lawful.runtime.instances.journal_lines import LineWriter
from lawful.runtime.journal import Journal, read, rotated


class Counter(Machine):
    count: Nat = 0

    @transition()
    def add(self, by: Nat) -> Nat:
        self.count += by
        return self.count


class Disk:
    """Has room for so many bytes. A write that finds less writes what there is room for, as the
    system's does; the next one fails. `cuts`: whether a file can be cut while it is full."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.cuts = True

    def file(self, path: str, mode: str) -> FileIO:
        """A file on it."""
        return File(self, path, mode)

    def truncate(self, file: int, size: int) -> None:
        """As `os.ftruncate`."""
        if not self.cuts:
            raise OSError(errno.EIO, "cannot cut")
        self.room += os.fstat(file).st_size - size
        os.truncate(file, size)


class File(FileIO):
    """A file on a disk."""

    def __init__(self, disk: Disk, path: str, mode: str) -> None:
        super().__init__(path, mode)
        self.disk = disk

    def write(self, data: Any, /) -> int:
        if not self.disk.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = super().write(bytes(data)[: self.disk.room])
        self.disk.room -= done
        return done


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The disk on which journals are written."""
    made = Disk(10**9)
    monkeypatch.setattr(journals, "FileIO", made.file)
    monkeypatch.setattr(os, "ftruncate", made.truncate)
    return made


def fails(act: Callable[[], object]) -> bool:
    try:
        act()
    except OSError as error:
        assert error.errno in (errno.ENOSPC, errno.EIO)
        return True
    return False


def told(path: Path) -> list[dict[str, Any]]:
    """The rows of all files, each of which `read` finds whole."""
    return [row for each in (*rotated(path), path) for row in read(each)]


def judge(path: Path, several: dict[str, Counter]) -> None:
    """Each event has one row, and nothing else has one."""
    rows = told(path)
    for name, entry in several.items():
        mine = [row for row in rows if row["instance"] == name]
        assert [row["seq"] for row in mine] == [*range(len(mine))]
        assert mine[0]["outcome"] == "made"
        assert sum(row["args"].get("by", 0) for row in mine) == entry.count


@pytest.mark.parametrize("cuts", [True, False])
@pytest.mark.parametrize("largest", [None, 900])
@pytest.mark.parametrize("buffer", [0, 2])
def test_it_goes_on_wherever_there_was_no_room(
    buffer: int, largest: int | None, cuts: bool, disk: Disk, tmp_path: Path
) -> None:
    refused = 0
    for room in range(0, 2800, 61):
        path = tmp_path / f"{room}.jsonl"
        disk.room, disk.cuts = 10**9, cuts
        several = {"a": Counter(), "b": Counter()}
        with Journal(path, buffer=buffer, largest=largest) as journal:
            for name, entry in several.items():
                journal.attach(entry, name)
            disk.room = room
            for number in range(8):
                refused += fails(partial(several["ab"[number % 2]].add, number))
                if cuts:
                    told(path)
            before = [entry.count for entry in several.values()]
            assert before == [12, 16]  # Each event is done.
            disk.room = 10**9
            several["a"].add(1)
            if not buffer:
                judge(path, several)
            several["b"].add(1)
        judge(path, several)
    assert refused > 40


def test_a_first_row_that_finds_no_room(disk: Disk, tmp_path: Path) -> None:
    path, entry = tmp_path / "j.jsonl", Counter()
    with Journal(path, buffer=0) as journal:
        disk.room = 5
        assert fails(lambda: journal.attach(entry, "a"))
        entry.add(1)
        disk.room = 10**9
        journal.attach(entry, "a")
        entry.add(1)
    assert [row["outcome"] for row in read(path)] == ["made", "attached", "done"]


@pytest.mark.parametrize("buffer", [0, 1, 64])
@pytest.mark.parametrize("room", [0, 100, 700])
def test_the_end_names_what_is_lost(buffer: int, room: int, disk: Disk, tmp_path: Path) -> None:
    path, several = tmp_path / "j.jsonl", {name: Counter() for name in "abcdefg"}
    journal = Journal(path, buffer=buffer)
    for name, entry in several.items():
        journal.attach(entry, name)
    journal.flush()
    disk.room = room
    for entry in [*several.values(), *several.values()]:
        fails(partial(entry.add, 2))
    with pytest.raises(OSError, match=f"No space left on device; lost rows: .*: '{path}'") as found:
        journal.close()
    journal.close()
    assert found.value.errno == errno.ENOSPC
    kept = 7 - room // 300  # Of a row there are 300 bytes and some.
    assert [row["outcome"] for row in read(path)] == ["made"] * 7 + ["done"] * (7 - kept)
    lost = [f"{name} {1 + (at < 7 - kept)} to 2" for at, name in enumerate("abcdefg")]
    lost = [*lost[7 - kept :], *lost[: 7 - kept]]
    assert f"lost rows: {', '.join(lost[:5])}, ..." in str(found.value)
    disk.room = 10**9
    with Journal(path) as later:
        for name, entry in several.items():
            later.attach(entry, name)
            entry.add(1)
    assert [row["outcome"] for row in read(path)][-2:] == ["attached", "done"]


def test_flush_tries_again(disk: Disk, tmp_path: Path) -> None:
    path, several = tmp_path / "j.jsonl", {"a": Counter(), "b": Counter()}
    journal = Journal(path)
    for name, entry in several.items():
        journal.attach(entry, name)
    disk.room = 400
    for _ in range(3):
        assert fails(journal.flush)
        assert fails(partial(several["a"].add, 1))
    disk.room = 10**9
    journal.flush()
    judge(path, several)
    journal.close()
    judge(path, several)


@pytest.mark.parametrize("what", ["replace", "FileIO"])
def test_a_new_file_that_cannot_begin(
    what: str, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file cannot be renamed, or none can be made: the journal goes on where it was."""
    path, several = tmp_path / "j.jsonl", {"a": Counter(), "b": Counter()}
    with Journal(path, buffer=0, largest=1500) as journal:
        for name, entry in several.items():
            journal.attach(entry, name)

        def no(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        failed = 0
        with monkeypatch.context() as patched:
            patched.setattr(journals if what == "FileIO" else os, what, no)
            for _ in range(8):
                failed += fails(partial(several["a"].add, 1))
        assert failed == 5  # The file has room for three.
        several["b"].add(1)
        judge(path, several)
        assert rotated(path)
    judge(path, several)


def test_events_whose_rows_were_interrupted_are_named_too(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, several = tmp_path / "j.jsonl", {"a": Counter(), "b": Counter()}
    journal = Journal(path, buffer=0)
    for name, entry in several.items():
        journal.attach(entry, name)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(LineWriter, "stepped", interrupted)
        for entry in several.values():
            with pytest.raises(KeyboardInterrupt):
                entry.add(1)
    disk.room = 0
    with pytest.raises(OSError, match="lost rows: a 1 to 1, b 1 to 1"):
        journal.close()


def test_what_a_file_does_not_take_is_named_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "j.jsonl"
    journal = Journal(path, buffer=0)
    entry = Counter()
    journal.attach(entry, "a")
    with path.open("rb", buffering=0) as unwritable:
        monkeypatch.setattr(journal, "_file", unwritable)
        for n in (1, 2):
            with pytest.raises(OSError):
                entry.add(1)
            assert entry.count == n
        with pytest.raises(OSError, match="File not open for writing; lost rows: a 1 to 2"):
            journal.close()
    assert len(list(read(path))) == 1


@pytest.mark.parametrize("empty", [True, False])
def test_a_kill_before_a_new_file_has_its_first_row(empty: bool, tmp_path: Path) -> None:
    """The file is empty, or not there: the next journal numbers the rows on."""
    path, entry = tmp_path / "j.jsonl", Counter()
    with Journal(path, buffer=0) as journal:
        journal.attach(entry, "a")
        entry.add(1)
    path.rename(tmp_path / "j.jsonl.1")
    if empty:
        path.touch()
        assert [*read(path)] == []
    with Journal(path) as journal:
        journal.attach(entry, "a")
        entry.add(1)
    assert [row["seq"] for row in told(path)] == [0, 1, 2, 3]
    assert [row["outcome"] for row in read(path)] == ["attached", "done"]
