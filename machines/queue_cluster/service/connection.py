"""One connection that carries lines: its heartbeats, its limits, its end.

Lines that have come are handled by turns with other connections (`RoundRobin`). While many wait,
nothing more is read, so that the other end has to wait, too. Whether the other end is there does
not depend on that: each byte that comes is a sign of life, and nobody is silent while we do not
read. Nor while this process stands still: how late its own heartbeat is does not count.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Generic, TypeVar

from ...services.framing import Lines, WireError
from ...services.incoming import Come, Incoming
from ...services.round_robin import RoundRobin
from .settings import Config
from .wire import decode, encode

F = TypeVar("F")  # What comes in.


class Connection(asyncio.Protocol, Generic[F]):
    """Reads and writes lines; who uses it sets the `on_...`.

    `on_frame(frame)`: a line has come. `on_fault(error)`: a line that nobody understands; also
    counted. `on_end()`: the connection has ended, and all that came before is handled; once.
    `on_room()`: it was `full`, and is not any more. `counts`: what went wrong, `malformed`,
    `oversized`, `overrun` (the other end does not read), `silent`.
    """

    def __init__(
        self,
        config: Config,
        kinds: tuple[object, object],
        longest: int,
        counts: Counter[str],
        turns: RoundRobin,
    ) -> None:
        """`kinds`: what comes in, what goes out; `longest`: bytes of a line that comes in;
        `turns`: who handles its lines."""
        self.on_frame: Callable[[F], None] = _nothing
        self.on_fault: Callable[[WireError], None] = _nothing
        self.on_end: Callable[[], None] = lambda: None
        self.on_made: Callable[[], None] = lambda: None
        self.on_room: Callable[[], None] = lambda: None
        self.ended = asyncio.Event()
        self.full = False  # More bytes wait to be sent than `Config.unsent`.
        self._config = config
        self._incoming_kinds, self._outgoing_kinds = kinds
        self._counts = counts
        self._incoming = Incoming(Lines(longest), config.unhandled, turns, self._handle)
        self._hung_up = False
        self._faults = 0
        self._written = 0  # Bytes, since the connection was made.
        self._taken: int = 0  # Of these, taken by the other end.
        self._taken_at: float = 0.0  # When it took some.
        self._outgoing: list[bytes] = []
        self._outgoing_bytes = 0
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._silence = 0.0  # After so many seconds of it the other end is given up.
        self._heartbeat: asyncio.TimerHandle | None = None

    @property
    def alive(self) -> bool:
        """Whether lines still go out."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def unhandled(self) -> int:
        """Bytes that have come and wait to be handled."""
        return self._incoming.unhandled

    @property
    def waiting(self) -> int:
        """Bytes that are not yet sent."""
        transport = self._transport
        written = 0 if transport is None else transport.get_write_buffer_size()
        return written + self._outgoing_bytes

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
            self._outgoing_bytes += len(line)
            self.full = self.full or self.waiting > self._config.unsent

    def keep_alive(self, frame: object, silence: float) -> None:
        """From now on send this in each beat, and give the connection up after a silence."""
        self._silence = silence
        self._taken_at = self._loop.time()
        self._beat(frame, self._taken_at)

    def close(self) -> None:
        """End the connection after what was sent; what has come is not handled any more."""
        self._hung_up = True
        self._flush()
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End the connection now; what was not yet sent, or handled, is lost."""
        self._hung_up = True
        self._drop()
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._incoming.begin(transport)
        transport.set_write_buffer_limits(self._config.unsent)
        self.on_made()

    def data_received(self, data: bytes) -> None:
        self._incoming.feed(data)

    def resume_writing(self) -> None:
        self._tell_room()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self._drop()
        self._incoming.put(None)

    # What has come.

    def _handle(self, come: Come) -> None:
        if come is None:
            self.ended.set()
            self.on_end()
        elif self._hung_up:
            pass
        elif isinstance(come, bytes):
            self._read_line(come)
        else:
            self.on_fault(come)
            self._give_up("oversized")

    def _read_line(self, line: bytes) -> None:
        try:
            frame = decode(line, self._incoming_kinds)
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

    def _beat(self, frame: object, due: float) -> None:
        """Send a sign of life, and look for one."""
        now = self._loop.time()
        self._incoming.excuse(now - due)
        self._taken_at += now - due
        if self._incoming.heard() + self._silence <= now:
            self._give_up("silent")
        elif self._takes_nothing(now):
            self._give_up("overrun")
        else:
            self.send(frame)
            due = now + self._config.beat
            self._heartbeat = self._loop.call_at(due, self._beat, frame, due)

    def _takes_nothing(self, now: float) -> bool:
        """Whether bytes wait, and the other end has taken none for long."""
        waiting = 0 if self._transport is None else self._transport.get_write_buffer_size()
        taken = self._written - waiting
        if taken != self._taken or not waiting:
            self._taken, self._taken_at = taken, now
        return self._taken_at + self._config.patience <= now

    # What goes out.

    def _flush(self) -> None:
        data = b"".join(self._outgoing)
        self._drop()
        if self._transport is not None and data and not self._transport.is_closing():
            self._transport.write(data)
            self._written += len(data)
            if self._transport.get_write_buffer_size() > self._config.backlog:
                self._give_up("overrun")
            self._tell_room()

    def _drop(self) -> None:
        self._outgoing.clear()
        self._outgoing_bytes = 0

    def _tell_room(self) -> None:
        if self.full and self.waiting <= self._config.unsent:
            self.full = False
            self.on_room()


def _nothing(_: object) -> None:
    return
