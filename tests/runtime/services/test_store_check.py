"""Each column of each table: another value is found, whoever reads it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Timer, transition
from lawful.runtime.databases.tables import TABLES, checksum
from lawful.runtime.outbox import Outbox
from lawful.runtime.registry import Registry
from lawful.runtime.store import Store, StoreBusy, StoreError
from lawful.runtime.store_check import damages
from lawful.runtime.timers import SimulatedClock
from tests.runtime.services.conftest import PLACES, File, InTheServices, Place, store


class Till(Machine):
    paid: Nat = 0
    idle: Timer = Timer()

    @transition()
    def pay(self, amount: Nat) -> Nat:
        self.paid += amount
        self.idle.start(60)
        return self.paid

    @transition(timer="idle")
    def expire(self) -> None: ...


class Plain(Machine):
    paid: Nat = 0


def untouched(*_: object) -> None: ...


def filled(path: Path) -> Path:
    """A store with rows in each table, and a snapshot in the middle of the events."""
    fill(Store(path, outbox=[Till])).transactions.close()  # As after a kill: no snapshot.
    return path


def fill(kept: Store) -> Store:
    for name in "ab":
        till = kept.add(Till(), name)
        till.pay(5)
        kept.once("k", till.pay, 6)
        kept.snapshot(name)
        till.pay(7)
    return kept


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
        assert found, column
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


def test_a_locked_database_is_no_damage(tmp_path: Path) -> None:
    with Store(filled(tmp_path / "a.db"), timeout=0.0) as kept:
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusy):
                damages(kept)
            other.execute("ROLLBACK")
        assert [*damages(kept)] == []


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
                assert found, column
                assert not any(told.startswith("b:") for told in found)
                assert store.transactions.database.connection.text_factory is str


@pytest.mark.parametrize("column", ["due", "due_copy"])
@pytest.mark.parametrize("wrong", [9.0, 1e12, None])
def test_a_wrong_time_at_which_an_instance_is_due_is_told_and_written_anew(
    column: str, wrong: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By `restore`, by the next event, and by a registry that finds it too early."""
    monkeypatch.setattr("lawful.runtime.store.clocks.time", lambda: 1_000.0)
    at = {"due": 1_060.0, "due_copy": 1_060.0}
    put = f"UPDATE instance SET {column} = ? WHERE name = 'a'"
    with Store(filled(tmp_path / "a.db")) as kept:
        execute = kept.transactions.database.execute

        def damaged() -> None:
            execute(put, (wrong,))
            found = {**at, column: wrong}
            what = f"a: when it is due is not as it was written: {found['due']}"
            assert [*damages(kept)] == [
                f"{what} and {found['due_copy']}. Its next event, or `restore`, writes it anew"
            ]

        damaged()
        till = kept.restore(Till, "a", timers="restart", clock=SimulatedClock(5.0))
        assert [*damages(kept)] == []
        damaged()
        till.pay(1)
        assert [*damages(kept)] == []
        assert [(each.name, each.at) for each in kept.due(Till)] == [("a", 1_060), ("b", 1_060)]
        if (column, wrong) != ("due", 9.0):
            return
        damaged()
        tills = Registry(kept, Till, restore=lambda name: till)
        assert tills.next_due() == 9.0
        assert tills.fire_due(untouched) == 0
        assert ([*damages(kept)], tills.next_due()) == ([], 1_060.0)


def test_a_wrong_time_does_not_stay_with_an_instance_without_timers(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as kept:
        kept.add(Plain(), "a")
    for column in ("due", "due_copy"):
        with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as db:
            db.execute(f"UPDATE instance SET {column} = 9.0")
        with Store(tmp_path / "a.db") as kept:
            assert len([*damages(kept)]) == 1
            kept.restore(Plain, "a")
            assert ([*damages(kept)], [*kept.due(Plain)]) == ([], [])


def test_a_registry_does_not_write_when_what_went_on_elsewhere_is_due(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as here, Store(tmp_path / "a.db") as there:
        tills = Registry(here, Till)
        tills.add(Till(), "a").pay(1)
        there.restore(Till, "a").lawful.take("pay", 1)
        put = "UPDATE instance SET due = 9, due_copy = 9"
        there.transactions.database.execute(put, ())
        assert tills.fire_due(untouched) == 0
        assert [each.at for each in there.due(Till)] == [9.0]


@pytest.mark.parametrize("column", ["tries", "due", "error"])
def test_who_reads_an_output_finds_that_it_was_changed(column: str, tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"UPDATE output SET {column} = 1 WHERE name = 'b' AND seq = 1")
        db.execute("UPDATE output SET due = NULL WHERE name = 'a' AND seq = 3")
    got = list[str]()
    with Store(path, outbox=[Till]) as kept:
        outbox = Outbox(kept, Till, lambda letter: got.append(letter.name))
        with pytest.raises(StoreError, match="a: output 3 is not as it was written: its"):
            outbox.dead()
        with pytest.raises(StoreError, match="b: output 1 is not as it was written: its"):
            outbox.deliver()
        with pytest.raises(StoreError, match="b: output 1 is not as it was written: its"):
            outbox.next_due()
    assert got == ["a", "a"]


@pytest.mark.parametrize(("table", "index"), [("output", "open"), ("instance", "due")])
@pytest.mark.parametrize("shared", [False, True])
def test_a_row_that_is_not_in_an_index_is_told(
    table: str, index: str, shared: bool, tmp_path: Path
) -> None:
    """Nobody finds it: neither `deliver` nor `due`."""
    place = (InTheServices if shared else File)(tmp_path)
    t = place.prefix
    fill(store(place, outbox=[Till])).transactions.close()
    where = f"FROM sqlite_master WHERE name = '{t}{index}'"
    with closing(place.other()) as db:
        db.execute("PRAGMA writable_schema = 1")
        row = db.execute(f"SELECT type, name, tbl_name, rootpage, sql {where}").fetchone()
        db.execute(f"DELETE {where}")
    with closing(place.other()) as db:
        db.execute(f"UPDATE {t}{table} SET due = 2e9 WHERE name = 'b'")
        db.execute("PRAGMA writable_schema = 1")
        db.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    with store(place, outbox=[Till]) as kept:
        found = [*damages(kept)]
        assert kept.transactions.database.connection.in_transaction is False
    assert any(f"missing from index {t}{index}" in told for told in found)


@pytest.mark.parametrize("back_end", ["file", "service", "server"])
def test_a_database_of_version_4_is_brought_up_to_date(
    back_end: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Its outputs get the checksums that they lack, unless one was wrong."""
    name = {"file": "sqlite", "service": "sqlite of the service", "server": "postgres"}[back_end]
    place = PLACES[name](request, tmp_path)
    fill(store(place, outbox=[Till])).transactions.close()
    other, t = place.other(), place.prefix
    old = f"SELECT name, seq, machine, event, data FROM {t}output"
    reseal = f"UPDATE {t}output SET sum = '{{}}' WHERE name = '{{}}' AND seq = {{}}"
    for row in [*other.execute(old)]:
        other.execute(reseal.format(checksum("", *row), *row[:2]))
    other.execute(f"UPDATE {t}output SET data = '9' WHERE name = 'b' AND seq = 3")
    other.execute(f"ALTER TABLE {t}instance DROP COLUMN due_copy")
    set_version = {
        "file": "PRAGMA user_version = 4",
        "service": "UPDATE lawful_store SET version = 4",
        "server": "UPDATE lawful.version SET version = 4",
    }
    other.execute(set_version[back_end])
    for _ in range(2):
        with store(place, outbox=[Till]) as kept:
            assert [*damages(kept)] == ["b: output 3 is not as it was written: its checksum"]
            assert [each.name for each in kept.due(Till)] == ["a", "b"]
    with store(place, outbox=[Till]) as kept:
        other.execute(f"UPDATE {t}output SET tries = 3 WHERE name = 'a' AND seq = 2")
        assert next(damages(kept)) == "a: output 2 is not as it was written: its checksum"
    other.close()


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
