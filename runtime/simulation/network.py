"""The network of a simulated world: streams that are late, cut into pieces, stopped, or lost.

The ends of a stream may be in different event loops: each belongs to the loop that connected, or
that listens.

A connection keeps the order of its bytes, as TCP does; between connections there is none. Who
simulates faults calls `cut`, `refuse`, `freeze`, `mute` and `thaw`, each for the connections of a
port.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from .turns import World

Factory = Callable[[], Any]


class Network:
    """Streams between ports; `counts` has what happened to them.

    `latency`: seconds that each piece takes, at least and at most. `pieces`: into how many a write
    is cut at most.
    """

    def __init__(
        self, world: World, latency: tuple[float, float] = (0.0, 0.01), pieces: int = 3
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._world = world
        self._latency = latency
        self._pieces = pieces
        self._listening: dict[int, tuple[asyncio.AbstractEventLoop, Factory]] = {}
        self._streams: dict[int, list[Stream]] = {}
        self._refused: set[int] = set()
        self._frozen: set[int] = set()
        self._muted: set[int] = set()
        self._free = 1

    # Faults.

    def cut(self, port: int) -> int:
        """Abort all connections of the port, at both ends; how many there were."""
        streams = self._streams.get(port, [])[:]
        for stream in streams:
            stream.abort()
        self.counts["cut"] += len(streams)
        return len(streams)

    def refuse(self, port: int, refused: bool) -> None:
        """Whether new connections to the port are refused from now on."""
        (self._refused.add if refused else self._refused.discard)(port)

    def freeze(self, port: int) -> None:
        """From now on nothing arrives at either end of its connections, nor any end of them."""
        self._frozen.add(port)

    def mute(self, port: int) -> None:
        """From now on nothing arrives at the end that listens; the other end hears all."""
        self._muted.add(port)

    def thaw(self, port: int) -> None:
        """What was held back arrives, in its order."""
        self._frozen.discard(port)
        self._muted.discard(port)
        for stream in self._streams.get(port, [])[:]:
            stream.thawed()

    def is_frozen(self, port: int) -> bool:
        """Whether it was frozen, and is not thawed."""
        return port in self._frozen

    def holds_back(self, stream: Stream) -> bool:
        """Whether nothing arrives at this end now."""
        muted = stream.listens and stream.port in self._muted
        return muted or stream.port in self._frozen

    # What the event loop calls.

    def listen(self, loop: asyncio.AbstractEventLoop, factory: Factory, port: int) -> int:
        """Begin to listen; the port. Errors: OSError."""
        if port == 0:
            port, self._free = self._free, self._free + 1
        if port in self._listening:
            raise OSError(f"port {port} is in use")
        self._listening[port] = loop, factory
        return port

    def deafen(self, port: int) -> None:
        """Stop listening."""
        self._listening.pop(port, None)

    async def connect(
        self, loop: asyncio.AbstractEventLoop, factory: Factory, port: int
    ) -> tuple[Stream, Any]:
        """The near end of a new connection, and its protocol."""
        await asyncio.sleep(self.delay())
        while self.is_frozen(port):
            await asyncio.sleep(0.1)
        if port in self._refused or port not in self._listening:
            self.counts["refused"] += 1
            raise ConnectionRefusedError(f"nobody takes connections at port {port}")
        self.counts["connected"] += 1
        there, made = self._listening[port]
        near, far = Stream(self, loop, port), Stream(self, there, port)
        near.far, far.far, far.listens = far, near, True
        self._streams.setdefault(port, []).extend((near, far))
        if there is loop:
            near.protocol = factory()
            far.made(made)
            near.protocol.connection_made(near)
        else:
            there.call_soon_threadsafe(far.made, made)
            near.made(factory)
        return near, near.protocol

    def delay(self) -> float:
        """How long the next piece takes."""
        return self._world.random.uniform(*self._latency)

    def cuts(self, data: bytes) -> list[bytes]:
        """The data in pieces."""
        chosen = self._world.random
        places = [chosen.randrange(len(data)) for _ in range(chosen.randrange(self._pieces))]
        ends = [0, *sorted(places), len(data)]
        return [data[a:b] for a, b in itertools.pairwise(ends) if a < b]

    def forget(self, stream: Stream) -> None:
        """The stream has ended."""
        self._streams[stream.port].remove(stream)


class Port:
    """A server: what `create_server` returns."""

    def __init__(
        self, network: Network, loop: asyncio.AbstractEventLoop, factory: Factory, port: int
    ) -> None:
        self._network = network
        self._port = network.listen(loop, factory, port)

    @property
    def sockets(self) -> tuple[Port]:
        return (self,)

    def getsockname(self) -> tuple[str, int]:
        """Its address."""
        return "127.0.0.1", self._port

    def close(self) -> None:
        """Stop listening; connections go on."""
        self._network.deafen(self._port)


class Stream(asyncio.Transport):
    """One end of a connection: what is written comes out of the other end, later."""

    def __init__(self, network: Network, loop: asyncio.AbstractEventLoop, port: int) -> None:
        super().__init__()
        self.port = port
        self.protocol: Any = None
        self.far: Stream | None = None
        self.listens = False
        self._network = network
        self._loop = loop
        self._due = 0.0  # Nothing written before arrives later.
        self._coming: deque[bytes | None] = deque()  # On the way to this end, None for the end.
        self._waiting: deque[bytes | None] = deque()  # Has come, and is held back.
        self._under_way = 0  # Bytes.
        self._most = 2**16  # Of them, before the protocol is told not to write.
        self._full = False
        self._reading = True
        self._closing = False
        self._ended = False

    def made(self, factory: Factory) -> None:
        """This end of the connection has its protocol."""
        self.protocol = factory()
        self.protocol.connection_made(self)

    def write(self, data: Any) -> None:
        """Send bytes; after the end of the connection nothing happens."""
        if not self._closing and data:
            for piece in self._network.cuts(bytes(data)):
                self._send(piece)
            self._tell_fill()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """From how many bytes on the protocol is told to pause; it may go on at a quarter."""
        self._most = 2**16 if high is None else high
        self._tell_fill()

    def _tell_fill(self) -> None:
        if not self._full and self._under_way > self._most:
            self._full = True
            self.protocol.pause_writing()
        elif self._full and self._under_way <= self._most // 4:
            self._full = False
            self.protocol.resume_writing()

    def pause_reading(self) -> None:
        """From now on nothing is handed to the protocol."""
        self._reading = False

    def resume_reading(self) -> None:
        """What has come meanwhile is handed over, and what comes."""
        self._reading = True
        self._loop.call_soon(self.thawed)

    def _send(self, piece: bytes | None) -> None:
        far = self.far
        assert far is not None
        self._under_way += len(piece or b"")
        self._due = max(self._due, self._loop.time() + self._network.delay())
        far._coming.append(piece)
        _call_at(far._loop, self._due, far.arrives)  # If times are equal, any may be the first.

    def arrives(self) -> None:
        """A piece, or the end, has come to this end of the connection."""
        self._waiting.append(self._coming.popleft())
        if not self._network.holds_back(self):
            self.thawed()

    def thawed(self) -> None:
        """Hand on what has come."""
        far = self.far
        assert far is not None
        while self._waiting and (self._closing or self._may_hand_on()):
            piece = self._waiting.popleft()
            if piece is None:
                self.abort()
            elif not self._closing:
                far.got(len(piece))
                self._network.counts["pieces"] += 1
                self.protocol.data_received(piece)

    def _may_hand_on(self) -> bool:
        return self._reading and not self._network.holds_back(self)

    def got(self, size: int) -> None:
        """The other end has got so many bytes."""
        self._under_way -= size
        if self._full:
            _call_at(self._loop, self._loop.time(), self._tell_fill)

    def get_write_buffer_size(self) -> int:
        """Bytes that the other end has not got."""
        return self._under_way

    def is_closing(self) -> bool:
        return self._closing

    def abort(self) -> None:
        """End the connection; what is under way to this end is lost."""
        if not self._closing:
            self._closing = True
            self._send(None)
            _call_at(self._loop, self._loop.time() + self._network.delay(), self._end)

    def close(self) -> None:
        """End the connection after what was written."""
        self.abort()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._network.forget(self)
            self.protocol.connection_lost(None)


def _call_at(loop: asyncio.AbstractEventLoop, due: float, call: Callable[[], object]) -> None:
    """Call at a time, by any loop of the world."""
    if asyncio.get_running_loop() is loop:
        loop.call_at(due, call)
    else:
        loop.call_soon_threadsafe(loop.call_at, due, call)
