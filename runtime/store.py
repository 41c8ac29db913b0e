"""Instances that outlive the process: a log of their events, with snapshots, in SQLite.

    with Store("senders.db") as store:
        if "a" in store:
            sender = store.restore(Sender, "a")
        else:
            sender = store.add(Sender(seconds=30.0), "a")
        sender.send()                   # is on disk before this returns

An event and its row are one step: where the row cannot be written, the event is undone and its
caller gets the error. A row is one transaction, so there are no torn ones. An instance comes back
as its last snapshot with the events after it, which are run again, each at its own time; they must
be of the same behaviour and lead where they led. Only events that ran are kept: refused and
ignored ones change nothing.

    instance := (name, machine, seq, sum)
    snapshot := (name, seq, time, wall, data, started, chain, sum)     the last one of each instance
    event    := (name, seq, time, wall, behaviour, transition, args, after, sum)

`seq` counts an instance's events from 1; a snapshot has that of the last event in it. `time` is in
seconds of the instance's clock, `wall` since 1970. `data` is a snapshot as of time 0, so that
deadlines are kept as they are, `started` for how many seconds each armed timer was started. The
checksums `sum` and `chain` show rows that somebody else has changed: see `store_database`.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time as clocks
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from .elements import other_elements
from .instances.access import behaviour_of, fingerprint_of
from .instances.armed_timers import armed_timers
from .instances.make import bare
from .instances.observers import Observed, Stepped
from .instances.snapshots import elements_in, fill, keep, snapshot, taken, written
from .kernel.dispatch import control_name
from .store_database import (
    COLUMNS,
    EVENT,
    EVENTS,
    HEAD,
    KEPT,
    LAST,
    PRUNE,
    SNAPSHOT,
    Position,
    StoreBusy,
    StoreError,
    beginning,
    check_name,
    checksum,
    is_busy,
    json_of,
    opened,
    seconds_of,
    started_in,
    unwritten,
)
from .timers import Clock

if TYPE_CHECKING:
    from .instance import Machine

__all__ = ["Store", "StoreBusy", "StoreError", "Timers"]

M = TypeVar("M", bound="Machine")
T = TypeVar("T")
ENCODED = json.JSONEncoder(separators=(",", ":")).encode
Timers = Literal["remaining", "deadline", "restart"]


class _Instant:
    """The clock of events that `restore` runs again."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return self.at


class _StoredInstance:
    """An instance with its position in the store, which is the log of its events."""

    def __init__(self, store: Store, entry: Machine, name: str, at: Position) -> None:
        self.store = store
        self.entry = entry
        self.name = name
        self.at = at
        self.next = at
        self.kept: Iterable[object] = ()

    def write(self, done: Stepped) -> None:
        """Write the row of an event; see `observers.Log`."""
        self.store.write(self, done)

    def started(self, now: float) -> dict[str, tuple[float, float]]:
        """The armed timers after an event at `now`: it has started each timer whose deadline is
        another than before."""
        timers: dict[str, tuple[float, float]] = {}
        for timer in armed_timers(self.entry):
            due, known = timer.deadline, self.at.timers.get(timer.place)
            timers[timer.place] = known if known and known[0] == due else (due, due - now)
        return timers


class Store:
    """Keeps instances in an SQLite database, a snapshot after every `snapshot_every` events.

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
        self._logged: dict[str, tuple[_StoredInstance, Observed]] = {}
        self._db = opened(path, timeout, synchronous)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; what its instances do from now on is kept nowhere."""
        for _, watch in self._logged.values():
            watch.log = None
        self._logged.clear()
        self._db.close()

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
        logged = _StoredInstance(self, entry, name, at)
        logged.at = at._replace(timers=logged.started(at.last))

        def write() -> None:
            if name in self:
                raise StoreError(f"the store has an instance {name} already")
            row = name, machine, 0, begins
            self._db.execute("INSERT INTO instance VALUES (?, ?, ?, ?)", row)
            self._snapshot(logged, logged.at)

        self._transaction(write)
        self._follow(logged, watch)
        return entry

    def restore(
        self,
        cls: type[M],
        name: str,
        *,
        timers: Timers = "remaining",
        universe: Mapping[type[Any], Any] | None = None,
        clock: Clock | None = None,
        renamed: Mapping[str, str] | None = None,
    ) -> M:
        """The instance as it was after its last event; its further events are stored too.

        Armed timers have the time that was left after the last event ("remaining"), or that minus
        the time that has passed since by the wall clock ("deadline"), or all of it ("restart").
        `universe` and `renamed` are as for `lawful.restore`: the snapshot may then be of another
        version or with another universe, but events after it may not. Errors: StoreError if there
        is no such instance, or if its events are of another behaviour or lead elsewhere; those of
        `lawful.restore`.
        """
        of = cls.lawful.plan.name
        try:
            found, rows = self._transaction(lambda: self._verified(name, of))
        except UnicodeDecodeError as error:  # Of a damaged name in a message of SQLite.
            raise StoreError(f"{name}: the database is damaged: {error}") from error
        seq, last, wall, data, started, chained = found
        past, saved = _Instant(), json_of(name, data)
        entry = cls.lawful.restore(saved, universe=universe, clock=past, renamed=renamed)
        known = entry.__environment__.universe.universe()
        other = other_elements(known, elements_in(saved, entry.lawful.plan))
        if other and rows:
            what = f"{name} with another universe, {other}, and events of the other one"
            raise StoreError(f"{what}: restore it with that one, and snapshot it, first")
        last, wall = seconds_of(name, last, wall)
        at = Position(seq, last, wall, {}, chained)
        old = _StoredInstance(self, entry, name, at)
        armed = old.started(last)
        for place, seconds in started_in(name, started):
            if place in armed:
                armed[place] = armed[place][0], seconds
        old.at = at._replace(timers=armed)
        self._again(old, rows, past)
        listed = entry.__environment__.universe.universe()
        logged = _moved(old, bare(cls, listed or None, clock, entry.lawful.plan.parameters), timers)
        watch = logged.entry.lawful.watched("restore")
        self._transaction(lambda: self._snapshot(logged, logged.at))
        self._follow(logged, watch)
        return logged.entry  # type: ignore[return-value]  # it was made of `cls`

    def snapshot(self, name: str) -> None:
        """Store the present state, so that earlier events need not be run again. StoreError for an
        instance that is not in this store."""
        if name not in self._logged:
            raise StoreError(f"no instance {name} was added or restored")
        logged, _ = self._logged[name]
        self._transaction(lambda: self._snapshot(logged, logged.at))

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
            if not pruned and row[-1] != checksum(chained or "", *row[:-1]):
                raise StoreError(f"{name}: event {seq} is not as it was written: its checksum")
            chained = row[-1]
            of = dict(zip(COLUMNS, row, strict=True))
            out.append({**of, "args": json_of(name, of["args"])})
        return out

    def _verified(self, name: str, machine: str) -> tuple[tuple[Any, ...], list[dict[str, Any]]]:
        """The snapshot of an instance, and the events after it. StoreError where they are not as
        they were written."""
        head = self._row("SELECT machine, seq, sum FROM instance WHERE name = ?", name)
        found = self._row(LAST, name)
        if head is None or found is None:
            raise StoreError(f"the store has no instance {name}")
        if head[0] != machine:
            raise StoreError(f"{name} is of the machine {head[0]}, not of {machine}")
        *row, chained, whole = found
        if whole != checksum(chained, machine, *row):
            raise StoreError(f"{name}: the snapshot is not as it was written: its checksum")
        rows = self._events(name, row[1], chained)
        last = (rows[-1]["seq"], rows[-1]["sum"]) if rows else (row[1], chained)
        if last != head[1:] or any(each["seq"] != row[1] + n for n, each in enumerate(rows, 1)):
            raise StoreError(f"{name}: events are missing before {head[1]}, the last one")
        return (*row[1:], chained), rows

    def _again(self, old: _StoredInstance, rows: list[dict[str, Any]], past: _Instant) -> None:
        """Run the events after the snapshot again."""
        plan, access = old.entry.lawful.plan, old.entry.lawful
        for row in rows:
            where = f"{old.name}: event {row['seq']}, {row['transition']}"
            if row["behaviour"] != behaviour_of(plan):
                raise StoreError(f"{where}, is of another {plan.name}; snapshot it with that one")
            past.at, _ = seconds_of(where, row["time"], row["wall"])
            try:
                kinds = plan.ways[row["transition"]].params
                args = [taken(row["args"][of], kind, plan) for of, kind in kinds]
                if len(args) != len(row["args"]):
                    raise LookupError(", ".join(row["args"]))
            except (LookupError, TypeError, ValueError) as error:
                raise StoreError(f"{where}, has other arguments: {error!r}") from error
            try:
                access.take(row["transition"], *args)
            except Exception as error:
                raise StoreError(f"{where}: it ran once, and now {error!r}") from error
            after = control_name(old.entry)
            if after != row["after"] or row["seq"] != old.at.seq + 1:
                raise StoreError(f"{where}: it led to {row['after']}, and now to {after}")
            timers = old.started(past.at)
            old.at = Position(row["seq"], row["time"], row["wall"], timers, row["sum"])

    def _follow(self, logged: _StoredInstance, watch: Observed) -> None:
        self._logged[logged.name] = logged, watch
        watch.log = logged

    def write(self, logged: _StoredInstance, done: Stepped) -> None:
        """Write the row of an event, which the caller undoes if this raises. Internal."""
        if done.transition is None:
            return
        plan, at = logged.entry.__plan__, logged.at
        kinds = dict(plan.ways[done.transition].params)
        try:
            args = {of: written(value, kinds[of], plan) for of, value in done.args.items()}
            text = ENCODED(args)
        except ValueError as error:  # An integer of more digits than Python writes.
            raise unwritten(f"{logged.name}: {done.transition}", error) from error
        seq, wall, time = at.seq + 1, clocks.time(), float(done.time)
        row = (
            logged.name,
            seq,
            time,
            wall,
            behaviour_of(plan),
            done.transition,
            text,
            done.after,
        )
        timers = logged.started(done.time) if plan.timed else at.timers
        after = Position(seq, time, wall, timers, checksum(at.sum, *row))

        def write() -> None:
            head = seq, after.sum, logged.name, at.seq, at.sum
            if self._db.execute(HEAD, head).rowcount != 1:
                has = "SELECT 1 FROM event WHERE name = ? AND seq = ?"
                there = self._db.execute(has, (logged.name, seq)).fetchone()
                how = f": it has event {seq}" if there else ", or was removed"
                raise StoreError(f"{logged.name} went on elsewhere{how}")
            self._db.execute(EVENT, (*row, after.sum))
            if seq % self.snapshot_every == 0:
                self._snapshot(logged, after)

        self._own()
        logged.next = after
        unique = logged.name, seq, after.sum
        logged.kept = chain.from_iterable(map(self._db.execute, (KEPT,), (unique,)))
        self._transaction(write)
        logged.at = after

    def _snapshot(self, logged: _StoredInstance, at: Position) -> None:
        data = snapshot(logged.entry, fingerprint_of(logged.entry.__plan__).shape, 0.0)
        started = {place: seconds for place, (_, seconds) in at.timers.items()}
        try:
            texts = json.dumps(data), json.dumps(started)
        except ValueError as error:
            raise unwritten(logged.name, error) from error
        row = (logged.name, at.seq, at.last, at.wall, *texts)
        whole = checksum(at.sum, logged.entry.__plan__.name, *row)
        of = logged.name, at.seq, at.sum
        if self._db.execute(SNAPSHOT, (*row, at.sum, whole, *of)).rowcount != 1:
            raise StoreError(f"{logged.name} went on elsewhere, or was removed")

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


def _moved(old: _StoredInstance, entry: Machine, timers: Timers) -> _StoredInstance:
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
    return _StoredInstance(
        old.store, entry, old.name, Position(at.seq, float(now), wall, started, at.sum)
    )
