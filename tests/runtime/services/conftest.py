"""The databases in which the tests of stores keep instances."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import pytest

from lawful.runtime.databases.database import Database
from lawful.runtime.databases.sqlite import Sqlite
from lawful.runtime.store import Store
from tests.runtime.services import postgres_server


class Place(Protocol):
    """A place for one store: in each test a new one."""

    prefix: str
    mark: str  # How the driver writes the place of a value.

    def database(self, timeout: float = 1.0) -> Database:
        """A back end that is opened there."""
        ...

    def other(self) -> Any:
        """Another connection to the same database, where each statement is committed."""
        ...


def store(place: Place, **options: Any) -> Store:
    return Store(place.database(options.pop("timeout", 1.0)), **options)


class File:
    prefix, mark = "", "?"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "kept.db"

    def database(self, timeout: float = 1.0) -> Database:
        return Sqlite(self.path, timeout=timeout)

    def other(self) -> Any:
        return sqlite3.connect(self.path, isolation_level=None)


class InTheServices:
    """A database of the service, whose connection the store gets."""

    prefix, mark = "lawful_", "?"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "shop.db"
        with closing(sqlite3.connect(self.path)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("CREATE TABLE event(of TEXT)")  # Not that of the store.

    def database(self, timeout: float = 1.0) -> Database:
        return Sqlite(sqlite3.connect(self.path, timeout=timeout, check_same_thread=False))

    def other(self) -> Any:
        return sqlite3.connect(self.path, isolation_level=None)


class OnAServer:
    """PostgreSQL; with `shared` the store gets a connection of the service."""

    prefix, mark = "lawful.", "%s"

    def __init__(self, where: str, shared: bool) -> None:
        self.where = where
        self.shared = shared
        with self.other() as db:
            db.execute("DROP SCHEMA IF EXISTS lawful CASCADE")

    def database(self, timeout: float = 1.0) -> Database:
        from lawful.runtime.databases.postgres import Postgres

        if not self.shared:
            return Postgres(self.where, timeout=timeout)
        import psycopg
        from psycopg.rows import dict_row

        settings = f"-c lock_timeout={max(1, int(timeout * 1000))}"
        rows: Any = dict_row  # It makes no difference for the store.
        return Postgres(psycopg.connect(self.where, options=settings, row_factory=rows))

    def other(self) -> Any:
        import psycopg

        return psycopg.connect(self.where, autocommit=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The connection string of a server."""
    missing = postgres_server.why_no_server()
    if missing and os.environ.get("HYPOTHESIS_PROFILE") == "nightly":
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)
    with postgres_server.server() as where:
        yield where


PLACES: dict[str, Callable[[pytest.FixtureRequest, Path], Place]] = {
    "sqlite": lambda _, folder: File(folder),
    "sqlite of the service": lambda _, folder: InTheServices(folder),
    "postgres": lambda request, _: OnAServer(request.getfixturevalue("postgres"), False),
    "postgres of the service": lambda request, _: OnAServer(
        request.getfixturevalue("postgres"), True
    ),
}


@pytest.fixture(
    params=[pytest.param(each, marks=pytest.mark.xdist_group("postgres")) for each in PLACES]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Every back end, one after another."""
    return PLACES[request.param](request, tmp_path)
