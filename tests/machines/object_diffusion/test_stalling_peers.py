"""Peers that announce what an honest one has, and never send it: they cannot keep it out, and the
honest one is not asked for more all the while."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from lawful.machines.object_diffusion.messages import ObjectId, Request, RequestObjects
from lawful.machines.object_diffusion.service import Node, OutboundPeer, SqlitePool
from lawful.machines.object_diffusion.service.reputation import MOST_OWED, Reputation
from lawful.machines.object_diffusion.service.settings import Config, Options
from lawful.machines.object_diffusion.service.wire import name_of
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.simulated_runs import play

CONFIG = Config(redundancy=1, reply_timeout=2, redial=0.2, period=0.05, longest_redial=10.0)
OBJECTS = 30
BOUND = 60.0  # Simulated seconds.


KEPT_BACK = name_of(b"object 7")


class Staller(OutboundPeer):
    """Each request for objects ends in `fate`."""

    def __init__(self, name: str, fate: str) -> None:
        super().__init__(name)
        self._fate = fate
        self.asked: Request | None = None
        self.heard = self._hears

    def _hears(self, request: Request) -> None:
        self.asked = request

    def fate(self) -> str:
        return self._fate if self.stalls() else "answered"

    def stalls(self) -> bool:
        """Whether it treats this request badly."""
        return isinstance(self.asked, RequestObjects)


class Generous(Staller):
    """First it brings an object of its own over each connection. Then it announces the others, or
    hangs up, in debt to nobody, as `by_turns` says."""

    by_turns = False

    def __init__(self, name: str, fate: str) -> None:
        super().__init__(name, fate)
        self.others: list[bytes] = []
        self._lives = 0

    def offer(self, body: bytes) -> ObjectId:
        self.others.append(body)
        return name_of(body)

    def connect(self) -> Any:
        self._lives += 1
        body = f"{self.name} {self._lives}".encode()
        self.objects = {name_of(body): body}
        hangs_up = self.by_turns and self._lives % 2 == 0
        loop = asyncio.get_running_loop()
        loop.call_later(0.3, self.hang_up if hangs_up else self._announce)
        return super().connect()

    def _announce(self) -> None:
        for body in self.others:
            super().offer(body)

    def stalls(self) -> bool:
        others = {name_of(body) for body in self.others}
        asked = self.asked
        return isinstance(asked, RequestObjects) and not others.isdisjoint(asked.ids)


class KeepsBack(Generous):
    """It brings all but one object."""

    def stalls(self) -> bool:
        return isinstance(self.asked, RequestObjects) and KEPT_BACK in self.asked.ids

    def _announce(self) -> None:
        others = [body for body in self.others if name_of(body) != KEPT_BACK]
        self.others, every = others, self.others
        super()._announce()
        self.others = every
        asyncio.get_running_loop().call_later(0.3, OutboundPeer.offer, self, b"object 7")


class ByTurns(Generous):
    by_turns = True


@pytest.mark.parametrize("kind", [Staller, Generous, KeepsBack, ByTurns])
@pytest.mark.parametrize("fate", ["never", "invalid", "hang_up"])
def test_an_object_comes_though_peers_stall_by_turns(fate: str, kind: type[Staller]) -> None:
    """The node prefers A and B to Z, and one of them is there whenever the other is given up."""
    world = World(0, limit=3_600.0)
    loop = SimulatedLoop(world, Network(world))
    taken: list[float] = []

    async def work() -> None:
        pool = SqlitePool(":memory:")
        peers = [kind("A", fate), kind("B", fate), OutboundPeer("Z")]
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
        wanted = [name_of(b"object %d" % number) for number in range(OBJECTS)]
        while not all(map(pool.has, wanted)) and world.time - begun < BOUND:
            await asyncio.sleep(0.1)
        taken.append(world.time - begun)
        node.close()
        await running
        assert all(map(pool.has, wanted))
        pool.close()
        for peer in peers:
            peer.close()

    play(world, loop, work())
    assert taken[0] < BOUND


def test_a_peer_without_news_is_not_asked_all_the_time() -> None:
    """While A stalls, Z has to wait to be asked for the same object. What Z announces meanwhile
    comes all the same, within the longest pause."""
    world = World(0, limit=3_600.0)
    loop = SimulatedLoop(world, Network(world))

    async def work() -> None:
        pool = SqlitePool(":memory:")
        stalls, honest = Staller("A", "never"), OutboundPeer("Z")
        ports = {"A": await stalls.open(1), "Z": await honest.open(2)}
        config = Config(longest_poll=0.5)
        node = Node(pool, ports, config, Options(clock=world))
        running = asyncio.create_task(node.run())
        while node.counts["connected"] < 2:
            await asyncio.sleep(0.05)
        for peer in (stalls, honest):
            peer.offer(b"an object")
            await asyncio.sleep(1.0)
        before = honest.counts["requests"]
        await asyncio.sleep(5.0)
        assert 5 <= honest.counts["requests"] - before <= 2 * 5.0 / config.longest_poll
        x = honest.offer(b"another one")
        await asyncio.sleep(config.longest_poll + 0.1)
        assert pool.has(x)
        assert len(pool) == 1
        node.close()
        await running
        pool.close()
        for peer in (stalls, honest):
            peer.close()

    play(world, loop, work())


def test_a_peer_that_owes_nothing_any_more_is_dialled_soon() -> None:
    """It hung up when it was asked for an object, until another peer brought that."""
    world = World(0, limit=3_600.0)
    loop = SimulatedLoop(world, Network(world))

    async def work() -> None:
        pool = SqlitePool(":memory:")
        peer, honest = Staller("A", "hang_up"), OutboundPeer("Z")
        ports = {"A": await peer.open(1), "Z": await honest.open(2)}
        node = Node(pool, ports, replace(CONFIG, longest_redial=100.0), Options(clock=world))
        running = asyncio.create_task(node.run())
        peer.offer(b"an object")
        while node.counts["connected"] < 6:
            await asyncio.sleep(0.05)
        honest.offer(b"an object")
        waited: list[float] = []
        for number in range(7, 10):
            begun = world.time
            while node.counts["connected"] < number:
                await asyncio.sleep(0.05)
            waited.append(world.time - begun)
            await asyncio.sleep(0.5)
            peer.hang_up()
        assert waited[0] > 10 * CONFIG.redial
        assert waited[2] < 2 * CONFIG.redial
        node.close()
        await running
        pool.close()
        honest.close()
        peer.close()

    play(world, loop, work())


class Spoils(Generous):
    """Over each connection it brings an object, and then another one that is invalid."""

    def _announce(self) -> None:
        self.others = [f"spoilt {self._lives}".encode()]
        super()._announce()


def test_a_peer_that_brings_invalid_objects_is_dialled_later_and_later() -> None:
    """Though it brings others, and never owes the same."""
    world = World(0, limit=3_600.0)
    loop = SimulatedLoop(world, Network(world))

    async def work() -> None:
        pool = SqlitePool(":memory:")
        peer = Spoils("A", "invalid")
        config = replace(CONFIG, longest_redial=100.0)
        node = Node(pool, {"A": await peer.open(1)}, config, Options(clock=world))
        running = asyncio.create_task(node.run())
        await asyncio.sleep(30.0)
        assert node.counts["invalid"] == 8  # Pauses of 0.2 s, 0.4 s, up to 12.8 s.
        node.close()
        await running
        pool.close()
        peer.close()

    play(world, loop, work())


class HangsUp(asyncio.Protocol):
    """It takes connections, and ends each at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()


def test_a_peer_that_hangs_up_before_it_says_its_name_is_counted() -> None:
    world = World(0, limit=3_600.0)
    loop = SimulatedLoop(world, Network(world))

    async def work() -> None:
        pool = SqlitePool(":memory:")
        await loop.create_server(HangsUp, "", 1)
        node = Node(pool, {"A": 1}, CONFIG, Options(clock=world))
        running = asyncio.create_task(node.run())
        await asyncio.sleep(5 * CONFIG.redial)
        node.close()
        await running
        pool.close()
        assert node.counts["mute"] in (4, 5)
        assert set(node.counts) == {"mute"}

    play(world, loop, work())


# The pause before a peer is dialled again.


X, Y = (name_of(body) for body in (b"x", b"y"))
LIMITS = Config(redial=1.0, longest_redial=5.0)


def paused(
    *ends: tuple[Iterable[ObjectId], int, bool], came: Iterable[ObjectId] = (), after: float = 1.0
) -> list[float]:
    """The pauses after connections that ended so, one every so many seconds: what the peer owes,
    how many objects it brought, whether it lied. Then `came` comes into the pool each time."""
    reputation = Reputation(LIMITS)
    pauses: list[float] = []
    for number, end in enumerate(ends):
        reputation.ended(*end, number * after)
        pauses.append(reputation.pause)
        for x in came:
            reputation.came(x)
    return pauses


CLEAN: tuple[tuple[ObjectId, ...], int, bool] = ((), 9, False)


def test_who_brings_less_than_it_owes_waits_longer_each_time_up_to_a_limit() -> None:
    assert paused(*[((X, Y), 1, False)] * 4) == [2.0, 4.0, 5.0, 5.0]


def test_who_lies_waits_longer_whatever_it_brought() -> None:
    assert paused(((), 9, True), ((), 9, True)) == [2.0, 4.0]


def test_who_brings_more_than_it_owes_does_not_wait_longer() -> None:
    assert paused(((X,), 1, False), ((Y,), 5, False)) == [1.0, 1.0]


def test_who_owes_the_same_again_waits_longer_whatever_it_brought() -> None:
    again = ((X,), 9, False), ((X, Y), 9, False)
    assert paused(*again) == [1.0, 2.0]
    assert paused(*again, came=(X,)) == [1.0, 1.0]


def test_the_pause_goes_back_once_nothing_is_owed() -> None:
    ends = ((X,), 0, False), CLEAN, CLEAN
    assert paused(*ends) == [2.0, 2.0, 2.0]
    assert paused(*ends, came=(X,)) == [2.0, 1.0, 1.0]


def test_what_nobody_brings_is_owed_for_as_long_as_the_longest_pause() -> None:
    """Such as what nobody has any more."""
    ends = ((X,), 0, False), CLEAN
    assert paused(*ends, after=LIMITS.longest_redial - 0.1) == [2.0, 2.0]
    assert paused(*ends, after=LIMITS.longest_redial) == [2.0, 1.0]


def test_no_more_is_kept_in_mind_than_a_limit() -> None:
    many = [name_of(b"%d" % n) for n in range(MOST_OWED)]
    ends = ((X,), 9, False), (many, 10_000, False), ((X,), 9, False)
    assert paused(*ends) == [1.0, 1.0, 1.0]
    assert paused(*ends, (many[-1:], 9, False))[-1] == 2.0
