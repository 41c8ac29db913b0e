"""The configuration of an executor, what it works with, and the statistics that it reports."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lawful.runtime.instance import Machine
from lawful.runtime.timers import REAL, Clock

from ...services.threads import SystemThreads, Threads
from ..declaration import WindowFixed

# What an assumption of the machine says of the options, with their values.
CONTRADICTIONS = {
    "window_holds_what_starts_late": "read_only_window_time, {read_only_window_time}, has to be"
    " more than max_read_only_transaction_time, {max_read_only_transaction_time}, + latency,"
    " {latency}",
    "margin_leaves_time": "read_only_window_margin, {read_only_window_margin}, + latency,"
    " {latency}, has to be less than read_only_window_time, {read_only_window_time}",
    "writes_have_time": "read_write_window_time, {read_write_window_time}, has to be more than 0",
}


@dataclass(frozen=True)
class Config:
    """The options of the document, by their names there, and limits; times in milliseconds.

    `latency`: what the threads may need until each has asked for its first transaction of a window.
    `max_write_time`: after which a write is given up. `slice_time`: how long work goes on before a
    thread looks up. `most_waiting`: so many requests of each kind may wait. Errors: ValueError for
    a value out of its range, or times with which the window's promises would fail.
    """

    read_only_transaction_num_threads: int = 0
    read_write_window_time: int = 500
    read_only_window_time: int = 200
    read_only_transaction_threshold: int = 0
    read_only_window_margin: int = 5
    max_read_only_transaction_time: int = 150
    latency: int = 10
    max_write_time: int = 150
    slice_time: int = 5
    most_waiting: int = 1_000

    def __post_init__(self) -> None:
        ranges = {
            "read_only_transaction_num_threads": (0, 128),
            "max_read_only_transaction_time": (1, 3_600_000),
            "max_write_time": (1, 3_600_000),
            "slice_time": (1, 1_000),
            "most_waiting": (1, 1_000_000),
        }
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            least, greatest = ranges.get(name, (0, 3_600_000))
            if not isinstance(value, int) or not least <= value <= greatest:
                raise ValueError(f"{name} is a whole number in {least}..{greatest}, not {value!r}")
        try:
            self.window(REAL)
        except ValueError as error:
            for assumption, text in CONTRADICTIONS.items():
                if f"the assumption {assumption} is false" in str(error):
                    raise ValueError(text.format(**vars(self))) from error
            raise

    def window(self, clock: Clock) -> WindowFixed:
        """The machine. Errors: ValueError for times with which its promises would fail."""
        return WindowFixed(
            clock=clock,
            read_only_transaction_num_threads=self.read_only_transaction_num_threads,
            read_write_window_time=self.read_write_window_time,
            read_only_window_time=self.read_only_window_time,
            read_only_transaction_threshold=self.read_only_transaction_threshold,
            read_only_window_margin=self.read_only_window_margin,
            max_read_only_transaction_time=self.max_read_only_transaction_time,
            latency=self.latency,
        )


class Recorder(Protocol):
    """Hears of each event of a machine: a `Journal`."""

    def attach(
        self, entry: Machine, instance: str, *, refused: bool = True
    ) -> Callable[[], None]: ...


def logged(error: BaseException) -> None:
    """Log an error under the logger `lawful`."""
    logging.getLogger("lawful").error("read-only windows: %s", error, exc_info=error)


@dataclass(frozen=True)
class Options:
    """What an executor works with besides its configuration.

    `clock`: seconds; when it goes back, no time has passed. `journal`:
    receives a row for each event of the window and of each transaction. `failed`: hears of each
    exception of a caller's function, by default a function that logs it.
    """

    clock: Clock = REAL
    journal: Recorder | None = None
    threads: Threads = field(default_factory=SystemThreads)
    failed: Callable[[BaseException], None] = logged


@dataclass(frozen=True)
class Stats:
    """What an executor did and holds.

    `window`: the state of the machine; `queued` read-only transactions, `executing` ones, `held`:
    other requests that wait for the main thread. `counts`: since it was made: requests by kind and
    by outcome, `put_back`, `overloaded`, each transition of a timer, `begin_early`, `raised` (an
    exception of a caller's function).
    """

    window: str
    queued: int
    executing: int
    held: int
    counts: Mapping[str, int]
