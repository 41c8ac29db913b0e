"""A runner for the tasks of an event loop; see `runner`.

    runner = TaskRunner()
    seqno = await runner.call(entry.send)
    await runner.call(handle, message)          # a coroutine function: the next event waits for it

An event in line runs exactly once and to its end, also if its caller is cancelled: nobody gets its
outcome then, and the event loop's exception handler gets its exception. If a caller is cancelled
while it waits for room, its event does not run. An event has the context variables of its caller
(a span, say), whichever task runs it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar, overload

from .runner import Full

P = ParamSpec("P")
T = TypeVar("T")
Job = tuple[Callable[[], Any], asyncio.Future[Any], Context]


class TaskRunner:
    """Runs events one at a time, in the order in which they came, for the tasks of one loop.

    An event may be a coroutine function: it runs in a task of its own, so that cancelling its
    caller does not cut it in half, and the next event waits for its end. At most `capacity` events
    are in line. Errors: ValueError for a capacity below 1.
    """

    def __init__(self, capacity: int = 1024) -> None:
        if capacity < 1:
            raise ValueError(f"a line has room for one event at least, not for {capacity}")
        self._line: asyncio.Queue[Job] = asyncio.Queue(capacity)
        self._held = False
        self._task: asyncio.Future[Any] | None = None

    @overload
    async def call(
        self, step: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T: ...
    @overload
    async def call(self, step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    async def call(self, step: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run the event in its turn; returns or raises what it does. Waits while the line is full.

        RuntimeError inside an event, which would wait for itself: use `post`. An event that waits
        for another task that calls would also wait forever, which cannot be detected.
        """
        if self._task is not None and asyncio.current_task() is self._task:
            raise RuntimeError("called inside an event, it would wait for itself; post it")
        job = _job(step, args, kwargs)
        await self._line.put(job)
        self._serve()
        return await job[1]

    @overload
    def post(
        self, step: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]: ...
    @overload
    def post(
        self, step: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]: ...
    def post(self, step: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Put the event in line: it runs at once if nothing else is in line or runs.

        Its outcome is in the future, which must not be awaited inside an event. Errors: Full.
        """
        job = _job(step, args, kwargs)
        try:
            self._line.put_nowait(job)
        except asyncio.QueueFull:
            raise Full(f"{self._line.maxsize} events are in line") from None
        self._serve()
        return job[1]

    async def idle(self) -> None:
        """Wait until all events in line have run."""
        await self._line.join()

    def _serve(self) -> None:
        """Run the events in line until none is left or one, a coroutine, has to end first."""
        if self._held:
            return
        self._held = True
        stop: BaseException | None = None
        while self._task is None and not self._line.empty():
            step, future, context = self._line.get_nowait()
            try:
                output = context.run(step)
            except BaseException as error:
                if not isinstance(error, Exception | asyncio.CancelledError):
                    stop = error
                self._end(future, error)
                continue
            if inspect.iscoroutine(output):
                self._task = asyncio.get_running_loop().create_task(output, context=context)
                self._task.add_done_callback(partial(self._ended, future))
            else:
                self._end(future, None, output)
        self._held = self._task is not None
        if stop is not None:
            raise stop  # KeyboardInterrupt, say, ends the loop.

    def _ended(self, future: asyncio.Future[Any], task: asyncio.Future[Any]) -> None:
        """A coroutine has ended: pass on its outcome and run the next event."""
        self._task, self._held = None, False
        if task.cancelled():
            future.cancel()
            self._line.task_done()
        elif (error := task.exception()) is not None:
            self._end(future, error)
        else:
            self._end(future, None, task.result())
        self._serve()

    def _end(
        self, future: asyncio.Future[Any], error: BaseException | None, output: Any = None
    ) -> None:
        """Pass on the outcome; an error of a cancelled caller goes to the loop's handler."""
        self._line.task_done()
        if isinstance(error, StopIteration):  # A future cannot hold it.
            error = RuntimeError("the event raised StopIteration").with_traceback(
                error.__traceback__
            )
        if not future.cancelled():
            if error is None:
                future.set_result(output)
            else:
                future.set_exception(error)
        elif error is not None:
            context = {"message": "an event failed whose caller was cancelled", "exception": error}
            future.get_loop().call_exception_handler(context)


def _job(step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Job:
    future = asyncio.get_running_loop().create_future()
    return partial(step, *args, **kwargs), future, copy_context()
