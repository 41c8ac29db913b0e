"""The state of a node: keys and values, behind a guard that fails hard.

The guard is no lock: it does not make anybody wait. It counts who reads and who writes, and where
the windows have let the two meet it says so, for good: the table is of no use any more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ...services.threads import Threads

Value = int | str | None


class Overlap(Exception):
    """A write has met a reader or another write: the windows are broken."""


class View:
    """What a transaction sees: the table, and its own changes, which nobody else sees yet."""

    def __init__(self, data: Mapping[str, Value], writes: bool) -> None:
        self._data = data
        self._writes = writes
        self.changes: dict[str, Value] = {}

    def get(self, key: str) -> Value:
        """The value of a key, None if it has none."""
        return self.changes[key] if key in self.changes else self._data.get(key)

    def put(self, key: str, value: Value) -> None:
        """Change the value. Errors: Overlap if the transaction is a read-only one."""
        if not self._writes:
            raise Overlap(f"a read-only transaction changes {key!r}")
        self.changes[key] = value


class GuardedTable:
    """Keys and values in memory; with `path`, also in a file of SQLite, which nobody else may use
    until `close`. Errors: sqlite3.Error for a file that is none, or that another table has."""

    def __init__(self, threads: Threads, path: Path | None = None) -> None:
        self._data: dict[str, Value] = {}
        self._file: sqlite3.Connection | None = None
        self._lock = threads.lock()
        self._readers = 0
        self._writers = 0
        self.broken = ""
        if path is not None:
            # One thread at a time writes; which one it is may change.
            file: sqlite3.Connection | None = None
            try:
                file = sqlite3.connect(path, timeout=0.0, check_same_thread=False)
                file.execute("PRAGMA locking_mode = EXCLUSIVE")
                with file:
                    file.execute("BEGIN EXCLUSIVE")
                    file.execute("CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value)")
                    self._data.update(file.execute("SELECT key, value FROM state"))
            except sqlite3.Error as error:
                if file is not None:
                    file.close()
                raise sqlite3.OperationalError(f"{path}: {error}") from error
            self._file = file

    def close(self) -> None:
        """Let others have the file; once nobody writes."""
        if self._file is not None:
            self._file.close()

    @contextmanager
    def reading(self) -> Generator[View, None, None]:
        """Let a transaction read. Errors: Overlap."""
        self._enter(1, 0)
        try:
            yield View(self._data, writes=False)
        finally:
            self._enter(-1, 0)

    @contextmanager
    def writing(self) -> Generator[View, None, None]:
        """Let a transaction write; its changes are made at the end, all or, after an exception,
        none. Errors: Overlap; OSError and sqlite3.Error of the file."""
        self._enter(0, 1)
        try:
            view = View(self._data, writes=True)
            yield view
            self._keep(view.changes)
            self._data.update(view.changes)
        finally:
            self._enter(0, -1)

    def _keep(self, changes: Mapping[str, Value]) -> None:
        if self._file is not None and changes:
            with self._file:
                self._file.executemany("REPLACE INTO state VALUES (?, ?)", [*changes.items()])

    def _enter(self, readers: int, writers: int) -> None:
        comes = readers + writers > 0
        self._lock.acquire()
        self._readers += readers
        self._writers += writers
        if not self.broken and (self._writers > 1 or (self._writers and self._readers)):
            self.broken = f"{self._writers} writers and {self._readers} readers at once"
        broken = self.broken
        if comes and broken:  # It is not let in.
            self._readers -= readers
            self._writers -= writers
        self._lock.release()
        if comes and broken:
            raise Overlap(broken)
