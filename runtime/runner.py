"""Runners: the events of many threads run one at a time, each to its end.

An event that is called while another one runs is queued, never nested in it. A `Runner` serves
any number of threads and has none of its own; `tasks.TaskRunner` serves the tasks of an event
loop. What a runner runs is any callable, a bound event above all, so payloads and outputs keep
their types; one runner may serve many machines.

    runner = Runner()
    seqno = runner.call(entry.send)             # its output, or what it raises
    runner.post(entry.ack, Ack(1))              # a Future; inside an event the way to cause another

A `Line` holds the events and knows which thread runs them. A test declares its protocol as a
machine (`tests/runtime/services/runner_protocol.py`), explores that, and compares each step with
this code. A thread that finds no holder becomes the holder, as in python-statemachine. But a holder
tests that the line is empty and gives it up in one step, so that no event is stranded in between.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Full(Exception):
    """The line has no room for one more event; the event will not run."""


class Job:
    """An event in line: `by` its thread, `waits` whether that thread waits for its turn."""

    __slots__ = ("begun", "by", "error", "future", "output", "step", "turn", "waits")

    def __init__(
        self, step: Callable[[], Any], by: int, *, future: Future[Any] | None = None
    ) -> None:
        self.step = step
        self.by = by
        self.future = future
        self.waits = future is None
        self.begun = False
        self.turn: threading.Lock | None = None
        self.output: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run the event, unless it was begun before, and keep its output or exception."""
        future = self.future
        if not self.begun:
            fresh = future is not None and not future.running()
            if future is not None and fresh and not future.set_running_or_notify_cancel():
                return
            try:
                self.begun = True
                self.output = self.step()
            except BaseException as error:
                self.error = error
        if future is None or future.done():
            return
        if self.error is None:
            future.set_result(self.output)
        else:
            future.set_exception(self.error)

    def outcome(self) -> Any:
        """The output of the event; raises what the event raised."""
        if self.error is not None:
            raise self.error
        return self.output


class Line:
    """Events in the order in which they came, and the thread that holds the line and runs them.

    Nothing here waits or locks: callers make each method one atomic step. Whenever an event is in
    line, a thread holds the line.
    """

    __slots__ = ("capacity", "current", "holder", "jobs")

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a line has room for one event at least, not for {capacity}")
        self.capacity = capacity
        self.holder: int | None = None
        self.jobs: deque[Job] = deque()
        self.current: Job | None = None

    @property
    def full(self) -> bool:
        """Whether the line has no room."""
        return len(self.jobs) >= self.capacity

    def enter(self, job: Job) -> bool:
        """Take the event; whether its thread holds the line now, and has to run it."""
        holds = self.holder is None
        if holds:
            self.holder = job.by  # First, so that no event is ever in a line without a holder.
        self.jobs.append(job)
        return holds

    def next(self) -> Job | None:
        """The event that the holder runs next; None if it no longer holds the line.

        If the caller of an event waits, that caller runs it: the line is handed over. An empty line
        is left.
        """
        self.current = None
        if not self.jobs:
            self.holder = None
            return None
        head = self.jobs[0]
        if head.waits and head.by != self.holder:
            self.holder = head.by
            return None
        self.current = head
        return self.jobs.popleft()

    def abandon(self, job: Job) -> bool:
        """Note that a caller no longer waits, so that the holder runs its event. Returns whether
        the caller itself already holds the line, because it was handed over."""
        job.waits = False
        return self.holder == job.by


class Runner:
    """Runs events one at a time, in the order in which they came, for any number of threads.

    Each caller runs its own event in its own thread, and gets what it returns or raises. An
    accepted event is run exactly once, even if its caller is interrupted (by Ctrl-C, say) between
    any two of its instructions. At most `capacity` events wait in line. Errors: ValueError for a
    capacity below 1.
    """

    __slots__ = ("_lock", "_waiting", "line")

    def __init__(self, capacity: int = 1024) -> None:
        self.line = Line(capacity)
        # A plain lock is acquired and released in one instruction each, a Condition is not.
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()  # For room in line.

    def call(self, step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the event in its turn; returns or raises what it does. Waits while the line is full.

        RuntimeError inside an event, which would wait for itself: use `post`.
        """
        job = Job(partial(step, *args, **kwargs), threading.get_ident())
        if self.line.holder == job.by:
            raise RuntimeError("called inside an event, it would wait for itself; post it")
        try:
            if not self._enter(job) and job.turn is not None:
                job.turn.acquire()  # Until the line is handed over.
            self._serve(job)
        except BaseException:
            self._recover(job)
            raise
        output: T = job.outcome()
        return output

    def post(self, step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Accept the event; the thread that holds the line runs it in its turn, or this call, if no
        thread does. The Future has its outcome; do not wait for it inside an event. Cancelling it
        before the event has begun withdraws the event. The event runs with the context variables of
        its poster (a span, say). Errors: Full."""
        future: Future[T] = Future()
        whole = partial(copy_context().run, step, *args, **kwargs)
        job = Job(whole, threading.get_ident(), future=future)
        inside = self.line.holder == job.by
        try:
            with self._lock:
                if self.line.full:
                    raise Full(f"{self.line.capacity} events are in line")
                holds = self.line.enter(job)
            if holds:
                self._serve(None)
        except Full:
            raise
        except BaseException:
            if not inside:  # Who runs the event in which this one was posted goes on.
                self._recover(job)
            raise
        return future

    def _enter(self, job: Job) -> bool:
        """Get in line as soon as there is room; returns whether the caller holds it."""
        while True:
            with self._lock:
                if not self.line.full:
                    if self.line.holder is not None:
                        turn = job.turn = threading.Lock()
                        turn.acquire()
                    holds = self.line.enter(job)
                    return holds
                room = threading.Lock()
                room.acquire()
                self._waiting.append(room)
            room.acquire()

    def _serve(self, mine: Job | None) -> None:
        """Run the events in line until none is left or the line is handed over.

        An exception of `mine` is left to its caller."""
        stop: BaseException | None = None
        while (job := self._next()) is not None:
            job.run()
            if job is not mine and not isinstance(job.error, Exception | None):
                stop = job.error  # KeyboardInterrupt, say, concerns this thread, too.
        if stop is not None:
            raise stop

    def _next(self) -> Job | None:
        with self._lock:
            line = self.line
            if line.full:
                self._make_room()
            job = line.next()
            if job is None:
                self._hand_over()
            return job

    def _make_room(self) -> None:
        """Wake the callers that wait for room."""
        for room in self._waiting:
            if room.locked():
                room.release()
        self._waiting.clear()

    def _hand_over(self) -> None:
        """Wake the thread that holds the line now, if any."""
        line = self.line
        if line.holder is not None and line.jobs:
            turn = line.jobs[0].turn
            assert turn is not None
            if turn.locked():
                turn.release()

    def _recover(self, mine: Job) -> None:
        """After an interrupt: stop waiting, and do what the caller had to do as holder."""
        line = self.line
        with self._lock:
            holds, current = line.abandon(mine), line.current
            self._make_room()
            if holds and current is not None and line.jobs and line.jobs[0] is current:
                line.jobs.popleft()
            if not holds and line.jobs and line.jobs[0].by == line.holder and line.jobs[0].waits:
                self._hand_over()
        if holds:
            if current is not None and (current.future is None or not current.future.done()):
                current.run()
            self._serve(mine)
