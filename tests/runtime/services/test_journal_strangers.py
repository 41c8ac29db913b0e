"""A journal leaves a file alone that is none, also where it has a single line without an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.runtime.journal import Journal
from lawful.runtime.journal_reading import JournalError
from tests.runtime.services.test_journal import Sender

FILES = {
    "settings": b'{"a": 1, "my": "settings"}',
    "text": b"some notes",
    "numbers": b"1,2,3",
    "a list": b'[{"v": 1}]',
    "zeros": bytes(4096),
    "a database": b"SQLite format 3\0" + bytes(4080),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_without_an_end_of_line_is_left_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / "rows"
    path.write_bytes(FILES[name])
    with pytest.raises(JournalError, match="rows:1: not a row of a journal"):
        Journal(path)
    assert path.read_bytes() == FILES[name]


@pytest.mark.parametrize("length", [1, 5, 30])
def test_a_torn_first_row_is_cut_off(tmp_path: Path, length: int) -> None:
    path = tmp_path / "rows"
    with Journal(path) as journal:
        journal.attach(Sender(), "a")
    whole = path.read_bytes()
    path.write_bytes(whole[:length])
    Journal(path).close()
    assert path.read_bytes() == b""
