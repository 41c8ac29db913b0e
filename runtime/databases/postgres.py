"""PostgreSQL as the database of a store, by psycopg 3 (`pip install 'lawful[postgres]'`).

    Store(Postgres("dbname=shop"))             a connection of its own
    Store(Postgres(connection))                a connection that the service has opened

The tables are in the schema `lawful`. Statements go through psycopg's interface to libpq, of which
each call is one of C: so an interrupt comes before a statement or after it. What users of psycopg
set for their connection (row factories, adapters) makes no difference. Rows are locked one by one:
processes with other instances do not wait for each other.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import Any

import psycopg
from psycopg import pq

from .database import StoreBusy, StoreError, Values
from .tables import FROM_3, SCHEMA, VERSION, from_4

SCHEMA_NAME = "lawful"
OIDS: dict[type, int] = {int: 20, float: 701, str: 25, type(None): 0}
READERS: dict[int, Callable[[bytes], Any]] = {
    20: int,
    23: int,
    701: float,
    25: bytes.decode,
}  # Else text.
DONE = {pq.ExecStatus.COMMAND_OK: True}
THERE: dict[bytes, tuple[bool, ...]] = {b"0": (), b"1": (True,)}
BUSY = frozenset({"55P03", "40P01", "57014"})  # No lock in time, deadlock, statement too long.
MAKE_ONCE = "SELECT pg_advisory_xact_lock(7813920264)"  # Of processes that begin at once.
status_of = operator.attrgetter("status")
first_value = operator.methodcaller("get_value", 0, 0)


class Fetched:
    """The result of a statement."""

    __slots__ = ("_at", "_readers", "_result", "rowcount")

    def __init__(self, result: Any) -> None:
        self._result = result
        self._at = 0
        self.rowcount = int(result.command_tuples or 0)
        self._readers = [READERS.get(result.ftype(i), bytes.decode) for i in range(result.nfields)]

    def fetchone(self) -> Any:
        """The next row, or None."""
        if self._at >= self._result.ntuples:
            return None
        values = [self._result.get_value(self._at, i) for i in range(len(self._readers))]
        self._at += 1
        both = zip(self._readers, values, strict=True)
        return tuple(None if value is None else read(value) for read, value in both)

    def fetchall(self) -> list[Any]:
        """The remaining rows."""
        return list(iter(self.fetchone, None))


class Postgres:
    """A `Database` in PostgreSQL, at a connection string or on a psycopg connection.

    Of a connection of the service, the service keeps the settings (`lock_timeout` too), and closes
    it. While the store is open, the service executes statements on it in `Store.together` alone.
    `timeout`: for so many seconds a statement waits for a lock. Errors: StoreError for tables of
    another version; psycopg.Error.
    """

    prefix = f"{SCHEMA_NAME}."
    checks: tuple[str, ...] = ()  # An administrator asks the server: `pg_amcheck`.

    def __init__(self, where: str | psycopg.Connection[Any], *, timeout: float = 1.0) -> None:
        self._owns = isinstance(where, str)
        if isinstance(where, str):
            self.connection: psycopg.Connection[Any] = psycopg.connect(where, autocommit=True)
        else:
            self.connection = where
        self._pg: Any = self.connection.pgconn
        self.rollback: Callable[[], object] = functools.partial(self._pg.exec_, b"ROLLBACK")
        try:
            if self._owns:
                self.execute(f"SET lock_timeout = {max(1, round(timeout * 1000))}")
                self.execute("SET client_min_messages = error")
            self.idle()
            self._make()
        except BaseException:
            self.close()
            raise

    def execute(self, query: str, values: Values = ()) -> Fetched:
        """Execute a statement with values in the place of each `?`."""
        kinds = [OIDS[each.__class__] for each in values]
        texts = [None if each is None else str(each).encode() for each in values]
        result = self._pg.exec_params(_numbered(query), texts, kinds)
        if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            raise self._error(result)
        return Fetched(result)

    def _error(self, result: Any) -> Exception:
        error = psycopg.errors.error_from_result(result)
        if error.sqlstate in BUSY:
            busy = StoreBusy(f"another process has locked the rows: {error}")
            busy.__cause__ = error
            return busy
        return error

    def _make(self) -> None:
        """Make the tables, if there are none."""
        self.begin()
        try:
            self.execute(MAKE_ONCE)
            there = self.execute("SELECT to_regclass('lawful.version')::text").fetchone()[0]
            if there is None:
                self.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA_NAME}")
                text = f"{SCHEMA};{FROM_3}".replace("TEXT", 'TEXT COLLATE "C"')
                for statement in text.format(t=self.prefix, i="", end="").split(";"):
                    self.execute(statement)
                self.execute(f"CREATE TABLE {self.prefix}version(version BIGINT NOT NULL)")
                self.execute(f"INSERT INTO {self.prefix}version VALUES ({VERSION})")
            version = self.execute(f"SELECT max(version) FROM {self.prefix}version").fetchone()[0]
            if version == 4:
                from_4(self.execute, self.prefix)
                self.execute(f"UPDATE {self.prefix}version SET version = {VERSION}")
                version = VERSION
            if version != VERSION:
                raise StoreError(f"a store of version {version}; this lawful reads {VERSION}")
            self.execute("COMMIT")
        except BaseException:
            self.rollback()
            raise

    def idle(self) -> None:
        """StoreError if a transaction is open that the store did not begin."""
        if self._pg.transaction_status != pq.TransactionStatus.IDLE:
            if self._owns:
                self.rollback()
            else:
                raise StoreError("a transaction is open that the store did not begin; end it")

    def begin(self) -> None:
        """Begin a transaction that can write."""
        self.execute("BEGIN")

    def hold(self, name: str) -> None:
        """Lock the instance's row. StoreBusy."""
        self.execute(f"SELECT 1 FROM {self.prefix}instance WHERE name = ? FOR UPDATE", (name,))

    def running(self, statement: str) -> Iterator[object]:
        """Executes the statement while this is read."""
        results = map(self._pg.exec_, (statement.encode(),))
        return map(DONE.__getitem__, map(status_of, results))

    def asking(self, query: str, values: Values) -> Iterator[object]:
        """Executes the query while this is read."""
        count = _numbered(f"SELECT count(*) FROM ({query} LIMIT 1) AS found")
        kinds = [OIDS[each.__class__] for each in values]
        texts = [None if each is None else str(each).encode() for each in values]
        results = map(self._pg.exec_params, (count,), (texts,), (kinds,))
        return chain.from_iterable(map(THERE.__getitem__, map(first_value, results)))

    def check_name(self, name: str) -> None:
        """StoreError for a name with a character that PostgreSQL does not keep."""
        if "\0" in name:
            raise StoreError(f"{name!r} cannot be a name: PostgreSQL keeps no character 0")

    def with_damaged_texts(self) -> AbstractContextManager[None]:
        """The server gives no text that is no Unicode."""
        return nullcontext()

    def close(self) -> None:
        """Close a connection of its own."""
        if self._owns:
            self.connection.close()


@functools.cache
def _numbered(query: str) -> bytes:
    """The query with `$1` and so on in the place of each `?`."""
    first, *others = query.split("?")
    return (first + "".join(f"${n}{each}" for n, each in enumerate(others, 1))).encode()
