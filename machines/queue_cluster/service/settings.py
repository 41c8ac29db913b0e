"""The configuration of brokers and bus, and what they work with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from lawful.runtime.instance import Machine
from lawful.runtime.timers import Clock

from ...services.limits import check_ranges, check_seconds


@dataclass(frozen=True)
class Config:
    """How brokers and the bus behave; times in seconds, sizes in bytes.

    `slice_seconds`: how long a node keeps a queue that others want, too. `beat`: the pause between
    two heartbeats of a broker or the bus; `silence`: a connection on which nothing was heard for so
    long is given up. It is long: a broker that was killed is noticed at once, and one on a busy
    computer may get no processor for seconds. Time in which the process itself stands still is not
    counted. `redial`: the pause before a broker that is not a member asks again. `patience`: a
    member that takes nothing of what is sent to it for so long is given up, and so is one that
    joins while nothing is told to it; a broker leaves a bus that is silent for so long.
    `connections`: to one broker at once, or to the bus. `longest_body`: of a message. `backlog`:
    that wait to be sent on one connection; one with more is given up. `unsent`: bytes that wait to
    be sent to a member; while there are more, nothing of any member gets a place in the order.
    `unhandled`: bytes that have come on one connection; while there are more, it is not read.
    `multicasts` and `under_way`: multicasts, and bytes of them, that a broker has said and that
    have not come back; while as many more wait, its clients are not heard. `multicasts` is small,
    because a delivery waits for all that its broker said before. `outstanding`: commands of one
    client without an answer. `queues`: at most. `messages`: on one queue, as far as the publisher's
    broker knows. `credit`: of one subscription at most.
    `tolerated`: lines on one connection that nobody understands; after one more it is given up.
    Errors: ValueError for a value out of its range.
    """

    slice_seconds: float = 0.05
    beat: float = 0.5
    silence: float = 10.0
    redial: float = 0.2
    patience: float = 30.0
    connections: int = 1_000
    longest_body: int = 1_000_000
    backlog: int = 64_000_000
    unsent: int = 1_000_000
    unhandled: int = 262_144
    multicasts: int = 50
    under_way: int = 1_000_000
    outstanding: int = 1_024
    queues: int = 1_000
    messages: int = 100_000
    credit: int = 1_000
    tolerated: int = 16

    def __post_init__(self) -> None:
        check_seconds(self, ("slice_seconds", "beat", "silence", "redial", "patience"))
        if not 2 * self.beat <= self.silence:
            raise ValueError(f"silence is at least two beats, not {self.silence} of {self.beat}")
        limits = {
            "connections": (1, 2**20),
            "longest_body": (0, 16_000_000),
            "backlog": (1, 2**40),
            "unsent": (0, 2**30),
            "unhandled": (0, 2**30),
            "multicasts": (1, 2**20),
            "under_way": (0, 2**30),
            "outstanding": (1, 2**20),
            "queues": (1, 2**20),
            "messages": (1, 2**24),
            "credit": (1, 2**20),
            "tolerated": (0, 2**31),
        }
        check_ranges(self, limits)

    @property
    def longest_line(self) -> int:
        """Bytes of a line with one message, from a client or to one."""
        return 4_000 + self.longest_body * 4 // 3 + 4

    @property
    def longest_stall(self) -> int:
        """Bytes of a line between broker and bus: with the wiring, and messages being routed."""
        return 16 * self.longest_line + 4_000 * self.queues


class LoopClock:
    """The running event loop's clock."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def now(self) -> float:
        return self._loop.time()


class Recorder(Protocol):
    """Hears of each event of a machine: a `Journal`."""

    def attach(self, entry: Machine, instance: str) -> Callable[[], None]: ...


@dataclass(frozen=True)
class Options:
    """What a broker works with besides its configuration.

    `clock`: that of time slices, by default the event loop's; when it goes back, no time has
    passed. `journal`: receives a row for each event of each machine.
    """

    clock: Clock | None = None
    journal: Recorder | None = None
