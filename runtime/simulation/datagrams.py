"""Datagrams in a simulated world: each is lost, doubled, late, or arrives, by the world's numbers.

Who simulates faults sets `faults`, and calls `cut` and `mend` for the port of a socket.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .turns import World

Address = tuple[str, int]
LOOPBACK = "127.0.0.1"


@dataclass
class DatagramFaults:
    """The probabilities that a datagram is lost, arrives twice, or is held back by up to `hold`
    seconds; and the seconds that every one takes, at least and at most."""

    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    hold: float = 0.1
    latency: tuple[float, float] = (0.0, 0.005)


class Datagrams:
    """A network of sockets at ports; `counts` has what happened: `sent`, `arrived`, `lost`,
    `doubled`, `held`, `cut`, and `unheard` where no socket was at the port."""

    def __init__(self, world: World) -> None:
        self.counts: Counter[str] = Counter()
        self.faults = DatagramFaults()
        self._world = world
        self._sockets: dict[int, _Socket] = {}
        self._cut: set[int] = set()
        self._free = 40_000

    def cut(self, port: int) -> None:
        """From now on nothing leaves the socket at this port, and nothing arrives there."""
        self._cut.add(port)

    def mend(self, port: int) -> None:
        """The end of `cut`."""
        self._cut.discard(port)

    # What the event loop calls.

    def bind(
        self, loop: asyncio.AbstractEventLoop, factory: Callable[[], Any], port: int
    ) -> tuple[_Socket, Any]:
        """A socket at the port, or at a free one for 0. Errors: OSError if another is there."""
        if port == 0:
            port, self._free = self._free, self._free + 1
        if port in self._sockets:
            raise OSError(f"port {port} is in use")
        socket = self._sockets[port] = _Socket(self, loop, port, factory())
        socket.protocol.connection_made(socket)
        return socket, socket.protocol

    def send(self, loop: asyncio.AbstractEventLoop, data: bytes, source: int, target: int) -> None:
        """Decide what becomes of a datagram."""
        chosen, faults = self._world.random, self.faults
        self.counts["sent"] += 1
        if source in self._cut or target in self._cut:
            self.counts["cut"] += 1
            return
        if chosen.random() < faults.loss:
            self.counts["lost"] += 1
            return
        copies = 1 + (chosen.random() < faults.duplicate)
        self.counts["doubled"] += copies - 1
        for _ in range(copies):
            delay = chosen.uniform(*faults.latency)
            if chosen.random() < faults.reorder:
                self.counts["held"] += 1
                delay += chosen.uniform(0.0, faults.hold)
            loop.call_later(delay, self._arrive, data, source, target)

    def _arrive(self, data: bytes, source: int, target: int) -> None:
        socket = self._sockets.get(target)
        if socket is None or target in self._cut:
            self.counts["unheard" if socket is None else "cut"] += 1
            return
        self.counts["arrived"] += 1
        socket.protocol.datagram_received(data, (LOOPBACK, source))

    def unbind(self, port: int) -> None:
        """The socket is gone; what is under way to its port goes to whoever binds it next."""
        self._sockets.pop(port, None)


class _Socket(asyncio.DatagramTransport):
    """What `create_datagram_endpoint` returns."""

    def __init__(
        self, network: Datagrams, loop: asyncio.AbstractEventLoop, port: int, protocol: Any
    ) -> None:
        super().__init__()
        self.protocol = protocol
        self._network = network
        self._loop = loop
        self._port = port
        self._closing = False

    def sendto(self, data: Any, addr: Any = None) -> None:
        if not self._closing:
            self._network.send(self._loop, bytes(data), self._port, addr[1])

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return (LOOPBACK, self._port) if name == "sockname" else default

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._network.unbind(self._port)
            self._loop.call_soon(self.protocol.connection_lost, None)

    def abort(self) -> None:
        """Close it."""
        self.close()
