"""Calls with a key: the second one does nothing and gets what the first one got."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from lawful import Machine, Nat, Refused, State, Undefined, ignore, require, transition
from lawful.runtime import idempotency, store_transactions
from lawful.runtime import store as stores
from lawful.runtime.store import KeyReused, Store, StoreError
from tests.runtime.services.conftest import Place, store
from tests.runtime.services.interrupting import at_every_place
from tests.runtime.services.test_store import died


class Shop(State):
    OPEN = "open"
    SHUT = "shut"


class Till(Machine):
    state: Shop = Shop.OPEN
    total: Nat = 0
    parts: dict[Nat, Nat] = {}

    @transition(source=Shop.OPEN)
    def pay(self, amount: Nat, twice: bool) -> tuple[Nat, frozenset[Nat]]:
        require(amount < 100, "too much")
        self.total += amount * (2 if twice else 1)
        return self.total, frozenset({amount})

    @transition(source=Shop.OPEN, target=Shop.SHUT)
    def shut(self) -> None: ...

    late = ignore("shut", source=Shop.SHUT, because="it is shut")

    @transition()
    def split(self, among: Nat) -> Nat:
        self.total += 1
        return self.parts[among]


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_000.0]
    monkeypatch.setattr("lawful.runtime.store.clocks.time", lambda: now[0])
    return now


def test_a_repeated_key_returns_the_answer_and_does_nothing(place: Place) -> None:
    with store(place) as kept:
        till, heard = kept.add(Till(), "a"), list[str]()
        till.lawful.observe(lambda done: heard.append(done.outcome))
        answers = [kept.once("k1", till.pay, 5, twice=True) for _ in range(3)]
        assert answers == [(10, frozenset({5}))] * 3
        texts = list[str]()
        for _ in range(2):
            with pytest.raises(Refused) as refused:
                kept.once("k2", till.pay, 100, False)
            texts.append(f"{refused.value} {refused.value.values} {refused.value.state}")
        assert texts[0] == texts[1] == "pay: too much (100 < 100 is false) {'amount': 100} OPEN"
        assert [kept.once(key, till.shut) for key in ("k3", "k3", "k4", "k4")] == [None] * 4
        assert heard == ["done", "refused", "done", "ignored"]
        died(kept, "a")
    with store(place) as kept:
        till = kept.restore(Till, "a")
        assert kept.once("k1", till.pay, 5, True) == (10, frozenset({5}))
        with pytest.raises(Refused, match="too much"):
            kept.once("k2", till.pay, 100, False)
        assert (kept.once("k3", till.shut), kept.once("k4", till.shut)) == (None, None)
        assert (till.total, [row["seq"] for row in kept.events("a")]) == (10, [1, 2])
        twin = kept.add(Till(), "b")  # A key is one of an instance.
        assert kept.once("k1", twin.pay, 1, False) == (1, frozenset({1}))
        kept.remove("b")
        other = kept.add(Till(), "b")
        assert kept.once("k1", other.pay, 2, False) == (2, frozenset({2}))


def test_a_key_of_another_call_is_an_error(place: Place) -> None:
    with store(place) as kept:
        till = kept.add(Till(), "a")
        kept.once("k", till.pay, 5, True)
        with pytest.raises(KeyReused, match=r"the key 'k' is of another call: .*5.*, not .*6"):
            kept.once("k", till.pay, 6, True)
        with pytest.raises(KeyReused, match="is of another call"):
            kept.once("k", till.shut)
        wrong: Any = till.pay
        for args in ((5,), (5, True, 1)):
            with pytest.raises(TypeError, match="pay takes amount, twice"):
                kept.once("k", wrong, *args)
        with pytest.raises(ValueError, match="below 0"):
            kept.once("k2", till.pay, -1, True)
        with pytest.raises(ValueError, match="a key is a text that is not empty"):
            kept.once("", till.shut)
        for step in (Till().shut, len):
            with pytest.raises(StoreError, match="is no event of an instance in this store"):
                kept.once("k", step)  # type: ignore[arg-type]  # that is what is wrong
        assert till.total == 10
        other = place.other()
        other.execute(f"UPDATE {place.prefix}answer SET data = '[1,2]'")
        other.close()
        with pytest.raises(StoreError, match="is not as it was written: its checksum"):
            kept.once("k", till.pay, 5, True)


def test_keys_expire(place: Place, wall: list[float]) -> None:
    with store(place, expiry=60.0) as kept:
        till = kept.add(Till(), "a")
        kept.once("k", till.pay, 5, False)
        wall[0] += 59
        kept.once("late", till.pay, 1, False)
        assert kept.once("k", till.pay, 5, False)[0] == 5
        wall[0] += 1
        assert kept.once("k", till.pay, 7, False)[0] == 13
        wall[0] += 59
        kept.prune()
        rows = kept.transactions.rows(f"SELECT key FROM {place.prefix}answer")
        assert rows == [("k",)]
    with pytest.raises(ValueError, match="not for 0 seconds"):
        Store(":memory:", expiry=0)


def test_a_fault_and_an_error_leave_the_key_free(place: Place) -> None:
    with store(place) as kept:
        till = kept.add(Till(), "a")
        for _ in range(2):
            with pytest.raises(Undefined):
                kept.once("k", till.split, 3)
        other = place.other()
        other.execute(f"ALTER TABLE {place.prefix}answer RENAME COLUMN data TO gone")
        with pytest.raises(Exception, match="data"):
            kept.once("k", till.pay, 3, False)
        other.execute(f"ALTER TABLE {place.prefix}answer RENAME COLUMN gone TO data")
        other.close()
        assert (till.total, kept.events("a")) == (0, [])
        assert kept.once("k", till.pay, 4, False)[0] == 4


def test_an_answer_is_rolled_back_with_its_event(place: Place) -> None:
    with store(place) as kept:
        till = kept.add(Till(), "a")

        def act(_: Any) -> None:
            kept.once("k", till.pay, 5, False)
            with pytest.raises(Refused):
                kept.once("no", till.pay, 100, False)
            assert kept.once("k", till.pay, 5, False)[0] == 5
            raise KeyError

        with pytest.raises(KeyError):
            kept.together(act)
        assert till.total == 0
        assert kept.once("k", till.pay, 6, False)[0] == 6
        assert kept.once("no", till.pay, 7, False)[0] == 13


def test_an_observer_calls_the_same_event_without_the_key() -> None:
    with Store(":memory:") as kept:
        till = kept.add(Till(), "a")

        def more(done: Any) -> None:
            if till.total < 8:
                till.pay(4, False)
            if till.total == 8:
                with pytest.raises(RuntimeError, match="a call with a key is not over"):
                    kept.once("other", till.shut)

        till.lawful.observe(more)
        assert kept.once("k", till.pay, 2, True)[0] == 4
        assert (till.total, len(kept.events("a"))) == (8, 2)
        assert kept.once("k", till.pay, 2, True)[0] == 4


def test_of_two_that_call_at_once_one_does_it(place: Place) -> None:
    """The other one has looked before: its event is undone, and it gets the answer."""
    with store(place) as kept:
        till = kept.add(Till(), "a")
        answers = list[Any]()
        looked = threading.Event()
        find: Any = vars(idempotency.Answers)["_found"]

        def first(self: Any, call: Any) -> Any:
            found = find(self, call)
            if not looked.is_set():
                looked.set()
                thread = threading.Thread(
                    target=lambda: answers.append(kept.once("k", till.pay, 5, False))
                )
                thread.start()
                thread.join()
            return found

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(idempotency.Answers, "_found", first)
            answers.append(kept.once("k", till.pay, 5, False))
        assert answers == [(5, frozenset({5}))] * 2
        assert (till.total, len(kept.events("a"))) == (5, 1)


def test_an_interrupted_call_has_its_answer_or_did_not_happen() -> None:
    files = tuple(str(each.__file__) for each in (idempotency, stores, store_transactions))

    def play(attempt: Callable[..., bool]) -> None:
        with Store(":memory:") as kept:
            till = kept.add(Till(), "a")
            attempt(lambda: kept.once("k", till.pay, 5, False))
            assert len(kept.events("a")) * 5 == till.total
            assert kept.once("k", till.pay, 5, False)[0] == 5
            assert (till.total, len(kept.events("a"))) == (5, 1)

    assert at_every_place(files, play) > 40


def test_events_from_json_have_keys(place: Place) -> None:
    with store(place) as kept:
        till = kept.add(Till(), "a")
        take, json = till.lawful.take_json, {"amount": 5, "twice": True}
        answer = {"$tuple": [10, {"$set": [5]}]}
        assert [kept.once("k1", take, "pay", json) for _ in range(3)] == [answer] * 3
        assert kept.once("k1", take, event="pay", data=json) == answer
        assert kept.once("k1", till.pay, 5, True) == (10, frozenset({5}))
        assert kept.once("k1", till.lawful.take, "pay", 5, True) == (10, frozenset({5}))
        with pytest.raises(KeyReused, match="the answer to the key 'k1' is of another call"):
            kept.once("k1", take, "pay", {"amount": 6, "twice": True})
        for _ in range(2):
            with pytest.raises(Refused, match="too much"):
                kept.once("k2", take, "pay", {"amount": 100, "twice": False})
        assert [kept.once(key, take, "shut", {}) for key in ("k3", "k3", "k4")] == [None] * 3
        wrong: list[tuple[Any, str]] = [
            (("pay", {"amount": -1, "twice": True}), "pay: amount: -1 is below 0"),
            (("pay", {"amount": 1}), "pay takes an object of amount: Nat, twice: bool, not"),
            (("paid", {}), "Till has no event paid; it has pay, shut, split"),
        ]
        for given, said in wrong:
            with pytest.raises(ValueError, match=said):
                kept.once("k5", take, *given)
        died(kept, "a")
    with store(place) as kept:
        till = kept.restore(Till, "a")
        assert kept.once("k1", till.lawful.take_json, "pay", json) == answer
        assert (till.total, [row["seq"] for row in kept.events("a")]) == (10, [1, 2])


def test_what_is_no_event_has_no_key(place: Place) -> None:
    with store(place) as kept:
        till = kept.add(Till(), "a")
        others: list[Any] = [till.lawful.snapshot, till.__repr__, Till().pay, print, None]
        for step in others:
            with pytest.raises(StoreError, match="is no event of an instance in this store"):
                kept.once("k", step)
