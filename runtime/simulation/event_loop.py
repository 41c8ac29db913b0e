"""An event loop of asyncio in a simulated world: its time, and its streams over its network.

    loop = SimulatedLoop(world, Network(world))
    world.start(lambda: loop.run_until_complete(main()), "loop")

The loop is asyncio's own, with another source of events: where that waits for sockets, this one
gives the turn away. Code that uses `create_connection`, `create_server`,
`create_datagram_endpoint`, timers, tasks and `call_soon_threadsafe` runs unchanged; addresses are
ports. Nothing else of the outside world is there: no subprocesses, no signals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from .datagrams import Datagrams
from .network import Network, Port
from .turns import World


class _Selector:
    """In the place of a selector of sockets."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._woken = False

    def wake(self) -> None:
        self._woken = True

    def select(self, timeout: float | None) -> list[Any]:
        until = None if timeout is None else self._world.time + timeout
        self._world.pause(lambda: self._woken, until)
        self._woken = False
        return []


class SimulatedLoop(asyncio.BaseEventLoop):
    """An event loop of a world: the only one, or that of one simulated process among others, each
    in a thread of the world."""

    def __init__(self, world: World, network: Network, datagrams: Datagrams | None = None) -> None:
        super().__init__()
        self._datagrams = datagrams or Datagrams(world)
        self._world = world
        self._network = network
        self._selector = _Selector(world)

    def time(self) -> float:
        return self._world.time

    def _process_events(self, event_list: list[Any]) -> None:
        """Nothing comes from sockets."""

    def _write_to_self(self) -> None:
        self._selector.wake()

    async def create_connection(
        self, protocol_factory: Callable[[], Any], host: Any = None, port: Any = None, **_: Any
    ) -> Any:
        """A stream to whoever listens at the port. Errors: ConnectionRefusedError."""
        return await self._network.connect(self, protocol_factory, port)

    async def create_server(
        self, protocol_factory: Callable[[], Any], host: Any = None, port: Any = None, **_: Any
    ) -> Any:
        """Listen at the port, or at a free one for 0. Errors: OSError if somebody does."""
        return Port(self._network, self, protocol_factory, port)

    async def create_datagram_endpoint(
        self, protocol_factory: Callable[[], Any], local_addr: Any = None, *_: Any, **__: Any
    ) -> Any:
        """A socket at the port of this address, or at a free one for 0. Errors: OSError."""
        return self._datagrams.bind(self, protocol_factory, local_addr[1])
