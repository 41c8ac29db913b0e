"""One connection that carries lines: its heartbeats, its limits, its end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Generic, TypeVar

from .settings import Config
from .wire import Lines, Oversized, WireError, decode, encode

F = TypeVar("F")  # What comes in.


class Connection(asyncio.Protocol, Generic[F]):
    """Reads and writes lines; who uses it sets the three `on_...`.

    `on_frame(frame)`: a line has come. `on_fault(error)`: a line that nobody understands; also
    counted. `on_end()`: the connection has ended, once. `counts`: what went wrong, `malformed`,
    `oversized`, `overrun` (the other end does not read), `silent`.
    """

    def __init__(
        self, config: Config, kinds: tuple[object, object], longest: int, counts: Counter[str]
    ) -> None:
        """`kinds`: what comes in, what goes out; `longest`: bytes of a line that comes in."""
        self.on_frame: Callable[[F], None] = _nothing
        self.on_fault: Callable[[WireError], None] = _nothing
        self.on_end: Callable[[], None] = lambda: None
        self.on_made: Callable[[], None] = lambda: None
        self.ended = asyncio.Event()
        self._config = config
        self._incoming, self._outgoing_kinds = kinds
        self._counts = counts
        self._lines = Lines(longest)
        self._faults = 0
        self._heard = 0.0
        self._outgoing: list[bytes] = []
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._heartbeat: asyncio.TimerHandle | None = None

    @property
    def alive(self) -> bool:
        """Whether lines still go out."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def waiting(self) -> int:
        """Bytes that are not yet sent."""
        transport = self._transport
        written = 0 if transport is None else transport.get_write_buffer_size()
        return written + sum(map(len, self._outgoing))

    def send(self, frame: object) -> None:
        """Send the frame, if the connection still stands."""
        if self.alive:
            self.send_line(encode(frame, self._outgoing_kinds))

    def send_line(self, line: bytes) -> None:
        """Send a frame that is encoded already."""
        if self.alive:
            if not self._outgoing:
                self._loop.call_soon(self._flush)
            self._outgoing.append(line)

    def keep_alive(self, frame: object) -> None:
        """From now on send this in each beat, and give the connection up after a silence."""
        self._heard = self._loop.time()
        self._listen()
        self._beat(frame)

    def close(self) -> None:
        """End the connection after what was sent."""
        self._flush()
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End the connection now; what was not yet sent is lost."""
        self._outgoing.clear()
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.on_made()

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()
        try:
            for line in self._lines.feed(data):
                if self.alive:
                    self._read_line(line)
        except Oversized as error:
            self.on_fault(error)
            self._give_up("oversized")

    def connection_lost(self, exc: Exception | None) -> None:
        for handle in (self._watch, self._heartbeat):
            if handle is not None:
                handle.cancel()
        self._outgoing.clear()
        self.ended.set()
        self.on_end()

    def _read_line(self, line: bytes) -> None:
        try:
            frame = decode(line, self._incoming)
        except WireError as error:
            self.fault("malformed", error)
            return
        self.on_frame(frame)

    def fault(self, what: str, error: WireError) -> None:
        """Count a line that is of no use here; too many end the connection."""
        self._faults += 1
        self._counts[what] += 1
        self.on_fault(error)
        if self._faults > self._config.tolerated:
            self.close()

    def _give_up(self, what: str) -> None:
        self._counts[what] += 1
        self.close() if what == "oversized" else self.abort()

    def _listen(self) -> None:
        left = self._heard + self._config.silence - self._loop.time()
        if left <= 0:
            self._give_up("silent")
        else:
            self._watch = self._loop.call_later(left, self._listen)

    def _beat(self, frame: object) -> None:
        self.send(frame)
        self._heartbeat = self._loop.call_later(self._config.beat, self._beat, frame)

    def _flush(self) -> None:
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        if self._transport is not None and data and not self._transport.is_closing():
            self._transport.write(data)
            if self._transport.get_write_buffer_size() > self._config.backlog:
                self._give_up("overrun")


def _nothing(_: object) -> None:
    return
