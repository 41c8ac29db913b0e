"""SQLite as the database of a store: a file of the store's own, or a database of the service.

    Store("senders.db")                       a file that has nothing else
    Store(Sqlite(connection))                 the tables `lawful_...` in the service's database

A file of an older version is brought up to date when it is opened, in one transaction. One of
version 1 has no sums: its rows are believed and get them. Rows of version 2 lack the columns
`changed` and `version`; they keep the sums that they have, which cover the others. When an instance
of theirs is due is known where its last snapshot has no armed timer; any other counts as due.
Version 4 adds the tables of outputs and answers; version 5 what finds a wrong time at which an
instance or an output is due.
"""

from __future__ import annotations

import os
import sqlite3
import time as clocks
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from typing import Any

from .database import Rows, StoreBusy, StoreError, Values
from .tables import (
    FROM_3,
    SCHEMA,
    TABLES,
    VERSION,
    beginning,
    from_4,
    statements,
    sum_of_event,
    sum_of_snapshot,
)

OLD = {"instance", "snapshot", "event"}  # The tables of each version.
FROM_1 = """
ALTER TABLE instance ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instance ADD COLUMN sum TEXT NOT NULL DEFAULT '';
ALTER TABLE snapshot ADD COLUMN chain TEXT NOT NULL DEFAULT '';
ALTER TABLE snapshot ADD COLUMN sum TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN sum TEXT NOT NULL DEFAULT ''
"""
FROM_2 = """
ALTER TABLE instance ADD COLUMN due REAL;
ALTER TABLE snapshot ADD COLUMN version TEXT;
ALTER TABLE event ADD COLUMN changed TEXT;
UPDATE instance SET due = 0 WHERE NOT EXISTS (
    SELECT 1 FROM snapshot
    WHERE snapshot.name = instance.name AND snapshot.seq = instance.seq AND started = '{}');
CREATE INDEX due ON instance(machine, due) WHERE due IS NOT NULL
"""
# What the operating system has refused.
REFUSED = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}
END = " WITHOUT ROWID"
SHARED = "lawful_"  # The prefix of tables in a database of the service.


SYNCHRONOUS = ("FULL", "NORMAL", "EXTRA", "OFF")  # What SQLite knows; it takes any word.


class Sqlite:
    """A `Database` in SQLite, at a path or on a connection of the service.

    Of a connection the service keeps the settings, and closes it; it has to be one of
    `check_same_thread=False` where several threads use the store. While the store is open, the
    service executes statements on it in `Store.together` alone. Errors: StoreError for a database
    of a later version, for a file of something else, and for a connection that is always in a
    transaction (`autocommit=False`); StoreBusy, sqlite3.Error.
    """

    def __init__(
        self,
        where: str | os.PathLike[str] | sqlite3.Connection,
        *,
        synchronous: str = "FULL",
        timeout: float = 1.0,
    ) -> None:
        if synchronous not in SYNCHRONOUS:
            raise ValueError(f"synchronous: one of {', '.join(SYNCHRONOUS)}, not {synchronous!r}")
        if not 0 <= timeout < float("inf"):
            raise ValueError(f"timeout: seconds, from 0 on, not {timeout!r}")
        if where == "":  # SQLite takes it for a file that it deletes in the end.
            raise ValueError("a store is in a file; the path is empty")
        self._owns = not isinstance(where, sqlite3.Connection)
        self.prefix = "" if self._owns else SHARED
        self.checks = [f"PRAGMA integrity_check('{self.prefix}{table}')" for table in TABLES]
        self._locked = "another process has locked the database"
        if isinstance(where, sqlite3.Connection):
            self.connection = where
            _make_shared(where)
        else:
            self.connection = opened(where, timeout, synchronous)
            self._locked += f" for {timeout} s"
        self.execute: Callable[[str, Values], Rows] = self.connection.execute
        self.rollback: Callable[[], object] = self.connection.rollback

    def idle(self) -> None:
        """StoreError if a transaction is open that the store did not begin. One that a failed
        ROLLBACK of its own has left open is rolled back."""
        if self.connection.in_transaction:
            if not self._owns:
                raise StoreError("a transaction is open that the store did not begin; end it")
            self.connection.execute("ROLLBACK")

    def begin(self) -> None:
        """Begin a transaction that can write. StoreBusy."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if is_busy(error):
                raise StoreBusy(self._locked) from error
            raise

    def hold(self, name: str) -> None:
        """Nothing: while this transaction is open, nobody else writes anything."""

    def running(self, statement: str) -> Iterator[object]:
        """Executes the statement while this is read."""
        return map(self.connection.execute, (statement,))

    def asking(self, query: str, values: Values) -> Iterator[object]:
        """Executes the query while this is read."""
        return chain.from_iterable(map(self.connection.execute, (query,), (values,)))

    def check_name(self, name: str) -> None:
        """Every text that has an encoding can be a name."""

    def with_damaged_texts(self) -> AbstractContextManager[None]:
        """Without this, sqlite3 raises an error that does not say which row it is about."""
        return _with_damaged_texts(self.connection)

    def close(self) -> None:
        """Close the connection to a file of the store's own."""
        if self._owns:
            self.connection.close()


# Opening.


def opened(path: str | os.PathLike[str], timeout: float, synchronous: str) -> sqlite3.Connection:
    """The file of a store, made if it is new. Errors: StoreError, sqlite3.Error."""
    _check_path(path)
    try:
        db = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    except sqlite3.OperationalError as error:
        _check_access(path, error)
        raise
    try:
        _refuse_others(db, path)
        _write_ahead(db, timeout)
        db.execute(f"PRAGMA synchronous = {synchronous}")
        if version_of(db) != VERSION:
            _make(db)
    except sqlite3.OperationalError as error:
        db.close()
        if is_busy(error):
            raise StoreBusy(f"{path}: another process has locked it for {timeout} s") from error
        _check_access(path, error)
        raise
    except UnicodeDecodeError as error:  # Of a damaged name in a message of SQLite.
        db.close()
        raise StoreError(f"{path} is damaged: {error}") from error
    except sqlite3.DatabaseError as error:
        db.close()
        if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            raise StoreError(f"{path} is no store: {error}") from error
        raise
    except BaseException:
        db.close()
        raise
    return db


def _check_path(path: str | os.PathLike[str]) -> None:
    """StoreError for a path where no file can be: SQLite says only that it cannot open it."""
    if os.path.isdir(path):
        raise StoreError(f"{path} is a folder, and no file for a store")
    folder = os.path.dirname(os.path.abspath(path))
    try:
        os.stat(os.path.join(folder, ""))
    except OSError as error:
        raise StoreError(f"{path}: its folder {folder}: {error.strerror}") from error


def _check_access(path: str | os.PathLike[str], error: sqlite3.OperationalError) -> None:
    """StoreError where the operating system has refused the file."""
    if error.sqlite_errorcode & 0xFF in REFUSED:
        what = "this process has to read and write the file, and to make others beside it"
        raise StoreError(f"{path} cannot be opened as a store: {error}; {what}") from error


def version_of(db: sqlite3.Connection) -> int:
    """The version of the tables; 0 in a new database."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether SQLite has waited for a lock in vain."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def _refuse_others(db: sqlite3.Connection, path: str | os.PathLike[str]) -> None:
    """StoreError for the database of something else, or of a later version."""
    # One statement: another process may make the tables meanwhile.
    query = "SELECT user_version, name FROM pragma_user_version LEFT JOIN sqlite_master"
    rows = db.execute(f"{query} ON type = 'table'").fetchall()
    version, found = rows[0][0], {str(name) for _, name in rows if name is not None}
    if not (found >= OLD if version else not found):
        has = ", ".join(sorted(found)) or "no tables"
        raise StoreError(f"{path} is no store: its database has {has}")
    if not 0 <= version <= VERSION:
        raise StoreError(f"a store of version {version}; this lawful reads 1 to {VERSION}")


def _make(db: sqlite3.Connection) -> None:
    """Make the tables, or bring those of an older version up to date."""
    schema, added = (text.format(t="", i="", end=END) for text in (SCHEMA, FROM_3))

    def make() -> None:
        version = version_of(db)
        if version == VERSION:  # Another process has done it meanwhile.
            return
        steps = {
            0: (schema, added),
            1: (FROM_1, FROM_2, added),
            2: (FROM_2, added),
            3: (added,),
            4: (),
        }[version]
        for step in steps:
            _execute_each(db, step)
        if version:
            _from_4(db, "")
        db.execute(f"PRAGMA user_version = {VERSION}")
        if version == 1:
            seal(db)

    _atomically(db, make)


def _make_shared(db: sqlite3.Connection) -> None:
    """Make the tables in a database of the service. StoreError for a later version."""
    if getattr(db, "autocommit", -1) != -1:
        raise StoreError("the connection is to be in sqlite3's default mode, without autocommit=")
    if db.in_transaction:
        raise StoreError("a transaction is open on the connection; end it before")

    def make() -> None:
        names = "SELECT name FROM sqlite_master WHERE type = 'table'"
        found = {row[0] for row in db.execute(names)}
        if f"{SHARED}store" not in found:
            for step in (SCHEMA, FROM_3):
                _execute_each(db, step.format(t=SHARED, i=SHARED, end=END))
            db.execute(f"CREATE TABLE {SHARED}store AS SELECT {VERSION} AS version")
        version = db.execute(f"SELECT max(version) FROM {SHARED}store").fetchone()[0]
        if version == 4:
            _from_4(db, SHARED)
            db.execute(f"UPDATE {SHARED}store SET version = {VERSION}")
            version = VERSION
        if version != VERSION:
            raise StoreError(f"a store of version {version}; this lawful reads {VERSION}")

    _atomically(db, make)


def _from_4(db: sqlite3.Connection, prefix: str) -> None:
    with _with_damaged_texts(db):
        from_4(db.execute, prefix)


def _atomically(db: sqlite3.Connection, act: Callable[[], None]) -> None:
    """Do it in a transaction, which is rolled back where it raises."""
    db.execute("BEGIN IMMEDIATE")
    try:
        act()
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _execute_each(db: sqlite3.Connection, text: str) -> None:
    for statement in text.split(";"):
        db.execute(statement)


def _write_ahead(db: sqlite3.Connection, timeout: float) -> None:
    """Switch to a write-ahead log. SQLite does not wait by itself for a process that makes the
    same new database at this moment, because this one holds a read lock."""
    until = clocks.monotonic() + timeout
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or clocks.monotonic() > until:
                raise
        clocks.sleep(0.01)


def seal(db: sqlite3.Connection) -> None:
    """Believe the rows that are there, and give them their checksums."""
    of = statements("")
    for name, machine in db.execute("SELECT name, machine FROM instance").fetchall():
        last = chain = beginning(name, machine)
        found: Any = db.execute(of.last, (name,)).fetchone()
        upto = found[1] if found else 0
        seq = upto
        for row in db.execute(of.events, (name, -1)).fetchall():
            seq, last = row[1], sum_of_event(last, row[:-1])
            chain = last if seq == upto else chain
            db.execute("UPDATE event SET sum = ? WHERE name = ? AND seq = ?", (last, name, seq))
        db.execute("UPDATE instance SET seq = ?, sum = ? WHERE name = ?", (seq, last, name))
        if found:
            both = (chain, sum_of_snapshot(machine, found[:-2], chain), name)
            db.execute("UPDATE snapshot SET chain = ?, sum = ? WHERE name = ?", both)


@contextmanager
def _with_damaged_texts(db: sqlite3.Connection) -> Generator[None]:
    before = db.text_factory
    db.text_factory = _readable
    try:
        yield
    finally:
        db.text_factory = before


def _readable(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
