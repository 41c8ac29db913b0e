"""Instances that outlive the process: a log of their events, with snapshots, in SQLite.

    with Store("senders.db") as store:
        if "a" in store:
            sender = store.restore(Sender, "a")
        else:
            sender = store.add(Sender(seconds=30.0), "a")
        sender.send()                   # is on disk before this returns

An event and its row are one step: where the row cannot be written, the event is undone and its
caller gets the error. A row is one transaction, so there are no torn ones. An instance comes back
as its last snapshot, with what the rows after it say changed, whatever its machine has become (see
`recovery` for the other ways). Only events that ran are kept: refused and ignored ones change
nothing.

    instance := (name, machine, seq, sum, due)
    snapshot := (name, seq, time, wall, data, started, version, chain, sum)     the last one of each
    event    := (name, seq, time, wall, behaviour, transition, args, after, changed, sum)

`seq` counts an instance's events from 1; a snapshot has that of the last event in it. `time` is in
seconds of the instance's clock, `wall` and `due` (when its next timer is due) since 1970. `data` is
a snapshot as of time 0, so that deadlines are kept as they are, `started` for how many seconds each
armed timer was started, `version` the fingerprint of the code that made it. `stored_instance` has
the form of `changed`. The checksums `sum` and `chain` show rows that somebody else has changed: see
`store_database`.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time as clocks
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from .instances.access import fingerprint_of
from .instances.armed_timers import armed_timers
from .instances.make import bare
from .instances.observers import Observed, Stepped
from .instances.snapshots import fill, keep
from .kernel.state import Closed
from .recovery import Found, Policy, Recovery
from .store_database import (
    COLUMNS,
    EVENT,
    EVENTS,
    HEAD,
    KEPT,
    LAST,
    PRUNE,
    SNAPSHOT,
    Due,
    Position,
    StoreBusy,
    StoreError,
    beginning,
    check_name,
    is_busy,
    json_of,
    opened,
    sum_of_event,
    sum_of_snapshot,
)
from .stored_instance import StoredInstance, gone_elsewhere
from .timers import Clock

if TYPE_CHECKING:
    from .instance import Machine

__all__ = ["Due", "Policy", "Store", "StoreBusy", "StoreError", "Timers"]

M = TypeVar("M", bound="Machine")
T = TypeVar("T")
Timers = Literal["remaining", "deadline", "restart"]
LOGGER = logging.getLogger("lawful")
UNLEFT = "%s: no snapshot at the end: %s"
RELEASED = Closed("the store has released it: restore the instance, and use that one")


class Store:
    """Keeps instances in an SQLite database, with a snapshot after `snapshot_every` events, or more
    where the state is larger than the rows of these.

    `synchronous="NORMAL"` is faster: a crash of the machine, not of the process, may then take
    the last events with it, though never a part of one. `timeout`: for so many seconds an event
    waits, and its thread with it, while another process writes; then it is undone, with StoreBusy.
    Errors: sqlite3.Error; StoreError for a database of another version, or of something else.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        snapshot_every: int = 100,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
        timeout: float = 1.0,
    ) -> None:
        self.snapshot_every = snapshot_every
        self.timeout = timeout
        self._lock = threading.Lock()
        self._thread: int | None = None  # The one that has the lock.
        self._process = os.getpid()
        self._logged: dict[str, tuple[StoredInstance, Observed]] = {}
        self._db = opened(path, timeout, synchronous)
        self._open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave a snapshot of each instance, and close the database; what its instances do from now
        on is kept nowhere.

        Where a snapshot cannot be written, the logger `lawful` gets the reason: the rows are enough
        to come back."""
        if not self._open:
            return
        for name in list(self._logged):
            try:
                self._leave(name)
            except RuntimeError as error:
                LOGGER.warning(UNLEFT, name, error)
        for _, watch in self._logged.values():
            watch.log = None
        self._logged.clear()
        self._open = False
        self._db.close()

    def _leave(self, name: str) -> None:
        """Store a snapshot of an instance that had events since its last one, if that can be
        written. RuntimeError while it runs an event."""
        logged, watch = self._logged[name]
        try:
            if logged.at.rows:
                watch.at_rest(lambda: self._transaction(lambda: self._snapshot(logged, logged.at)))
        except (StoreError, sqlite3.Error) as error:
            LOGGER.warning(UNLEFT, name, error)

    def __contains__(self, name: str) -> bool:
        return self._row("SELECT 1 FROM instance WHERE name = ?", name) is not None

    def names(self) -> list[str]:
        """The names of all instances."""
        return [name for (name,) in self._db.execute("SELECT name FROM instance ORDER BY name")]

    def add(self, entry: M, name: str) -> M:
        """Store the instance under a new name: its present state, and its events from now on.

        Errors: StoreError if the name exists, ValueError if the instance is stored already;
        RuntimeError for a part, and before an `@initial` was called; TypeError for a name that is
        no text, and for an opaque value without an encoding.
        """
        check_name(name)
        watch = entry.lawful.watched("add")
        if watch.log is not None:
            raise ValueError(f"the instance for {name} is kept already")
        machine = entry.lawful.plan.name
        now, begins = float(entry.__environment__.now()), beginning(name, machine)
        at = Position(0, now, clocks.time(), {}, begins)
        logged = StoredInstance(self, entry, name, at)
        due = logged.due(at.wall, now)
        logged.at = at._replace(timers=logged.started(now), due=due)

        def write() -> None:
            if name in self:
                raise StoreError(f"the store has an instance {name} already")
            row = name, machine, 0, begins, due
            self._db.execute("INSERT INTO instance VALUES (?, ?, ?, ?, ?)", row)
            self._snapshot(logged, logged.at)

        self._transaction(write)
        self._follow(logged, watch)
        return entry

    def restore(
        self,
        cls: type[M],
        name: str,
        *,
        policy: Policy = "take",
        timers: Timers = "remaining",
        universe: Mapping[type[Any], Any] | None = None,
        clock: Clock | None = None,
        renamed: Mapping[str, str] | None = None,
    ) -> M:
        """The instance as it was after its last event; its further events are stored too.

        `policy`: with "take" it has the state that the rows tell; no event runs again, and the rows
        may be of another behaviour, if every invariant is true of the state. With "replay" the
        events after the last snapshot run again, on this code: each must be possible, and lead to
        the same control state. With "same" they must be of the same behaviour, and lead to the
        state that the rows tell.

        Armed timers have the time that was left after the last event ("remaining"), or that minus
        the time that has passed since by the wall clock ("deadline"), or all of it ("restart").
        `universe` and `renamed` are as for `lawful.restore`: they take over another version or
        another universe. Errors: StoreError if there is no such instance, or if the policy does not
        bring it back; those of `lawful.restore`.
        """
        of = cls.lawful.plan
        try:
            found = self._transaction(lambda: self._verified(name, of.name))
        except UnicodeDecodeError as error:  # Of a damaged name in a message of SQLite.
            raise StoreError(f"{name}: the database is damaged: {error}") from error
        old = Recovery(self, cls, found, universe, renamed).run(policy)
        listed = old.entry.__environment__.universe.universe()
        logged = _moved(old, bare(cls, listed or None, clock, of.parameters), timers)
        watch = logged.entry.lawful.watched("restore")
        other = found.version != fingerprint_of(of).whole or universe is not None
        if other or of.timed or found.rows:
            self._transaction(lambda: self._settle(logged))
        self._follow(logged, watch)
        return logged.entry  # type: ignore[return-value]  # it was made of `cls`

    def _settle(self, logged: StoredInstance) -> None:
        """Store a snapshot, and when the instance is due by its new clock."""
        self._snapshot(logged, logged.at)
        row = logged.at.due, logged.name
        self._db.execute("UPDATE instance SET due = ? WHERE name = ?", row)

    def snapshot(self, name: str) -> None:
        """Store the present state, so that earlier events need not be read again. StoreError for an
        instance that is not in this store; RuntimeError while it runs an event."""
        if name not in self._logged:
            raise StoreError(f"no instance {name} was added or restored")
        logged, watch = self._logged[name]
        watch.at_rest(lambda: self._transaction(lambda: self._snapshot(logged, logged.at)))

    def snapshot_all(self) -> int:
        """Store the present state of each instance that was added or restored and had events since
        its last snapshot; how many there were. Raises as `snapshot`."""
        several = [name for name, (logged, _) in self._logged.items() if logged.at.rows]
        for name in several:
            self.snapshot(name)
        return len(several)

    def release(self, name: str) -> None:
        """Leave a snapshot of the instance, and forget it: it takes no further event, and nothing
        here holds it any more. `restore` brings it back. Where no snapshot can be written, the
        logger `lawful` gets the reason. StoreError for an instance that is not in this store;
        RuntimeError while it runs an event."""
        if name not in self._logged:
            raise StoreError(f"no instance {name} was added or restored")
        logged, watch = self._logged[name]
        self._leave(name)
        watch.at_rest(lambda: setattr(logged.entry, "__watch__", RELEASED))
        del self._logged[name]

    def due(self, cls: type[Machine], until: float | None = None) -> Iterator[Due]:
        """The instances of a machine that have an armed timer, the first to be due first, up to a
        time in seconds since 1970; whether they were restored or not.

        A timer that is due and whose transition is refused stays armed, and is among them. Of a
        database of version 2, instances are among them at time 0 until they are restored, if nobody
        has told whether they have an armed timer."""
        most = float("inf") if until is None else until
        query = "SELECT name, due, seq FROM instance WHERE machine = ? AND due <= ? ORDER BY due"
        return map(Due._make, self._db.execute(query, (cls.lawful.plan.name, most)))

    def prune(self) -> int:
        """Delete the events that no instance needs to come back: those before its last snapshot.
        How many there were."""
        return self._transaction(lambda: self._db.execute(PRUNE).rowcount)

    def remove(self, name: str) -> None:
        """Delete an instance with all its events, and stop storing it. StoreError if there is
        none."""

        def delete() -> None:
            if name not in self:
                raise StoreError(f"the store has no instance {name}")
            for table in ("event", "snapshot", "instance"):
                self._db.execute(f"DELETE FROM {table} WHERE name = ?", (name,))

        self._transaction(delete)
        if name in self._logged:
            _, watch = self._logged.pop(name)
            watch.log = None

    def events(self, name: str, after: int = 0) -> list[dict[str, Any]]:
        """The events of an instance that were kept, in their order, from the one after `after`.
        StoreError where one is not as it was written."""
        query = "SELECT sum FROM event WHERE name = ? AND seq = ?"
        before = self._db.execute(query, (name, after)).fetchone()
        if before is None and after == 0:
            machine = self._row("SELECT machine FROM instance WHERE name = ?", name)
            before = None if machine is None else (beginning(name, machine[0]),)
        return self._events(name, after, before[0] if before else None)

    # Internal.

    def _events(self, name: str, after: int, chained: str | None) -> list[dict[str, Any]]:
        """The events after one with this checksum; None where nobody knows it any more."""
        rows = self._db.execute(EVENTS, (name, after))
        out: list[dict[str, Any]] = []
        for row in rows:
            seq = row[1]
            pruned = not out and (chained is None or seq != after + 1)
            if not pruned and row[-1] != sum_of_event(chained or "", row[:-1]):
                raise StoreError(f"{name}: event {seq} is not as it was written: its checksum")
            chained = row[-1]
            of = dict(zip(COLUMNS, row, strict=True))
            out.append({**of, "args": json_of(name, of["args"])})
        return out

    def _verified(self, name: str, machine: str) -> Found:
        """The snapshot of an instance, and the events after it. StoreError where they are not as
        they were written."""
        head = self._row("SELECT machine, seq, sum FROM instance WHERE name = ?", name)
        found = self._row(LAST, name)
        if head is None or found is None:
            raise StoreError(f"the store has no instance {name}")
        if head[0] != machine:
            raise StoreError(f"{name} is of the machine {head[0]}, not of {machine}")
        *row, chained, whole = found
        if whole != sum_of_snapshot(machine, row, chained):
            raise StoreError(f"{name}: the snapshot is not as it was written: its checksum")
        rows = self._events(name, row[1], chained)
        last = (rows[-1]["seq"], rows[-1]["sum"]) if rows else (row[1], chained)
        if last != head[1:] or any(each["seq"] != row[1] + n for n, each in enumerate(rows, 1)):
            raise StoreError(f"{name}: events are missing before {head[1]}, the last one")
        return Found(name, (*row[1:], chained), rows)

    def _follow(self, logged: StoredInstance, watch: Observed) -> None:
        self._logged[logged.name] = logged, watch
        watch.log = logged

    def write(self, logged: StoredInstance, done: Stepped) -> None:
        """Write the row of an event, which the caller undoes if this raises. Internal."""
        if done.transition is None:
            return
        at = logged.at
        row, after = logged.event(done, done.transition)
        whole = logged.wants_snapshot(after, self.snapshot_every)
        after = after._replace(rows=0, bytes=0) if whole else after

        def write() -> None:
            head = after.seq, after.sum, after.due, logged.name, at.seq, at.sum
            if self._db.execute(HEAD, head).rowcount != 1:
                has = "SELECT 1 FROM event WHERE name = ? AND seq = ?"
                there = self._db.execute(has, (logged.name, after.seq)).fetchone()
                raise gone_elsewhere(logged.name, *[f": it has event {after.seq}"] * bool(there))
            self._db.execute(EVENT, (*row, after.sum))
            if whole:
                self._snapshot(logged, after)

        self._own()
        logged.next = after
        unique = logged.name, after.seq, after.sum
        logged.kept = chain.from_iterable(map(self._db.execute, (KEPT,), (unique,)))
        self._transaction(write)
        logged.at = after

    def _snapshot(self, logged: StoredInstance, at: Position) -> None:
        of = logged.name, at.seq, at.sum
        if self._db.execute(SNAPSHOT, (*logged.snapshot(at), *of)).rowcount != 1:
            raise gone_elsewhere(logged.name)
        if at is logged.at:
            logged.at = at._replace(rows=0, bytes=0)

    def _row(self, query: str, name: str) -> Any:
        return self._db.execute(query, (name,)).fetchone()

    def _begin(self) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if is_busy(error):
                what = f"another process has locked the database for {self.timeout} s"
                raise StoreBusy(what) from error
            raise

    def _own(self) -> None:
        if os.getpid() != self._process:  # SQLite would let both write over each other's pages.
            raise StoreError("a store is used by the process that opened it; open it anew")

    def _transaction(self, act: Callable[[], T]) -> T:
        """Do it in a transaction, which is rolled back where it raises.

        An interrupt may come anywhere: in a handler before its first call, or after that. So the
        lock is one of C, and a handler begins with its only call. A transaction that a failed
        ROLLBACK has left open is rolled back by the next one.
        """
        self._own()
        me = threading.get_ident()
        if self._thread == me:  # It would wait for itself.
            raise StoreError("a transaction of this thread is not over; is this a signal handler?")
        with self._lock:
            self._thread = me
            try:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                self._begin()
                made = act()
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            finally:
                self._thread = None
        return made


def _moved(old: StoredInstance, entry: Machine, timers: Timers) -> StoredInstance:
    """The instance `old` moved into `entry`, which is on another clock."""
    now, wall, at = entry.__environment__.now(), clocks.time(), old.at
    passed = max(0.0, wall - at.wall) if timers == "deadline" else 0.0
    fill(entry, keep(old.entry, at.last + passed), now)
    started: dict[str, tuple[float, float]] = {}
    for timer in armed_timers(entry):
        seconds = at.timers[timer.place][1]
        if timers == "restart":
            timer.put_off(now + seconds)
        started[timer.place] = timer.deadline, seconds
    position = Position(at.seq, float(now), wall, started, at.sum, at.rows)
    logged = StoredInstance(old.store, entry, old.name, position)
    logged.at = position._replace(due=logged.due(wall, now))
    return logged
