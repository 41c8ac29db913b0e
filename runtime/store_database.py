"""The database of a store: its tables, the checksums of its rows, and how it is opened.

`store` says what the rows mean. Each event's `sum` covers its row and the `sum` of the event before
it, so they form a chain; an instance's row has the `sum` of its last event, and its snapshot that
of the event which it follows (`chain`). So no row can be changed, left out or put in without its
being noticed, but by somebody who computes the sums anew.

A database of an older version is brought up to date when it is opened, in one transaction. One of
version 1 has no sums: its rows are believed and get them. Rows of version 2 lack the columns
`changed` and `version`; they keep the sums that they have, which cover the others. When an instance
of theirs is due is known where its last snapshot has no armed timer; any other counts as due.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
import time as clocks
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

VERSION = 3
TABLES = {"instance", "snapshot", "event"}
DUE = "CREATE INDEX due ON instance(machine, due) WHERE due IS NOT NULL"
SCHEMA = f"""
CREATE TABLE instance(
    name TEXT PRIMARY KEY, machine TEXT NOT NULL, seq INTEGER NOT NULL, sum TEXT NOT NULL,
    due REAL) WITHOUT ROWID;
CREATE TABLE snapshot(
    name TEXT PRIMARY KEY REFERENCES instance, seq INTEGER NOT NULL, time REAL NOT NULL,
    wall REAL NOT NULL, data TEXT NOT NULL, started TEXT NOT NULL, chain TEXT NOT NULL,
    sum TEXT NOT NULL, version TEXT) WITHOUT ROWID;
CREATE TABLE event(
    name TEXT REFERENCES instance, seq INTEGER, time REAL NOT NULL, wall REAL NOT NULL,
    behaviour TEXT NOT NULL, transition TEXT NOT NULL, args TEXT NOT NULL, after TEXT,
    sum TEXT NOT NULL, changed TEXT, PRIMARY KEY (name, seq)) WITHOUT ROWID;
{DUE};
PRAGMA user_version = 3
"""
FROM_1 = """
ALTER TABLE instance ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE instance ADD COLUMN sum TEXT NOT NULL DEFAULT '';
ALTER TABLE snapshot ADD COLUMN chain TEXT NOT NULL DEFAULT '';
ALTER TABLE snapshot ADD COLUMN sum TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN sum TEXT NOT NULL DEFAULT ''
"""
FROM_2 = f"""
ALTER TABLE instance ADD COLUMN due REAL;
ALTER TABLE snapshot ADD COLUMN version TEXT;
ALTER TABLE event ADD COLUMN changed TEXT;
UPDATE instance SET due = 0 WHERE NOT EXISTS (
    SELECT 1 FROM snapshot
    WHERE snapshot.name = instance.name AND snapshot.seq = instance.seq AND started = '{{}}');
{DUE};
PRAGMA user_version = 3
"""
# Another process may have written meanwhile: an instance must be where this one left it.
HEAD = "UPDATE instance SET seq = ?, sum = ?, due = ? WHERE name = ? AND seq = ? AND sum = ?"
COLUMNS = (
    *("name", "seq", "time", "wall", "behaviour", "transition", "args", "after"),
    *("changed", "sum"),
)
EVENT = f"INSERT INTO event({', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
EVENTS = f"SELECT {', '.join(COLUMNS)} FROM event WHERE name = ? AND seq > ? ORDER BY seq"
KEPT = "SELECT 1 FROM event WHERE name = ? AND seq = ? AND sum = ?"
WHOLE = ("name", "seq", "time", "wall", "data", "started", "version", "chain", "sum")
LAST = f"SELECT {', '.join(WHOLE)} FROM snapshot WHERE name = ?"
SNAPSHOT = f"""
INSERT INTO snapshot({", ".join(WHOLE)}) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?
WHERE EXISTS (SELECT 1 FROM instance WHERE name = ? AND seq = ? AND sum = ?)
ON CONFLICT(name) DO UPDATE SET {", ".join(f"{each} = excluded.{each}" for each in WHOLE[1:])}
"""
PRUNE = """
DELETE FROM event WHERE seq <= (SELECT seq FROM snapshot WHERE snapshot.name = event.name)
"""


class StoreError(Exception):
    """A store of another version, without the instance, damaged, or changed by another process."""


class StoreBusy(StoreError):
    """Another process has the database locked, for longer than the store waits."""


# Checksums.


def checksum(previous: str, *values: Any) -> str:
    """The checksum of a row after one with the checksum `previous`."""
    text = repr((previous, *values)).encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def beginning(name: str, machine: str) -> str:
    """What the chain of an instance's events begins with."""
    return checksum("", name, machine)


def sum_of_event(previous: str, row: Sequence[Any]) -> str:
    """The checksum of an event; `row` has its other columns in their order."""
    return checksum(previous, *(row if row[-1] is not None else row[:-1]))


def sum_of_snapshot(machine: str, row: Sequence[Any], chain: str) -> str:
    """The checksum of a snapshot; `row` has its columns up to `version`."""
    return checksum(chain, machine, *(row if row[-1] is not None else row[:-1]))


def seal(db: sqlite3.Connection) -> None:
    """Believe the rows that are there, and give them their checksums."""
    for name, machine in db.execute("SELECT name, machine FROM instance").fetchall():
        last = chain = beginning(name, machine)
        found = db.execute(LAST, (name,)).fetchone()
        upto = found[1] if found else 0
        seq = upto
        for row in db.execute(EVENTS, (name, -1)).fetchall():
            seq, last = row[1], sum_of_event(last, row[:-1])
            chain = last if seq == upto else chain
            db.execute("UPDATE event SET sum = ? WHERE name = ? AND seq = ?", (last, name, seq))
        db.execute("UPDATE instance SET seq = ?, sum = ? WHERE name = ?", (seq, last, name))
        if found:
            both = (chain, sum_of_snapshot(machine, found[:-2], chain), name)
            db.execute("UPDATE snapshot SET chain = ?, sum = ? WHERE name = ?", both)


# Opening.


def opened(path: str | os.PathLike[str], timeout: float, synchronous: str) -> sqlite3.Connection:
    """The database, made if it is new. Errors: StoreError, sqlite3.Error."""
    db = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
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
        raise
    except UnicodeDecodeError as error:  # Of a damaged name in a message of SQLite.
        db.close()
        raise StoreError(f"{path} is damaged: {error}") from error
    except BaseException:
        db.close()
        raise
    return db


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
    if not (found >= TABLES if version else not found):
        has = ", ".join(sorted(found)) or "no tables"
        raise StoreError(f"{path} is no store: its database has {has}")
    if version > VERSION:
        raise StoreError(f"a store of version {version}; this lawful reads 1 to {VERSION}")


def _make(db: sqlite3.Connection) -> None:
    """Make the tables, or bring those of an older version up to date."""
    db.execute("BEGIN IMMEDIATE")
    try:
        version = version_of(db)  # Another process may have done it meanwhile.
        steps = {0: (SCHEMA,), 1: (FROM_1, FROM_2), 2: (FROM_2,), VERSION: ()}[version]
        for statement in ";".join(steps).split(";"):
            db.execute(statement)
        if version == 1:
            seal(db)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


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


# Rows.


class Position(NamedTuple):
    """How far an instance has come: its last event, for how long its armed timers were started
    (deadline, and seconds, by their places), the rows since its last snapshot, and when its next
    timer is due, in seconds since 1970."""

    seq: int
    last: float
    wall: float
    timers: Mapping[str, tuple[float, float]]
    sum: str  # Of the row of that event.
    rows: int = 0
    bytes: int = 0
    due: float | None = None


class Due(NamedTuple):
    """An instance that has an armed timer, when that is due, in seconds since 1970, and the number
    of its last event."""

    name: str
    at: float
    seq: int


def seconds_of(where: str, *times: Any) -> tuple[float, ...]:
    """The times of a row; StoreError for an invalid value."""
    if not all(isinstance(each, int | float) and math.isfinite(each) for each in times):
        raise StoreError(f"{where}: {times} are no times")
    return times


def started_in(name: str, text: str) -> list[tuple[str, float]]:
    """For how many seconds the timers of a snapshot were started; StoreError for anything else."""
    rows = json_of(name, text)
    if rows.__class__ is not dict:
        raise StoreError(f"{name}: {text[:60]!r} says of no timer when it was started")
    return list(zip(rows, seconds_of(name, *rows.values()), strict=True))


def check_name(name: Any) -> None:
    """TypeError for a name that is no text, StoreError for one that cannot be encoded."""
    if not isinstance(name, str):
        raise TypeError(f"the name of an instance is a text, not {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise StoreError(f"{name!r} cannot be a name: {error}") from error


def unwritten(where: str, error: ValueError) -> StoreError:
    """The error for a value that JSON does not take: an integer of too many digits."""
    return StoreError(f"{where}: a value that cannot be written: {error}")


def json_of(name: str, text: str) -> Any:
    """What a row has as JSON; StoreError where it is none."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"{name}: a row has no JSON: {text[:60]!r}") from error
