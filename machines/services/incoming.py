"""What one connection has read and nobody has handled yet."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from .framing import Cutter, Oversized
from .round_robin import RoundRobin

Come = bytes | Oversized | None  # A content; a fault after which nothing can be read; the end.


class Incoming:
    """Contents of one connection, which are handled by turns with those of other connections.

    While more than `most` bytes wait, nothing is read, so that the other end has to wait, too. It
    counts as heard then: what it said meanwhile is not read yet.
    """

    def __init__(
        self, cutter: Cutter, most: int, turns: RoundRobin, handle: Callable[[Come], None]
    ) -> None:
        """`handle` is given everything that comes, in its order; what it raises ends its turns."""
        self.unhandled = 0  # Bytes that wait for their turn.
        self._cutter = cutter
        self._most = most
        self._turns = turns
        self._handle = handle
        self._come: deque[Come] = deque()
        self._reading = True
        self._heard = 0.0
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None

    def __bool__(self) -> bool:
        return bool(self._come)

    def begin(self, transport: asyncio.Transport) -> None:
        """The connection is made."""
        self._transport = transport
        self._heard = self._loop.time()

    def feed(self, data: bytes) -> None:
        """The transport has read these bytes."""
        self._heard = self._loop.time()
        try:
            for content in self._cutter.feed(data):
                self.put(content)
        except Oversized as error:
            self.put(error)

    def put(self, come: Come) -> None:
        """This has come, after everything before it."""
        self._come.append(come)
        if isinstance(come, bytes):
            self.unhandled += len(come)
        if len(self._come) == 1:
            self._turns.add(self._step)
        self._read_on()

    def heard(self) -> float:
        """When the other end has said something for the last time, by the loop's clock."""
        return self._heard if self._reading else self._loop.time()

    def excuse(self, seconds: float) -> None:
        """So long this process stood still: the other end was not silent meanwhile."""
        self._heard += seconds

    def _step(self) -> bool:
        """Handle the first that has come; whether there is more."""
        come = self._come.popleft()
        if isinstance(come, bytes):
            self.unhandled -= len(come)
        self._handle(come)
        self._read_on()
        return bool(self._come)

    def _read_on(self) -> None:
        """Read, or do not, by how much waits to be handled."""
        if self._transport is None or self._transport.is_closing():
            return
        if self._reading and self.unhandled > self._most:
            self._reading = False
            self._transport.pause_reading()
        elif not self._reading and self.unhandled <= self._most // 2:
            self._reading = True
            self._heard = self._loop.time()
            self._transport.resume_reading()
