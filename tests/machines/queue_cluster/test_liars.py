"""A broker that lies to the bus, or stands still and beats: it loses its own membership, and others
keep theirs with their messages. In a simulated world."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from lawful.machines.queue_cluster.joining import Declared
from lawful.machines.queue_cluster.messages import (
    Create,
    Enqueue,
    Key,
    MessageId,
    Node,
    QueueName,
    Routed,
)
from lawful.machines.queue_cluster.service.connection import Connection
from lawful.machines.queue_cluster.service.frames import (
    VERSION,
    Alive,
    FromBus,
    FromMember,
    Interest,
    Join,
    Member,
    Ready,
    Said,
    Say,
    Stall,
    Tell,
    Told,
)
from lawful.machines.queue_cluster.service.wire import Raw, coder
from lawful.machines.services.round_robin import RoundRobin
from tests.machines.queue_cluster.simulated import BUSES, CONFIG, Scene
from tests.machines.simulated_runs import play

PATIENT = replace(CONFIG, patience=2.0, unsent=3_000)
DEAF = 1_000.0  # Seconds of silence after which the liar gives up.
MANY = CONFIG.tolerated + 1


class Link(Connection[FromBus]):
    def stop_reading(self) -> None:
        assert self._transport is not None
        self._transport.pause_reading()


class Liar:
    """A connection to the bus, at the port of broker C, which says what it likes."""

    def __init__(self) -> None:
        self.node = Node("none")
        kinds, longest = (FromBus, FromMember), CONFIG.longest_stall
        self.link = Link(CONFIG, kinds, longest, Counter(), RoundRobin())
        self.link.on_frame = self._take

    def _take(self, frame: FromBus) -> None:
        if isinstance(frame, Member):
            self.node = frame.node

    async def join(self, name: str = "L") -> None:
        """Ask to become a member, and say nothing more than that it lives."""
        await asyncio.get_running_loop().create_connection(lambda: self.link, "", BUSES + 2)
        self.link.keep_alive(Alive(), DEAF)
        self.link.send(Join(VERSION, name))
        await asyncio.sleep(0.5)

    def say(self, said: Said) -> None:
        self.link.send(Say(Raw(coder(Said)(said))))

    def tell(self, to: str, told: Told) -> None:
        self.link.send(Tell(Node(to), Raw(coder(Told)(told))))


async def _nonsense(liar: Liar) -> None:
    for _ in range(MANY):
        liar.link.send(Say(Raw({"kind": "Nonsense"})))


async def _left(liar: Liar) -> None:
    """Only the bus says who has left."""
    for _ in range(MANY):
        liar.link.send(Say(Raw({"kind": "Left"})))


async def _told(liar: Liar) -> None:
    for _ in range(MANY):
        liar.tell("A.0001", Stall((), 0, (), (), (), ()))


async def _large_bodies(liar: Liar) -> None:
    """Each would end the connection of every consumer that gets it."""
    key = Key(id=MessageId(node=liar.node, seq=0), queue=QueueName("q"))
    for _ in range(MANY):
        liar.say(Create(seq=0, body=bytes(20_000)))
    for said in (Enqueue(key=key), Routed(seq=0)):
        liar.say(said)


LIES: dict[str, Callable[[Liar], Awaitable[None]]] = {
    "what nobody understands": _nonsense,
    "what only the bus says": _left,
    "what only an updater tells": _told,
    "bodies that are too large": _large_bodies,
}


def told_by_a_liar(work: Callable[[Scene, Liar], Awaitable[None]]) -> None:
    """Do this with brokers A and B, and see that a message goes from A to B afterwards."""
    scene = Scene(config=PATIENT)

    async def run() -> None:
        await scene.open("AB")
        one, other = await scene.client("A"), await scene.client("B")
        await one.declare("q")
        await one.send("q", b"before")
        await work(scene, Liar())
        await one.send("q", b"after")
        await other.subscribe("q", 10)
        got: list[Any] = [await other.next() for _ in range(2)]
        assert [(m.body, m.redelivered) for m in got] == [(b"before", False), (b"after", False)]
        scene.close()
        await asyncio.sleep(1.0)

    play(scene.world, scene.loop, run())
    assert scene.errors == []
    assert scene.bus.counts["founded"] == 1
    assert [scene.brokers[name].counts["joined"] for name in "AB"] == [1, 1]


@pytest.mark.parametrize("lie", LIES)
def test_a_member_that_lies_loses_its_own_membership(lie: str) -> None:
    async def work(scene: Scene, liar: Liar) -> None:
        await liar.join()
        liar.link.send(Ready())
        await LIES[lie](liar)
        await asyncio.sleep(1.0)
        assert not liar.link.alive
        assert scene.bus.counts["unexpected"] == MANY
        assert [str(node) for node in scene.bus.members] == ["A.0001", "B.0002"]
        assert all(broker.stats()["unexpected"] == 0 for broker in scene.brokers.values())

    told_by_a_liar(work)


def test_a_name_that_is_too_long_with_its_number_is_no_name_of_a_member() -> None:
    async def work(scene: Scene, liar: Liar) -> None:
        await liar.join("N" * 200)
        for number in range(MANY):
            liar.say(Routed(seq=number))
        await asyncio.sleep(1.0)
        assert not liar.link.alive
        assert scene.bus.counts["joined"] == 2
        assert all(broker.stats()["malformed"] == 0 for broker in scene.brokers.values())

    told_by_a_liar(work)


def test_one_that_joins_and_never_has_all_queues_does_not_keep_others_out() -> None:
    async def work(scene: Scene, liar: Liar) -> None:
        await liar.join()
        await scene.start("C")
        await asyncio.sleep(1.0)
        assert Node("C.0004") not in scene.bus.members
        await scene.brokers["C"].serving()
        assert scene.bus.counts["expelled"] == 1
        assert [str(node) for node in scene.bus.members] == ["A.0001", "B.0002", "C.0004"]
        assert not liar.link.alive

    told_by_a_liar(work)


def test_one_that_beats_and_takes_nothing_does_not_hold_the_others_up() -> None:
    async def work(scene: Scene, liar: Liar) -> None:
        await liar.join()
        liar.link.send(Ready())
        await asyncio.sleep(0.5)
        publisher = await scene.client("A")
        await publisher.declare("other")
        liar.link.stop_reading()
        for number in range(20):
            await publisher.send("other", b"%d" % number + bytes(900))
        assert scene.bus.counts["overrun"] == 1
        assert scene.bus.counts["delayed"] > 0

    told_by_a_liar(work)


async def joins_through(liar: Liar, scene: Scene) -> None:
    """The liar is the updater of C, which begins to join as C.0006."""
    await liar.join()
    liar.link.send(Ready())
    for _ in range(2):  # B and A are updaters before it is the liar's turn.
        await scene.start("C")
        await scene.brokers["C"].serving()
        scene.brokers["C"].close()
        await asyncio.sleep(0.5)
    await scene.start("C")
    await asyncio.sleep(1.0)
    assert scene.brokers["C"].serves is None
    assert Node("C.0006") in scene.bus.members


def test_an_updater_that_tells_nothing_does_not_keep_a_broker_out() -> None:
    async def work(scene: Scene, liar: Liar) -> None:
        await joins_through(liar, scene)
        await scene.brokers["C"].serving()
        assert (scene.bus.counts["expelled"], scene.brokers["C"].counts["joined"]) == (1, 2)
        assert liar.link.alive

    told_by_a_liar(work)


def test_an_updater_that_tells_nonsense_loses_its_own_membership() -> None:
    async def work(scene: Scene, liar: Liar) -> None:
        await joins_through(liar, scene)
        for _ in range(MANY):
            liar.link.send(Tell(Node("C.0006"), Raw({"kind": "Nonsense"})))
        await scene.brokers["C"].serving()
        assert not liar.link.alive
        assert scene.brokers["C"].stats()["unexpected"] == 0

    told_by_a_liar(work)


def test_who_is_told_a_stall_that_cannot_be_joins_again() -> None:
    """With half of it, it would be a member without the ownership of its queues."""

    async def work(scene: Scene, liar: Liar) -> None:
        await joins_through(liar, scene)
        node, q = Node("C.0006"), QueueName("q")
        interests = (Interest(q, node, frozenset((node,))),)
        liar.tell("C.0006", Stall((Declared(q, 0),), 1, (), (), (), interests))
        await scene.brokers["C"].serving()
        stats = scene.brokers["C"].stats()
        assert (stats["unexpected"], stats["joined"]) == (1, 2)
        assert liar.link.alive

    told_by_a_liar(work)
