"""A node in a world in which nothing goes wrong but what a test makes happen: what it says and
stores, and when, to the millisecond.

    scene = told((5, hears("A", announced("a"))), (20, hears("A", bodies("a"))))
    scene.story         # a line for each instant: "0: A ids ack 0 count 4 blocks", ...

Its peers say by hand what a test makes them say. Frames take no time. Objects are called `a`, `b`
and so on, in the order of their IDs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

from lawful.machines.object_diffusion.attribution import Peer
from lawful.machines.object_diffusion.connection import ReplyIds
from lawful.machines.object_diffusion.messages import ObjectId, RequestIds, RequestObjects
from lawful.machines.object_diffusion.service import Node
from lawful.machines.object_diffusion.service.inbound import Connection
from lawful.machines.object_diffusion.service.settings import Config, Options
from lawful.machines.object_diffusion.service.wire import (
    Frame,
    Hello,
    Objects,
    decode,
    encode,
    name_of,
)
from lawful.machines.services import LOOPBACK
from lawful.machines.services.framing import Frames
from lawful.runtime.instance import Machine
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.simulated_runs import Clock, play

# A round is at least 10 ms after the last one.
CONFIG = Config(
    redundancy=1,
    outstanding=6,
    inflight_per_peer=2,
    inflight_total=3,
    ids_per_request=4,
    reply_timeout=1,
    period=0.010,
    redial=0.5,
    greeting=0.3,
    backlog=20,
)
PORTS = {"A": 1, "B": 2}
BODIES = dict(zip("abcdefghijkl", sorted((b"%d" % n for n in range(12)), key=name_of), strict=True))
LABELS = {name_of(body): label for label, body in BODIES.items()}


class Slow:
    """A pool: each object takes `seconds`; those in `invalid` are refused."""

    def __init__(self, told: Told) -> None:
        self.held: set[ObjectId] = set()
        self.invalid: set[str] = set()
        self.seconds = 0.001
        self._told = told

    def has(self, x: ObjectId) -> bool:
        return x in self.held

    async def add(self, x: ObjectId, body: bytes) -> str:
        assert name_of(body) == x
        await asyncio.sleep(self.seconds)
        outcome = "known" if x in self.held else "added"
        if LABELS[x] in self.invalid:
            outcome = "invalid"
        else:
            self.held.add(x)
        self._told.tell(f"[{outcome} {LABELS[x]}]")
        return outcome


class Called(Node):
    """A test may call what its connections were."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.every: dict[str, Connection] = {}

    def register(self, connection: Connection, name: str) -> Peer:
        p = super().register(connection, name)
        self.every[str(p)] = connection
        return p


class Told:
    """What happens when."""

    node: Called

    def __init__(self, world: World) -> None:
        self.world = world
        self.network = Network(world, (0.0, 0.0), 1)
        self.loop = SimulatedLoop(world, self.network)
        self.pool = Slow(self)
        self.peers: dict[str, Spoken] = {}
        self.ended = False
        self._told: dict[float, list[str]] = {}
        self.loop.set_exception_handler(self._hear_error)

    @property
    def story(self) -> list[str]:
        """A line for each instant."""
        return [f"{at:g}: {', '.join(what)}" for at, what in self._told.items()]

    def tell(self, what: str) -> None:
        if not self.ended:
            self._told.setdefault(round(self.world.time * 1_000, 3), []).append(what)

    def _hear_error(self, _: object, context: dict[str, object]) -> None:
        self.tell(f"[error: {context.get('exception')!r}]")

    def look(self) -> None:
        """What the node counts."""
        counts = "".join(f"{n} {what}, " for what, n in sorted(self.node.counts.items()))
        self.tell(f"[{counts}{self.node.waiting} wait]")

    def hear_nobody(self) -> None:
        """Replies of a connection that has ended, or never was."""
        for reply in (announced("a"), bodies("a")):
            self.tell(f"[{'taken' if self.node.collect(Peer('C#7'), reply) else 'refused'}]")

    def attach(self, entry: Machine, instance: str) -> object:
        """In the place of a journal: some steps of the registry are a part of the story."""
        return entry.lawful.observe(self._hear)

    def _hear(self, done: Stepped[Machine]) -> None:
        if done.event == "make_decisions" and done.output:
            self.tell(f"wakes {' '.join(sorted(map(str, cast('Iterable[Peer]', done.output))))}")
        elif done.outcome == "done" and done.event == "take_lock":
            self.tell(f"{done.args['p']} inserts {LABELS[cast('ObjectId', done.args['x'])]}")


class Spoken(asyncio.Protocol):
    """One connection of the node to a peer that a test speaks for."""

    def __init__(self, told: Told, name: str) -> None:
        self._told = told
        self._name = name
        self._frames = Frames(16_003)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._told.peers[self._name] = self
        self._told.tell(f"[{self._name} begins]")
        self._transport.write(encode(Hello(self._name)))

    def data_received(self, data: bytes) -> None:
        for content in self._frames.feed(data):
            self._told.tell(f"{self._name} {text_of(decode(content))}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._told.tell(f"[{self._name} ends]")

    def say(self, *frames: Frame) -> None:
        assert self._transport is not None
        for frame in frames:
            self._told.tell(f"<{self._name} {text_of(frame)}")
            self._transport.write(encode(frame))

    def hang_up(self) -> None:
        assert self._transport is not None
        self._transport.abort()


def text_of(frame: Frame) -> str:
    match frame:
        case Hello():
            return "hello"
        case RequestIds(blocking=blocking, ack=ack, count=count):
            return f"ids ack {ack} count {count}" + " blocks" * blocking
        case RequestObjects(ids=ids) | Objects(ids=ids):
            return f"objects {named(sorted(ids))}"
        case ReplyIds(ids=ids):
            return f"announces {named(ids)}"


def named(ids: object) -> str:
    return " ".join(LABELS[x] for x in cast("tuple[ObjectId, ...]", ids)) or "nothing"


Act = tuple[float, Callable[[Told], object]]  # At so many milliseconds.


def announced(labels: str) -> ReplyIds:
    return ReplyIds(tuple(name_of(BODIES[label]) for label in labels))


def bodies(labels: str) -> Objects:
    return Objects(tuple(sorted((name_of(BODIES[label]), BODIES[label]) for label in labels)))


def hears(name: str, *frames: Frame) -> Callable[[Told], object]:
    """The node hears these of a peer."""
    return lambda scene: scene.peers[name].say(*frames)


def hangs_up(name: str) -> Callable[[Told], object]:
    return lambda scene: scene.peers[name].hang_up()


def sleeps(name: str) -> Callable[[Told], object]:
    """From now on this peer hears nothing."""
    return lambda scene: scene.network.mute(PORTS[name])


def wakes(name: str) -> Callable[[Told], object]:
    return lambda scene: scene.network.thaw(PORTS[name])


def slow(milliseconds: int) -> Callable[[Told], object]:
    """The pool takes so long for each object."""

    def prepare(scene: Told) -> None:
        scene.pool.seconds = milliseconds / 1_000

    return prepare


def invalid(labels: str, milliseconds: int = 1) -> Callable[[Told], object]:
    """The pool finds these objects invalid, after so long."""

    def prepare(scene: Told) -> None:
        scene.pool.invalid = set(labels)
        scene.pool.seconds = milliseconds / 1_000

    return prepare


def told(
    *acts: Act,
    config: Config = CONFIG,
    peers: str = "A",
    prepare: Callable[[Told], object] = lambda _: None,
) -> Told:
    """What happens when the peers act."""
    world = World(seed=1, limit=10.0)
    scene = Told(world)
    prepare(scene)
    play(world, scene.loop, _live(scene, acts, config, peers))
    return scene


async def _live(scene: Told, acts: tuple[Act, ...], config: Config, peers: str) -> None:
    for name in peers:
        await scene.loop.create_server(partial(Spoken, scene, name), LOOPBACK, PORTS[name])
    ports = {name: PORTS[name] for name in peers}
    scene.node = Called(scene.pool, ports, config, Options("node", Clock(scene.world), scene))
    running = asyncio.create_task(scene.node.run())
    for at, act in acts:
        await asyncio.sleep(at / 1_000 - scene.world.time)
        act(scene)
    await asyncio.sleep(0.0005)
    if running.done():
        scene.tell(f"[the node ended: {running.exception()!r}]")
    scene.ended = True
    scene.node.close()
    await asyncio.gather(running, return_exceptions=True)
