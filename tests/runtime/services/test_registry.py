"""A registry: of the instances of a store only some are in memory, and no timer is missed."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, Refused, Timer, Undefined, require, transition
from lawful.runtime.instances.access import Fired
from lawful.runtime.registry import Registry
from lawful.runtime.store import Store, StoreBusy, StoreError
from lawful.runtime.timers import SimulatedClock


class Lease(Machine):
    held: Nat = 0
    lapses: Nat = 0
    locked: bool = False
    end: Timer = Timer()

    @transition()
    def take(self, seconds: Nat) -> Nat:
        self.held += 1
        self.end.start(seconds)
        return self.held

    @transition()
    def lock(self, shut: bool) -> None:
        self.locked = shut

    @transition(timer="end")
    def lapse(self) -> Nat:
        require(not self.locked, "it is locked")
        self.lapses += 1
        return self.lapses


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The wall clock."""
    now = [1_000.0]
    monkeypatch.setattr("lawful.runtime.store.clocks.time", lambda: now[0])
    return now


class Walled:
    """The clock of an instance, on which each process begins at another time."""

    def __init__(self, wall: list[float], begun: float) -> None:
        self.wall = wall
        self.begun = begun

    def now(self) -> float:
        return self.wall[0] - self.begun


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.db", synchronous="NORMAL") as made:
        yield made


def registry(store: Store, wall: list[float], most: int = 2, begun: float = 0.0) -> Registry[Lease]:
    clock = Walled(wall, begun)

    def restore(name: str) -> Lease:
        return store.restore(Lease, name, clock=clock, timers="deadline")

    return Registry(store, Lease, most=most, restore=restore)


def test_few_are_in_memory_and_all_are_there(store: Store, wall: list[float]) -> None:
    leases = registry(store, wall)
    for name in "abcd":
        leases.add(Lease(clock=Walled(wall, 0.0)), name)
    assert len(leases) == 2
    for turn in range(3):
        for name in "abcd":
            with leases.use(name) as lease:
                assert lease.take(10) == turn + 1
            assert len(leases) == 2
    assert ("d" in leases, "e" in leases) == (True, False)
    with pytest.raises(StoreError, match="the store has no instance e"), leases.use("e"):
        pass
    assert [row["seq"] for row in store.events("a")] == [1, 2, 3]


def test_what_was_released_takes_no_event(store: Store, wall: list[float]) -> None:
    leases = registry(store, wall)
    kept = leases.add(Lease(clock=Walled(wall, 0.0)), "a")
    leases.release("a")
    leases.release("a")
    with pytest.raises(RuntimeError, match=r"Lease.take: the store has released it: restore"):
        kept.take(1)
    with leases.use("a") as lease:
        assert lease.take(1) == 1
        with pytest.raises(RuntimeError, match="a is used"):
            leases.release("a")
    assert kept.held == 0
    with pytest.raises(StoreError, match="no instance b was added or restored"):
        store.release("b")


def test_who_is_used_stays(store: Store, wall: list[float]) -> None:
    leases = registry(store, wall, most=1)
    for name in "abc":
        leases.add(Lease(clock=Walled(wall, 0.0)), name)
    with leases.use("a") as first, leases.use("b") as second, leases.use("a") as same:
        assert len(leases) == 2
        assert (first is same, first.take(5), second.take(5)) == (True, 1, 1)
    with leases.use("c"):
        assert len(leases) == 1
    with pytest.raises(ValueError, match="one instance or more"):
        Registry(store, Lease, most=0)


def test_no_timer_of_what_is_not_in_memory_is_missed(store: Store, wall: list[float]) -> None:
    leases = registry(store, wall)
    for number in range(6):
        leases.add(Lease(clock=Walled(wall, 0.0)), f"{number}").take(10 * (6 - number))
    heard: list[tuple[str, object]] = []

    def perform(name: str, fired: Fired) -> None:
        heard.append((name, fired.output))

    assert leases.next_due() == 1_010.0
    assert (leases.fire_due(perform), heard) == (0, [])
    wall[0] = 1_025.0
    assert (leases.fire_due(perform), heard) == (2, [("5", 1), ("4", 1)])
    assert leases.next_due() == 1_030.0
    wall[0] = 1_200.0  # A new process, much later; its clock begins anew.
    again = registry(store, wall, begun=1_190.0)
    assert [(due.name, due.at) for due in store.due(Lease, 1_045.0)] == [("3", 1030), ("2", 1040)]
    assert (again.fire_due(perform), len(again)) == (4, 2)
    assert [name for name, _ in heard] == ["5", "4", "3", "2", "1", "0"]
    assert (again.next_due(), list(store.due(Lease))) == (None, [])


def test_what_is_refused_is_tried_again_after_an_event(store: Store, wall: list[float]) -> None:
    leases = registry(store, wall)
    for name in "ab":
        lease = leases.add(Lease(clock=Walled(wall, 0.0)), name)
        lease.take(10)
        lease.lock(name == "a")
    wall[0] += 20
    heard: list[str] = []

    def perform(name: str, fired: Fired) -> None:
        heard.append(name)
        raise KeyError(name)

    with pytest.raises(KeyError, match="b"):
        leases.fire_due(perform)
    assert (heard, leases.next_due()) == (["b"], None)
    assert leases.fire_due(perform) == 0
    with leases.use("a") as lease:
        with pytest.raises(Refused):
            lease.lapse()
        lease.lock(False)
    assert leases.next_due() == 1_010.0
    with pytest.raises(KeyError, match="a"):
        leases.fire_due(perform)
    assert leases.next_due() is None


def test_what_was_refused_is_not_visited_before_its_next_event(
    store: Store, wall: list[float]
) -> None:
    clock, restored = Walled(wall, 0.0), list[str]()

    def restore(name: str) -> Lease:
        restored.append(name)
        return store.restore(Lease, name, clock=clock, timers="deadline")

    def untouched(*_: object) -> None: ...

    leases = Registry(store, Lease, most=1, restore=restore)
    for name in "ab":
        lease = leases.add(Lease(clock=clock), name)
        lease.take(10)
        lease.lock(True)
    wall[0] += 20
    assert [leases.fire_due(untouched) for _ in range(3)] == [0, 0, 0]
    assert restored == ["a", "b"]


def untouched(*_: object) -> None: ...


class Faulty(Machine):
    by: Nat = 0
    end: Timer = Timer()

    @transition()
    def start(self) -> None:
        self.end.start(10)

    @transition(timer="end")
    def divide(self) -> Nat:
        return 7 // self.by


def note(heard: list[str], name: str, _: Fired) -> None:
    heard.append(name)


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.integers(1, 30), st.integers(0, 12)), max_size=40
    )
)
def test_a_registry_does_what_instances_in_memory_do(acts: list[tuple[str, int, int]]) -> None:
    clock = SimulatedClock(1_000.0)
    alone = {name: Lease(clock=clock) for name in "abcdef"}
    with pytest.MonkeyPatch.context() as patched, Store(":memory:") as store:
        patched.setattr("lawful.runtime.store.clocks.time", clock.now)

        def restore(name: str) -> Lease:
            return store.restore(Lease, name, clock=clock, timers="deadline")

        leases = Registry(store, Lease, most=2, restore=restore)
        for name in alone:
            leases.add(Lease(clock=clock), name)
        for name, seconds, later in acts:
            clock.advance(later)
            fired = list[str]()
            leases.fire_due(partial(note, fired))
            due = [name for name, lease in alone.items() if lease.lawful.fire_due(clock.now())]
            assert sorted(fired) == due
            with leases.use(name) as lease:
                assert lease.take(seconds) == alone[name].take(seconds)
        for name, other in alone.items():
            with leases.use(name) as lease:
                assert lease == other


def test_what_another_process_has_written_is_restored_at_the_next_use(
    tmp_path: Path, wall: list[float]
) -> None:
    with Store(tmp_path / "s.db") as here, Store(tmp_path / "s.db") as there:
        mine, others = registry(here, wall), registry(there, wall)
        mine.add(Lease(clock=Walled(wall, 0.0)), "a")
        with others.use("a") as lease:
            assert lease.take(10) == 1
        for turns, leases in ((1, mine), (3, others)):
            with leases.use("a") as lease:
                with pytest.raises(StoreError, match="a went on elsewhere: it has event"):
                    lease.take(20)
                with pytest.raises(StoreError, match="a went on elsewhere"):
                    lease.take(20)
            for more in (1, 2):
                with leases.use("a") as lease:
                    assert lease.take(20) == turns + more
        wall[0] += 100
        fired = list[str]()
        with pytest.raises(StoreError, match="a went on elsewhere"):
            mine.fire_due(partial(note, fired))
        assert (mine.fire_due(partial(note, fired)), fired) == (1, ["a"])
    with Store(tmp_path / "s.db") as kept:
        assert len(kept.events("a")) == 6


@pytest.mark.parametrize("alive", [True, False])
def test_a_timer_that_is_due_while_the_database_is_locked_fires_afterwards(
    alive: bool, tmp_path: Path, wall: list[float]
) -> None:
    fired = list[str]()
    with Store(tmp_path / "s.db", timeout=0.0) as store:
        leases = registry(store, wall)
        leases.add(Lease(clock=Walled(wall, 0.0)), "a").take(10)
        if not alive:
            leases.release("a")
        other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        wall[0] += 20
        for pause in (1, 2, 4):
            with pytest.raises(StoreBusy):
                leases.fire_due(partial(note, fired))
            assert leases.next_due() == wall[0] + pause
            assert leases.fire_due(partial(note, fired)) == 0  # It waits.
            wall[0] += pause
        other.execute("ROLLBACK")
        other.close()
        assert (leases.fire_due(partial(note, fired)), fired) == (1, ["a"])
        assert leases.next_due() is None
        with leases.use("a") as lease:
            lease.take(10)
        assert leases.next_due() == wall[0] + 10


def test_a_timer_with_a_fault_is_tried_again_after_the_next_event(
    store: Store, wall: list[float]
) -> None:
    """The fault is one of the machine, which it would meet again."""
    leases = Registry(store, Faulty, restore=lambda name: store.restore(Faulty, name))
    faulty = leases.add(Faulty(clock=Walled(wall, 0.0)), "a")
    faulty.start()
    wall[0] += 20
    with pytest.raises(Undefined):
        leases.fire_due(untouched)
    assert (leases.next_due(), leases.fire_due(untouched)) == (None, 0)
    faulty.start()
    assert leases.next_due() == wall[0] + 10


def test_threads_use_a_registry(store: Store, wall: list[float]) -> None:
    leases = registry(store, wall, most=2)
    for name in "abcd":
        leases.add(Lease(clock=Walled(wall, 0.0)), name)

    def work(name: str) -> None:
        for _ in range(20):
            with leases.use(name) as lease:
                lease.take(5)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for name in "abcd":
        with leases.use(name) as lease:
            assert lease.held == 20


def test_an_exception_that_somebody_keeps_keeps_no_instance_in_memory(
    store: Store, wall: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = registry(store, wall, most=1)
    leases.add(Lease(), "a")
    leases.add(Lease(), "b")

    def fails(name: str) -> None:
        raise StoreError(f"{name} cannot be left")

    with monkeypatch.context() as patch:
        patch.setattr(store, "release", fails)
        with pytest.raises(StoreError, match=r"^b cannot be left$") as caught, leases.use("a"):
            pass
    for name in "ab":
        leases.release(name)
    assert (len(leases), caught.value.args) == (0, ("b cannot be left",))


def test_an_instance_in_memory_holds_no_use_that_is_over_and_no_text_of_its_own(
    store: Store,
) -> None:
    """Ten thousand of them would take a megabyte each for both."""
    leases = Registry(store, Lease)
    for number in range(150):
        leases.add(Lease(), str(number)).take(3_600)
        with leases.use(str(number)):
            assert str(number) in vars(leases)["_uses"]
    assert len(leases) == 150
    assert len(vars(leases)["_uses"]) <= 100
    places = [place for logged in vars(store)["_logged"].values() for place, *_ in logged.at.timers]
    assert len(places) == 150
    assert len({id(place) for place in places}) == 1
