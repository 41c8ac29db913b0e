"""Rows of a store: its tables, and what their values say. `store` documents them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

VERSION = 1
SCHEMA = """
CREATE TABLE instance(name TEXT PRIMARY KEY, machine TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE snapshot(
    name TEXT PRIMARY KEY REFERENCES instance, seq INTEGER NOT NULL, time REAL NOT NULL,
    wall REAL NOT NULL, data TEXT NOT NULL, started TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE event(
    name TEXT REFERENCES instance, seq INTEGER, time REAL NOT NULL, wall REAL NOT NULL,
    behaviour TEXT NOT NULL, transition TEXT NOT NULL, args TEXT NOT NULL, after TEXT,
    PRIMARY KEY (name, seq)) WITHOUT ROWID;
PRAGMA user_version = 1
"""
# Another process may have written meanwhile: a row must be newer than the last snapshot.
EVENT = """
INSERT INTO event SELECT ?, ?, ?, ?, ?, ?, ?, ?
WHERE ? > (SELECT seq FROM snapshot WHERE name = ?)
"""
KEPT = """
SELECT 1 FROM event WHERE name = ? AND seq = ? AND time = ? AND wall = ? AND behaviour = ?
    AND transition = ? AND args = ? AND after IS ?
"""
SNAPSHOT = """
INSERT INTO snapshot SELECT ?, ?, ?, ?, ?, ?
WHERE EXISTS (SELECT 1 FROM instance WHERE name = ?) ON CONFLICT(name) DO UPDATE SET
    seq = excluded.seq, time = excluded.time, wall = excluded.wall, data = excluded.data,
    started = excluded.started
WHERE excluded.seq >= snapshot.seq
"""
PRUNE = """
DELETE FROM event WHERE seq <= (SELECT seq FROM snapshot WHERE snapshot.name = event.name)
"""


class StoreError(Exception):
    """A store of another version, without the instance, or changed by another process."""


class Position(NamedTuple):
    """How far an instance has come: its last event, and for how long its armed timers were
    started (deadline, and seconds, by their places)."""

    seq: int
    last: float
    wall: float
    timers: Mapping[str, tuple[float, float]]


def seconds_of(where: str, *times: Any) -> tuple[float, ...]:
    """The times of a row; StoreError for an invalid value."""
    if not all(isinstance(each, int | float) and math.isfinite(each) for each in times):
        raise StoreError(f"{where}: {times} are no times")
    return times


def started_in(name: str, text: str) -> list[tuple[str, float]]:
    """For how many seconds the timers of a snapshot were started; StoreError for anything else."""
    rows: Any = json.loads(text)
    if rows.__class__ is not dict:
        raise StoreError(f"{name}: {text[:60]!r} says of no timer when it was started")
    return list(zip(rows, seconds_of(name, *rows.values()), strict=True))
