"""Peers that announce what an honest one has, and never send it: they cannot keep it out."""

from __future__ import annotations

import asyncio

import pytest

from lawful.machines.object_diffusion.messages import Request, RequestObjects
from lawful.machines.object_diffusion.service import Node, OutboundPeer, SqlitePool
from lawful.machines.object_diffusion.service.settings import Config, Options
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.simulated_runs import play

CONFIG = Config(redundancy=1, reply_timeout=2, redial=0.2, period=0.05, longest_redial=10.0)
OBJECTS = 30
BOUND = 60.0  # Simulated seconds.


class Staller(OutboundPeer):
    """Each request for objects ends in `fate`."""

    def __init__(self, name: str, fate: str) -> None:
        super().__init__(name)
        self._asked: Request | None = None
        self._fate = fate
        self.heard = self._hears

    def _hears(self, request: Request) -> None:
        self._asked = request

    def fate(self) -> str:
        return self._fate if isinstance(self._asked, RequestObjects) else "answered"


@pytest.mark.parametrize("fate", ["never", "invalid", "hang_up"])
def test_an_object_comes_though_peers_stall_by_turns(fate: str) -> None:
    """The node prefers A and B to Z, and one of them is there whenever the other is given up."""
    world = World(0, limit=3_600.0)
    loop = SimulatedLoop(world, Network(world))
    taken: list[float] = []

    async def work() -> None:
        pool = SqlitePool(":memory:")
        peers = [Staller("A", fate), Staller("B", fate), OutboundPeer("Z")]
        for port, peer in enumerate(peers, 1):
            await peer.open(port)
        ports = {peer.name: port for port, peer in enumerate(peers, 1)}
        node = Node(pool, ports, CONFIG, Options(clock=world))
        running = asyncio.create_task(node.run())
        while node.counts["connected"] < len(peers):
            await asyncio.sleep(0.05)
        begun = world.time
        for peer in peers:  # All is asked of A, before the others have it.
            for number in range(OBJECTS):
                peer.offer(b"object %d" % number)
            await asyncio.sleep(CONFIG.reply_timeout / 4)
        while len(pool) < OBJECTS and world.time - begun < BOUND:
            await asyncio.sleep(0.1)
        taken.append(world.time - begun)
        node.close()
        await running
        assert len(pool) == OBJECTS
        pool.close()
        for peer in peers:
            peer.close()

    play(world, loop, work())
    assert taken[0] < BOUND
