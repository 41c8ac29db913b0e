"""A transaction of the service and the store: events and statements happen together or not."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Refused
from lawful.runtime import store_transactions as transactions
from lawful.runtime.databases import sqlite
from lawful.runtime.databases.sqlite import Sqlite
from lawful.runtime.instances import observers
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.registry import Registry
from lawful.runtime.store import Store, StoreError
from lawful.runtime.timers import SimulatedClock
from tests.root import PATIENCE
from tests.runtime.services.conftest import Place, store
from tests.runtime.services.interrupting import at_every_place
from tests.runtime.services.test_store import Chosen, Node, Post, Watch, died


@pytest.fixture
def kept(place: Place) -> Iterator[Store]:
    with store(place, snapshot_every=3) as made:
        yield made


@pytest.fixture
def bills(place: Place) -> Iterator[Callable[[], list[Any]]]:
    """A table of the service; gives the function that reads it from another connection."""
    other = place.other()
    other.execute("DROP TABLE IF EXISTS bill")
    other.execute("CREATE TABLE bill(sum INTEGER UNIQUE)")
    yield lambda: [row[0] for row in other.execute("SELECT sum FROM bill ORDER BY sum")]
    other.close()


@pytest.fixture
def put(place: Place) -> Callable[[Any, int], Any]:
    """Puts a row into that table."""
    return lambda db, number: db.execute(f"INSERT INTO bill VALUES ({place.mark})", (number,))


Put = Callable[[Any, int], Any]
Bills = Callable[[], list[Any]]


class Odd(Exception):
    pass


def test_events_and_statements_happen_together_or_not(kept: Store, bills: Bills, put: Put) -> None:
    chosen, heard = kept.add(Chosen.lawful.state(first=0), "c"), list[int]()
    chosen.lawful.observe(lambda done: heard.append(done.args["number"]))

    def act(db: Any, number: int, *, fails: bool) -> int:
        for some in range(4):  # More events than a snapshot comes after.
            chosen.add(number)
            put(db, number + some)
        kept.add(Chosen.lawful.state(first=number), f"new{number}").add(1)
        assert heard == [10] * (len(bills()))
        if fails:
            raise Odd
        return chosen.first

    with pytest.raises(Odd):
        kept.together(lambda db: act(db, 1, fails=True))
    assert (chosen.first, bills(), heard, kept.names()) == (0, [], [], ["c"])
    assert kept.together(lambda db: act(db, 10, fails=False)) == 40
    assert (bills(), heard, kept.names()) == ([10, 11, 12, 13], [10] * 4, ["c", "new10"])
    with pytest.raises(Exception, match=r"(?i)unique"):
        kept.together(lambda db: (chosen.add(5), put(db, 10)))
    assert (chosen.first, bills()) == (40, [10, 11, 12, 13])
    chosen.add(2)
    assert [row["args"]["number"] for row in kept.events("c")] == [10, 10, 10, 10, 2]
    died(kept, "c")
    assert [kept.restore(Chosen, name).first for name in ("c", "new10")] == [42, 11]


def test_an_event_that_fails_inside_takes_nothing_along(
    place: Place, kept: Store, bills: Bills, put: Put
) -> None:
    post = kept.add(Post(most=1), "p")

    def act(db: Any) -> None:
        post.put(b"one")
        with pytest.raises(Refused):
            post.put(b"two")
        db.execute(f"ALTER TABLE {place.prefix}event RENAME COLUMN args TO gone")
        with pytest.raises(Exception, match="args"):
            post.lease(Node("n"), 1)
        db.execute(f"ALTER TABLE {place.prefix}event RENAME COLUMN gone TO args")
        post.lease(Node("m"), 1)
        put(db, 7)

    kept.together(act)
    assert (post.letters, [*post.leases], bills()) == ([b"one"], [Node("m")], [7])
    died(kept, "p")
    assert kept.restore(Post, "p") == post


@pytest.mark.parametrize("how", ["commit", "rollback"])
@pytest.mark.parametrize("raises", [False, True])
def test_who_ends_the_transaction_inside_is_told(
    kept: Store, bills: Bills, put: Put, how: str, raises: bool
) -> None:
    chosen = kept.add(Chosen.lawful.state(first=0), "c")
    other = kept.add(Chosen.lawful.state(first=0), "other")

    def act(db: Any) -> None:
        chosen.add(1)
        put(db, 1)
        getattr(db, how)()
        if raises:
            raise Odd("odd")

    with pytest.raises(Odd if raises else StoreError, match=r"odd|ended inside"):
        kept.together(act)
    there = how == "commit"
    with pytest.raises(RuntimeError, match="its log does not say"):
        chosen.add(1)
    assert (kept.restore(Chosen, "c").first, bills()) == (there, [1] * there)
    other.add(1)
    assert kept.together(lambda db: other.first) == 1


def test_a_transaction_that_the_store_did_not_begin(place: Place) -> None:
    with store(place) as kept:
        chosen = kept.add(Chosen.lawful.state(first=0), "c")
        db: Any = kept.transactions.database.connection
        db.execute("BEGIN")
        if not place.prefix or getattr(place, "shared", None) is False:
            chosen.add(1)  # Nobody else has this connection: it is what an error has left open.
        else:
            for act in (lambda: chosen.add(1), lambda: kept.together(lambda _: 1)):
                with pytest.raises(StoreError, match="the store did not begin; end it"):
                    act()
            assert chosen.first == 0
            db.execute("ROLLBACK")
            chosen.add(1)
        assert kept.restore(Chosen, "c").first == 1


def test_a_commit_that_fails_undoes_everything(place: Place) -> None:
    with store(place) as kept:
        chosen = kept.add(Chosen.lawful.state(first=0), "c")
        db: Any = kept.transactions.database.connection
        if place.mark == "?":
            db.execute("PRAGMA foreign_keys = ON")
        other = place.other()
        other.execute("DROP TABLE IF EXISTS bill")
        other.execute("DROP TABLE IF EXISTS buyer")
        other.execute("CREATE TABLE buyer(name INTEGER PRIMARY KEY)")
        late = "REFERENCES buyer(name) DEFERRABLE INITIALLY DEFERRED"
        other.execute(f"CREATE TABLE bill(sum INTEGER {late})")
        with pytest.raises(Exception, match=r"(?i)foreign key"):
            kept.together(lambda db: (chosen.add(1), db.execute("INSERT INTO bill VALUES (1)")))
        assert (chosen.first, kept.events("c")) == (0, [])
        chosen.add(2)
        assert kept.restore(Chosen, "c").first == 2
        assert other.execute("SELECT * FROM bill").fetchall() == []
        other.close()


def test_what_cannot_be_rolled_back_is_refused_inside() -> None:
    with Store(":memory:") as kept:
        kept.add(Chosen.lawful.state(first=0), "c")
        registry = Registry(kept, Chosen, most=1)
        registry.add(Chosen.lawful.state(first=0), "d")
        acts: list[Callable[[Any], object]] = [
            lambda _: kept.restore(Chosen, "c"),
            lambda _: kept.release("c"),
            lambda _: kept.remove("c"),
            lambda _: kept.prune(),
            lambda _: kept.close(),
        ]
        for act in acts:
            with pytest.raises(RuntimeError, match="a transaction of the store is not over"):
                kept.together(act)
        with pytest.raises(StoreError, match="a transaction of this thread is not over"):
            kept.together(lambda _: kept.together(lambda _: 1))
        kept.together(lambda _: registry.add(Chosen.lawful.state(first=0), "e"))
        assert (kept.names(), len(registry)) == (["c", "d", "e"], 2)  # Released by the next use.


def test_another_thread_waits_or_is_told(tmp_path: Path) -> None:
    told, done = list[str](), threading.Event()
    with Store(tmp_path / "s.db", synchronous="NORMAL") as kept:
        mine, theirs = (kept.add(Chosen.lawful.state(first=0), name) for name in "ab")

        def other() -> None:
            try:
                mine.add(100)
            except RuntimeError as error:
                told.append(str(error))
            done.set()
            theirs.add(1)

        def act(_: Any) -> None:
            mine.add(1)
            thread.start()
            assert done.wait(PATIENCE)
            raise Odd

        thread = threading.Thread(target=other)
        with pytest.raises(Odd):
            kept.together(act)
        thread.join(PATIENCE)
        assert told == ["a is in a transaction of another thread"]
        assert (mine.first, theirs.first) == (0, 1)
        assert [len(kept.events(name)) for name in "ab"] == [0, 1]


FILES = (transactions.__file__, sqlite.__file__, observers.__file__, __file__)


def test_an_interrupted_transaction_is_kept_and_done_or_neither() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        with Store(":memory:", snapshot_every=2) as kept:
            chosen, heard = kept.add(Chosen.lawful.state(first=0), "c"), list[int]()
            chosen.lawful.observe(lambda done: heard.append(done.args["number"]))
            kept.transactions.database.execute("CREATE TABLE bill(sum)", ())

            def act(db: Any) -> None:
                chosen.add(1)
                db.execute("INSERT INTO bill VALUES (3)")
                chosen.add(2)

            came = attempt(lambda: kept.together(act))
            (bills,) = kept.transactions.row("SELECT count(*) FROM bill", ())
            assert (chosen.first, bills) in (((0, 0), (3, 1)) if came else ((3, 1),))
            assert not kept.transactions.database.connection.in_transaction
            chosen.add(4)
            assert heard[-1] == 4 and sum(heard) == chosen.first
            assert kept.restore(Chosen, "c") == chosen

    assert at_every_place(FILES, play) > 60


ON_A_SERVER = [
    pytest.param(each, marks=pytest.mark.xdist_group("postgres"))
    for each in ("postgres", "postgres of the service")
]
ANYWHERE: tuple[str, ...] = ()  # The frames of psycopg and of the standard library, too.


def interrupts_on_a_server(place: Place, files: tuple[str, ...], every: int) -> int:
    """Interrupt a transaction on a server at each place, or at each of so many; their number."""
    postgres = pytest.importorskip("lawful.runtime.databases.postgres")
    files = (*files, postgres.__file__) if files else files
    other = place.other()
    other.execute("DROP TABLE IF EXISTS bill")
    other.execute("CREATE TABLE bill(of TEXT, sum INTEGER)")
    names = (f"c{number}" for number in range(10_000))
    with store(place, snapshot_every=2) as kept:

        def play(attempt: Callable[..., bool]) -> None:
            name, heard = next(names), list[Stepped]()
            chosen = kept.add(Chosen.lawful.state(first=0), name)
            chosen.lawful.observe(heard.append)  # In C: an interrupt comes before it or after it.

            def act(db: Any) -> None:
                chosen.add(1)
                db.execute("INSERT INTO bill VALUES (%s, 3)", (name,))
                chosen.add(2)

            came = attempt(lambda: kept.together(act))
            count = "SELECT count(*) FROM bill WHERE of = %s"
            (bills,) = other.execute(count, (name,)).fetchone()
            assert (chosen.first, bills) in (((0, 0), (3, 1)) if came else ((3, 1),))
            kept.transactions.database.idle()  # StoreError in a transaction.
            chosen.add(4)
            told = [done.args["number"] for done in heard]
            assert told[-1] == 4 and sum(told) == chosen.first
            assert kept.restore(Chosen, name) == chosen

        return at_every_place(files, play, every)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("place", ON_A_SERVER, indirect=True)
def test_so_is_one_on_a_server(place: Place) -> None:
    assert interrupts_on_a_server(place, FILES, every=7) > 60


@pytest.mark.nightly
@pytest.mark.parametrize("place", ON_A_SERVER, indirect=True)
def test_so_is_one_on_a_server_at_every_place(place: Place) -> None:
    assert interrupts_on_a_server(place, FILES, every=1) > 60


@pytest.mark.nightly
@pytest.mark.parametrize("place", ON_A_SERVER, indirect=True)
def test_so_is_one_on_a_server_inside_of_psycopg(place: Place) -> None:
    assert interrupts_on_a_server(place, ANYWHERE, every=5) > 300


Act = tuple[int, int, bool]


@settings(max_examples=40)
@given(st.lists(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5)), max_size=6), max_size=8))
def test_after_any_transactions_memory_is_what_the_store_says(
    blocks: list[list[tuple[int, int]]],
) -> None:
    clock, node = SimulatedClock(1.0), Node("n")
    with Store(":memory:", snapshot_every=4) as kept:
        watch = kept.add(Watch(clock=clock), "w")
        post = kept.add(Post(clock=clock), "p")

        def step(act: int, number: int) -> None:
            match act:
                case 0 | 1:
                    post.put(b"%d" % number)
                case 2:
                    post.lease(Node(str(number)), number)
                case 3:
                    post.lawful.fire_due(clock.advance(number))
                case 4:
                    watch.make(Node(str(number)))
                case 5:
                    watch.put(Node(str(number)))
                case 6:
                    kept.snapshot("p")
                case _:
                    raise Odd

        for block in blocks:
            before = copy.copy(post), copy.copy(watch)

            def act(_: Any, block: list[tuple[int, int]] = block) -> None:
                for each in block:
                    step(*each)

            try:
                kept.together(act)
            except Exception:
                assert (post, watch) == before
                armed = [(each.empty.deadline, each.leases) for each in (post, before[0])]
                assert armed[0] == armed[1]
            again = kept.restore(Post, "p", clock=clock), kept.restore(Watch, "w", clock=clock)
            assert again == (post, watch)
            post, watch = again
        assert node not in watch.posts


def test_a_connection_of_another_mode_is_refused(tmp_path: Path) -> None:
    import sqlite3

    db = sqlite3.connect(tmp_path / "s.db")
    db.execute("CREATE TABLE bill(sum INTEGER)")
    db.execute("INSERT INTO bill VALUES (1)")
    with pytest.raises(StoreError, match="a transaction is open on the connection"):
        Sqlite(db)
    db.commit()
    Sqlite(db)
    db.execute("UPDATE lawful_store SET version = 9")
    db.commit()
    with pytest.raises(StoreError, match="a store of version 9; this lawful reads 5"):
        Sqlite(db)
    db.close()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "place", ["sqlite of the service", "postgres", "postgres of the service"], indirect=True
)
def test_sqlalchemy_joins_in(place: Place, bills: Bills) -> None:
    """Its connection is in autocommit mode, so it begins and ends nothing by itself."""
    sa: Any = pytest.importorskip("sqlalchemy")
    orm: Any = pytest.importorskip("sqlalchemy.orm")
    of: Any = place
    back_end: Any = Sqlite
    if place.mark == "?":
        engine = sa.create_engine(f"sqlite:///{of.path}")
    else:
        from lawful.runtime.databases.postgres import Postgres

        parts = dict(part.split("=") for part in of.where.split())
        engine = sa.create_engine("postgresql+psycopg://", connect_args=parts)
        back_end = Postgres
    bill: Any = sa.table("bill", sa.column("sum"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as own:
        kept = Store(back_end(own.connection.driver_connection))
        chosen = kept.add(Chosen.lawful.state(first=0), "c")

        def act(number: int) -> int:
            chosen.add(number)
            own.execute(sa.insert(bill).values(sum=number))
            with orm.Session(own, join_transaction_mode="create_savepoint") as session:
                session.execute(sa.insert(bill).values(sum=number + 1))
                session.commit()
            return 1 // number

        kept.together(lambda _: act(5))
        with pytest.raises(Exception, match=r"(?i)unique"):
            kept.together(lambda _: act(4))
        with pytest.raises(ZeroDivisionError):
            kept.together(lambda _: act(0))
        kept.together(lambda _: act(8))
        assert (chosen.first, bills()) == (13, [5, 6, 8, 9])
        assert kept.restore(Chosen, "c").first == 13
        kept.close()
