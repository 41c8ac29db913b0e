"""A journal whose bytes are not those that were written: an error that says where, or the rows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Sort, transition
from lawful.checks.replay import ReplayProgram, ReplayResult, replay
from lawful.runtime.instances.row_checksums import seal_of, sealed
from lawful.runtime.journal import Journal, JournalError, read


class Item(Sort):
    """What is counted."""


class Counter(Machine):
    seen: set[Item] = set()
    total: Nat = 0

    @transition()
    def count(self, item: Item, by: Nat) -> Nat:
        self.seen.add(item)
        self.total += by
        return self.total


def filled(path: Path, events: int = 3) -> bytes:
    with Journal(path) as journal:
        both = Counter(), Counter()
        for name, each in zip("ab", both, strict=True):
            journal.attach(each, name)
        for number in range(events):
            both[number % 2].count(Item(f"item {number}"), number)
    return path.read_bytes()


def spoilt(whole: bytes, every: bool) -> Iterator[bytes]:
    """Files with one other byte: every bit of each, or one bit of some and of the last line's."""
    for at in range(len(whole)):
        if not every and at % 8 and at < len(whole) - 60:
            continue
        for bit in range(8) if every else [at % 7]:
            other = whole[at] ^ (1 << bit)
            yield b"%b%c%b" % (whole[:at], other, whole[at + 1 :])


def unnoticed(path: Path, rows: list[dict[str, Any]], data: bytes) -> bool:
    """Whether the rows of these bytes are others, and no error says so."""
    path.write_bytes(data)
    try:
        return list(read(path, on_torn=lambda _line, _text: None)) != rows
    except JournalError as error:
        assert str(error).startswith(f"{path}:{error.line}: ")
        return error.line not in range(1, len(rows) + 2)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_no_flipped_bit_gives_other_rows(tmp_path: Path, every: bool) -> None:
    path = tmp_path / "j.jsonl"
    whole = filled(path)
    rows = list(read(path))
    assert len(rows) == 5
    tried = [unnoticed(path, rows, data) for data in spoilt(whole, every)]
    assert len(tried) > len(whole) * (7 if every else 1 / 8)
    assert not any(tried)


def test_no_overwritten_bytes_give_other_rows(tmp_path: Path) -> None:
    path, dice = tmp_path / "j.jsonl", random.Random(7)
    whole = filled(path)
    rows = list(read(path))
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data) - 1)] = dice.choice(b'0123456789abc",:{} \n')
        assert not unnoticed(path, rows, bytes(data))


def test_a_damaged_journal_is_not_written_on(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    whole = filled(path)
    for damaged in (whole.replace(b"item 1", b"item 7"), whole[:-1] + b" "):
        path.write_bytes(damaged)
        with pytest.raises(JournalError, match=r"j\.jsonl:[45]: a row that"):
            Journal(path)
        assert path.read_bytes() == damaged


@pytest.mark.parametrize(
    ("order", "line"),
    [((1, 2, 3, 4), 1), ((0, 2, 4), 2), ((0, 1, 3), 3), ((0, 1, 2, 4), 4), ((1, 0, 2, 3, 4), 1)],
)
def test_a_line_that_is_missing_is_noticed(
    tmp_path: Path, order: tuple[int, ...], line: int
) -> None:
    """In these orders the rows of each instance are in sequence."""
    path = tmp_path / "j.jsonl"
    lines = filled(path).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[each] for each in order))
    with pytest.raises(JournalError, match=rf"j\.jsonl:{line}: "):
        list(read(path))
    path.write_bytes(b"".join(lines[:3]))  # An end is as if nothing had happened since.
    assert len(list(read(path))) == 3


def test_a_journal_is_written_on_in_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    filled(path)
    path.write_bytes(path.read_bytes()[:-5])  # Its last line is cut off.
    filled(path)
    seals = [seal_of(line) for line in path.read_bytes().splitlines()]
    owns = [each.own for each in seals if each is not None and each.kept]
    assert [each and each.before for each in seals] == [0, *owns[:-1]]
    assert len(owns) == len(list(read(path))) == 9


def test_files_of_a_rotation_begin_anew_and_may_be_put_together(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, buffer=1, largest=900) as journal:
        journal.attach(made := Counter(), "a")
        for number in range(8):
            made.count(Item("x"), number)
    files = sorted(tmp_path.iterdir(), key=lambda each: each.stat().st_mtime_ns)
    assert len(files) > 2
    begins = [seal_of(each.read_bytes().splitlines()[0]) for each in files if each.stat().st_size]
    assert {each and each.before for each in begins} == {0}
    rows = [row for each in files for row in read(each)]
    whole = tmp_path / "whole"
    whole.write_bytes(b"".join(each.read_bytes() for each in files))
    assert list(read(whole)) == rows


def test_rows_without_checksums_are_read_and_written_on(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    filled(path)
    rows = list(read(path))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list(read(path)) == rows
    filled(path)
    assert len(list(read(path))) == 10
    seal = seal_of(path.read_bytes().splitlines()[5])
    assert seal is not None
    assert (seal.before, seal.kept) == (0, True)


def replayed(path: Path) -> ReplayResult:
    return replay([path], ReplayProgram((Counter.lawful.ir,)))


def test_a_line_without_a_checksum_ends_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    filled(path)
    rows = list(read(path))
    with path.open("a") as file:
        file.write(json.dumps(rows[0] | {"instance": "other"}) + "\n")
    filled(path)
    seal = seal_of(path.read_bytes().splitlines()[6])
    assert seal is not None
    assert (seal.before, len(list(read(path)))) == (0, 11)


def test_a_row_that_was_written_anew_has_no_checksum(tmp_path: Path) -> None:
    """Of a journal that is an error; a replay takes such rows as it takes those of others."""
    path = tmp_path / "j.jsonl"
    lines = filled(path).splitlines()
    path.write_text("".join(json.dumps(json.loads(line)) + "\n" for line in lines))
    with pytest.raises(JournalError, match=r"j\.jsonl:1: a row that is not as it was written: its"):
        list(read(path))
    found = replayed(path)
    assert (found.rejected, found.verdicts["fits"]) == (0, 2)


def test_a_replay_rejects_a_row_that_is_not_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    whole = filled(path)
    assert whole.count(b"item 1") == 2  # The argument, and what has changed.
    path.write_bytes(whole.replace(b"item 1", b"item 7"))
    found = replayed(path)
    assert found.tallies.rejected.totals == {("a wrong checksum",): 1}
    assert (found.verdicts["fits"], found.verdicts["quarantined"]) == (2, 0)


def test_lines_and_their_checksums() -> None:
    data, last = sealed(['{"a":1', '{"b":"ä"'], 0xAB)
    first, second = data.splitlines(keepends=True)
    seals = seal_of(first), seal_of(second)
    assert seals == (
        (0xAB, seals[1] and seals[1].before, True),
        (seals[0] and seals[0].own, last, True),
    )
    assert json.loads(second)["b"] == "ä"
    assert seal_of(b'{"sum":"00"}\n') is None
    assert sealed([], 5) == (b"", 5)
