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

    instance := (name, machine, seq, sum, due, due_copy)
    snapshot := (name, seq, time, wall, data, started, version, chain, sum)     the last one of each
    event    := (name, seq, time, wall, behaviour, transition, args, after, changed, sum)

`seq` counts an instance's events from 1; a snapshot has that of the last event in it. `time` is in
seconds of the instance's clock, `wall` and `due` (when its next timer is due) since 1970. `data` is
a snapshot as of time 0, so that deadlines are kept as they are, `started` for how many seconds each
armed timer was started, `version` the fingerprint of the code that made it. `stored_instance` has
the form of `changed`. The checksums `sum` and `chain` show rows that somebody else has changed: see
`databases.tables`.
"""

from __future__ import annotations

import logging
import os
import time as clocks
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar, get_args

from .databases.database import Database, StoreBusy, StoreError
from .databases.sqlite import Sqlite
from .databases.tables import beginning
from .idempotency import Answers, KeyReused, logged_of
from .instances.access import fingerprint_of
from .instances.make import bare
from .instances.opaque_values import check_kept
from .kernel.event_record import Stepped
from .kernel.signal_handlers import let_out, of_a_handler
from .kernel.state import Closed
from .recovery import Policy, Recovery, Timers, events_of, found, moved
from .store_rows import Due, Position, check_class, check_name, names_of, packed
from .store_transactions import CLOSED, Transactions
from .stored_instance import StoredInstance
from .timers import Clock

if TYPE_CHECKING:
    from .instance import Machine

__all__ = ["Due", "KeyReused", "Policy", "Store", "StoreBusy", "StoreError", "Timers"]

M = TypeVar("M", bound="Machine")
T = TypeVar("T")
P = ParamSpec("P")
LOGGER = logging.getLogger("lawful")
UNLEFT = "%s: no snapshot at the end: %s"
PAGE = 256
RELEASED = Closed("the store has released it: restore the instance, and use that one")


class Store:
    """Keeps instances in a database, with a snapshot after `snapshot_every` events, or more where
    the state is larger than the rows of these.

    `where`: the path of an SQLite file, or a `Database` (`databases.sqlite.Sqlite`,
    `databases.postgres.Postgres`, or one of yours). `synchronous="NORMAL"` is faster for a file: a
    crash of the machine, not of the process, may then take the last events with it, though never a
    part of one. `timeout`: for so many seconds an event waits, and its thread with it, while
    another process writes; then it is undone, with StoreBusy. `outbox`: the machines whose outputs
    wait in the database until an `outbox.Outbox` delivers them. `expiry`: for so many seconds the
    store knows the keys of `once`. Errors: those of the driver
    (sqlite3.Error); StoreError for a database of another version, or of something else.
    """

    def __init__(
        self,
        where: str | os.PathLike[str] | Database,
        *,
        snapshot_every: int = 100,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
        timeout: float = 1.0,
        outbox: Iterable[type[Machine]] = (),
        expiry: float = 86_400.0,
    ) -> None:
        if type(snapshot_every) is not int or snapshot_every < 1:
            raise ValueError(f"a snapshot follows one event or more, not {snapshot_every!r}")
        self.snapshot_every = snapshot_every
        self.outbox = names_of(outbox)
        if isinstance(where, str | os.PathLike):
            where = Sqlite(where, synchronous=synchronous, timeout=timeout)
        elif not hasattr(where, "prefix"):
            raise TypeError(f"a store is in an SQLite file or a Database, not in {where!r}")
        self.transactions = Transactions(where)
        self._answers = Answers(self.transactions, expiry)
        self._logged: dict[str, StoredInstance] = {}
        self.stale: set[str] = set()
        self._open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave a snapshot of each instance, and close the database; what its instances do from now
        on is kept nowhere. Where a snapshot cannot be written, the logger `lawful` gets the reason:
        the rows are enough to come back."""
        if not self._open:
            return
        self.transactions.apart("left")
        for logged in list(self._logged.values()):
            try:
                self._leave(logged)
            except RuntimeError as error:
                let_out(error)
                LOGGER.warning(UNLEFT, logged.name, error)
        for logged in self._logged.values():
            logged.watch.log = None
        self._logged.clear()
        self._open = False
        self.transactions.close()

    def _leave(self, logged: StoredInstance) -> None:
        """Store a snapshot of an instance that had events since its last one, if that can be
        written. RuntimeError while it runs an event."""
        try:
            if logged.at.rows:
                self._snapshot_at_rest(logged)
        except Exception as error:
            if isinstance(error, RuntimeError) or of_a_handler(error):
                raise
            LOGGER.warning(UNLEFT, logged.name, error)

    def _snapshot_at_rest(self, logged: StoredInstance) -> None:
        def write() -> None:
            logged.begin()
            self.transactions.database.hold(logged.name)
            self._snapshot(logged, logged.at)

        logged.watch.at_rest(lambda: self.transactions.run(write))

    def _found(self, name: str) -> StoredInstance:
        if not self._open:
            raise StoreError(CLOSED)
        if name not in self._logged:
            raise StoreError(f"no instance {name} was added or restored")
        return self._logged[name]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):  # SQLite would take 3 for the text.
            return False
        check_name(name)
        return self.transactions.row(self.transactions.sql.is_there, (name,)) is not None

    def names(self) -> list[str]:
        """The names of all instances."""
        return [name for (name,) in self.transactions.rows(self.transactions.sql.names)]

    def together(self, act: Callable[[Any], T]) -> T:
        """Call `act(connection)` in one transaction: the events that it calls, and what it executes
        on the database's connection, happen together or not at all. Returns what `act` returns.

        If `act` raises, or the database does not commit, all of it is rolled back: each instance is
        as it was before, one that `act` added is in no store any more, and observers hear nothing.
        Observers hear of the events after the end; what they raise is raised then. `act` must not
        end the transaction: StoreError, and its instances take no further event until they are
        restored, if the database cannot say what they have. An event that is refused or fails may
        be caught inside, it takes nothing else along. RuntimeError inside for what cannot be rolled
        back: to restore, release or remove an instance, to prune, to close the store. Another
        thread waits with its events until the end; RuntimeError for one of an instance that this
        transaction has touched.
        """
        return self.transactions.together(act)

    def once(self, key: str, step: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Call an event of a stored instance, `step`, unless it was called with this key before:
        then return, or raise, what it answered at that time, and do nothing.

        `step` may be `lawful.take_json` or `lawful.take` of the instance, too: then the event's
        name comes first. The key is one of the instance. An answer is an output, a refusal, or that
        the event was ignored; after anything else nothing has happened and the key is free.
        KeyReused if the key belongs to another event or to other arguments; StoreError for a step
        that is no event of an instance in this store. Else raises what the event does.
        """
        logged = logged_of(step)
        if not isinstance(logged, StoredInstance) or logged.store is not self:
            raise StoreError(f"{step!r} is no event of an instance in this store")
        return self._answers.once(logged, key, step, args, named)

    def add(self, entry: M, name: str) -> M:
        """Store the instance under a new name: its present state, and its events from now on.

        Errors: StoreError if the name exists, ValueError if the instance is stored already;
        RuntimeError for a part, and before an `@initial` was called; TypeError for a name that is
        no text, for an opaque value without an encoding, and for a machine that has an opaque type
        without any.
        """
        check_name(name)
        self.transactions.database.check_name(name)
        check_class(type(entry), "the class of what is stored")
        of = entry.lawful.plan
        check_kept(of.machine, of.resolved.world, of.name in self.outbox)
        watch = entry.lawful.watched("add")
        if watch.log is not None:
            raise ValueError(f"the instance for {name} is kept already")
        machine = of.name
        now, begins = float(entry.__environment__.now()), beginning(name, machine)
        at = Position(0, now, clocks.time(), (), packed(begins))
        logged = StoredInstance(self, entry, name, at)
        due = logged.due(at.wall, now)
        logged.at = at._replace(timers=logged.started(now), due=due)
        logged.watch = watch

        def write() -> None:
            row = name, machine, 0, begins, due, due
            sql, database = self.transactions.sql, self.transactions.database
            if database.execute(sql.add, row).rowcount != 1:
                raise StoreError(f"the store has an instance {name} already")
            self._snapshot(logged, logged.at)
            if self.transactions.block is not None:
                gone = map(self._logged.pop, (name,), (None,))
                self.transactions.block.touch(logged, None, gone)

        self.transactions.run(write)
        self._follow(logged)
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
        bring it back; ValueError for another word than these; those of `lawful.restore`.
        """
        check_name(name)
        _check_word("policy", policy, get_args(Policy))
        _check_word("timers", timers, get_args(Timers))
        check_class(cls, "what is restored")
        of, transactions = cls.lawful.plan, self.transactions
        transactions.apart("restored")
        try:
            known = transactions.run(lambda: found(transactions, name, of.name))
        except UnicodeDecodeError as error:  # Of a damaged name in a message of SQLite.
            raise StoreError(f"{name}: the database is damaged: {error}") from error
        old = Recovery(self, cls, known, universe, renamed).run(policy)
        listed = old.entry.__environment__.universe.universe()
        logged = moved(old, bare(cls, listed or None, clock, of.parameters), timers)
        logged.watch = logged.entry.lawful.watched("restore")
        other = known.version != fingerprint_of(of).whole or universe is not None
        if other or of.timed or known.rows or known.due != (None, None):
            transactions.run(lambda: self._settle(logged))
        self._follow(logged)
        return logged.entry  # type: ignore[return-value]  # it was made of `cls`

    def _settle(self, logged: StoredInstance) -> None:
        """Store a snapshot, and when the instance is due by its new clock."""
        self.transactions.database.hold(logged.name)
        self._snapshot(logged, logged.at)
        logged.put_due()

    def correct_due(self, name: str) -> None:
        """Store when the instance is due by its own timers, where the database says another time;
        nothing happens where the instance went on in another process. Internal."""
        logged = self._found(name)

        def write() -> None:
            logged.begin()
            due = logged.due(clocks.time(), logged.entry.__environment__.now())
            logged.at = logged.at._replace(due=due)
            logged.put_due()

        logged.watch.at_rest(lambda: self.transactions.run(write))

    def snapshot(self, name: str) -> None:
        """Store the present state, so that earlier events need not be read again. StoreError for an
        instance that is not in this store; RuntimeError while it runs an event."""
        self._snapshot_at_rest(self._found(name))

    def snapshot_all(self) -> int:
        """Store the present state of each instance that was added or restored and had events since
        its last snapshot; how many there were. Raises as `snapshot`."""
        several = [logged for logged in self._logged.values() if logged.at.rows]
        for logged in several:
            self._snapshot_at_rest(logged)
        return len(several)

    def release(self, name: str) -> None:
        """Leave a snapshot of the instance, and forget it: it takes no further event, and nothing
        here holds it any more. `restore` brings it back. Where no snapshot can be written, the
        logger `lawful` gets the reason. StoreError for an instance that is not in this store;
        RuntimeError while it runs an event."""
        logged = self._found(name)
        self.transactions.apart("released")
        self._leave(logged)
        logged.watch.at_rest(lambda: setattr(logged.entry, "__watch__", RELEASED))
        del self._logged[name]
        self.stale.discard(name)

    def due(self, cls: type[Machine], until: float | None = None) -> Iterator[Due]:
        """The instances of a machine that have an armed timer, the first to be due first, up to a
        time in seconds since 1970; whether they were restored or not.

        A timer that is due and whose transition is refused stays armed, and is among them. In
        a database of version 2, instances are among them at time 0 until they are restored, if
        nobody has told whether they have an armed timer."""
        most = float("inf") if until is None else until
        machine, last = cls.lawful.plan.name, Due("", float("-inf"), 0)
        while True:
            after = machine, most, last.at, last.at, last.name, PAGE
            page = self.transactions.rows(self.transactions.sql.due, after)
            yield from (last := Due(*row) for row in page)
            if len(page) < PAGE:
                return

    def prune(self) -> int:
        """Delete the events that no instance needs to come back: those before its last snapshot.
        How many there were. Also delete the answers to keys that have expired."""
        self.transactions.apart("pruned")

        def delete() -> int:
            self._answers.forget()
            return self.transactions.database.execute(self.transactions.sql.prune, ()).rowcount

        return self.transactions.run(delete)

    def remove(self, name: str) -> None:
        """Delete an instance with all its events and answers, and stop storing it. StoreError if
        there is none, and while outputs of it wait."""
        check_name(name)
        self.transactions.apart("removed")

        def delete() -> None:
            if name not in self:
                raise StoreError(f"the store has no instance {name}")
            if self.transactions.row(self.transactions.sql.waits, (name,)) is not None:
                raise StoreError(f"{name} has outputs that were neither delivered nor discarded")
            for statement in self.transactions.sql.remove:
                self.transactions.database.execute(statement, (name,))

        self.transactions.run(delete)
        if name in self._logged:
            self._logged.pop(name).watch.log = None
        self.stale.discard(name)

    def events(self, name: str, after: int = 0) -> list[dict[str, Any]]:
        """The events of an instance that were kept, in their order, from the one after `after`.
        StoreError where one is not as it was written, or where the last ones are missing."""
        check_name(name)
        transactions = self.transactions
        head = transactions.row(transactions.sql.whole, (name,))  # First: there may be more later.
        before = transactions.row(transactions.sql.event_sum, (name, after))
        if before is None and after == 0 and head is not None:
            before = (beginning(name, head[0]),)
        rows = events_of(transactions, name, after, before[0] if before else None)
        if head is not None:
            whole = None if rows else transactions.row(transactions.sql.last, (name,))
            reached = rows[-1]["seq"] if rows else whole[1] if whole else 0
            numbers = type(head[1]) is int and type(reached) is int
            if not numbers or head[1] > max(after, reached):
                raise StoreError(f"{name}: events are missing before {head[1]}, the last one")
        return rows

    # Internal.

    def _follow(self, logged: StoredInstance) -> None:
        self._logged[logged.name] = logged
        self.stale.discard(logged.name)
        logged.next = logged.at
        logged.watch.log = logged

    def write(self, logged: StoredInstance, done: Stepped) -> None:
        """Write the row of an event, which the caller undoes if this raises. Internal."""
        at, transactions = logged.at, self.transactions
        transition, before = done.record[3], at.sum
        answer = self._answers.write(logged, done) if self._answers.calls else None
        if transition is None:
            if answer is not None:
                transactions.run(answer)
                self._answers.done()
            return
        database, sql = transactions.database, transactions.sql
        execute, name = database.execute, logged.name
        row, after = logged.event(done, transition, before)
        total = after.sum
        output = logged.output(done, after) if self.outbox else None
        whole = logged.wants_snapshot(after, self.snapshot_every)
        after = after._replace(rows=0, bytes=0) if whole else after

        def write() -> None:
            head = after.seq, total, after.due, after.due, name, at.seq, before
            if execute(sql.head, head).rowcount != 1:
                there = execute(sql.event_sum, (name, after.seq)).fetchone()
                raise logged.gone_elsewhere(*[f": it has event {after.seq}"] * bool(there))
            execute(sql.event, (*row, total))
            if output is not None:
                execute(sql.put_output, output)
            if answer is not None:
                answer()
            if whole:
                self._snapshot(logged, after)
            logged.kept = kept  # Before, nothing can have been committed.

        transactions.own()
        logged.next, logged.kept = after, ()
        kept = transactions.asking(sql.kept, (name, after.seq, total))
        transactions.run_owned(write)
        logged.at = after
        if answer is not None:
            self._answers.done()

    def _snapshot(self, logged: StoredInstance, at: Position) -> None:
        values = (*logged.snapshot(at), logged.name, at.seq, at.sum)
        statement = self.transactions.sql.snapshot
        if self.transactions.database.execute(statement, values).rowcount != 1:
            raise logged.gone_elsewhere()
        if at is logged.at and at.rows:
            logged.at = at._replace(rows=0, bytes=0)


def _check_word(what: str, given: str, words: tuple[str, ...]) -> None:
    """ValueError for any other word."""
    if given not in words:
        raise ValueError(f"{what}: one of {', '.join(words)}, not {given!r}")
