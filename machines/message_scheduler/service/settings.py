"""The configuration of a scheduler, what it works with, and the statistics that it reports."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lawful.runtime.instance import Machine
from lawful.runtime.timers import REAL, Clock

from ...services.limits import check_ranges, check_seconds
from ...services.threads import SystemThreads, Threads
from .wire import LARGEST_NUMBER, LONGEST_BODY


@dataclass(frozen=True)
class Config:
    """How a scheduler and its connections behave; times in seconds.

    `least`, `greatest`: the numbers of requests. `patience`: how often a sender may be overtaken by
    more urgent ones. `most_priority`: the most urgent. `longest_timeout`: of one message.
    `most_channels`: that a peer may have; a peer that says more is not connected. `longest_body`:
    bytes of one message, either way. `silence`: a connection on which nothing was heard for so long
    is given up (R36). `redial`: the pause before a lost connection is made again. `backlog`: bytes
    that wait to be sent to one peer; a connection with more is given up. `tolerated`: malformed or
    unexpected frames on one connection, and responses beyond one for each message; after one more
    it is given up. Errors: ValueError for a value out of its range.
    """

    least: int = 0x1000000
    greatest: int = LARGEST_NUMBER
    patience: int = 8
    most_priority: int = 255
    longest_timeout: float = 3_600.0
    most_channels: int = 64
    longest_body: int = 1_000_000
    silence: float = 30.0
    redial: float = 1.0
    backlog: int = 8_000_000
    tolerated: int = 16

    def __post_init__(self) -> None:
        check_seconds(self, ("longest_timeout", "silence", "redial"))
        if not 0 < self.least <= self.greatest <= LARGEST_NUMBER:
            raise ValueError(
                f"numbers of requests are 0 < least <= greatest <= {LARGEST_NUMBER},"
                f" not {self.least} and {self.greatest}"
            )
        limits = {
            "patience": (0, 2**31),
            "most_priority": (0, 2**31),
            "most_channels": (1, 2**16 - 1),
            "longest_body": (0, LONGEST_BODY),
            "backlog": (1, 2**40),
            "tolerated": (0, 2**31),
        }
        check_ranges(self, limits)

    def check_priority(self, priority: int) -> None:
        """Errors: ValueError out of its range."""
        if not 0 <= priority <= self.most_priority:
            raise ValueError(
                f"a priority is a number from 0 to {self.most_priority}, not {priority}"
            )

    def milliseconds(self, timeout: float) -> int:
        """A message's time for the machine, which refuses 0; rounded up. Errors: ValueError out of
        its range."""
        if not 0.0 <= timeout <= self.longest_timeout:
            raise ValueError(
                f"the time of a message is > 0 and <= {self.longest_timeout} seconds, not {timeout}"
            )
        return math.ceil(timeout * 1_000)


class Recorder(Protocol):
    """Hears of each event of a machine: a `Journal`."""

    def attach(self, entry: Machine, instance: str) -> object: ...


def logged(error: Exception) -> None:
    """Log the error of a callback under the logger `lawful`."""
    logging.getLogger("lawful").error("a callback of the message scheduler failed", exc_info=error)


@dataclass(frozen=True)
class Options:
    """What a scheduler works with besides its configuration.

    `name`: that of its machine in the journal. `clock`: seconds; when it goes back, no time
    has passed. `journal`: receives a row for each event of the machine, its time
    in milliseconds. `failed`: hears of each exception of a callback, by default a function that
    logs it.
    """

    name: str = "scheduler"
    clock: Clock = REAL
    journal: Recorder | None = None
    threads: Threads = field(default_factory=SystemThreads)
    failed: Callable[[Exception], None] = logged


@dataclass(frozen=True)
class Stats:
    """What a scheduler did and holds.

    Read from the machine: `waiting` senders, `outstanding` requests, `open` and `closed` channels.
    `counts`: since it was made. Of callbacks: `offers`, `discards`, `successes`, `failures`,
    `raised` (an exception came out). Of senders: `overtaken` (each time that an offer went to a
    more urgent one first). Of messages: `requests`, `notifications`, `strays` (responses
    late, or of another request, peer or type). Of connections: `connected`, `disconnected`,
    `skipped` (a channel of a dead peer), `dials_failed`, `malformed`, `oversized`, `unexpected`
    (frames that a peer has no reason to send, and more responses than messages), `unknown` (a peer
    under another name), `mute` (a peer that hung up before it said its name), `overrun` (a peer
    that does not read), `silent`.
    """

    waiting: int
    outstanding: int
    open: int
    closed: int
    counts: Mapping[str, int]
