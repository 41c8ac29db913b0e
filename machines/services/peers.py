"""Peers of a service: TCP servers on loopback that treat each request well or badly, as drawn from
a seed."""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, MutableMapping
from typing import Any, Generic, TypeVar

from . import LOOPBACK

GARBAGE = b"\x00\x00\x00\x03\xff\x00\x00"  # A frame of no kind.
OVERSIZED = b"\xff\xff\xff\xff"  # A length beyond all limits.


def check_fates(behaviour: object, fates: Iterable[str]) -> None:
    """The fields of these names are probabilities. Errors: ValueError."""
    chances = [getattr(behaviour, fate) for fate in fates]
    if min(chances) < 0 or sum(chances) > 1:
        raise ValueError(f"probabilities are >= 0 and add up to 1 at most, not {chances}")


def drawn(source: random.Random, behaviour: object, fates: Iterable[str]) -> str:
    """One of the fates, each with the probability that is the field of its name; else
    `answered`."""
    chance = source.random()
    for fate in fates:
        chance -= getattr(behaviour, fate)
        if chance < 0:
            return fate
    return "answered"


C = TypeVar("C", bound="Connection")


class Peer(ABC, Generic[C]):
    """A peer, whose connections are of class C. `counts` has what came, and what became of it."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self.random = random.Random(f"{seed}/{name}")
        self.connections: dict[C, None] = {}  # In the order in which they came.
        self._server: asyncio.AbstractServer | None = None

    @abstractmethod
    def connect(self) -> C:
        """What a new connection speaks to."""

    async def open(self, port: int = 0) -> int:
        """Listen on this port, or on a free one; the port. Errors: OSError."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self.connect, LOOPBACK, port)
        opened: int = self._server.sockets[0].getsockname()[1]
        return opened

    def close(self) -> None:
        """Hang up, and stop listening."""
        if self._server is not None:
            self._server.close()
        self.hang_up()

    def hang_up(self) -> None:
        """End all connections; new ones are taken."""
        for connection in tuple(self.connections):
            connection.hang_up()


class Connection(asyncio.Protocol):
    """One connection of a service to a peer."""

    def __init__(self, peer: Peer[Any]) -> None:
        self._connections: MutableMapping[Connection, None] = peer.connections
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.pop(self, None)

    @property
    def alive(self) -> bool:
        """Whether something still goes out."""
        return self._transport is not None and not self._transport.is_closing()

    def write(self, data: bytes) -> None:
        """Send these bytes while the connection is alive."""
        if self.alive:
            assert self._transport is not None
            self._transport.write(data)

    def hang_up(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()
