"""A node that serves HTTP on 127.0.0.1 with uvicorn, until it is interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...services import LOOPBACK
from .executor import WindowedExecutor
from .front import PATIENCE, Front
from .settings import Config, Options
from .table import GuardedTable

MOST_CONNECTIONS = 500
GRACE = 5  # Seconds for the last answers.
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Connection(H11Protocol):
    """Closes itself when the head of a request does not come in time, or an answer is not read:
    Uvicorn would wait for ever.

    The front waits for bodies, and Uvicorn for the next request after an answer. `counts`: of the
    front. Uvicorn itself answers a request that is not HTTP, `garbage`. One connection too many is
    `refused`, and closed after its answer; those that were there before go on. Uvicorn's own limit
    would refuse them all.
    """

    counts: Counter[str]
    refused: Callable[[Any, Any, Any], Awaitable[None]]
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(
        self,
        transport: asyncio.Transport,  # type: ignore[override]  # Uvicorn gives it no other one.
    ) -> None:
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self.app = self.refused
        self._late = self.loop.call_later(PATIENCE, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        answers = self.cycle and not self.cycle.response_complete
        if answers:
            self._forget()
        elif self._late is None:
            self._late = self.loop.call_later(PATIENCE, self.transport.close)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(PATIENCE, self._not_read)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def send_400_response(self, msg: str) -> None:
        self.counts["garbage"] += 1
        super().send_400_response(msg)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        if self._unread is not None:
            self._unread.cancel()
        super().connection_lost(exc)

    def _not_read(self) -> None:
        self.counts["unread"] += 1
        self.transport.abort()

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class _Server(uvicorn.Server):
    """Shuts the executor down first, so that each request that waits has its answer."""

    executor: WindowedExecutor

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # The signal may have come while this very thread holds the executor's lock.
        threading.Thread(target=self.executor.shutdown, name="shutdown").start()
        super().handle_exit(sig, frame)

    def end_with(self, executor: WindowedExecutor) -> None:
        """Wait until the executor has ended, by itself if it is broken; then end."""
        executor.wait()
        self.should_exit = True

    @contextlib.contextmanager
    def interruptible(self) -> Generator[None, None, None]:
        """End by these signals from now on: Uvicorn takes them later, and gives them back here."""
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    config: Config, table: GuardedTable, options: Options, port: int
) -> tuple[WindowedExecutor, Front]:
    """Listen until the process gets SIGINT or SIGTERM. Errors: OSError for a port in use."""
    listening = socket.create_server((LOOPBACK, port))
    executor = WindowedExecutor(config, table, options)
    front = Front(executor)

    class Connection(_Connection):
        counts = front.counts
        refused = staticmethod(front.refuse)

    server = _Server(
        uvicorn.Config(
            front.app,
            http=Connection,
            lifespan="off",
            ws="none",
            log_level="error",
            timeout_graceful_shutdown=GRACE,
        )
    )
    server.executor = executor
    try:
        threading.Thread(target=server.end_with, args=(executor,), daemon=True).start()
        with server.interruptible():
            print(f"listens on {LOOPBACK} port {listening.getsockname()[1]}", flush=True)
            server.run(sockets=[listening])
    finally:
        executor.shutdown()
        listening.close()
    return executor, front
