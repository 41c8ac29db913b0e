"""A PostgreSQL server of the tests' own: in a temporary folder, on a socket of Unix, as no root."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Nothing has to survive the server, and few connections are made.
# Stores that tests interrupt stay connected until the garbage collector finds them.
QUICK = ("fsync=off", "full_page_writes=off", "shared_buffers=4MB", "max_connections=300")
SETTINGS = ("listen_addresses=", "autovacuum=off", *QUICK)


def program(name: str) -> str | None:
    """The path of a program of PostgreSQL; Debian has them in a folder of their own."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)


def why_no_server() -> str | None:
    """What is missing, or None."""
    if program("initdb") is None or program("postgres") is None:
        return "PostgreSQL is not installed (Debian: postgresql)"
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed: pip install 'lawful[postgres]'"
    return None


@contextmanager
def server() -> Generator[str]:
    """A server that runs inside the `with`; gives its connection string."""
    initdb, postgres = program("initdb"), program("postgres")
    assert initdb is not None and postgres is not None
    with tempfile.TemporaryDirectory(prefix="lawful-pg-") as name:
        folder, user = Path(name), _user()
        os.chown(folder, user.pw_uid, user.pw_gid)
        run: dict[str, Any] = {}
        if os.getuid() == 0:
            run = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        command = [initdb, "-D", f"{folder}/data", "-A", "trust", "-U", "lawful", "--no-sync"]
        subprocess.run(
            [*command, "-E", "UTF8", "--locale=C"], check=True, capture_output=True, cwd="/", **run
        )
        settings = [word for each in SETTINGS for word in ("-c", each)]
        command = [postgres, "-D", f"{folder}/data", "-k", name, *settings]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **run)
        try:
            where = f"host={name} user=lawful dbname=postgres"
            _wait(where, process)
            yield where
        finally:
            process.send_signal(signal.SIGINT)  # It does not wait for connections to end.
            process.wait()


def _user() -> pwd.struct_passwd:
    """Who the server runs as: PostgreSQL refuses root."""
    if os.getuid() != 0:
        return pwd.getpwuid(os.getuid())
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _wait(where: str, process: subprocess.Popen[Any]) -> None:
    """Until the server takes connections."""
    import psycopg

    while True:
        try:
            psycopg.connect(where).close()
            return
        except psycopg.OperationalError:
            assert process.poll() is None, "the server has ended"
