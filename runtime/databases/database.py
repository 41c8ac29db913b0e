"""What a store needs of a database: the protocol that every back end implements.

`lawful.runtime.databases.sqlite` and `lawful.runtime.databases.postgres` are the two that there
are. `tests/runtime/services/test_databases.py` has the tests that a back end passes.

A store sends plain SQL: the statements of `tables`, with a `?` for each value. So a back end is a
connection, and how transactions begin and end on it. Two rules are about interrupts. A signal may
raise an exception in any Python code, so what a handler of exceptions has to do may not be Python
code: `rollback`, `running` and `asking` are objects that run C code alone when they are called or
read to their end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Values = Sequence[Any]  # Of a statement: text, integers, floats and None.
SAVEPOINT = "lawful_together"  # It shows that a transaction was not ended by somebody else.


class StoreError(Exception):
    """A store of another version, without the instance, damaged, or changed by another process."""


class StoreBusy(StoreError):
    """Another process has the database locked, for longer than the store waits."""


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows an INSERT, UPDATE or DELETE changed."""
        ...

    def fetchone(self) -> Any:
        """The next row as a tuple, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """The remaining rows as tuples."""
        ...


class Database(Protocol):
    """One connection to a database that has the tables of a store.

    Only one thread at a time uses it: the store has a lock for that. Errors of statements are those
    of the driver; StoreBusy where a lock was waited for in vain.
    """

    @property
    def connection(self) -> Any:
        """The driver's connection, on which a service executes statements of its own."""
        ...

    @property
    def prefix(self) -> str:
        """What the names of the tables begin with, so that they are not those of the service."""
        ...

    @property
    def checks(self) -> Sequence[str]:
        """Queries of what the database itself finds wrong with the store's tables and indices: a
        row with one text for each fault, or "ok"."""
        ...

    @property
    def execute(self) -> Callable[[str, Values], Rows]:
        """Execute a statement with values in the place of each `?`."""
        ...

    @property
    def rollback(self) -> Callable[[], object]:
        """End the transaction without its changes; does nothing where none is open. C code."""
        ...

    def idle(self) -> None:
        """StoreError if a transaction is open that the store did not begin."""
        ...

    def begin(self) -> None:
        """Begin a transaction that can write. StoreBusy."""
        ...

    def hold(self, name: str) -> None:
        """Keep others from writing this instance until the transaction ends. StoreBusy."""
        ...

    def running(self, statement: str) -> Iterator[object]:
        """Executes the statement, which has no values, while this is read; an error where it
        fails. C code."""
        ...

    def asking(self, query: str, values: Values) -> Iterator[object]:
        """Executes the query while this is read: an item if it gives a row, none if it gives none,
        an error where the database cannot tell. C code."""
        ...

    def check_name(self, name: str) -> None:
        """StoreError for the name of an instance that the database cannot keep."""
        ...

    def with_damaged_texts(self) -> AbstractContextManager[object]:
        """While this is open, a text that is no Unicode any more is read as another text."""
        ...

    def close(self) -> None:
        """Close the connection, if the back end has opened it."""
        ...
