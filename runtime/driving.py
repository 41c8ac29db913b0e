"""Loops that fire timers when they are due: a task of an event loop, or a thread.

    async with asyncio.TaskGroup() as group:
        group.create_task(drive(deadlines))

    with Driver(deadlines, runner):             # a thread; events go through the same runner
        ...

Both sleep until the next deadline, and wake up if an event sets an earlier one. If an event of a
timer raises, they call `failed`, by default a function that logs, and fire the other timers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Self

from .deadlines import Deadlines
from .runner import Runner
from .tasks import TaskRunner
from .timers import REAL, Clock

Failed = Callable[[Exception], None]
PAUSE = 1.0  # Seconds until a thread tries again whose clock, or `failed`, has failed.


def logged(error: Exception) -> None:
    """Log the error under the logger `lawful`."""
    logging.getLogger("lawful").error("a timer's event failed", exc_info=error)


async def drive(
    deadlines: Deadlines,
    clock: Clock = REAL,
    *,
    runner: TaskRunner | None = None,
    failed: Failed = logged,
) -> None:
    """Fire timers when they are due, until the task is cancelled; a timer that is firing then
    completes.

    `clock` is the clock of the instances. If their events go through a runner, give it, so that
    timers do too. Errors: RuntimeError if these deadlines already have a driver.
    """

    def fire() -> None:
        deadlines.fire_due(clock.now())  # The time at its turn in the runner.

    loop, sooner = asyncio.get_running_loop(), asyncio.Event()
    end = deadlines.driven(lambda: _tell(loop, sooner))
    try:
        while True:
            sooner.clear()
            try:
                if runner is None:
                    fire()
                else:
                    await runner.call(fire)
            except Exception as error:
                failed(error)
            due = deadlines.next_deadline()
            wait = None if due is None else max(0.0, due - clock.now())
            # Before Python 3.12, wait_for loses a cancellation that comes with what it waits for.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await sooner.wait()
    finally:
        end()


def _tell(loop: asyncio.AbstractEventLoop, sooner: asyncio.Event) -> None:
    """Wake the task up, from whichever thread an event runs in."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(sooner.set)


class Driver:
    """A thread that fires timers when they are due, in `runner`: the one that the events of the
    instances go through. Nothing else may look at the deadlines meanwhile.

    Errors: RuntimeError where somebody drives these deadlines already.
    """

    def __init__(
        self,
        deadlines: Deadlines,
        runner: Runner,
        clock: Clock = REAL,
        *,
        failed: Failed = logged,
    ) -> None:
        self._deadlines = deadlines
        self._runner = runner
        self._clock = clock
        self._failed = failed
        self._sooner = threading.Event()
        self._over = False
        self._end = deadlines.driven(self._sooner.set)
        self._thread = threading.Thread(target=self._run, name="lawful timers", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Fire no more timers, and wait until the present one has fired. Must not be called by what
        it fires."""
        self._over = True
        self._sooner.set()
        self._thread.join()
        self._end()

    def _run(self) -> None:
        while not self._over:
            try:
                self._round()
            except BaseException as error:  # No caller gets it: report it as threads do.
                threading.excepthook(
                    threading.ExceptHookArgs(
                        (type(error), error, error.__traceback__, self._thread)
                    )
                )
                self._sooner.wait(PAUSE)

    def _round(self) -> None:
        """Fire the timers that are due, and sleep until the next one is."""
        self._sooner.clear()
        try:
            self._runner.call(self._fire)
        except Exception as error:
            self._failed(error)
        due = self._runner.call(self._deadlines.next_deadline)
        if not self._over:
            wait = None if due is None else max(0.0, due - self._clock.now())
            self._sooner.wait(wait if wait is None else min(wait, threading.TIMEOUT_MAX))

    def _fire(self) -> None:
        """Fire the timers that are due, unless the driver was stopped."""
        if not self._over:
            self._deadlines.fire_due(self._clock.now())
