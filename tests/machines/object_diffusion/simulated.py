"""The node in a simulated world: real code, simulated time and network, a disk that outlives it.

    run = simulate(seed=7)
    run.problems        # what the judge of the tape found; empty if all is well
    run.digest          # of all bytes and of all events of the machine, in order

Peer C is honest; A and B answer some requests badly, and offer objects that are invalid. The node
is killed and another continues with its file. When the faults have ceased, everything that C offers
must come.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lawful.machines.object_diffusion.attribution import Peer
from lawful.machines.object_diffusion.messages import ObjectId
from lawful.machines.object_diffusion.service import Node, OutboundPeer, SqlitePool
from lawful.machines.object_diffusion.service.inbound import Connection
from lawful.machines.object_diffusion.service.outbound import FATES, Behaviour
from lawful.machines.object_diffusion.service.reputation import Reputation
from lawful.machines.object_diffusion.service.settings import Config, Options, Recorder
from lawful.machines.object_diffusion.service.wire import name_of
from lawful.runtime.instance import Machine
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.turns import World
from tests.machines.object_diffusion.wiretap import Judge, Tapped
from tests.machines.simulated_runs import (
    Clock,
    Run,
    left_behind,
    note_errors,
    play,
    tasks_left,
    timers_left,
)

PEERS = {"C": 1, "A": 2, "B": 3}
HONEST = PEERS["C"]
BOUND = 30.0  # Seconds within which everything has come, after the faults have ceased.
SETTLED = 8.0  # Seconds after which nothing of the faults is left.
TRANSITIONS = (
    *("register", "unregister", "time_out", "make_decisions", "read_decision"),
    *("on_receive_ids", "on_receive_objects", "on_request_objects", "on_request_ids"),
    *("on_decision_completed", "take_lock", "on_added_to_pool", "on_rejected"),
)
FAULTS = (
    *("cut", "refused", "frozen", "clock forward", "clock back", "peer restarted"),
    *("node killed", "disk full", "invalid object"),
    *FATES,
)


class Disk(SqlitePool):
    """A pool that takes its time, may be full, and is on the tape."""

    def __init__(self, scene: Scene, path: Path | str) -> None:
        super().__init__(path, valid=_is_valid)
        self._scene = scene

    async def add(self, x: ObjectId, body: bytes) -> str:
        scene = self._scene
        await asyncio.sleep(scene.draw.uniform(0.0, 0.03))
        if scene.full:
            scene.full = False
            scene.faults["disk full"] += 1
            raise sqlite3.OperationalError("database or disk is full")
        outcome = await super().add(x, body)
        scene.tape.stored(x, body, outcome)
        await asyncio.sleep(scene.draw.uniform(0.0, 0.01))
        return outcome


def _is_valid(body: bytes) -> bool:
    return not body.startswith(b"invalid")


class Scene:
    """What one run consists of."""

    running: asyncio.Task[None]

    def __init__(self, seed: int, kind: type[Node], disk: type[Disk], journal: Any) -> None:
        self.world = World(seed, limit=300.0)
        self.network = Tapped(self.world)
        self.tape = self.network.tape
        self.loop = SimulatedLoop(self.world, self.network)
        self.draw = random.Random(seed)
        self.kind = kind
        self.disk = disk
        self.journal: Recorder | None = journal
        self.config = Config(
            redundancy=self.draw.choice((1, 2)), outstanding=8, inflight_per_peer=3,
            inflight_total=self.draw.choice((3, 5)), ids_per_request=4, reply_timeout=2,
            redial=0.3, greeting=2.0,
        )  # fmt: skip
        share: dict[str, Any] = {fate: self.draw.choice((0.0, 0.04)) for fate in FATES}
        bad = Behaviour(outstanding=8, lateness=3.0, **share)
        good = Behaviour(outstanding=8)
        self.peers = [OutboundPeer(n, good if n == "C" else bad, seed) for n in PEERS]
        self.good = good
        self.clock = Clock(self.world)
        self.full = False
        self.over = False
        self.offered: dict[ObjectId, bytes] = {}
        self.transitions: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        note_errors(self.loop, self.errors)
        self.events = 0
        self.active = 0
        self.calm = 0.0
        self.end = 0.0
        self.nodes: list[Node] = []

    def attach(self, entry: Machine, instance: str) -> object:
        """In the place of a journal: count and digest all events of the machine."""
        if self.journal is not None:
            self.journal.attach(entry, instance)
        return entry.lawful.observe(self._hear)

    def _hear(self, done: Stepped[Machine]) -> None:
        self.events += 1
        name = str(done.transition or done.event)
        if done.outcome == "done":
            self.transitions[name] += 1
        self.tape.mark(f"{done.time!r} {name} {done.outcome}".encode())

    async def supervise(self, path: Path) -> None:
        """Run a node, and after its end another one with the same file."""
        while not self.over:
            pool = self.disk(self, path)
            options = Options(f"node {len(self.nodes) + 1}", self.clock, self)
            node = self.kind(pool, PEERS, self.config, options)
            self.nodes.append(node)
            self.running = asyncio.create_task(node.run())
            await asyncio.wait([self.running])
            pool.close()
            self.counts += node.counts
            error = None if self.running.cancelled() else self.running.exception()
            if not isinstance(error, sqlite3.OperationalError | None):
                self.errors.append(f"the node ended: {error!r}")
                return
            await asyncio.sleep(self.draw.uniform(0.0, 1.0))


# Faults.


async def _cut(scene: Scene, peer: OutboundPeer) -> None:
    scene.network.cut(PEERS[peer.name])


async def _refuse(scene: Scene, peer: OutboundPeer) -> None:
    scene.network.refuse(PEERS[peer.name], True)
    scene.network.cut(PEERS[peer.name])
    await asyncio.sleep(scene.draw.uniform(0.0, 2.0))
    scene.network.refuse(PEERS[peer.name], False)


async def _freeze(scene: Scene, peer: OutboundPeer) -> None:
    scene.network.freeze(PEERS[peer.name])
    await asyncio.sleep(scene.draw.choice((0.3, 1.0, 4.0)))
    scene.network.thaw(PEERS[peer.name])


async def _forward(scene: Scene, _: OutboundPeer) -> None:
    scene.clock.offset = scene.draw.uniform(scene.clock.offset, 1.0)


async def _back(scene: Scene, _: OutboundPeer) -> None:
    scene.clock.offset = scene.draw.uniform(-1.0, scene.clock.offset)


async def _restart(scene: Scene, peer: OutboundPeer) -> None:
    peer.close()
    await asyncio.sleep(scene.draw.uniform(0.0, 1.0))
    await peer.open(PEERS[peer.name])


async def _kill(scene: Scene, _: OutboundPeer) -> None:
    scene.running.cancel()


async def _fill(scene: Scene, _: OutboundPeer) -> None:
    scene.full = True  # The disk counts it.


async def _offer_invalid(scene: Scene, _: OutboundPeer) -> None:
    scene.peers[1].offer(b"invalid %d" % scene.faults["invalid object"])


MAKE: dict[str, Callable[[Scene, OutboundPeer], Any]] = {
    "cut": _cut,
    "refused": _refuse,
    "frozen": _freeze,
    "clock forward": _forward,
    "clock back": _back,
    "peer restarted": _restart,
    "node killed": _kill,
    "disk full": _fill,
    "invalid object": _offer_invalid,
}


async def _trouble(scene: Scene, seconds: float) -> None:
    """Make faults, and after so many seconds none any more."""
    while scene.world.time < seconds:
        await asyncio.sleep(scene.draw.uniform(0.1, 1.2))
        fault = scene.draw.choice(tuple(MAKE))
        scene.faults[fault] += fault != "disk full"
        await MAKE[fault](scene, scene.draw.choice(scene.peers))
    scene.full = False
    for peer in scene.peers:
        peer.behaviour = scene.good
        for x in [x for x, body in peer.objects.items() if not _is_valid(body)]:
            del peer.objects[x]
    scene.active = scene.events
    scene.calm = scene.world.time


async def _offer(scene: Scene, objects: int, seconds: float) -> None:
    """C has every object, the others most."""
    for n in range(objects):
        body = b"object %d" % n + bytes(300 * (scene.draw.random() < 0.1))
        scene.offered[name_of(body)] = body
        for peer in scene.peers:
            if peer.name == "C" or scene.draw.random() < 0.8:
                peer.offer(body)
        await asyncio.sleep(scene.draw.uniform(0.0, 2.2 * seconds / objects))


async def _live(scene: Scene, objects: int, seconds: float, path: Path) -> None:
    for peer in scene.peers:
        await peer.open(PEERS[peer.name])
    supervisor = asyncio.create_task(scene.supervise(path))
    await asyncio.gather(_offer(scene, objects, seconds), _trouble(scene, seconds))
    until = scene.world.time + BOUND
    while scene.world.time < until and not supervisor.done():
        await asyncio.sleep(0.5)
        if scene.world.time > scene.calm + SETTLED + 2.0 and _all_there(scene, path):
            break
    else:
        scene.errors.append(f"not everything had come {BOUND} s after the faults")
    await asyncio.sleep(3.0)
    scene.over = True
    scene.end = scene.world.time
    scene.errors += _left_behind(scene.nodes[-1], connections=len(PEERS))
    scene.errors += _kept_of_objects(scene, scene.nodes[-1])
    scene.running.cancel()
    await supervisor
    for peer in scene.peers:
        peer.close()
    await asyncio.sleep(0.1)
    for node in scene.nodes:
        scene.errors += _left_behind(node, connections=0)
    scene.errors += tasks_left() + timers_left(scene.loop, Connection, Node)


def _left_behind(node: Node, connections: int) -> list[str]:
    """What a node still has of connections that have ended: it would grow with them."""
    has = vars(node)
    most = {"_peers": len(PEERS), "_reputations": len(PEERS), "_connections": connections}
    found = left_behind("the node", node, most)
    if set(node.registry.peers) != set(has["_connections"]):
        found.append("the machine has other peers than the node")
    return found


def _kept_of_objects(scene: Scene, node: Node) -> list[str]:
    """What a node still has of objects that its pool has got: it would grow with them."""
    has, found = vars(node), list[str]()
    reputations: dict[str, Reputation] = has["_reputations"]
    for name, reputation in reputations.items():
        kept: dict[ObjectId, float] = vars(reputation)["_owed"]
        owed = kept.keys() & scene.offered.keys()
        found += [f"{name} is said to owe {len(owed)} objects that came"] * bool(owed)
    connections: dict[Peer, Connection] = has["_connections"]
    for p, connection in connections.items():
        asked = connection.asked & scene.offered.keys()
        found += [f"{p} has {len(asked)} left in asked"] * bool(asked)
    return found


def _all_there(scene: Scene, path: Path) -> bool:
    return _held(path) == scene.offered


def _held(path: Path) -> dict[ObjectId, bytes]:
    """What the file has, read by another connection."""
    file = sqlite3.connect(path)
    try:
        if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'objects'").fetchall():
            return {}
        return {
            ObjectId(x): bytes(body) for x, body in file.execute("SELECT id, body FROM objects")
        }
    finally:
        file.close()


def simulate(
    seed: int,
    *,
    kind: type[Node] = Node,
    disk: type[Disk] = Disk,
    journal: Recorder | None = None,
    objects: int = 30,
    seconds: float = 8.0,
) -> Run:
    """One run: so many objects, faults for so many seconds."""
    scene = Scene(seed, kind, disk, journal)
    found: list[str] = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pool"
        work = _live(scene, objects, seconds, path)
        try:
            play(scene.world, scene.loop, work)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
        if _held(path) != scene.offered:
            found.append("the file has not exactly what was offered")
    fates = sum((peer.counts for peer in scene.peers), Counter[str]())
    judge = Judge(scene.tape, scene.config, scene.offered)
    found += scene.errors
    found += judge.problems(HONEST, (scene.calm + SETTLED, scene.end))
    found += [f"{fates[what]} {what}" for what in ("complaints", "malformed") if fates[what]]
    return Run(
        seed=seed,
        problems=found,
        digest=scene.tape.digest,
        transitions=scene.transitions,
        faults=scene.faults + Counter({fate: fates[fate] for fate in FATES}),
        counts=scene.counts,
        seconds=scene.world.time,
        events=scene.events,
        active=scene.active,
        pieces=scene.network.counts["pieces"],
    )
