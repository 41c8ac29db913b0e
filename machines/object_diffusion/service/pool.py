"""The objects that a node has: on SQLite, so that they survive the node."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ..messages import ObjectId
from .wire import name_of


class Pool(Protocol):
    """Where a node puts objects. One at a time is added."""

    def has(self, x: ObjectId) -> bool: ...

    async def add(self, x: ObjectId, body: bytes) -> str:
        """`added`, `known`, or `invalid`: then it is not there."""
        ...


def anything(body: bytes) -> bool:
    """Every body is valid."""
    return True


class SqlitePool:
    """Objects in the table `objects` of a file. An object is valid if its ID is that of its body,
    and `valid` finds nothing wrong.

    With more than `most` objects the oldest is dropped. An object that was added is on the disk
    when `add` returns. Errors: sqlite3.Error, of a file that is none of SQLite or has another
    table of this name, or of a full disk.
    """

    def __init__(
        self, path: Path | str, valid: Callable[[bytes], bool] = anything, most: int = 1_000_000
    ) -> None:
        self._valid = valid
        self._most = most
        try:
            self._file = _opened(path)
            found = self._file.execute("SELECT id, length(body) FROM objects ORDER BY n")
            self._ids = {ObjectId(name): None for name, _ in found}  # The oldest first.
        except sqlite3.Error as error:
            raise sqlite3.OperationalError(f"{path}: {error}") from error

    def __len__(self) -> int:
        return len(self._ids)

    def has(self, x: ObjectId) -> bool:
        """Whether it is here."""
        return x in self._ids

    async def add(self, x: ObjectId, body: bytes) -> str:
        """Add a valid object that is not here: `added`, `known` or `invalid`."""
        if name_of(body) != x or not self._valid(body):
            return "invalid"
        if x in self._ids:
            return "known"
        insert = "INSERT OR IGNORE INTO objects (id, body) VALUES (?, ?)"
        added = self._file.execute(insert, (str(x), body)).rowcount
        self._ids[x] = None
        if not added:  # Another node has added it to the same file.
            return "known"
        while len(self._ids) > self._most:
            oldest = next(iter(self._ids))
            self._file.execute("DELETE FROM objects WHERE id = ?", (str(oldest),))
            del self._ids[oldest]
        return "added"

    def body(self, x: ObjectId) -> bytes | None:
        """The body of an object, None if it is not here."""
        row = self._file.execute("SELECT body FROM objects WHERE id = ?", (str(x),)).fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _opened(path: Path | str) -> sqlite3.Connection:
    file = sqlite3.connect(path, isolation_level=None)
    try:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute(
            "CREATE TABLE IF NOT EXISTS objects"
            " (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL)"
        )
    except sqlite3.Error:
        file.close()
        raise
    return file
