"""The network of a simulated world: streams that are late, cut into pieces, stopped, or lost.

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
        self._listening: dict[int, Factory] = {}
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

    def listen(self, port: int, factory: Factory) -> int:
        """Begin to listen; the port. Errors: OSError."""
        if port == 0:
            port, self._free = self._free, self._free + 1
        if port in self._listening:
            raise OSError(f"port {port} is in use")
        self._listening[port] = factory
        return port

    def deafen(self, port: int) -> None:
        """Listen no more."""
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
        near, far = (Stream(self, loop, port, made()) for made in (factory, self._listening[port]))
        near.far, far.far, far.listens = far, near, True
        self._streams.setdefault(port, []).extend((near, far))
        far.protocol.connection_made(far)
        near.protocol.connection_made(near)
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

    def __init__(self, network: Network, port: int, factory: Factory) -> None:
        self._network = network
        self._port = network.listen(port, factory)

    @property
    def sockets(self) -> tuple[Port]:
        return (self,)

    def getsockname(self) -> tuple[str, int]:
        """Its address."""
        return "127.0.0.1", self._port

    def close(self) -> None:
        """Listen no more; connections go on."""
        self._network.deafen(self._port)


class Stream(asyncio.Transport):
    """One end of a connection: what is written comes out of the other end, later."""

    def __init__(
        self, network: Network, loop: asyncio.AbstractEventLoop, port: int, protocol: Any
    ) -> None:
        super().__init__()
        self.port = port
        self.protocol = protocol
        self.far: Stream | None = None
        self.listens = False
        self._network = network
        self._loop = loop
        self._due = 0.0  # Nothing written before arrives later.
        self._coming: deque[bytes | None] = deque()  # On the way to this end, None for the end.
        self._waiting: deque[bytes | None] = deque()  # Has come, and is held back.
        self._under_way = 0  # Bytes.
        self._closing = False
        self._ended = False

    def write(self, data: Any) -> None:
        """Send bytes; after the end of the connection nothing happens."""
        if not self._closing and data:
            for piece in self._network.cuts(bytes(data)):
                self._send(piece)

    def _send(self, piece: bytes | None) -> None:
        far = self.far
        assert far is not None
        self._under_way += len(piece or b"")
        self._due = max(self._due, self._loop.time() + self._network.delay())
        far._coming.append(piece)
        self._loop.call_at(self._due, far.arrives)  # Of equal times any may be the first.

    def arrives(self) -> None:
        """A piece, or the end, has come to this end of the connection."""
        self._waiting.append(self._coming.popleft())
        if not self._network.holds_back(self):
            self.thawed()

    def thawed(self) -> None:
        """Hand on what has come."""
        far = self.far
        assert far is not None
        while self._waiting:
            piece = self._waiting.popleft()
            if piece is None:
                self.abort()
            elif not self._closing:
                far._under_way -= len(piece)
                self._network.counts["pieces"] += 1
                self.protocol.data_received(piece)

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
            self._loop.call_later(self._network.delay(), self._end)

    def close(self) -> None:
        """End the connection after what was written."""
        self.abort()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._network.forget(self)
            self.protocol.connection_lost(None)
