"""Requests and their answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ..transaction import Stage, Transaction
from .scripts import Script
from .table import Value


class Kind(Enum):
    """What a request is for the windows."""

    GET = "get"
    READ = "read_only_transaction"
    WRITE = "write"


class Overloaded(Exception):
    """Too many requests of this kind wait; nothing has happened."""


@dataclass(frozen=True)
class Answer:
    """The one answer to a request. `outcome`: that of its machine, except `failed` for a
    transaction that has ended with an error. `tries`: how often it was started."""

    outcome: str
    values: tuple[Value, ...] = ()
    error: str = ""
    tries: int = 0


OUTCOMES = {Stage.ANSWERED: "answered", Stage.INVALID: "invalid", Stage.ABANDONED: "abandoned"}
ERRORS = {Stage.INVALID: "took too long", Stage.ABANDONED: "the node shuts down"}


@dataclass(eq=False)
class Job:
    """One request; `order`: when it came, among those for the main thread. `unheard`: nobody hears
    of its machine any more, such as a journal."""

    kind: Kind
    script: Script
    answered: Callable[[Answer], object]
    machine: Transaction
    order: int
    tries: int = 0
    ended: bool = False  # It has its answer.
    unheard: Callable[[], None] | None = None
