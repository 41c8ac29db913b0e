"""The transactions of a store: one for each event, or one that a service shares with the store.

    store.together(act)     begins a transaction, calls `act(connection)`, and commits

The events that `act` calls, and the statements that it executes, happen together or not at all. An
event is a savepoint in that transaction, so one that fails takes only its own rows along. Where the
transaction is rolled back, each instance that it touched is as it was before: `Block` has saved
that. An interrupt may come anywhere: see `databases.database`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, compress, starmap
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, cast

from .databases.database import SAVEPOINT, Database, StoreError, Values
from .databases.tables import Statements, statements
from .instances.observers import Observed, foremost
from .kernel.dispatch import save_all, undoing
from .kernel.state import UNKNOWN
from .store_rows import Position

if TYPE_CHECKING:
    from .instance import Machine

T = TypeVar("T")
EVENT = "lawful_event"  # The savepoint of an event.
CLOSED = "the store is closed: open it anew"
AGAIN = "a transaction of this thread is not over; is this a signal handler?"
ELSEWHERE = "a transaction of the store is not over, in which no instance is %s"


class Stored(Protocol):
    """An instance in a store."""

    entry: Machine
    name: str
    watch: Observed
    at: Position
    size: int


class Block:
    """What an open `together` has touched, and what its end does with that.

    `back`, `kept`, `undo` and `lost` are for a handler of exceptions, which reads them to their
    end: roll back; whether it was committed all the same; give the instances back what they had;
    or, where nobody knows, let them take no further event.
    """

    def __init__(self, database: Database, thread: int) -> None:
        self.database = database
        self.thread = thread
        self.touched: dict[str, tuple[Stored, Position | None]] = {}
        self.torn = False  # It may have a part of an event, and must not be committed.
        self._undo: list[Iterator[object]] = []
        self._lost: list[Iterator[object]] = []
        self.back: Iterator[object] = self._rollback()
        self.kept: Iterator[object] = iter(())
        self.undo = chain.from_iterable(self._undo)
        self.lost = chain(chain.from_iterable(self._lost), self._rollback())

    def _rollback(self) -> Iterator[object]:
        return starmap(self.database.rollback, ((),))

    def begin(self) -> None:
        """Begin the transaction. StoreBusy."""
        again = self.database.running(f"ROLLBACK TO {SAVEPOINT}"), self._rollback()
        self.database.begin()
        self.database.execute(f"SAVEPOINT {SAVEPOINT}", ())
        self.back = chain(*again)

    def touch(self, logged: Stored, at: Position | None, *undo: Iterator[object]) -> None:
        """Save what an instance has, before the block's first event of it; `at` is None for one
        that the block adds, and `undo` is what else its rollback reads."""
        if self.thread != threading.get_ident():
            if logged.name in self.touched:
                raise RuntimeError(f"{logged.name} is in a transaction of another thread")
            return
        if logged.name in self.touched:
            return
        state, watch = logged.entry, logged.watch
        back = undoing(save_all(state))
        rest = ((logged, "at", logged.at), (logged, "size", logged.size))
        added = [(watch, "log", None)] if at is None else []
        self._undo.append(chain(back, starmap(setattr, [*rest, *added]), watch.dropping(), *undo))
        self._lost.append(starmap(setattr, [(state, "__watch__", UNKNOWN)]))
        self.touched[logged.name] = logged, at

    def end(self, at_head: str) -> None:
        """Before COMMIT: StoreError where the transaction is another one, or cannot be committed;
        from now on the database says whether it was committed."""
        both = self.touched.values()
        moved = (one for one, at in both if at is None or one.at.seq != at.seq)
        kept: Iterator[object] = iter(())
        for one in moved:
            kept = self.database.asking(at_head, (one.name, one.at.seq, one.at.sum))
            break
        then = starmap(setattr, [(self, "kept", kept), (self, "back", self._rollback())])
        release = chain(self.database.running(f"RELEASE {SAVEPOINT}"), then)
        what = "the transaction was ended inside, or an error has left it without use"
        if self.torn:
            raise StoreError(what)
        try:
            _ = [*release]
        except Exception as error:
            raise StoreError(what) from error

    def look_again(self) -> None:
        """Have followers look at the instances, which are as they were before."""
        for logged, _ in self.touched.values():
            logged.watch.look_again()

    def tell(self) -> None:
        """Tell the observers what was committed; raise their first exception."""
        first: BaseException | None = None
        for logged, _ in self.touched.values():
            try:
                logged.watch.tell()
            except Exception as error:
                first = foremost(first, error, logged.name)
        if first is not None:
            raise first


class _Closed:
    """In the place of the database of a store that was closed."""

    def __getattr__(self, name: str) -> NoReturn:
        raise StoreError(CLOSED)


class Transactions:
    """The transactions on one database, of which one is open at a time."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.sql: Statements = statements(database.prefix)
        self.block: Block | None = None
        self._lock = threading.RLock()
        self._thread: int | None = None  # The one that has a transaction open.
        self._left = False  # An error in a rollback has left a transaction open.
        self._inside = False  # An event of a block is not over.
        self._back: Iterator[object] = iter(())  # Read by the handler of an event in a block.
        self._process = os.getpid()

    def close(self) -> None:
        """Close the database; StoreError for whatever is asked of it from now on."""
        with self._lock:
            self.database.close()
            self.database = cast(Database, _Closed())

    def own(self) -> None:
        """StoreError in a forked process: both would use one connection."""
        if os.getpid() != self._process:
            raise StoreError("a store is used by the process that opened it; open it anew")

    def rows(self, query: str, values: Values = ()) -> list[Any]:
        """The rows of a query, within the transaction of this thread if one is open."""
        with self._lock:
            self._end_left()
            return self.database.execute(query, values).fetchall()

    def row(self, query: str, values: Values) -> Any:
        """The first row of a query, or None."""
        with self._lock:
            self._end_left()
            return self.database.execute(query, values).fetchone()

    def _end_left(self) -> None:
        """Roll back a transaction of the store that an error in its rollback has left open."""
        if self._left:
            self.database.rollback()
            self._left = False

    def asking(self, query: str, values: Values) -> Iterator[object]:
        """Executes the query, of what was committed, while this is read; inside a `together`, of
        what its transaction has. C code."""
        found = self.database.asking(query, values)
        if self.block is not None and self._thread == threading.get_ident():
            return found
        # A rollback that has failed would leave the rows to be found.
        return chain(compress(starmap(self.database.rollback, ((),)), (0,)), found)

    def apart(self, what: str) -> None:
        """RuntimeError inside a `together`, where this cannot be undone."""
        if self.block is not None and self._thread == threading.get_ident():
            raise RuntimeError(ELSEWHERE % what)

    def run(self, act: Callable[[], T]) -> T:
        """Do it in a transaction, which is rolled back where it raises; inside a `together`, in
        that one's.

        An interrupt may come anywhere: in a handler before its first call, or after that. So the
        lock is one of C, and a handler begins with its only call.
        """
        self.own()
        return self.run_owned(act)

    def run_owned(self, act: Callable[[], T]) -> T:
        """The same after `own`."""
        me = threading.get_ident()
        if self._thread == me:  # It would wait for itself.
            if self.block is None or self._inside:
                raise StoreError(AGAIN)
            return self._within(act)
        with self._lock:
            self._end_left()
            self.database.idle()
            self._thread = me
            try:
                self.database.begin()
                made = act()
                self.database.execute("COMMIT", ())
            except BaseException:
                self._left = True
                self.database.rollback()
                self._left = False
                raise
            finally:
                self._thread = None
        return made

    def _within(self, act: Callable[[], T]) -> T:
        """Do it in the open transaction; where it raises, only this is rolled back.

        After an interrupt `_back` says whether the savepoint is still there: to roll back to one
        that was released is an error, and PostgreSQL then refuses every further statement."""
        block = self.block
        assert block is not None
        then = starmap(setattr, [(self, "_back", iter(()))])
        release = chain(self.database.running(f"RELEASE {EVENT}"), then)
        self._back = self.database.running(f"ROLLBACK TO {EVENT}")
        self.database.execute(f"SAVEPOINT {EVENT}", ())
        self._inside = True
        try:
            made = act()
            try:
                _ = [*release]
            except KeyError as error:  # The status that PostgreSQL gave.
                raise StoreError(f"the event was not kept: {error}") from error
        except BaseException:
            try:
                _ = [*self._back]
            except Exception:  # It was ended inside, or has a part of the event.
                block.torn = True
            raise
        finally:
            self._inside = False
        return made

    def together(self, act: Callable[[Any], T]) -> T:
        """See `Store.together`."""
        self.own()
        me = threading.get_ident()
        if self._thread == me:
            raise StoreError(AGAIN)
        with self._lock:
            self._end_left()
            self.database.idle()
            block = Block(self.database, me)
            self._thread = me
            try:
                block.begin()
                self.block = block
                made = act(self.database.connection)
                block.end(self.sql.at_head)
                self.database.execute("COMMIT", ())
            except BaseException:  # It runs no Python code before the instances are right.
                there: Iterable[object] = ()
                self._left = True
                try:
                    _ = [*block.back]
                    there = [*block.kept]
                except Exception:
                    _ = [*block.lost]
                else:
                    if not there:
                        _ = [*block.undo]
                self._left = False
                try:
                    block.look_again()
                except BaseException:  # An interrupt.
                    block.look_again()
                    raise
                raise
            finally:
                self.block = None
                self._thread = None
        block.tell()
        return made
