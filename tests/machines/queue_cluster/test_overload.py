"""Brokers that have more to do than they can: publishers wait, consumers get their messages all the
same, and nobody loses its membership.

Each broker is a process of its own in the simulated world: an event loop that stands still while
the broker handles an event of its machines, so many seconds for each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace

import pytest

from lawful.machines.queue_cluster.service import Client
from lawful.machines.queue_cluster.service.broker import Broker
from lawful.machines.queue_cluster.service.bus import Bus
from lawful.machines.queue_cluster.service.settings import Config, Options
from lawful.runtime.instance import Machine
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.queue_cluster.simulated import CONFIG

BUS = 11
MESSAGES = 60
NARROW = replace(CONFIG, beat=0.2, silence=0.6, unsent=3_000, unhandled=3_000, under_way=6_000)


class Slow:
    """In the place of a journal: each event of a machine takes so long."""

    def __init__(self, world: World, seconds: float) -> None:
        self.seconds = seconds
        self._world = world

    def attach(self, entry: Machine, instance: str) -> Callable[[], None]:
        return entry.lawful.observe(lambda _: self._world.sleep(self.seconds))


class Processes:
    """A bus, and brokers with clients at ports 1, 2, ...; `slowness`: seconds of each."""

    def __init__(self, slowness: tuple[float, ...], config: Config = NARROW) -> None:
        self.world = World(1, limit=300.0)
        self.brokers: list[Broker] = []
        self.bus = Bus(config, first=1)
        self._config = config
        self.slow = [Slow(self.world, seconds) for seconds in slowness]
        self.most_unsent = self.most_unhandled = 0  # Bytes.
        self._network = Network(self.world)
        self._loops: list[SimulatedLoop] = []
        self._over: list[asyncio.Event] = []

    def play(self, work: Coroutine[object, object, None]) -> None:
        """Do this beside them. Errors: what it raises."""
        self._start(self._main(work), "bus and clients")
        try:
            self.world.run()
        finally:
            for loop in self._loops:
                loop.close()

    def _start(self, work: Coroutine[object, object, None], name: str) -> SimulatedLoop:
        loop = SimulatedLoop(self.world, self._network)
        self._loops.append(loop)
        self.world.start(lambda: loop.run_until_complete(work), name)
        return loop

    async def _main(self, work: Coroutine[object, object, None]) -> None:
        await self.bus.open(BUS)
        for number in range(len(self.slow)):
            self._start(self._broker(number), "ABC"[number])
            while len(self.bus.members) <= number:
                await asyncio.sleep(0.1)
        watching = asyncio.create_task(self._watch())
        await work
        watching.cancel()
        for loop, over in zip(self._loops[1:], self._over, strict=True):
            loop.call_soon_threadsafe(over.set)

    async def _broker(self, number: int) -> None:
        broker = Broker("ABC"[number], BUS, self._config, Options(journal=self.slow[number]))
        self.brokers.append(broker)
        over = asyncio.Event()
        self._over.append(over)
        await broker.open(number + 1)
        await over.wait()
        broker.close()

    async def _watch(self) -> None:
        while True:
            self.most_unsent = max(self.most_unsent, self.bus.unsent)
            unhandled = (broker.stats()["unhandled"] for broker in self.brokers)
            self.most_unhandled = max(self.most_unhandled, *unhandled)
            await asyncio.sleep(0.01)


async def published(port: int) -> None:
    client = await Client.connect(port, NARROW)
    await client.declare("q")
    await asyncio.gather(*(client.send("q", b"%d" % number) for number in range(MESSAGES)))
    client.close()


async def consumed(port: int) -> list[bytes]:
    client = await Client.connect(port, NARROW)
    await client.declare("q")
    await client.subscribe("q", credit=20)
    bodies: list[bytes] = []
    for _ in range(MESSAGES):
        message = await client.next()
        assert message is not None
        assert not message.redelivered
        bodies.append(message.body)
        await client.accept(message)
    client.close()
    return bodies


@pytest.mark.one_in(2)
@pytest.mark.parametrize("slowness", [(0.01, 0.01, 0.01), (0.0, 0.06, 0.0)], ids=["all", "another"])
def test_slow_brokers_stay_members_and_nothing_is_lost(slowness: tuple[float, ...]) -> None:
    processes = Processes(slowness)

    async def work() -> None:
        await published(1)
        assert await consumed(3) == [b"%d" % number for number in range(MESSAGES)]

    processes.play(work())
    bus = processes.bus
    assert (bus.counts["joined"], bus.counts["founded"], bus.counts["silent"]) == (3, 1, 0)
    assert all(broker.counts["joined"] == 1 for broker in processes.brokers)
    assert (bus.counts["delayed"] > 0) == (slowness[0] == 0.0)
    assert processes.most_unsent < NARROW.unsent + 1_000
    assert processes.most_unhandled < NARROW.unhandled + NARROW.unsent


def test_one_that_stands_still_is_given_up_though_others_wait_for_it() -> None:
    processes = Processes((0.0, 0.0, 0.0))

    async def work() -> None:
        processes.slow[2].seconds = 3.0
        await published(1)
        processes.slow[2].seconds = 0.0
        while len(processes.bus.members) < 3:
            await asyncio.sleep(0.1)

    processes.play(work())
    bus = processes.bus
    assert (bus.counts["silent"], bus.counts["joined"]) == (1, 4)
    assert [str(node) for node in bus.members] == ["A.0001", "B.0002", "C.0004"]


def test_a_consumer_has_its_turns_among_many_publishers() -> None:
    """A delivery waits for the few multicasts that its broker has said before, and not for all that
    the publishers have sent to it."""
    processes = Processes((0.001,), replace(NARROW, multicasts=10, under_way=1_000_000))
    done = 0

    async def publish() -> None:
        client = await Client.connect(1, NARROW)

        async def send(number: int) -> None:
            nonlocal done
            await client.send("q", b"%d" % number)
            done += 1

        await asyncio.gather(*(send(number) for number in range(MESSAGES)))
        client.close()

    async def work() -> None:
        client = await Client.connect(1, NARROW)
        await client.declare("q")
        await client.subscribe("q", credit=10)
        async with asyncio.TaskGroup() as group:
            for _ in range(12):
                group.create_task(publish())
            for _ in range(20):
                message = await client.next()
                assert message is not None
                group.create_task(client.accept(message))
            assert 0 < done < 12 * MESSAGES // 2
        client.close()

    processes.play(work())
    assert done == 12 * MESSAGES
