"""Newer code over an older store: states are taken over, however the process before ended."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Param, State, Timer, invariant, require, transition
from lawful.runtime.migration import Migration
from lawful.runtime.store import Policy, Store, StoreError
from lawful.runtime.timers import SimulatedClock
from tests.runtime.services.test_store import died

Version = type[Machine]


def first() -> Version:
    class Phase(State):
        OPEN = "open"
        SHUT = "shut"

    class Till(Machine):
        state: Phase = Phase.OPEN
        seats: Param[Nat] = 4
        paid: Nat = 0
        slips: dict[Nat, Nat] = {}
        idle: Timer = Timer()

        @transition(source=Phase.OPEN)
        def pay(self, slip: Nat, amount: Nat) -> None:
            self.paid += amount
            self.slips[slip] = amount
            self.idle.start(60)

        @transition(source=Phase.OPEN, target=Phase.SHUT)
        def shut(self) -> None: ...

    return Till


def with_a_transition() -> Version:
    class Phase(State):
        OPEN = "open"
        SHUT = "shut"

    class Till(Machine):
        state: Phase = Phase.OPEN
        seats: Param[Nat] = 4
        paid: Nat = 0
        slips: dict[Nat, Nat] = {}
        idle: Timer = Timer()

        @transition(source=Phase.OPEN)
        def pay(self, slip: Nat, amount: Nat) -> None:
            self.paid += amount
            self.slips[slip] = amount
            self.idle.start(60)

        @transition(source=Phase.OPEN)
        def refund(self, slip: Nat) -> None:
            require(slip in self.slips, "no such slip")
            self.paid -= min(self.paid, 2 * self.slips[slip])
            del self.slips[slip]

        @transition(source=Phase.OPEN, target=Phase.SHUT)
        def shut(self) -> None: ...

    return Till


def with_a_repaired_guard() -> Version:
    class Phase(State):
        OPEN = "open"
        SHUT = "shut"

    class Till(Machine):
        state: Phase = Phase.OPEN
        seats: Param[Nat] = 4
        paid: Nat = 0
        slips: dict[Nat, Nat] = {}
        idle: Timer = Timer()

        @transition(source=Phase.OPEN)
        def pay(self, slip: Nat, amount: Nat) -> None:
            require(slip not in self.slips, "it is paid already")
            self.paid += amount
            self.slips[slip] = amount
            self.idle.start(60)

        @transition(source=Phase.OPEN)
        def refund(self, slip: Nat) -> None:
            require(slip in self.slips, "no such slip")
            self.paid -= self.slips[slip]
            del self.slips[slip]

        @transition(source=Phase.OPEN, target=Phase.SHUT)
        def shut(self) -> None: ...

        @invariant
        def slips_are_paid(self) -> bool:
            return all(self.slips[slip] <= self.paid for slip in self.slips)

    return Till


def with_a_state() -> Version:
    class Phase(State):
        OPEN = "open"
        PAUSED = "paused"
        SHUT = "shut"

    class Till(Machine):
        state: Phase = Phase.OPEN
        seats: Param[Nat] = 4
        paid: Nat = 0
        slips: dict[Nat, Nat] = {}
        idle: Timer = Timer()

        @transition(source=Phase.OPEN)
        def pay(self, slip: Nat, amount: Nat) -> None:
            require(slip not in self.slips, "it is paid already")
            self.paid += amount
            self.slips[slip] = amount
            self.idle.start(60)

        @transition(source=Phase.OPEN, target=Phase.PAUSED, timer="idle")
        def pause(self) -> None: ...

        @transition(source=Phase.PAUSED, target=Phase.OPEN)
        def resume(self) -> None: ...

    return Till


def with_another_name() -> Version:
    class Phase(State):
        OPEN = "open"
        PAUSED = "paused"
        SHUT = "shut"

    class Till(Machine):
        state: Phase = Phase.OPEN
        seats: Param[Nat] = 4
        total: Nat = 0
        slips: dict[Nat, Nat] = {}
        quiet: Timer = Timer()

        @transition(source=Phase.OPEN)
        def pay(self, slip: Nat, amount: Nat) -> None:
            require(slip not in self.slips, "it is paid already")
            self.total += amount
            self.slips[slip] = amount
            self.quiet.start(60)

        @transition(source=Phase.OPEN, target=Phase.PAUSED, timer="quiet")
        def pause(self) -> None: ...

        @transition(source=Phase.PAUSED, target=Phase.OPEN)
        def resume(self) -> None: ...

    return Till


def with_a_split() -> Version:
    class Phase(State):
        OPEN = "open"
        PAUSED = "paused"
        SHUT = "shut"

    class Till(Machine):
        state: Phase = Phase.OPEN
        seats: Param[Nat] = 4
        cash: Nat = 0
        card: Nat = 0
        slips: dict[Nat, Nat] = {}
        quiet: Timer = Timer()

        @transition(source=Phase.OPEN)
        def pay(self, slip: Nat, amount: Nat) -> None:
            self.cash += amount
            self.slips[slip] = amount
            self.quiet.start(60)

        @invariant
        def some_is_cash(self) -> bool:
            return self.card <= self.cash

    return Till


def halved(old: dict[str, Any]) -> dict[str, Any]:
    return {"card": old["total"] // 2, "cash": old["total"] - old["total"] // 2}


def deployed(path: Path, cls: Version, clock: SimulatedClock, **named: Any) -> tuple[Store, Any]:
    store = Store(path, snapshot_every=5)
    return store, store.restore(cls, "a", clock=clock, timers="deadline", **named)


@pytest.mark.parametrize("dies", [False, True])
def test_six_versions_walk_over_one_store(
    dies: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, wall = tmp_path / "s.db", [1_000.0]
    monkeypatch.setattr("lawful.runtime.store.clocks.time", lambda: wall[0])

    def end(store: Store) -> None:
        if dies:
            died(store, "a")
        store.close()
        wall[0] += 1

    store = Store(path, snapshot_every=5)
    till: Any = store.add(first()(seats=9, clock=SimulatedClock(7.0)), "a")
    for slip in range(12):
        till.pay(slip, 10)
    end(store)

    clock = SimulatedClock(70.0)
    store, till = deployed(path, with_a_transition(), clock)
    assert (till.paid, len(till.slips), till.seats) == (120, 12, 9)
    assert till.lawful.next_deadline() is None  # Nothing fires `idle` yet.
    assert till.idle.deadline == 70.0 + 59
    till.pay(12, 10)
    till.refund(0)  # It takes 20.
    till.pay(12, 10)  # It is paid twice.
    end(store)

    store, till = deployed(path, with_a_repaired_guard(), SimulatedClock(5.0))
    assert (till.paid, sorted(till.slips)) == (120, list(range(1, 13)))
    till.refund(12)
    till.pay(12, 30)
    end(store)

    store, till = deployed(path, with_a_state(), SimulatedClock(0.0), renamed={})
    assert (till.paid, till.slips[12], till.idle.deadline) == (140, 30, 59.0)
    assert [fired.event for fired in till.lawful.fire_due(59.0)] == ["pause"]
    till.resume()
    till.pay(13, 1)
    end(store)

    store, till = deployed(
        path, with_another_name(), SimulatedClock(0.0), renamed={"total": "paid", "quiet": "idle"}
    )
    assert (till.total, till.quiet.deadline, len(till.slips)) == (141, 59.0, 13)
    till.pay(14, 1)
    end(store)

    split = Migration({}, halved)
    store, till = deployed(path, with_a_split(), SimulatedClock(0.0), renamed=split)
    assert (till.cash, till.card, till.state.name, till.seats) == (71, 71, "OPEN", 9)
    assert (till.quiet.deadline, len(till.slips)) == (59.0, 14)
    till.pay(15, 5)
    assert [row["seq"] for row in store.events("a")][-1] == 22
    end(store)
    store, till = deployed(path, with_a_split(), SimulatedClock(0.0))
    assert (till.cash, till.card, len(till.slips)) == (76, 71, 15)
    store.close()


def test_a_renamed_timer_restarts_for_as_long_as_it_was_started(tmp_path: Path) -> None:
    clock = SimulatedClock()
    with Store(tmp_path / "s.db") as store:
        till: Any = store.add(with_a_transition()(clock=clock), "a")
        till.pay(1, 5)
        clock.advance(20)
        till.shut()
        died(store, "a")
    names = {"total": "paid", "quiet": "idle"}
    with Store(tmp_path / "s.db") as store:
        again = SimulatedClock(7.0)
        back: Any = store.restore(
            with_another_name(), "a", clock=again, timers="restart", renamed=names
        )
        assert back.quiet.deadline == 67.0


def left(path: Path, *, refunds: int = 0) -> Version:
    """A store whose process died, with rows of the second version."""
    second = with_a_transition()
    with Store(path) as store:
        till: Any = store.add(second(), "a")
        for slip in range(3):
            till.pay(slip, 10)
        for slip in range(refunds):
            till.refund(slip)
        died(store, "a")
    return second


def test_a_policy_says_how_an_instance_comes_back(tmp_path: Path) -> None:
    second = left(tmp_path / "s.db", refunds=1)
    found: dict[Policy, Any] = {}
    for policy in ("take", "replay", "same"):
        copy = tmp_path / f"{policy}.db"
        copy.write_bytes((tmp_path / "s.db").read_bytes())
        with Store(copy) as store:
            till: Any = store.restore(second, "a", policy=policy)
            assert till.paid == 10
        copy.write_bytes((tmp_path / "s.db").read_bytes())
        with Store(copy) as store:
            try:
                till = store.restore(with_a_repaired_guard(), "a", policy=policy)
                found[policy] = till.paid
            except StoreError as error:
                found[policy] = str(error)
            assert (till.slips == {1: 10, 2: 10}) or policy == "same"
    assert found.pop("same").startswith("a: event 1, pay, is of another Till; snapshot it with")
    assert found == {"take": 10, "replay": 20}  # The repaired refund takes 10, not 20.


def test_a_state_that_the_newer_version_forbids_is_refused(tmp_path: Path) -> None:
    left(tmp_path / "s.db", refunds=2)
    for policy in ("take", "replay"):
        with Store(tmp_path / "s.db") as store:
            events = store.events("a")
            if policy == "take":
                with pytest.raises(ValueError, match=r"a: another version left .*slips_are_paid"):
                    store.restore(with_a_repaired_guard(), "a")
            else:
                till: Any = store.restore(with_a_repaired_guard(), "a", policy="replay")
                assert till.paid == 10
            assert store.events("a") == events


def test_an_event_that_newer_code_refuses_is_not_replayed(tmp_path: Path) -> None:
    second = with_a_transition()
    with Store(tmp_path / "s.db") as store:
        till: Any = store.add(second(), "a")
        till.pay(1, 10)
        till.pay(1, 10)
        died(store, "a")
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(StoreError, match=r"event 2, pay: it ran once.*paid already"):
            store.restore(with_a_repaired_guard(), "a", policy="replay")
        back: Any = store.restore(with_a_repaired_guard(), "a")
        assert back.paid == 20


def test_close_leaves_a_snapshot_of_each_instance(tmp_path: Path) -> None:
    second = with_a_transition()
    with Store(tmp_path / "s.db") as store:
        for name in ("a", "b", "c"):
            store.add(second(), name)
        for name in ("a", "b"):
            till: Any = store.restore(second, name)
            till.pay(1, 10)
        assert store.snapshot_all() == 2
        assert store.snapshot_all() == 0
        till.pay(2, 10)
        assert _snapshots(tmp_path / "s.db") == {"a": 1, "b": 1, "c": 0}
    assert _snapshots(tmp_path / "s.db") == {"a": 1, "b": 2, "c": 0}
    with Store(tmp_path / "s.db") as store:
        assert store.prune() == 3
        assert store.restore(second, "b", policy="same") == till


def test_a_store_closes_where_no_snapshot_can_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    second = with_a_transition()
    store = Store(tmp_path / "s.db")
    till: Any = store.add(second(), "a")
    till.pay(1, 10)
    other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    other.execute("CREATE TRIGGER no BEFORE INSERT ON snapshot BEGIN SELECT RAISE(FAIL, 'no'); END")
    with caplog.at_level(logging.WARNING, "lawful"):
        store.close()
    assert [record.getMessage() for record in caplog.records] == ["a: no snapshot at the end: no"]
    other.execute("DROP TRIGGER no")
    other.close()
    store.close()
    with Store(tmp_path / "s.db") as again:
        assert again.restore(second, "a") == till


def _snapshots(path: Path) -> dict[str, int]:
    database = sqlite3.connect(path)
    rows = dict(database.execute("SELECT name, seq FROM snapshot"))
    database.close()
    return rows


@pytest.mark.nightly
def test_a_large_state_is_snapshot_when_its_rows_are_as_large(tmp_path: Path) -> None:
    second = with_a_transition()
    with Store(tmp_path / "s.db", snapshot_every=10) as store:
        big: Any = second.lawful.state(slips={slip: 1 for slip in range(2000)})
        till: Any = store.add(big, "a")
        small: Any = store.add(second(), "b")
        taken = dict[str, int]()
        for slip in range(400):
            till.pay(slip, 2)
            small.pay(slip % 5, 2)
            rows = _snapshots(tmp_path / "s.db")
            taken = {name: taken.get(name, 0) + (rows[name] == slip + 1) for name in rows}
        assert taken == {"a": 2, "b": 40}
