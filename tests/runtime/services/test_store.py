"""Instances in a database: what happened is there, whole, or it did not happen."""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import (
    Clock,
    Machine,
    Nat,
    Opaque,
    Param,
    Refused,
    Sort,
    State,
    Timer,
    ignore,
    initial,
    require,
    transition,
)
from lawful.runtime.databases.sqlite import seal
from lawful.runtime.store import Policy, Store, StoreError, Timers
from lawful.runtime.timers import SimulatedClock

Payload = Annotated[bytes, Opaque("Payload")]


class Box(State):
    OPEN = "open"
    SHUT = "shut"


class Node(Sort):
    pass


class Post(Machine):
    """Letters and leases, with everything that a row may hold."""

    state: Box = Box.OPEN
    most: Param[Nat] = 3
    letters: list[Payload] = []
    leases: dict[Node, Timer] = {}
    empty: Timer = Timer()
    emptied: Nat = 0

    @transition(source=Box.OPEN)
    def put(self, content: Payload) -> Nat | None:
        require(len(self.letters) < self.most, "it is full")
        self.letters.append(content)
        self.empty.start(10)
        return len(self.letters)

    @transition(source=Box.OPEN, target=Box.SHUT)
    def shut(self) -> None: ...

    @transition(source=Box.SHUT, target=Box.OPEN)
    def open(self) -> None: ...

    closed = ignore("put", source=Box.SHUT, because="it is shut")

    @transition()
    def lease(self, node: Node, seconds: Nat) -> None:
        self.leases[node] = Timer()
        self.leases[node].start(seconds)

    @transition(timer="leases[node]")
    def lapse(self, node: Node) -> None:
        del self.leases[node]

    @transition(timer="empty")
    def take(self) -> Nat:
        self.letters.clear()
        self.emptied += 1
        return self.emptied


class Chosen(Machine):
    first: Nat

    @initial
    def begin(self, first: Nat) -> None:
        self.first = first

    @transition()
    def add(self, number: Nat) -> None:
        self.first += number


class Other(Machine):
    first: Nat = 0

    @transition()
    def add(self, number: Nat) -> None:
        self.first += 2 * number


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "kept.db", snapshot_every=4) as made:
        yield made


def died(store: Store, *names: str) -> None:
    """What a process does that dies: it leaves no snapshots, and the rest is closed for it."""
    for name in names:
        store._logged.pop(name)  # pyright: ignore[reportPrivateUsage]  # Nothing else ends so.


def again(store: Store, tmp_path: Path) -> Store:
    """As another process finds it."""
    store.close()
    return Store(tmp_path / "kept.db", snapshot_every=4)


def test_an_instance_comes_back_as_it_was(store: Store, tmp_path: Path) -> None:
    clock = SimulatedClock(100.3)
    post = store.add(Post(most=2, clock=clock), "p")
    post.put(b"\x00one")
    clock.advance(0.1)
    post.put(b"two")
    with pytest.raises(Refused, match="it is full"):
        post.put(b"three")
    post.shut()
    post.put(b"four")
    post.lease(Node("n"), 5)
    clock.advance(5.7)
    assert [fired.event for fired in post.lawful.fire_due(clock.now())] == ["lapse"]
    post.lease(Node("m"), 7)
    assert [(e["seq"], e["transition"], e["after"]) for e in store.events("p")] == [
        (1, "put", "OPEN"),
        (2, "put", "OPEN"),
        (3, "shut", "SHUT"),
        (4, "lease", "SHUT"),
        (5, "lapse", "SHUT"),
        (6, "lease", "SHUT"),
    ]
    with again(store, tmp_path) as reopened:
        assert (reopened.names(), "p" in reopened, "q" in reopened) == (["p"], True, False)
        back = reopened.restore(Post, "p", clock=SimulatedClock(7.0))
        assert back == post
        assert back.most == 2
        assert back.empty.deadline == pytest.approx(7.0 + 10 - 5.7)
        assert back.leases[Node("m")].deadline == pytest.approx(14.0)
        back.open()
        assert len(reopened.events("p")) == 7


@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize("told", [("remaining", 6.0), ("deadline", 2.0), ("restart", 10.0)])
def test_timers_go_on_as_they_are_told(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: tuple[Timers, float],
    dies: bool,
) -> None:
    timers, left = told
    clock, wall = SimulatedClock(50.0), [1_000.0]
    monkeypatch.setattr("lawful.runtime.store.clocks.time", lambda: wall[0])
    post = store.add(Post(clock=clock), "p")
    post.put(b"one")
    clock.advance(4)
    wall[0] += 4
    post.shut()
    wall[0] += 4
    died(store, *["p"] * dies)
    for _ in range(2):  # Also of an instance that was restored so, and of its snapshot.
        store = again(store, tmp_path)
        back = store.restore(Post, "p", timers=timers, clock=SimulatedClock(20.0))
        assert back.empty.deadline == 20.0 + left
    store.close()


def test_what_cannot_be_kept_has_not_happened(store: Store, tmp_path: Path) -> None:
    post = store.add(Post(), "p")
    heard: list[str] = []
    post.lawful.observe(lambda done: heard.append(done.event))
    post.put(b"one")
    before = copy.copy(post)
    blocker = sqlite3.connect(tmp_path / "kept.db", isolation_level=None)
    blocker.execute("CREATE TRIGGER no BEFORE INSERT ON event BEGIN SELECT RAISE(FAIL, 'no'); END")
    with pytest.raises(sqlite3.DatabaseError, match="no"):
        post.put(b"two")
    assert (post, heard) == (before, ["put"])
    assert post.empty.deadline == before.empty.deadline
    blocker.execute("DROP TRIGGER no")
    blocker.close()
    assert post.put(b"three") == 2
    assert [row["seq"] for row in store.events("p")] == [1, 2]
    with again(store, tmp_path) as reopened:
        assert reopened.restore(Post, "p") == post


def test_a_snapshot_that_cannot_be_kept_takes_its_event_along(store: Store, tmp_path: Path) -> None:
    post = store.add(Post(), "p")
    for _ in range(3):
        post.lease(Node("n"), 1)
    other = sqlite3.connect(tmp_path / "kept.db", isolation_level=None)
    other.execute("CREATE TRIGGER no BEFORE INSERT ON snapshot BEGIN SELECT RAISE(FAIL, 'no'); END")
    before = copy.copy(post)
    with pytest.raises(sqlite3.DatabaseError, match="no"):
        post.shut()
    assert post == before
    assert len(store.events("p")) == 3
    other.close()


def test_two_who_keep_one_instance_do_not_both_go_on(store: Store, tmp_path: Path) -> None:
    mine = store.add(Chosen.lawful.state(first=0), "c")
    with Store(tmp_path / "kept.db") as elsewhere:
        theirs = elsewhere.restore(Chosen, "c")
        mine.add(1)
        with pytest.raises(StoreError, match="c went on elsewhere: it has event 1"):
            theirs.add(2)
        assert (mine.first, theirs.first) == (1, 0)
        assert elsewhere.restore(Chosen, "c").first == 1


def test_what_no_instance_needs_to_come_back_is_pruned(tmp_path: Path) -> None:
    with Store(tmp_path / "kept.db", snapshot_every=4) as store:
        posts = {name: store.add(Post(), name) for name in "ab"}
        for name, events in (("a", 6), ("b", 3)):
            for number in range(events):
                (posts[name].shut if number % 2 == 0 else posts[name].open)()
        assert store.prune() == 4
        assert store.prune() == 0
        assert [row["seq"] for row in store.events("a")] == [5, 6]
        assert [row["seq"] for row in store.events("b")] == [1, 2, 3]
        posts["a"].shut()
        assert [row["seq"] for row in store.events("a")] == [5, 6, 7]
        copies = {name: copy.copy(post) for name, post in posts.items()}
    with Store(tmp_path / "kept.db") as again:
        assert {name: again.restore(Post, name) for name in "ab"} == copies


@pytest.mark.parametrize("remove", [False, True])
def test_nothing_is_written_over_what_went_on_elsewhere_and_was_pruned(
    remove: bool, tmp_path: Path
) -> None:
    with Store(tmp_path / "kept.db") as store, Store(tmp_path / "kept.db") as other:
        mine, theirs = store.add(Post(), "a"), other.restore(Post, "a")
        for _ in range(3):
            theirs.shut()
            theirs.open()
        theirs.shut()
        other.snapshot("a")
        assert other.prune() == 7
        if remove:
            other.remove("a")
        for act in (mine.shut, lambda: store.snapshot("a")):
            with pytest.raises(StoreError, match="a went on elsewhere, or was removed"):
                act()
        assert mine.state is Box.OPEN
        assert ("a" in store, store.events("a")) == (not remove, [])


def test_a_removed_instance_is_kept_nowhere_and_its_name_is_free(store: Store) -> None:
    post, twin = store.add(Post(), "a"), store.add(Post(), "b")
    post.shut()
    twin.shut()
    store.remove("a")
    assert (store.names(), store.events("a"), len(store.events("b"))) == (["b"], [], 1)
    post.open()  # It is an instance like any other.
    assert store.add(post, "a") is post
    post.shut()
    assert [row["transition"] for row in store.events("a")] == ["shut"]
    with pytest.raises(StoreError, match="the store has no instance c"):
        store.remove("c")


def test_what_is_not_as_it_was_is_said(store: Store, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="has to be called first"):
        store.add(Chosen(), "c")
    chosen = Chosen()
    chosen.begin(5)
    store.add(chosen, "c")
    chosen.add(1)
    with pytest.raises(StoreError, match="has an instance c already"):
        store.add(Other(), "c")
    with pytest.raises(ValueError, match="is kept already"):
        store.add(chosen, "d")
    assert "d" not in store
    with pytest.raises(StoreError, match="no instance e"):
        store.restore(Chosen, "e")
    with pytest.raises(StoreError, match="no instance e was added or restored"):
        store.snapshot("e")
    with pytest.raises(StoreError, match="c is of the machine Chosen, not of Other"):
        store.restore(Other, "c")
    db = sqlite3.connect(tmp_path / "kept.db", isolation_level=None)
    db.execute("UPDATE event SET behaviour = 'x'")
    with pytest.raises(StoreError, match="c: event 1 is not as it was written: its checksum"):
        store.restore(Chosen, "c")
    seal(db)
    with pytest.raises(StoreError, match="c: event 1, add, is of another Chosen"):
        store.restore(Chosen, "c", policy="same")
    with pytest.raises(StoreError, match="c went on elsewhere"):
        store.snapshot("c")
    assert chosen.first == 6
    db.execute("PRAGMA user_version = 9")
    db.close()
    with pytest.raises(StoreError, match="version 9; this lawful reads 1 to 5"):
        Store(tmp_path / "kept.db")


Act = tuple[int, int]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 8)), max_size=25))
def test_after_any_events_the_instance_comes_back_and_goes_on_alike(acts: list[Act]) -> None:
    store, clock = Store(":memory:", snapshot_every=5), SimulatedClock(0.1)
    post = store.add(Post(clock=clock), "p")
    for act, number in acts:
        do(post, clock, act, number)
    again = SimulatedClock(clock.now())
    alone, back = copy.copy(post), store.restore(Post, "p", clock=again)
    assert back == alone
    for act, number in acts:
        do(alone, clock, act, number)
        do(back, again, act, number)
    assert back == alone
    store.close()


def do(post: Post, clock: SimulatedClock, act: int, number: int) -> None:
    match act:
        case 0 if post.state == Box.OPEN:
            post.shut()
        case 1 if post.state == Box.SHUT:
            post.open()
        case 2 | 3 if len(post.letters) < 3 or post.state == Box.SHUT:
            post.put(b"%d" % number)
        case 4:
            post.lease(Node(str(number % 3)), number)
        case _:
            post.lawful.fire_due(clock.advance(number / 10))


class Watch(Machine):
    """A clock and a part with a timer, whose deadline the clock's ticks decide."""

    clock: Clock = Clock(tick=0.3)
    posts: dict[Node, Post] = {}
    at: Nat = 0

    @transition()
    def make(self, node: Node) -> None:
        self.posts[node] = Post()

    @transition()
    def put(self, node: Node) -> Nat:
        self.posts[node].lease(node, 2)
        self.at = self.clock.now
        return self.at


def test_parts_and_ticks_come_back_and_are_undone(store: Store, tmp_path: Path) -> None:
    clock = SimulatedClock(5.0)
    watch = store.add(Watch(clock=clock), "w")
    clock.advance(0.95)
    watch.make(Node("n"))
    clock.advance(0.3)
    assert watch.put(Node("n")) == 4
    other = sqlite3.connect(tmp_path / "kept.db", isolation_level=None)
    other.execute("CREATE TRIGGER no BEFORE INSERT ON event BEGIN SELECT RAISE(FAIL, 'no'); END")
    due = watch.posts[Node("n")].leases[Node("n")].deadline
    clock.advance(1)
    for event in ("make", "put"):
        with pytest.raises(sqlite3.DatabaseError, match="no"):
            watch.lawful.take(event, Node("n"))
    assert (watch.at, watch.posts[Node("n")].leases[Node("n")].deadline) == (4, due)
    other.execute("DROP TRIGGER no")
    other.close()
    again = SimulatedClock(60.0)
    back = store.restore(Watch, "w", clock=again)
    assert (back, back.clock.now) == (watch, 4)
    again.advance(0.3)
    assert back.put(Node("n")) == 5


@pytest.mark.parametrize(
    ("forged", "policy", "what"),
    [
        ("UPDATE event SET args = '{}'", "same", "has other arguments: KeyError"),
        ("UPDATE event SET transition = 'gone'", "replay", "has other arguments: KeyError"),
        ("UPDATE event SET time = 'x'", "same", "are no times"),
        ("UPDATE event SET time = 'x'", "take", "are no times"),
        ("UPDATE event SET changed = '[]'", "take", "a row tells no change: TypeError"),
        ("UPDATE event SET changed = '{}'", "take", "a row tells no change: KeyError"),
        ('UPDATE event SET changed = \'{"variables":{"state":"SHUT"}}\'', "same", "once they led"),
        ("UPDATE snapshot SET wall = 'x'", "same", "are no times"),
        ("UPDATE snapshot SET wall = 'x', seq = 1; DELETE FROM event", "take", "are no times"),
        ("UPDATE snapshot SET started = '[]'", "take", "of no timer when it was started"),
        ("UPDATE snapshot SET started = '{\"empty\": null}'", "take", "are no times"),
    ],
)
def test_rows_that_nobody_wrote_are_refused(
    tmp_path: Path, forged: str, policy: Policy, what: str
) -> None:
    with Store(tmp_path / "s.db") as store:
        store.add(Post(), "a").put(b"a")
        died(store, "a")
    with sqlite3.connect(tmp_path / "s.db") as database:
        database.executescript(forged)
    with (
        Store(tmp_path / "s.db") as store,
        pytest.raises(StoreError, match=r"its checksum|missing"),
    ):
        store.restore(Post, "a")
    with database:
        seal(database)  # As if it came from version 1, which has no checksums.
    database.close()
    with Store(tmp_path / "s.db") as store, pytest.raises(StoreError, match=what):
        store.restore(Post, "a", policy=policy)
