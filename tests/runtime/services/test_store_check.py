"""Each column of each table that a checksum covers: another value is found, whoever reads it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Timer, transition
from lawful.runtime.databases.tables import TABLES
from lawful.runtime.store import Store
from lawful.runtime.store_check import damages
from tests.runtime.services.conftest import Place, store

UNCOVERED = {"instance.due", "output.tries", "output.due", "output.error"}


class Till(Machine):
    paid: Nat = 0
    idle: Timer = Timer()

    @transition()
    def pay(self, amount: Nat) -> Nat:
        self.paid += amount
        self.idle.start(60)
        return self.paid


def filled(path: Path) -> Path:
    """A store with rows in each table, and a snapshot in the middle of the events."""
    store = Store(path, outbox=[Till])
    for name in "ab":
        till = store.add(Till(), name)
        till.pay(5)
        store.once("k", till.pay, 6)
        store.snapshot(name)
        till.pay(7)
    store.transactions.close()  # As after a kill: it leaves no snapshot at the end.
    return path


def flipped(value: Any) -> Any:
    """The value with a bit flipped."""
    if isinstance(value, str):
        return chr(ord(value[0]) ^ 1) + value[1:] if value else "x"
    return 1 if value is None else value + 1


def test_what_is_whole_has_no_damage(tmp_path: Path) -> None:
    with Store(filled(tmp_path / "a.db")) as store:
        assert [*damages(store)] == []
        store.prune()
        assert [*damages(store)] == []


@pytest.mark.parametrize("table", TABLES)
def test_another_value_anywhere_is_found(table: str, tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as db:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    seen = 0
    for column in columns:
        copy = tmp_path / f"{column}.db"
        with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(copy)) as to:
            db.backup(to)
            to.isolation_level = None
            keyed = ", ".join(columns[:2])
            order = ", ".join(f"{each} DESC" for each in columns[:2])
            row = f"SELECT {column}, {keyed} FROM {table} ORDER BY {order} LIMIT 1"
            value, *keys = to.execute(row).fetchone()
            where = " AND ".join(f"{each} = ?" for each in columns[:2])
            to.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (flipped(value), *keys))
        with Store(copy) as store:
            found = [*damages(store)]
        assert bool(found) == (f"{table}.{column}" not in UNCOVERED), (column, found)
        seen += 1
    assert seen > 4


def test_events_of_no_instance_are_found(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE event SET name = 'c' WHERE name = 'b' AND seq = 1")
    with Store(path) as kept:
        assert [*damages(kept)] == ["c: events or a snapshot of no instance"]


def test_a_key_that_is_another_one_and_a_letter_that_nobody_delivers(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE answer SET key = 'l' WHERE name = 'a'")
        db.execute("UPDATE output SET machine = 'Uill' WHERE name = 'b' AND seq = 2")
    with Store(path) as kept:
        assert [*damages(kept)] == [
            "b: output 2 is not as it was written: its checksum",
            "a: the answer to the key 'l' is not as it was written: its checksum",
        ]


NO_TEXT = b"\xffx"


@pytest.mark.parametrize("table", TABLES)
def test_bytes_that_are_no_unicode_are_told_with_their_row(table: str, tmp_path: Path) -> None:
    """Sqlite3 raises an error for them, which names no row and keeps all others from being read."""
    path = filled(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as db:
        columns = [row for row in db.execute(f"PRAGMA table_info({table})") if row[2] == "TEXT"]
    for column in (row[1] for row in columns):
        for as_text in (True, False):
            copy = tmp_path / f"{column}{as_text}.db"
            with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(copy)) as to:
                db.backup(to)
                to.isolation_level = None
                value = "CAST(? AS TEXT)" if as_text else "?"
                to.execute(f"UPDATE {table} SET {column} = {value} WHERE name = 'a'", (NO_TEXT,))
            with Store(copy) as store:
                found = [*damages(store)]
                assert bool(found) == (f"{table}.{column}" not in UNCOVERED), (column, found)
                assert not any(told.startswith("b:") for told in found)
                assert store.transactions.database.connection.text_factory is str


def test_in_every_database(place: Place) -> None:
    with store(place) as kept:
        for name in "ab":
            till = kept.add(Till(), name)
            till.pay(5)
            kept.once("k", till.pay, 6)
        assert [*damages(kept)] == []
        other = place.other()
        other.execute(f"UPDATE {place.prefix}event SET name = 'c' WHERE name = 'a' AND seq = 2")
        other.execute(f"UPDATE {place.prefix}answer SET key = 'l' WHERE name = 'b'")
        other.close()
        assert [*damages(kept)] == [
            "a: events are missing before 2, the last one",
            "c: events or a snapshot of no instance",
            "b: the answer to the key 'l' is not as it was written: its checksum",
        ]
