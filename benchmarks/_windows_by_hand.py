"""The windows' machines written by hand, for the same service: the same rules, and nothing is
undone when an event fails."""

from __future__ import annotations

from dataclasses import dataclass

from lawful import Refused
from lawful.machines.read_only_windows.declaration import OPEN, READ_ONLY, Phase, Place, Task
from lawful.machines.read_only_windows.transaction import Stage
from lawful.runtime.timers import Clock


class NotNow(Refused):
    """What the service tries and may not do."""

    def __init__(self) -> None: ...


@dataclass(frozen=True)
class Fired:
    """A timer that has run out."""

    event: str


class WindowByHand:
    """What the service uses of the machine `WindowFixed`."""

    def __init__(
        self,
        *,
        clock: Clock,
        read_only_transaction_num_threads: int,
        read_write_window_time: int,
        read_only_window_time: int,
        read_only_transaction_threshold: int,
        read_only_window_margin: int,
        max_read_only_transaction_time: int,
        latency: int,
    ) -> None:
        assert max_read_only_transaction_time + latency < read_only_window_time
        self.state = Phase.WRITE
        self.caught_up = False
        self.lawful = self
        self.queued = 0
        self._tasks: dict[int, Task] = {}
        self._ends: float | None = None
        self._margin: float | None = None
        self._clock = clock
        self._threads = read_only_transaction_num_threads
        self._write_time = read_write_window_time
        self._read_time = read_only_window_time
        self._threshold = read_only_transaction_threshold
        self._rest = read_only_window_margin

    def start(self) -> None:
        if self._threads:
            self._ends = self._clock.now() + self._write_time

    def _need(self, condition: bool) -> None:
        if not condition:
            raise NotNow

    def _busy(self) -> bool:
        return any(task == Task.EXECUTING for task in self._tasks.values())

    def _looping(self, thread: int) -> bool:
        return self._tasks.get(thread) == Task.LOOPING

    def _done(self) -> bool:
        return all(task == Task.DONE for task in self._tasks.values())

    def arrive(self) -> Place:
        if self.state in (Phase.STOPPING, Phase.STOPPED):
            return Place.NOWHERE
        if not self._threads:
            return Place.MAIN_THREAD
        self.queued += 1
        return Place.QUEUE

    def write(self) -> None:
        self._need(self.state == Phase.WRITE)
        self.caught_up = True

    def nothing_held(self) -> None:
        self._need(self.state == Phase.WRITE)
        self.caught_up = True

    def read(self) -> None:
        self._need(self.state in OPEN)

    def may(self, _: str) -> bool:
        """Whether it takes a `read`."""
        return self.state in OPEN

    def begin_early(self) -> int:
        self._need(self.state == Phase.WRITE and self.caught_up)
        self._need(0 < self._threshold <= self.queued)
        return self._begin()

    def _begin(self) -> int:
        self.state = Phase.READ
        self._tasks = dict.fromkeys(range(self._threads), Task.LOOPING)
        self._ends = self._clock.now() + self._read_time
        self._margin = self._ends - self._rest
        return self._threads

    def take(self, thread: int) -> None:
        self._need(self._looping(thread) and self.state == Phase.READ and self.queued > 0)
        self._tasks[thread] = Task.EXECUTING
        self.queued -= 1

    def finish(self, thread: int) -> None:
        self._tasks[thread] = Task.LOOPING

    def put_back(self, thread: int) -> None:
        self._need(self.state == Phase.OVER)
        self._tasks[thread] = Task.LOOPING
        self.queued += 1

    def leave(self, thread: int) -> None:
        self._need(self._looping(thread) and self.state != Phase.READ)
        self._tasks[thread] = Task.DONE

    def drain(self) -> None:
        self._need(self.state == Phase.READ and not self.queued and not self._busy())
        self.state = Phase.DRAINING
        self._margin = None

    def end(self) -> None:
        self._need(self.state in (Phase.DRAINING, Phase.OVER) and self._done())
        self.state = Phase.WRITE
        self.caught_up = False
        self._ends = self._clock.now() + self._write_time

    def shut_down(self) -> int:
        self._need(self.state in OPEN)
        self.state = Phase.STOPPING if self.state in READ_ONLY else Phase.STOPPED
        closed, self.queued = self.queued, 0
        self._ends = self._margin = None
        return closed

    def stop(self) -> None:
        self._need(self.state == Phase.STOPPING and self._done())
        self.state = Phase.STOPPED

    def next_deadline(self) -> float | None:
        return min((due for due in (self._ends, self._margin) if due is not None), default=None)

    def fire_due(self, now: float) -> list[Fired]:
        fired: list[Fired] = []
        if self._margin is not None and self._margin <= now:
            self.state = Phase.DRAINING
            self._margin = None
            fired.append(Fired("stop_starting"))
        if self._ends is not None and self._ends <= now:
            fired.append(Fired(self._run_out(now)))
        return fired

    def _run_out(self, now: float) -> str:
        self._ends = None
        if self.state == Phase.DRAINING:
            self.state = Phase.OVER
            return "run_out"
        if self.queued and self.caught_up:
            self._begin()
            return "begin"
        self._ends = now + self._write_time
        return "prolong"


class TransactionByHand:
    """What the service uses of the machine `Transaction`."""

    __slots__ = ("_clock", "_limit", "_longest", "lawful", "state")

    def __init__(self, *, max_read_only_transaction_time: int, clock: Clock) -> None:
        self.state = Stage.QUEUED
        self.lawful = self
        self._limit: float | None = None
        self._longest = max_read_only_transaction_time
        self._clock = clock

    def take(self) -> None:
        self.state = Stage.RUNNING
        self._limit = self._clock.now() + self._longest

    def finish(self) -> None:
        self.state = Stage.ANSWERED
        self._limit = None

    def put_back(self) -> None:
        self.state = Stage.QUEUED
        self._limit = None

    def may(self, _: str) -> bool:
        """Whether it takes a `put_back`."""
        return self.state == Stage.RUNNING

    def abandon(self) -> None:
        self.state = Stage.ABANDONED
        self._limit = None

    def fire_due(self, now: float) -> None:
        if self._limit is not None and self._limit <= now:
            self.state = Stage.INVALID
            self._limit = None
