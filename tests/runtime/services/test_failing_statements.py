"""An error at each statement of a stored event, and at those that end its transaction: the event
happened and is stored, or neither, and the store goes on."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, transition
from lawful.runtime.databases.sqlite import Sqlite
from lawful.runtime.store import Store, StoreError


class Till(Machine):
    paid: Nat = 0
    slips: list[Nat] = []

    @transition()
    def pay(self, amount: Nat) -> Nat:
        self.paid += amount
        self.slips.append(amount)
        return self.paid


class Flaky(sqlite3.Connection):
    """Fails at the statements and rollbacks from `at` on, `times` of them; `late`: after it has
    done what it was asked."""

    error: type[BaseException] = MemoryError
    count = 0
    at = -1
    times = 1
    late = False
    commits = False  # Somebody has asked for it.

    def _do(self, act: Callable[..., Any], *given: Any) -> Any:
        self.commits = self.commits or given[:1] == ("COMMIT",)
        fails = 0 <= self.at <= self.count < self.at + self.times
        self.count += 1
        if fails and not self.late:
            raise self.error
        made = act(*given)
        if fails:
            raise self.error
        return made

    def execute(self, *given: Any) -> Any:
        return self._do(super().execute, *given)

    def rollback(self) -> None:
        self._do(super().rollback)

    def fail(self, how: Failure) -> None:
        self.count, self.commits = 0, False
        self.at, self.times, self.late, self.error = how


Failure = tuple[int, int, bool, type[BaseException]]


def database(path: Path, owned: bool) -> tuple[Sqlite, Flaky]:
    """A flaky one: a file of the store's own, or a connection of the service."""
    connect = sqlite3.connect
    if owned:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sqlite3, "connect", partial(connect, factory=Flaky))
            made = Sqlite(path, synchronous="OFF")
    else:
        made = Sqlite(connect(path, factory=Flaky, isolation_level=None))
        made.connection.execute("PRAGMA synchronous = OFF")
    assert isinstance(made.connection, Flaky)
    return made, made.connection


def stored(path: Path, prefix: str) -> int:
    """The number of the last event, as another process sees it."""
    db = sqlite3.connect(path)
    (seq,) = db.execute(f"SELECT seq FROM {prefix}instance").fetchone()
    db.close()
    return int(seq)


TOGETHER = "events together", "an event that is caught"
ACTS: dict[str, Callable[[Store, Till], object]] = {
    "an event": lambda _, till: till.pay(5),
    "an event with a key": lambda store, till: store.once("k", till.pay, 5),
    "events together": lambda store, till: store.together(lambda _: till.pay(5)),
    "an event that is caught": lambda store, till: store.together(lambda _: caught(till)),
}


def caught(till: Till) -> None:
    with contextlib.suppress(MemoryError, RecursionError, OSError):
        till.pay(5)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("error", [MemoryError, RecursionError, OSError])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("times", [1, 2, 9])
@pytest.mark.parametrize("act", ACTS)
def test_an_event_happens_and_is_stored_or_neither(
    act: str, times: int, late: bool, error: type[BaseException], tmp_path: Path
) -> None:
    for owned in (False, True):
        first = tmp_path / f"first{owned}.db"
        base, _ = database(first, owned)
        with Store(base) as store:
            store.add(Till(), "a").pay(1)
        base.connection.close()
        for at in range(40):
            path = tmp_path / f"{owned}.{at}.db"
            shutil.copyfile(first, path)
            if not failed(path, owned, act, (at, times, late, error)):
                break
        else:
            pytest.fail("there are more statements")
        assert at > 4


def failed(path: Path, owned: bool, act: str, how: Failure) -> bool:
    """Whether something failed; afterwards the instance and the store are judged."""
    base, connection = database(path, owned)
    store = Store(base, snapshot_every=2, outbox=[Till])
    till = store.restore(Till, "a")
    connection.fail(how)
    raised = False
    try:
        ACTS[act](store, till)
    except (how[3], StoreError):  # The end of a `together` says that it was none.
        raised = True
    reached, commits = connection.count > how[0], connection.commits
    connection.fail((-1, 0, False, MemoryError))
    seq, where = stored(path, base.prefix), (act, owned, how)
    try:
        till.pay(7)
    except RuntimeError as unknown:  # Nobody could ask the database.
        assert "restore the instance" in str(unknown), where
        assert (commits and how[1] > 1) or act in TOGETHER, where
        till = store.restore(Till, "a")
        till.pay(7)
    assert not connection.in_transaction, where
    paid = [1, 5, 7] if seq == 2 else [1, 7]
    assert till.slips == paid, where
    assert stored(path, base.prefix) == len(paid), where
    assert [row["args"]["amount"] for row in store.events("a")] == paid, where
    connection.close()
    again, _ = database(path, owned)
    assert Store(again).restore(Till, "a") == till, where
    again.connection.close()
    return raised or reached
