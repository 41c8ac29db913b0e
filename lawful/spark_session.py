"""The Spark session of a command; what goes wrong in it is an error of the command."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from .commands.errors import CommandError


@contextmanager
def spark_session(master: str | None, more: Mapping[str, str] = {}) -> Generator[Any]:
    """The active session, or a new one of this master with more settings.

    Raises CommandError where none starts, and for an error of Spark.
    """
    from lawful.checks.replay import ReplayError
    from lawful.checks.replay.spark.session import plain_errors, session

    try:
        made = session(master, more)
        with plain_errors():
            yield made
    except ReplayError as error:
        raise CommandError(str(error)) from error
