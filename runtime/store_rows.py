"""Positions of instances in a store, and the checks of what its rows have."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from lawful.spec.integer_texts import beyond, is_beyond

from .databases.database import StoreError

Armed = tuple[str, float, float]  # The place of a timer, its deadline, and for how long it runs.


class Position(NamedTuple):
    """How far an instance has come: its last event, its armed timers (no map, which would take
    twice the memory), the rows since its last snapshot, and when its next timer is due, in seconds
    since 1970."""

    seq: int
    last: float
    wall: float
    timers: tuple[Armed, ...]
    packed: int  # The checksum of the row of that event; as text it takes twice the memory.
    rows: int = 0
    bytes: int = 0
    due: float | None = None

    @property
    def sum(self) -> str:
        """The checksum of the row of its last event."""
        return f"{self.packed:032x}"


def packed(total: str) -> int:
    """A checksum in the form in which a position keeps it."""
    return int.from_bytes(bytes.fromhex(total))


class Due(NamedTuple):
    """An instance that has an armed timer, when that is due, in seconds since 1970, and the number
    of its last event."""

    name: str
    at: float
    seq: int


def seconds_of(where: str, *times: Any) -> tuple[float, ...]:
    """The times of a row; StoreError for an invalid value."""
    if not all(isinstance(each, int | float) and math.isfinite(each) for each in times):
        raise StoreError(f"{where}: {times} are no times")
    return times


def started_in(name: str, text: str) -> list[tuple[str, float]]:
    """For how many seconds the timers of a snapshot were started; StoreError for anything else."""
    rows = json_of(name, text)
    if rows.__class__ is not dict:
        raise StoreError(f"{name}: {text[:60]!r} says of no timer when it was started")
    return list(zip(rows, seconds_of(name, *rows.values()), strict=True))


def check_name(name: Any) -> None:
    """TypeError for a name that is no text, StoreError for one that cannot be encoded."""
    if not isinstance(name, str):
        raise TypeError(f"the name of an instance is a text, not {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise StoreError(f"{name!r} cannot be a name: {error}") from error


def check_class(cls: Any, what: str) -> None:
    """TypeError for anything but a class of a machine."""
    if not isinstance(cls, type) or not hasattr(cls, "lawful"):
        raise TypeError(f"{what} is a class of a machine, not {cls!r}")


def names_of(outbox: Any) -> frozenset[str]:
    """The names of the machines whose outputs a store keeps."""
    if not isinstance(outbox, Iterable):
        raise TypeError(f"outbox: several classes of machines, not {outbox!r}")
    classes: list[Any] = [*outbox]
    for each in classes:
        check_class(each, "each of outbox")
    return frozenset(each.lawful.plan.name for each in classes)


def unwritten(where: str, error: ValueError) -> StoreError:
    """The error for a value that has no text."""
    return StoreError(f"{where}: a value that cannot be written: {error}")


def json_of(name: str, text: str) -> Any:
    """What a row has as JSON; StoreError where it is none."""
    try:
        return json.loads(text)
    except RecursionError as error:
        what = f"{name}: the stack is too deep to read a row, or the row is: {text[:60]!r}"
        raise StoreError(what) from error
    except (ValueError, TypeError) as error:
        wide = isinstance(error, ValueError) and is_beyond(error)
        what = beyond() if wide else "a row has no JSON"
        raise StoreError(f"{name}: {what}: {text[:60]!r}") from error
