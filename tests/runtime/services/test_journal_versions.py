"""Journals of older versions are read, and written on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lawful.runtime.journal import Journal, JournalError, read
from tests.runtime.services.test_journal import run, written


def test_rows_of_older_journals_have_no_wall_clock(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    sender = run(path)
    rows = [{k: v for k, v in row.items() if k != "wall"} | {"v": 1} for row in written(path)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list(read(path)) == rows
    with Journal(path) as journal:
        journal.attach(sender, "a")
    assert [row["seq"] for row in read(path)] == list(range(7))
    path.write_text(json.dumps(rows[0] | {"wand": 1}) + "\n")
    with pytest.raises(JournalError, match="not a row of a journal"):
        list(read(path))
