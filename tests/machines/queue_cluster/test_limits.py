"""What the service does beyond its limits, over streams that stand still, in a simulated world."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from lawful.machines.queue_cluster.messages import Node
from lawful.machines.queue_cluster.service import Client, CommandFailed
from lawful.machines.queue_cluster.service.bus import Bus
from lawful.machines.queue_cluster.service.settings import Config
from tests.machines.queue_cluster.simulated import BUSES, CLIENTS, CONFIG, Scene
from tests.machines.simulated_runs import play

PATIENCE = 8.0  # Seconds, of brokers with a bus that is silent.


def played(
    work: Callable[[Scene], Awaitable[None]], bus: Config | None = None, **changes: Any
) -> None:
    """Do this with brokers A and B, and clients A and B of theirs, with another configuration, and
    with one that is the bus's alone."""
    scene = Scene(config=replace(CONFIG, **changes))
    if bus is not None:
        scene.bus = Bus(bus, first=1)

    async def run() -> None:
        await scene.open("AB")
        await work(scene)
        scene.close()
        await asyncio.sleep(1.0)

    play(scene.world, scene.loop, run())
    assert scene.errors == []


def members(scene: Scene) -> list[str]:
    return [str(node) for node in scene.bus.members]


async def bodies(client: Client, count: int) -> list[tuple[bytes, bool]]:
    """The next messages, each accepted, and whether it was redelivered."""
    found: list[tuple[bytes, bool]] = []
    for _ in range(count):
        message = await client.next()
        assert message is not None
        found.append((message.body[:1], message.redelivered))
        await client.accept(message)
    return found


def test_a_client_that_does_not_read_loses_its_connection_and_others_get_what_it_had() -> None:
    async def work(scene: Scene) -> None:
        slow, other = await scene.client("A"), await scene.client("B")
        await slow.declare("q")
        await slow.subscribe("q", 10)
        await other.declare("q")
        scene.network.freeze(CLIENTS)
        for number in range(6):
            await other.send("q", b"%d" % number + bytes(900))
            await asyncio.sleep(0.1)
        assert scene.brokers["A"].stats()["overrun"] == 1
        assert scene.brokers["A"].clients == 0
        await other.subscribe("q", 1)
        expected = [(b"%d" % number, number < 4) for number in range(6)]
        assert await bodies(other, 6) == expected
        scene.network.thaw(CLIENTS)
        while slow.alive:
            await asyncio.sleep(0.1)

    played(work, backlog=4_000)


def test_a_broker_that_is_silent_has_to_join_again() -> None:
    async def work(scene: Scene) -> None:
        assert members(scene) == ["A.0001", "B.0002"]
        scene.network.freeze(BUSES + 1)
        await asyncio.sleep(1.5)
        assert members(scene) == ["A.0001"]
        assert scene.bus.counts["silent"] == 1
        scene.network.thaw(BUSES + 1)
        await asyncio.sleep(0.5)
        await scene.brokers["B"].serving()
        assert members(scene) == ["A.0001", "B.0003"]

    played(work)


def test_a_bus_that_is_silent_is_waited_for_with_patience() -> None:
    """Else all brokers would leave, and the messages would be lost."""

    async def work(scene: Scene) -> None:
        client = await scene.client("A")
        await client.declare("q")
        await client.send("q", b"1")
        for number in range(2):
            scene.network.freeze(BUSES + number)
        await asyncio.sleep(4 * CONFIG.silence)
        for number in range(2):
            scene.network.thaw(BUSES + number)
        await client.send("q", b"2")
        other = await scene.client("B")
        await other.subscribe("q", 1)
        assert await bodies(other, 2) == [(b"1", False), (b"2", False)]
        assert members(scene) == ["A.0001", "B.0002"]
        scene.network.freeze(BUSES)
        await asyncio.sleep(PATIENCE + 1.0)
        assert scene.brokers["A"].counts["silent"] == 1
        assert scene.brokers["A"].serves is None
        scene.network.thaw(BUSES)

    # The bus stands still: it hears what came meanwhile when it goes on, and gives nobody up.
    played(work, bus=replace(CONFIG, silence=100.0), patience=PATIENCE)


def test_nobody_is_silent_while_everything_stands_still() -> None:
    """As where the computer sleeps, or all processes are stopped: nothing is lost."""

    async def work(scene: Scene) -> None:
        client = await scene.client("A")
        await client.declare("q")
        await client.send("q", b"1")
        for seconds in (0.9 * CONFIG.silence, 30.0 * CONFIG.silence):
            scene.world.time += seconds  # No timer is in time.
            await asyncio.sleep(CONFIG.silence)
        await client.subscribe("q", 1)
        assert await bodies(client, 1) == [(b"1", False)]
        assert members(scene) == ["A.0001", "B.0002"]
        scene.network.freeze(BUSES + 1)  # Silence is noticed as before.
        await asyncio.sleep(2 * CONFIG.silence)
        assert members(scene) == ["A.0001"]
        scene.network.thaw(BUSES + 1)

    played(work)


def test_who_says_that_it_has_all_queues_may_be_left_alone_at_once() -> None:
    """Before, one that joins takes commands, and would lose what it has not heard of yet."""

    async def work(scene: Scene) -> None:
        client = await scene.client("A")
        await client.declare("q")
        for number in range(150):
            await client.send("q", b"%d" % (number % 10))
        await scene.start("C")
        whole = asyncio.Event()

        def left_alone(node: Node) -> None:
            assert str(node) == "C.0003"
            for name in "AB":
                scene.brokers[name].close()
            whole.set()

        scene.brokers["C"].on_whole = left_alone
        await scene.brokers["C"].serving()
        assert not whole.is_set()
        await whole.wait()
        heir = await scene.client("C")
        await heir.subscribe("q", 200)
        assert await bodies(heir, 150) == [(b"%d" % (n % 10), False) for n in range(150)]
        assert members(scene) == ["C.0003"]

    played(work, messages=1_000)


def test_commands_beyond_those_that_wait_for_an_answer_are_refused() -> None:
    async def work(scene: Scene) -> None:
        client = await scene.client("A")
        await client.declare("q")
        scene.network.freeze(BUSES)
        sends = [asyncio.create_task(client.send("q", b"")) for _ in range(5)]
        await asyncio.sleep(0.5)
        assert [task.done() for task in sends] == [False] * 3 + [True] * 2
        scene.network.thaw(BUSES)
        said = await asyncio.gather(*sends, return_exceptions=True)
        why = "3 commands wait for an answer"
        assert [str(each) for each in said] == ["None"] * 3 + [why] * 2
        assert scene.brokers["A"].stats()["refused_commands"] == 2
        await client.send("q", b"")

    played(work, outstanding=3)


def test_who_waits_no_longer_for_a_connection_leaves_none() -> None:
    """It is cancelled while the broker's greeting is under way."""

    async def work(scene: Scene) -> None:
        broker = scene.brokers["A"]
        before = broker.clients
        dialling = asyncio.create_task(Client.connect(CLIENTS, CONFIG))
        while broker.clients == before:
            await asyncio.sleep(0.0001)
        assert not dialling.done()
        dialling.cancel()
        await asyncio.sleep(0.1)
        assert dialling.cancelled() and broker.clients == before

    played(work)


def test_a_connection_beyond_the_limit_is_refused() -> None:
    async def work(scene: Scene) -> None:
        broker = scene.brokers["A"]
        first, _ = await scene.client("A"), await scene.client("A")
        with pytest.raises(CommandFailed, match="this broker has 2 clients, and may have 2"):
            await Client.connect(CLIENTS, CONFIG)
        await asyncio.sleep(0.1)
        assert (broker.clients, broker.counts["turned_away"]) == (2, 1)
        first.abort()
        await (await scene.client("A")).declare("q")
        assert broker.clients == 2
        await scene.start("C")  # The bus has two connections.
        await asyncio.sleep(0.5)
        assert members(scene) == ["A.0001", "B.0002"]
        assert scene.bus.counts["turned_away"] > 1  # It asks again and again.
        scene.brokers["B"].close()
        await scene.brokers["C"].serving()
        assert members(scene) == ["A.0001", "C.0003"]

    played(work, connections=2)
