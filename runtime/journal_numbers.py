"""The next number of each instance in a journal, whose names may be more than memory holds.

The names that were used last are in memory. Once there are `MOST`, they go into a temporary
database of SQLite, which it keeps on the disk and deletes at the end. Where that cannot be written,
they stay in memory: a number that is lost would be written twice.
"""

from __future__ import annotations

import errno
import os
import threading
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

MOST = 10_000  # Names in memory: two megabytes.
TABLE = "CREATE TABLE number(name BLOB PRIMARY KEY, next TEXT NOT NULL) WITHOUT ROWID"


class Numbers:
    """The next number of each name. Any thread may use it; a forked process writes nothing, because
    both would write one file."""

    def __init__(self) -> None:
        self._few: dict[str, int] = {}
        self._many: sqlite3.Connection | None = None
        self._most = MOST
        self._lock = threading.RLock()  # A signal handler may come in between.
        self._process = os.getpid()

    def get(self, name: str) -> int | None:
        """The next number of a name; None for a new one. OSError where the temporary file cannot be
        read."""
        number = self._few.get(name)  # A name leaves it only once it is in the file.
        if number is not None or self._many is None:
            return number
        with self._lock:
            return _found(self._many, name)

    def put(self, name: str, number: int) -> None:
        """Note the next number of a name."""
        with self._lock:
            self._few[name] = number
            if len(self._few) >= self._most and self._process == os.getpid():
                self._move()

    def _move(self) -> None:
        """Put the names in memory into the temporary file. An interrupt leaves them in memory, in
        the file, or in both; those in memory count."""
        import sqlite3  # Few journals have so many names.

        moved = dict(self._few)
        try:
            if self._many is None:
                made = sqlite3.connect("", isolation_level=None, check_same_thread=False)
                weakref.finalize(self, made.close)
                made.execute(TABLE)
                self._many = made
            self._many.execute("BEGIN")
            try:
                rows = ((_bytes(name), str(number)) for name, number in moved.items())
                self._many.executemany("REPLACE INTO number VALUES (?, ?)", rows)
                self._many.execute("COMMIT")
            except BaseException:
                self._many.rollback()
                raise
        except sqlite3.Error:
            self._most *= 2  # Not each name is to try again.
            return
        for name, number in moved.items():
            if self._few.get(name) == number:
                del self._few[name]


def _found(many: sqlite3.Connection, name: str) -> int | None:
    import sqlite3

    try:
        row = many.execute("SELECT next FROM number WHERE name = ?", (_bytes(name),)).fetchone()
    except sqlite3.Error as error:
        raise OSError(errno.EIO, f"the numbers of a journal's instances: {error}") from error
    return None if row is None else int(row[0])


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")  # A damaged file may have any name.
