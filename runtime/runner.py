"""Runners: events of machines one at a time, each to its end, from wherever they come.

An event that is called while another one runs is queued, never nested in it. A `Runner` serves
any number of threads and has none of its own; `tasks.TaskRunner` serves the tasks of an event
loop. What a runner runs is any callable, a bound event above all, so payloads and outputs keep
their types; one runner may serve many machines.

    runner = Runner()
    seqno = runner.call(entry.send)             # its output, or what it raises
    runner.post(entry.ack, Ack(1))              # a Future; inside an event the way to cause another

A `Line` knows who is in line and who holds it: it is what has to be right. Its protocol is
declared as a machine in `tests/runtime/dispatcher.py`, which is explored, and every step of which
is compared with this code. As in python-statemachine the thread that finds nobody holding the line
holds it; but whether the line is empty is seen in the same step in which it is left, so that no
event is stranded in between.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Full(Exception):
    """There is no room in line for one more event; it was not taken."""


class Job:
    """An event in line: `by` its thread, `waits` whether that thread waits for its turn."""

    __slots__ = ("by", "error", "future", "output", "step", "turn", "waits")

    def __init__(
        self, step: Callable[[], Any], by: int, *, future: Future[Any] | None = None
    ) -> None:
        self.step = step
        self.by = by
        self.future = future
        self.waits = future is None
        self.turn: threading.Lock | None = None
        self.output: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run the event, and keep what it gives or raises."""
        if self.future is not None and not self.future.set_running_or_notify_cancel():
            return
        try:
            self.output = self.step()
        except BaseException as error:
            self.error = error
        if self.future is not None:
            if self.error is None:
                self.future.set_result(self.output)
            else:
                self.future.set_exception(self.error)

    def outcome(self) -> Any:
        """What the event gave; raises what it raised."""
        if self.error is not None:
            raise self.error
        return self.output


class Line:
    """Events in the order in which they came, and the thread that holds the line and runs them.

    Nothing here waits or locks: each method is one step, and who calls it sees to that. Whenever
    an event is in line, a thread holds it.
    """

    __slots__ = ("capacity", "holder", "jobs")

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a line has room for one event at least, not for {capacity}")
        self.capacity = capacity
        self.holder: int | None = None
        self.jobs: deque[Job] = deque()

    @property
    def full(self) -> bool:
        """Whether there is no room."""
        return len(self.jobs) >= self.capacity

    def enter(self, job: Job) -> bool:
        """Take the event; whether its thread holds the line now, and has to run it."""
        self.jobs.append(job)
        if self.holder is not None:
            return False
        self.holder = job.by
        return True

    def next(self) -> Job | None:
        """What the holder runs next; None where it holds the line no more.

        An event whose caller waits is run by its caller: the line is handed over. An empty line
        is left.
        """
        if not self.jobs:
            self.holder = None
            return None
        head = self.jobs[0]
        if head.waits and head.by != self.holder:
            self.holder = head.by
            return None
        return self.jobs.popleft()

    def abandon(self, job: Job) -> bool:
        """Its caller waits no more: whoever holds the line runs it. Whether that is the caller,
        to whom it was handed already."""
        job.waits = False
        return self.holder == job.by


class Runner:
    """Runs events one at a time, in the order in which they came, for any number of threads.

    Each caller gets what its own event gives or raises, and runs it in its own thread. What was
    taken is run exactly once, whatever becomes of its caller. At most `capacity` events are in
    line. Errors: ValueError for a capacity below 1.
    """

    __slots__ = ("_room", "line")

    def __init__(self, capacity: int = 1024) -> None:
        self.line = Line(capacity)
        self._room = threading.Condition(threading.Lock())

    def call(self, step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the event in its turn; what it gives or raises. Waits while the line is full.

        RuntimeError inside an event, which would wait for itself; `post` it.
        """
        job = Job(partial(step, *args, **kwargs), threading.get_ident())
        if not self._enter(job):
            self._wait(job)
        self._serve(job)
        output: T = job.outcome()
        return output

    def post(self, step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Take the event, to be run in its turn by who holds the line: by this call, if nobody
        does. Its outcome is in the Future, which must not be waited for inside an event;
        cancelled before the event has begun, it withdraws it. Errors: Full.
        """
        future: Future[T] = Future()
        job = Job(partial(step, *args, **kwargs), threading.get_ident(), future=future)
        with self._room:
            if self.line.full:
                raise Full(f"{self.line.capacity} events are in line")
            holds = self.line.enter(job)
        if holds:
            self._serve(job)
        return future

    def _enter(self, job: Job) -> bool:
        with self._room:
            if self.line.holder == job.by:
                raise RuntimeError("called inside an event, it would wait for itself; post it")
            while self.line.full:
                self._room.wait()
            if self.line.enter(job):
                return True
            job.turn = threading.Lock()
            job.turn.acquire()
            return False

    def _wait(self, job: Job) -> None:
        """Until the line is handed over. An interrupted caller leaves its event in line."""
        assert job.turn is not None
        try:
            job.turn.acquire()
        except BaseException:
            with self._room:
                holds = self.line.abandon(job)
            if holds:
                self._serve(job)
            raise

    def _serve(self, mine: Job) -> None:
        """Run what is in line until it is empty, or another's turn."""
        stop: BaseException | None = None
        while (job := self._next()) is not None:
            job.run()
            if job is not mine and not isinstance(job.error, Exception | None):
                stop = job.error  # Ctrl-C, say, is for this thread, too.
        if stop is not None:
            raise stop

    def _next(self) -> Job | None:
        with self._room:
            line = self.line
            if line.full:
                self._room.notify_all()
            job = line.next()
            if job is None and line.holder is not None:
                turn = line.jobs[0].turn
                assert turn is not None
                turn.release()
            return job
