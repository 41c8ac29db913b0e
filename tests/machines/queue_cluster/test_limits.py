"""What the service does beyond its limits, over streams that stand still, in a simulated world."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from lawful.machines.queue_cluster.service import Client, CommandFailed
from tests.machines.queue_cluster.simulated import BUSES, CLIENTS, CONFIG, Scene
from tests.machines.simulated_runs import play


def played(work: Callable[[Scene], Awaitable[None]], **changes: int) -> None:
    """Do this with brokers A and B, and clients A and B of theirs, with another configuration."""
    scene = Scene(config=replace(CONFIG, **changes))

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
        assert scene.bus.counts["silent"] == scene.brokers["B"].counts["silent"] == 1
        scene.network.thaw(BUSES + 1)
        await scene.brokers["B"].serving()
        assert members(scene) == ["A.0001", "B.0003"]

    played(work)


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
