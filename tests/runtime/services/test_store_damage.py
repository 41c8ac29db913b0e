"""Databases that are damaged, of others, locked, or of version 1: an error, or the right state."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Annotated, Any

import pytest

from lawful import Machine, Opaque, Timer, transition
from lawful.runtime.databases import sqlite
from lawful.runtime.databases.sqlite import seal
from lawful.runtime.store import Store, StoreBusy, StoreError
from lawful.runtime.timers import SimulatedClock
from tests.runtime.services.test_store import died

VERSION_1 = """
CREATE TABLE instance(name TEXT PRIMARY KEY, machine TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE snapshot(
    name TEXT PRIMARY KEY REFERENCES instance, seq INTEGER NOT NULL, time REAL NOT NULL,
    wall REAL NOT NULL, data TEXT NOT NULL, started TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE event(
    name TEXT REFERENCES instance, seq INTEGER, time REAL NOT NULL, wall REAL NOT NULL,
    behaviour TEXT NOT NULL, transition TEXT NOT NULL, args TEXT NOT NULL, after TEXT,
    PRIMARY KEY (name, seq)) WITHOUT ROWID;
INSERT INTO instance SELECT name, machine FROM new.instance;
INSERT INTO snapshot SELECT name, seq, time, wall, data, started FROM new.snapshot;
INSERT INTO event SELECT
    name, seq, time, wall, behaviour, transition, args, after FROM new.event;
PRAGMA user_version = 1;
"""


Text = Annotated[str, Opaque("Text")]


class Ledger(Machine):
    total: int = 0
    notes: dict[int, Text] = {}
    due: Timer = Timer()

    @transition()
    def note(self, number: int, text: Text) -> None:
        self.notes[number] = text
        self.total += number
        self.due.start(5)


def filled(path: Path, events: int = 10) -> dict[str, Any]:
    """Make a store with an instance; its snapshot after its last event."""
    with Store(path, snapshot_every=4) as store:
        clock = SimulatedClock(7.25)
        ledger = store.add(Ledger(clock=clock), "a")
        store.add(Ledger(clock=clock), "b").note(5, "five")
        for number in range(events):
            clock.advance(1)
            ledger.note(number, f"note {number}")
        died(store, "a", "b")
        return ledger.lawful.snapshot()


def restored(path: Path) -> dict[str, Any]:
    with Store(path) as store:
        return store.restore(Ledger, "a", clock=SimulatedClock()).lawful.snapshot()


@pytest.mark.parametrize(
    ("forged", "what"),
    [
        ("DELETE FROM event WHERE name = 'a' AND seq = 10", "events are missing before 10"),
        ("DELETE FROM event WHERE name = 'a' AND seq = 9", "events are missing before 10"),
        ("UPDATE instance SET seq = 9 WHERE name = 'a'", "events are missing before 9"),
        ("UPDATE instance SET machine = 'Other'", "a is of the machine Other, not of Ledger"),
        ("UPDATE event SET args = 'x'", "event 9 is not as it was written"),
        ("UPDATE snapshot SET seq = 4, chain = ''", "the snapshot is not as it was written"),
        ("DELETE FROM snapshot", "no instance a"),
    ],
)
def test_rows_that_are_changed_or_gone_are_noticed(tmp_path: Path, forged: str, what: str) -> None:
    filled(tmp_path / "s.db")
    with sqlite3.connect(tmp_path / "s.db") as database:
        database.execute(forged)
    database.close()
    with pytest.raises(StoreError, match=what):
        restored(tmp_path / "s.db")


@pytest.mark.parametrize("version", [-3, 99])
def test_a_store_of_an_unknown_version_is_refused(tmp_path: Path, version: int) -> None:
    filled(tmp_path / "s.db")
    with sqlite3.connect(tmp_path / "s.db") as database:
        database.execute(f"PRAGMA user_version = {version}")
    database.close()
    with pytest.raises(StoreError, match=f"a store of version {version}; this lawful reads 1 to"):
        restored(tmp_path / "s.db")


OLDER = """
ATTACH '{}' AS new;
CREATE TABLE instance(
    name TEXT PRIMARY KEY, machine TEXT NOT NULL, seq INTEGER NOT NULL, sum TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE snapshot(
    name TEXT PRIMARY KEY REFERENCES instance, seq INTEGER NOT NULL, time REAL NOT NULL,
    wall REAL NOT NULL, data TEXT NOT NULL, started TEXT NOT NULL, chain TEXT NOT NULL,
    sum TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE event(
    name TEXT REFERENCES instance, seq INTEGER, time REAL NOT NULL, wall REAL NOT NULL,
    behaviour TEXT NOT NULL, transition TEXT NOT NULL, args TEXT NOT NULL, after TEXT,
    sum TEXT NOT NULL, PRIMARY KEY (name, seq)) WITHOUT ROWID;
INSERT INTO instance SELECT name, machine, seq, sum FROM new.instance;
INSERT INTO snapshot SELECT name, seq, time, wall, data, started, chain, sum FROM new.snapshot;
INSERT INTO event SELECT
    name, seq, time, wall, behaviour, transition, args, after, sum FROM new.event;
PRAGMA user_version = 2;
"""


def version_2(path: Path, new: Path) -> None:
    """Make of a store what the code of version 2 would have made."""
    with sqlite3.connect(new) as database:
        database.execute("UPDATE event SET changed = NULL")
        database.execute("UPDATE snapshot SET version = NULL")
        seal(database)
    database.close()
    old = sqlite3.connect(path, isolation_level=None)
    old.executescript(OLDER.format(new))
    old.close()


def sums(path: Path) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(path)
    rows = [
        *database.execute("SELECT name, seq, sum FROM event"),
        *database.execute("SELECT name, chain, sum FROM snapshot"),
        *database.execute("SELECT name, seq, sum FROM instance"),
    ]
    database.close()
    return rows


def test_a_database_of_version_2_keeps_its_checksums_and_its_chain(tmp_path: Path) -> None:
    wanted = filled(tmp_path / "new.db")
    with Store(tmp_path / "new.db") as store:
        store.add(Ledger(), "idle")
    version_2(tmp_path / "old.db", tmp_path / "new.db")
    before = sums(tmp_path / "old.db")
    with Store(tmp_path / "old.db") as store:
        assert sums(tmp_path / "old.db") == before
        assert [(each.name, each.at) for each in store.due(Ledger)] == [("a", 0), ("b", 0)]
        assert [row["changed"] for row in store.events("a", 8)] == [None, None]
        ledger = store.restore(Ledger, "a", clock=SimulatedClock())
        assert ledger.lawful.snapshot() == wanted
        ledger.note(11, "new")
        died(store, "a")
    assert sums(tmp_path / "old.db")[:10] == before[:10]
    for row, what in (("name = 'a' AND seq = 10", "event 10"), ("seq = 11", "event 11")):
        other = tmp_path / f"{what}.db"
        other.write_bytes((tmp_path / "old.db").read_bytes())
        with sqlite3.connect(other) as database:
            database.execute(f"UPDATE event SET changed = '{{}}' WHERE {row}")
        database.close()
        with Store(other) as store, pytest.raises(StoreError, match=f"{what} is not as it was"):
            store.events("a")


@pytest.mark.parametrize(
    ("step", "statement"),
    [("FROM_2", 0), ("FROM_2", 3), ("FROM_2", 5), ("FROM_3", 0), ("FROM_3", 3)],
)
def test_a_database_of_version_2_is_brought_up_to_date_whole_or_not(
    step: str, statement: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = filled(tmp_path / "new.db")
    version_2(tmp_path / "old.db", tmp_path / "new.db")
    parts = getattr(sqlite, step).split(";")
    assert len(parts) == {"FROM_2": 5, "FROM_3": 3}[step]
    broken = ";".join((*parts[:statement], "INSERT INTO nothing VALUES (1)", *parts[statement:]))
    before = list(sqlite3.connect(tmp_path / "old.db").iterdump())
    with monkeypatch.context() as patched:
        patched.setattr(sqlite, step, broken)
        with pytest.raises(sqlite3.OperationalError, match="nothing"):
            Store(tmp_path / "old.db")
    assert list(sqlite3.connect(tmp_path / "old.db").iterdump()) == before
    assert restored(tmp_path / "old.db") == wanted


def test_a_database_of_version_3_gets_the_tables_that_it_lacks(tmp_path: Path) -> None:
    wanted = filled(tmp_path / "s.db")
    old = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    old.execute("ALTER TABLE instance DROP COLUMN due_copy")
    old.executescript("DROP TABLE output; DROP TABLE answer; PRAGMA user_version = 3")
    old.close()
    assert restored(tmp_path / "s.db") == wanted
    with Store(tmp_path / "s.db") as store:
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        rows = store.transactions.rows(tables)
    assert [name for (name,) in rows] == ["answer", "event", "instance", "output", "snapshot"]


@pytest.mark.parametrize("pruned", [False, True])
def test_a_database_of_version_1_is_brought_up_to_date(tmp_path: Path, pruned: bool) -> None:
    wanted = filled(tmp_path / "new.db")
    if pruned:
        with Store(tmp_path / "new.db") as store:
            assert store.prune() == 8
    old = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    old.execute("ATTACH ? AS new", (str(tmp_path / "new.db"),))
    old.executescript(VERSION_1)
    old.close()
    with Store(tmp_path / "old.db") as store:
        assert [row["seq"] for row in store.events("a")] == list(range(9 if pruned else 1, 11))
        ledger = store.restore(Ledger, "a", clock=SimulatedClock())
        assert ledger.lawful.snapshot() == wanted
        ledger.note(11, "new")
    assert restored(tmp_path / "old.db") == ledger.lawful.snapshot()
    with sqlite3.connect(tmp_path / "old.db") as database:
        database.execute("UPDATE event SET after = 'x' WHERE seq = 11")
    database.close()
    with Store(tmp_path / "old.db") as store, pytest.raises(StoreError, match="event 11 is not"):
        store.events("a", 10)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_database_of_something_else_is_left_alone(tmp_path: Path, version: int) -> None:
    with sqlite3.connect(tmp_path / "s.db", isolation_level=None) as other:
        other.execute("CREATE TABLE cats(name TEXT)")
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    before = (tmp_path / "s.db").read_bytes()
    with pytest.raises(StoreError, match="is no store: its database has cats"):
        Store(tmp_path / "s.db")
    assert (tmp_path / "s.db").read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "s.db").write_text("no database" * 99)
    with pytest.raises(StoreError, match="is no store: file is not a database"):
        Store(tmp_path / "s.db")


def test_an_event_does_not_wait_long_for_a_lock(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db", timeout=0.0) as store:
        ledger = store.add(Ledger(), "a")
        other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"another process has locked the database for 0.0 s"):
            ledger.note(1, "one")
        assert (ledger.total, store.events("a")) == (0, [])
        other.execute("ROLLBACK")
        other.close()
        ledger.note(2, "two")
        assert [row["seq"] for row in store.events("a")] == [1]


def test_names_numbers_and_clocks_that_cannot_be_kept_are_named(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        nobody: Any = 3
        with pytest.raises(TypeError, match="the name of an instance is a text, not 3"):
            store.add(Ledger(), nobody)
        with pytest.raises(StoreError, match="cannot be a name"):
            store.add(Ledger(), "\ud800")
        ledger = store.add(Ledger(), "a\0b")
        assert (ledger.total, store.names()) == (0, ["a\0b"])
        ledger.note(10**5000, "large")
        assert store.restore(Ledger, "a\0b") == ledger
    with pytest.raises(TypeError, match=r"Ledger: a clock has a method now\(\), which 3 has not"):
        Ledger(clock=nobody)


def test_a_snapshot_with_unknown_keys_is_refused() -> None:
    data = Ledger().lawful.snapshot()
    for wrong in (data | {"extra": 1}, data | {"universe": {"Node": ["a"]}}):
        with pytest.raises(ValueError, match=r"extra|Node"):
            Ledger.lawful.restore(wrong)


def test_an_event_in_the_middle_of_another_ones_transaction_is_refused() -> None:
    """As a signal handler may call it: it would wait for its own thread for ever."""
    told = list[str]()
    with Store(":memory:") as store:
        first, second = store.add(Ledger(), "a"), store.add(Ledger(), "b")

        def handler(statement: str) -> None:
            if "INSERT INTO event" in statement and not told:
                told.append("called")
                try:
                    second.note(1, "one")
                except StoreError as error:
                    told.append(str(error))

        database: Any = store.transactions.database.connection
        database.set_trace_callback(handler)
        first.note(2, "two")
        assert told == [
            "called",
            "a transaction of this thread is not over; is this a signal handler?",
        ]
        assert (first.total, second.total) == (2, 0)
        second.note(3, "three")
        assert [len(store.events(name)) for name in "ab"] == [1, 1]


@pytest.mark.parametrize(("after", "last"), [(0, 10), (3, 10), (9, 10)])
def test_events_that_are_missing_at_the_end_are_told(after: int, last: int, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    filled(path)
    with Store(path) as store:
        assert [row["seq"] for row in store.events("a", after)] == list(range(after + 1, last + 1))
        assert store.events("a", last) == []
    with sqlite3.connect(path) as damaged:
        damaged.execute("DELETE FROM event WHERE name = 'a' AND seq = ?", (last,))
    with Store(path) as store:
        with pytest.raises(StoreError, match=r"^a: events are missing before 10, the last one$"):
            store.events("a", after)
        assert store.events("a", last) == []


def test_events_before_a_snapshot_are_pruned_and_not_missing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    filled(path)
    with Store(path) as store:
        store.restore(Ledger, "a")
        store.snapshot("a")
        assert store.prune() > 0
        assert store.events("a") == store.events("a", 9) == []
        store.restore(Ledger, "a").note(1, "one more")
        assert [row["seq"] for row in store.events("a")] == [11]
    with sqlite3.connect(path) as damaged:
        damaged.execute("UPDATE instance SET seq = 'x' WHERE name = 'a'")
    with (
        Store(path) as store,
        pytest.raises(StoreError, match=r"^a: events are missing before x, the last one$"),
    ):
        store.events("a")
