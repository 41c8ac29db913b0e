"""The tables of a store, its statements, and the checksums of rows.

`store` says what the rows mean. Each event's `sum` covers its row and the `sum` of the event before
it, so they form a chain; an instance's row has the `sum` of its last event, and its snapshot that
of the event which it follows (`chain`). So no row can be changed, left out or put in without its
being noticed, but by somebody who computes the sums anew. Outputs and answers have a `sum` of their
own row. When an instance is due has no checksum, which would cost each event a microsecond: it is
written twice.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

VERSION = 5
TABLES = ("instance", "snapshot", "event", "output", "answer")
# `{t}` is the prefix of tables, `{i}` that of an index, `{end}` what a table ends with.
SCHEMA = """
CREATE TABLE {t}instance(
    name TEXT PRIMARY KEY, machine TEXT NOT NULL, seq BIGINT NOT NULL, sum TEXT NOT NULL,
    due DOUBLE PRECISION, due_copy DOUBLE PRECISION){end};
CREATE TABLE {t}snapshot(
    name TEXT PRIMARY KEY, seq BIGINT NOT NULL, time DOUBLE PRECISION NOT NULL,
    wall DOUBLE PRECISION NOT NULL, data TEXT NOT NULL, started TEXT NOT NULL, chain TEXT NOT NULL,
    sum TEXT NOT NULL, version TEXT){end};
CREATE TABLE {t}event(
    name TEXT, seq BIGINT, time DOUBLE PRECISION NOT NULL, wall DOUBLE PRECISION NOT NULL,
    behaviour TEXT NOT NULL, transition TEXT NOT NULL, args TEXT NOT NULL, after TEXT,
    sum TEXT NOT NULL, changed TEXT, PRIMARY KEY (name, seq)){end};
CREATE INDEX {i}due ON {t}instance(machine, due) WHERE due IS NOT NULL
"""
FROM_3 = """
CREATE TABLE {t}output(
    name TEXT, seq BIGINT, machine TEXT NOT NULL, event TEXT NOT NULL, data TEXT NOT NULL,
    sum TEXT NOT NULL, tries BIGINT NOT NULL, due DOUBLE PRECISION, error TEXT,
    PRIMARY KEY (name, seq)){end};
CREATE INDEX {i}open ON {t}output(machine, due) WHERE due IS NOT NULL;
CREATE TABLE {t}answer(
    name TEXT, key TEXT, call TEXT NOT NULL, outcome TEXT NOT NULL, data TEXT NOT NULL,
    wall DOUBLE PRECISION NOT NULL, sum TEXT NOT NULL, PRIMARY KEY (name, key)){end}
"""
FROM_4 = """
ALTER TABLE {t}instance ADD COLUMN due_copy DOUBLE PRECISION;
UPDATE {t}instance SET due_copy = due WHERE due IS NOT NULL
"""
COLUMNS = (
    *("name", "seq", "time", "wall", "behaviour", "transition", "args", "after"),
    *("changed", "sum"),
)
WHOLE = ("name", "seq", "time", "wall", "data", "started", "version", "chain", "sum")
ANSWER = ("name", "key", "call", "outcome", "data", "wall", "sum")


class Output(NamedTuple):
    """The row of an output that waits; `outbox` says what the columns mean."""

    name: str
    seq: int
    machine: str
    event: str
    data: str
    tries: int
    due: float | None
    error: str | None
    sum: str = ""

    def sealed(self) -> Self:
        """The row with its checksum, which covers all other columns."""
        return self._replace(sum=checksum("", *self[:-1]))


OUTPUT = Output._fields


@dataclass(frozen=True)
class Statements:
    """The statements of a store whose tables have some prefix."""

    is_there: str
    names: str
    add: str
    head: str
    at_head: str
    event: str
    event_sum: str
    events: str
    kept: str
    settle: str
    snapshot: str
    last: str
    whole: str
    due: str
    prune: str
    forget: str
    remove: tuple[str, ...]
    put_output: str
    waits: str
    next_output: str
    put_off: str
    acknowledge: str
    dead: str
    put_answer: str
    answer: str
    outputs: str
    answers: str
    strays: str


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" for _ in columns)


@functools.cache
def statements(t: str) -> Statements:
    """The statements for tables with this prefix."""
    here = f"SELECT 1 FROM {t}instance WHERE name = ?"
    updated = ", ".join(f"{each} = excluded.{each}" for each in WHOLE[1:])
    answered = ", ".join(f"{each} = excluded.{each}" for each in ANSWER[2:])
    output = f"INSERT INTO {t}output({', '.join(OUTPUT)}) VALUES ({_marks(OUTPUT)})"
    return Statements(
        is_there=here,
        names=f"SELECT name FROM {t}instance ORDER BY name",
        add=f"INSERT INTO {t}instance(name, machine, seq, sum, due, due_copy)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT(name) DO NOTHING",
        # Another process may have written meanwhile: an instance must be where this one left it.
        head=f"UPDATE {t}instance SET seq = ?, sum = ?, due = ?, due_copy = ?"
        " WHERE name = ? AND seq = ? AND sum = ?",
        at_head=f"{here} AND seq = ? AND sum = ?",
        event=f"INSERT INTO {t}event({', '.join(COLUMNS)}) VALUES ({_marks(COLUMNS)})",
        event_sum=f"SELECT sum FROM {t}event WHERE name = ? AND seq = ?",
        events=f"SELECT {', '.join(COLUMNS)} FROM {t}event WHERE name = ? AND seq > ? ORDER BY seq",
        kept=f"SELECT 1 FROM {t}event WHERE name = ? AND seq = ? AND sum = ?",
        settle=f"UPDATE {t}instance SET due = ?, due_copy = ?"
        " WHERE name = ? AND seq = ? AND sum = ?",
        snapshot=f"INSERT INTO {t}snapshot({', '.join(WHOLE)}) SELECT {_marks(WHOLE)}"
        f" WHERE EXISTS ({here} AND seq = ? AND sum = ?)"
        f" ON CONFLICT(name) DO UPDATE SET {updated}",
        last=f"SELECT {', '.join(WHOLE)} FROM {t}snapshot WHERE name = ?",
        whole=f"SELECT machine, seq, sum, due, due_copy FROM {t}instance WHERE name = ?",
        due=f"SELECT name, due, seq FROM {t}instance WHERE machine = ? AND due <= ?"
        " AND due >= ? AND (due > ? OR name > ?) ORDER BY due, name LIMIT ?",
        prune=f"DELETE FROM {t}event AS e"
        f" WHERE seq <= (SELECT s.seq FROM {t}snapshot AS s WHERE s.name = e.name)",
        forget=f"DELETE FROM {t}answer WHERE wall <= ?",
        remove=tuple(f"DELETE FROM {t}{each} WHERE name = ?" for each in reversed(TABLES)),
        put_output=output,
        waits=f"SELECT 1 FROM {t}output WHERE name = ?",
        next_output=f"SELECT {', '.join(OUTPUT)} FROM {t}output AS o"
        " WHERE machine = ? AND due <= ? AND (due > ? OR due = ? AND name > ?) AND NOT EXISTS ("
        f"SELECT 1 FROM {t}output AS p"
        " WHERE p.name = o.name AND p.seq < o.seq AND p.due IS NOT NULL)"
        " ORDER BY due, name LIMIT 1",
        put_off=f"UPDATE {t}output SET tries = ?, due = ?, error = ?, sum = ?"
        " WHERE name = ? AND seq = ? AND sum = ?",
        acknowledge=f"DELETE FROM {t}output WHERE name = ? AND seq = ? AND sum = ?",
        dead=f"SELECT {', '.join(OUTPUT)} FROM {t}output"
        " WHERE machine = ? AND due IS NULL ORDER BY name, seq",
        put_answer=f"INSERT INTO {t}answer({', '.join(ANSWER)}) VALUES ({_marks(ANSWER)})"
        f" ON CONFLICT(name, key) DO UPDATE SET {answered} WHERE {t}answer.wall <= ?",
        answer=f"SELECT {', '.join(ANSWER)} FROM {t}answer WHERE name = ? AND key = ? AND wall > ?",
        outputs=f"SELECT {', '.join(OUTPUT)} FROM {t}output ORDER BY name, seq",
        strays=f"SELECT name FROM {t}event UNION SELECT name FROM {t}snapshot"
        f" EXCEPT SELECT name FROM {t}instance ORDER BY name",
        answers=f"SELECT {', '.join(ANSWER)} FROM {t}answer ORDER BY name, key",
    )


# Checksums.

_EMPTY = hashlib.blake2b(digest_size=16)


def checksum(previous: str, *values: Any) -> str:
    """The checksum of a row after one with the checksum `previous`."""
    return digest(repr((previous, *values))).hex()


def digest(text: str) -> bytes:
    """The checksum of a row of which, with the one before, this is the text."""
    made = _EMPTY.copy()  # This is faster than a new one.
    made.update(text.encode("utf-8", "surrogatepass"))
    return made.digest()


def beginning(name: str, machine: str) -> str:
    """What the chain of an instance's events begins with."""
    return checksum("", name, machine)


def sum_of_event(previous: str, row: Sequence[Any]) -> str:
    """The checksum of an event; `row` has its other columns in their order."""
    return checksum(previous, *(row if row[-1] is not None else row[:-1]))


def sum_of_snapshot(machine: str, row: Sequence[Any], chain: str) -> str:
    """The checksum of a snapshot; `row` has its columns up to `version`."""
    return checksum(chain, machine, *(row if row[-1] is not None else row[:-1]))


def from_4(execute: Callable[[str, Sequence[Any]], Any], t: str) -> None:
    """Bring tables of version 4 up to date. The checksums of its outputs do not cover how often
    they were tried and when they are due; one that is wrong stays wrong."""
    for statement in FROM_4.format(t=t).split(";"):
        execute(statement, ())
    for found in execute(statements(t).outputs, ()).fetchall():
        row = Output(*found)
        if row.sum == checksum("", *row[:5]):
            reseal = f"UPDATE {t}output SET sum = ? WHERE name = ? AND seq = ?"
            execute(reseal, (row.sealed().sum, row.name, row.seq))
