"""A cluster over real sockets, in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from lawful.machines.queue_cluster.service import Client
from lawful.machines.queue_cluster.service.broker import Broker
from lawful.machines.queue_cluster.service.bus import Bus
from lawful.machines.queue_cluster.service.frames import Delivered
from lawful.machines.queue_cluster.service.settings import Config
from tests.root import PATIENCE

CONFIG = Config(redial=0.02, longest_body=100, queues=4, messages=5, credit=10, tolerated=2)


class Cluster:
    """A bus and brokers on free ports; `ports`: of the brokers."""

    def __init__(self) -> None:
        self.bus = Bus(CONFIG, first=1)
        self.brokers: list[Broker] = []
        self.ports: list[int] = []
        self.at = 0

    async def open(self, names: str) -> None:
        self.at = await self.bus.open()
        for name in names:
            await self.add(name)

    async def add(self, name: str) -> Broker:
        broker = Broker(name, self.at, CONFIG)
        self.brokers.append(broker)
        self.ports.append(await broker.open())
        await broker.serving()
        return broker

    def close(self) -> None:
        for broker in self.brokers:
            broker.close()
        self.bus.close()


def clustered(names: str, work: Callable[[Cluster], Awaitable[None]]) -> None:
    """Do something with brokers of these names."""

    async def run() -> None:
        cluster = Cluster()
        try:
            async with asyncio.timeout(PATIENCE):
                await cluster.open(names)
                await work(cluster)
        finally:
            cluster.close()

    asyncio.run(run())


async def taken(client: Client) -> Delivered:
    message = await client.next()
    assert message is not None
    return message
