"""What a store asks of its database: each back end passes the same tests."""

from __future__ import annotations

import copy
import gc
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from lawful import Machine, Nat, transition
from lawful.runtime import store_transactions as transactions
from lawful.runtime.databases import postgres as postgresql
from lawful.runtime.databases import sqlite
from lawful.runtime.databases.database import SAVEPOINT
from lawful.runtime.store import Store, StoreBusy, StoreError
from lawful.runtime.timers import SimulatedClock
from tests.root import ROOT
from tests.runtime.services.conftest import PLACES, Place, store
from tests.runtime.services.interrupting import at_every_place
from tests.runtime.services.test_store import Chosen, Node, Post, died


@pytest.fixture
def kept(place: Place) -> Iterator[Store]:
    with store(place, snapshot_every=4) as made:
        yield made


def test_an_instance_comes_back_as_it_was(place: Place) -> None:
    clock = SimulatedClock(100.3)
    with store(place, snapshot_every=4) as kept:
        post = kept.add(Post(most=2, clock=clock), "p")
        for turn in range(6):
            clock.advance(0.1)
            post.lease(Node(f"n{turn % 4}"), turn)
        post.put(b"\x00one")
        alone = copy.copy(post)
        died(kept, "p")
    with store(place) as kept:
        assert (kept.names(), "p" in kept, "q" in kept) == (["p"], True, False)
        assert [each.name for each in kept.due(Post)] == ["p"]
        back = kept.restore(Post, "p", clock=SimulatedClock(7.0))
        assert (back, back.empty.deadline) == (alone, 17.0)
        back.shut()
        assert [row["seq"] for row in kept.events("p")] == list(range(1, 9))
        assert kept.prune() == 7
        kept.remove("p")
        assert (kept.names(), kept.events("p"), list(kept.due(Post))) == ([], [], [])


def test_what_cannot_be_kept_has_not_happened(place: Place, kept: Store) -> None:
    post = kept.add(Post(), "p")
    post.put(b"one")
    before, heard = copy.copy(post), list[str]()
    post.lawful.observe(lambda done: heard.append(done.event))
    other = place.other()
    other.execute(f"ALTER TABLE {place.prefix}event RENAME COLUMN args TO gone")
    with pytest.raises(Exception, match="args"):
        post.put(b"two")
    assert (post, heard) == (before, [])
    other.execute(f"ALTER TABLE {place.prefix}event RENAME COLUMN gone TO args")
    assert post.put(b"three") == 2
    assert [row["seq"] for row in kept.events("p")] == [1, 2]
    other.execute(f"ALTER TABLE {place.prefix}event RENAME TO gone")
    other.close()
    for body in (b"four", b"five"):  # Nothing was committed, so nobody has to ask.
        before = copy.copy(post)
        with pytest.raises(Exception, match=r"no such table|does not exist"):
            post.put(body)
        assert post == before


def test_two_who_keep_one_instance_do_not_both_go_on(place: Place, kept: Store) -> None:
    mine = kept.add(Chosen.lawful.state(first=0), "c")
    with store(place) as elsewhere:
        theirs = elsewhere.restore(Chosen, "c")
        with pytest.raises(StoreError, match="the store has an instance c already"):
            elsewhere.add(Chosen.lawful.state(first=0), "c")
        mine.add(1)
        with pytest.raises(StoreError, match="c went on elsewhere: it has event 1"):
            theirs.add(2)
        with pytest.raises(StoreError, match="c went on elsewhere, or was removed"):
            elsewhere.snapshot("c")
        assert (mine.first, theirs.first) == (1, 0)
        assert elsewhere.restore(Chosen, "c").first == 1


def test_a_lock_is_not_waited_for_long(place: Place) -> None:
    with store(place, timeout=0.001) as kept:
        chosen = kept.add(Chosen.lawful.state(first=0), "c")
        other = place.other()
        other.execute("BEGIN")
        other.execute(f"UPDATE {place.prefix}instance SET seq = seq")
        with pytest.raises(StoreBusy, match="another process has locked"):
            chosen.add(2)
        for act in (lambda: kept.restore(Chosen, "c"), lambda: kept.snapshot("c")):
            with pytest.raises(StoreBusy, match="another process has locked"):
                act()
        assert chosen.first == 0
        other.execute("ROLLBACK")
        other.close()
        chosen.add(3)
        assert [row["seq"] for row in kept.events("c")] == [1]


@pytest.mark.parametrize(
    ("forged", "what"),
    [
        ("DELETE FROM {}event WHERE seq = 2", "events are missing before 2"),
        ("UPDATE {}event SET args = '[]' WHERE seq = 2", "event 2 is not as it was written"),
        ("UPDATE {}snapshot SET seq = 1", "the snapshot is not as it was written"),
        ("DELETE FROM {}snapshot", "no instance c"),
    ],
)
def test_rows_that_are_changed_or_gone_are_noticed(place: Place, forged: str, what: str) -> None:
    with store(place) as kept:
        chosen = kept.add(Chosen.lawful.state(first=0), "c")
        chosen.add(1)
        chosen.add(2)
        died(kept, "c")
        other = place.other()
        other.execute(forged.format(place.prefix))
        other.close()
        with pytest.raises(StoreError, match=what):
            kept.restore(Chosen, "c")


SHORT = (postgresql,)
WHOLE = (transactions, sqlite, postgresql)


@pytest.mark.parametrize(
    ("place", "modules"),
    [
        ("postgres", SHORT),
        *(pytest.param(each, WHOLE, marks=pytest.mark.nightly) for each in PLACES),
    ],
    indirect=["place"],
)
def test_an_interrupted_event_is_kept_and_done_or_neither(
    kept: Store, modules: tuple[ModuleType, ...]
) -> None:
    """At each place in the code of the back end, or of the store, too; `test_interrupts` tries all
    code, with SQLite."""
    files = tuple(str(module.__file__) for module in modules)
    names = iter(map(str, range(10_000)))

    def play(attempt: Callable[..., bool]) -> None:
        name = next(names)
        chosen = kept.add(Chosen.lawful.state(first=0), name)
        chosen.add(1)
        attempt(lambda: chosen.add(2))
        assert sum(row["args"]["number"] for row in kept.events(name)) == chosen.first
        chosen.add(4)
        assert kept.restore(Chosen, name) == chosen

    assert at_every_place(files, play) >= 10
    gc.collect()


def test_the_protocol(place: Place) -> None:
    """What runs in handlers of exceptions runs when it is read, and raises what went wrong."""
    with store(place) as kept:
        kept.add(Chosen.lawful.state(first=0), "c")
        database, sql = kept.transactions.database, kept.transactions.sql
        database.idle()
        database.rollback()  # None is open.
        there, elsewhere = (database.asking(sql.is_there, (name,)) for name in "cd")
        wrong = database.asking("SELECT 1 FROM nothing WHERE name = ?", ("c",))
        assert (len([*there]), [*elsewhere]) == (1, [])
        with pytest.raises(Exception, match=r"nothing|None"):
            _ = [*wrong]
        database.begin()
        remove = database.running(f"DELETE FROM {database.prefix}instance")
        assert database.execute(sql.names, ()).fetchone() == ("c",)
        _ = [*remove]
        assert database.execute(sql.names, ()).fetchone() is None
        database.rollback()
        assert kept.names() == ["c"]
        with pytest.raises(Exception, match=r"savepoint|\d+"):
            _ = [*database.running(f"ROLLBACK TO {SAVEPOINT}")]
        database.rollback()
        row: Any = database.execute(
            "SELECT ?, CAST(2.5 AS DOUBLE PRECISION), ?", ("é\n", None)
        ).fetchall()
        assert row == [("é\n", 2.5, None)]


def test_names_that_a_database_cannot_keep_are_refused(kept: Store) -> None:
    with pytest.raises(StoreError, match="cannot be a name"):
        kept.add(Post(), "\ud800")
    try:
        kept.add(Post(), "a\0b")
    except StoreError as error:
        assert "PostgreSQL keeps no character 0" in str(error)
    else:
        assert kept.names() == ["a\0b"]
    post = kept.add(Post(), "ü 'quoted' ?")
    post.put("ü\0".encode())
    assert kept.restore(Post, "ü 'quoted' ?") == post


PAGE = ROOT / "docs" / "store.md"


@pytest.mark.xdist_group("postgres")
def test_the_example_of_the_page(postgres: str) -> None:
    """That with PostgreSQL, which the tests of pages leave out."""
    (text,) = re.findall(
        r"^```py\n(import psycopg\n.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S
    )
    import psycopg

    class Till(Machine):
        paid: Nat = 0

        @transition()
        def pay(self, amount: Nat) -> Nat:
            self.paid += amount
            return self.paid

    names: dict[str, Any] = {"Store": Store, "Till": Till}
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute("DROP SCHEMA IF EXISTS lawful CASCADE")
        other.execute("DROP TABLE IF EXISTS invoice")
        other.execute("CREATE TABLE invoice(till TEXT, amount INTEGER)")
        exec(text.replace("dbname=shop", postgres), names)
        rows = other.execute("SELECT till, amount FROM invoice").fetchall()
    assert (rows, names["till"].paid) == ([("a", 20)], 20)
    names["store"].close()
    names["connection"].close()
