"""The cluster's service in a simulated world: bus, brokers and clients, real code, one seed.

    run = simulate(seed=7)
    run.problems        # what the judge of the histories found; empty if all is well
    run.digest          # of all events of all machines, in order: equal seeds, equal digests

A broker that is killed loses its connections at both ends, and another takes its port. One that is
cut off from the bus, or stands still, loses its place in the cluster without knowing it. At least
one member with all queues is left alone: if all are lost, so are the messages. A broker that
is unheard goes on for a while, though nothing of it gets a place in the order, and is killed then.
In every fourth world little may be under way, so that all have to wait for whoever is slow.
In some worlds everything stops once, for longer than anybody waits: that costs no member its place.
In the end a queue is shared: a consumer at each of two brokers gets something of it.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from collections.abc import Callable, Collection, Coroutine
from dataclasses import replace

from lawful.machines.queue_cluster.ownership import Ownership
from lawful.machines.queue_cluster.service.broker import Broker
from lawful.machines.queue_cluster.service.bus import Bus
from lawful.machines.queue_cluster.service.client import Client, CommandFailed, ConnectionLost
from lawful.machines.queue_cluster.service.connection import Connection
from lawful.machines.queue_cluster.service.exercise import Exercise, Manners
from lawful.machines.queue_cluster.service.histories import counts, problems
from lawful.machines.queue_cluster.service.node import LocalNode
from lawful.machines.queue_cluster.service.settings import Config, Options
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.simulated_runs import (
    Clock,
    Recorder,
    Run,
    Watch,
    note_errors,
    play,
    timers_left,
)

NAMES = "ABC"
CLIENTS, BUSES = 1, 11  # The first port of the brokers, and of the bus: one for each broker.
CONFIG = Config(slice_seconds=0.05, beat=0.3, silence=1.0, redial=0.1, longest_body=1_000)
# In every fourth world: bytes and commands so few that members and clients have to wait.
NARROW = replace(CONFIG, unsent=1_000, under_way=600, unhandled=500, outstanding=24)
BOUND = 30.0  # Seconds within which everything has come, after the faults have ceased.
TRANSITIONS = (
    # Of a queue at a node.
    *("consume", "cancel_one", "cancel_last", "lose_interest", "slice_over", "stopped"),
    *("start_consumers", "pass_on", "dispatch", "dispatched", "consume_delivered"),
    *("release_delivered", "cancel_delivered", "join", "updated"),
    # Of messages.
    *("publish", "enqueue", "routed", "acquire", "accept", "release", "reject"),
    *("declare", "declare_delivered", "bind", "bind_delivered", "create_delivered"),
    *("enqueue_delivered", "routed_delivered", "acquire_delivered", "requeue_delivered"),
    *("dequeue_delivered", "reject_delivered", "destroy", "destroy_delivered"),
    # Of both, and of a join.
    *("member_leaves", "welcome", "receive", "end", "front", "begin", "send", "done"),
)
SHARED = 200  # Messages, until each of two consumers has got one.
STOPS = "everything stops"
FAULTS = (
    STOPS,
    "kill",
    "unheard",
    "cut from the bus",
    "frozen",
    "clients cut",
    "clock jumps",
    "destroyed",
)


class Scene:
    """What one run consists of."""

    exercise: Exercise

    def __init__(
        self, seed: int = 0, *, config: Config = CONFIG, journal: Recorder | None = None
    ) -> None:
        self.world = World(seed, limit=600.0)
        self.network = Network(self.world)
        self.loop = SimulatedLoop(self.world, self.network)
        self.config = config
        self.draw = random.Random(seed)
        self.clock = Clock(self.world)
        self.watch = Watch()
        self.watch.journal = journal
        self.bus = Bus(config, first=1)
        self.brokers: dict[str, Broker] = {}
        self.gone: list[Broker] = []
        self.faults: Counter[str] = Counter()
        self.errors: list[str] = []
        self.events_while_faulty = 0
        self.late: list[str] = []
        apart = random.Random(f"{seed}/{STOPS}")
        self.stops_at = apart.choice((apart.uniform(0.5, 5.0), math.inf))
        self.stood_still = 0.0  # Seconds.
        note_errors(self.loop, self.errors)

    async def open(self, names: str = NAMES) -> None:
        """Start the bus and these brokers, each once the last one is a member."""
        for number in range(len(NAMES)):
            await self.bus.open(BUSES + number)
        for name in names:
            await self.start(name)
            await self.brokers[name].serving()

    def close(self) -> None:
        for broker in self.brokers.values():
            broker.close()
        self.bus.close()

    async def client(self, name: str) -> Client:
        """A client of this broker, as soon as it is a member."""
        while True:
            try:
                return await Client.connect(CLIENTS + NAMES.index(name), self.config)
            except (OSError, ConnectionLost, CommandFailed):
                await asyncio.sleep(0.1)

    async def start(self, name: str) -> None:
        number = NAMES.index(name)
        options = Options(clock=self.clock, journal=self.watch)
        broker = Broker(name, BUSES + number, self.config, options)
        self.brokers[name] = broker
        await broker.open(CLIENTS + number)

    def owns(self, name: str) -> bool:
        """Whether consumers of a queue run here, and this broker may fail."""
        node = self.brokers[name].node
        owners = () if node is None else node.owners.values()
        return self.may_fail(name) and any(o.state == Ownership.OWNED for o in owners)

    def may_fail(self, name: str) -> bool:
        """Whether another broker has everything and is a member, as the bus sees it too."""
        return any(
            other != name
            and broker.node is not None
            and broker.node.ready
            and broker.node.me in self.bus.members
            and not self.network.is_frozen(BUSES + NAMES.index(other))
            for other, broker in self.brokers.items()
        )


async def _kill(scene: Scene, name: str) -> None:
    """Kill -9, and start another in its place."""
    number = NAMES.index(name)
    broker = scene.brokers[name]
    if scene.draw.random() < 0.5:  # What it has sent is lost, or it is not.
        scene.network.cut(CLIENTS + number)
        scene.network.cut(BUSES + number)
    broker.close()
    scene.network.cut(CLIENTS + number)
    scene.gone.append(broker)
    await asyncio.sleep(scene.draw.uniform(0.0, 2.0))
    await scene.start(name)


async def _kill_unheard(scene: Scene, name: str) -> None:
    """Nothing that it says gets a place any more, and it does not know; then kill -9."""
    name = next(filter(scene.owns, NAMES), name)
    port = BUSES + NAMES.index(name)
    scene.network.mute(port)
    await asyncio.sleep(scene.draw.uniform(0.05, 0.6))
    scene.network.cut(port)
    scene.network.thaw(port)
    await _kill(scene, name)


async def _cut(scene: Scene, name: str) -> None:
    scene.network.cut(BUSES + NAMES.index(name))


async def _freeze(scene: Scene, name: str) -> None:
    """Nothing passes between it and the bus, for longer than the silence or shorter. Where little
    may be under way, the others have to wait for it then; one of them is killed."""
    port = BUSES + NAMES.index(name)
    scene.network.freeze(port)
    if scene.config.unsent == NARROW.unsent:
        await asyncio.sleep(0.3)
        other = next((each for each in NAMES if each != name and scene.may_fail(each)), None)
        if other is not None:
            await _kill(scene, other)
    await asyncio.sleep(scene.draw.choice((0.3, 0.8, 2.5)))
    scene.network.thaw(port)


async def _cut_clients(scene: Scene, name: str) -> None:
    scene.network.cut(CLIENTS + NAMES.index(name))


async def _jump(scene: Scene, _: str) -> None:
    scene.clock.offset += scene.draw.uniform(-1.0, 1.0)


async def _stop(scene: Scene) -> None:
    """As SIGSTOP does, of all processes. Whose membership was whole keeps it."""
    nodes = [broker.node for broker in scene.brokers.values()]
    whole = {node.me for node in nodes if node is not None and node.ready}
    before = whole & set(scene.bus.members)
    scene.faults[STOPS] += 1
    scene.stood_still = scene.config.patience * scene.draw.uniform(1.1, 2.0)
    scene.world.time += scene.stood_still
    await asyncio.sleep(scene.config.silence)
    if gone := before - set(scene.bus.members):
        scene.late.append(f"{', '.join(sorted(gone))} left since everything stood still")


async def _destroy(scene: Scene, name: str) -> None:
    """A queue with messages that nobody else uses comes and goes."""
    node = scene.brokers[name].node
    if node is not None and node.ready:
        await scene.exercise.destroy_one()


MAKE: dict[str, Callable[[Scene, str], Coroutine[object, object, None]]] = {
    "kill": _kill,
    "unheard": _kill_unheard,
    "cut from the bus": _cut,
    "frozen": _freeze,
    "clients cut": _cut_clients,
    "clock jumps": _jump,
    "destroyed": _destroy,
}


async def _trouble(scene: Scene, seconds: float) -> None:
    """Make faults, and after so many seconds none any more."""
    while scene.world.time - scene.stood_still < seconds:
        await asyncio.sleep(scene.draw.uniform(0.1, 0.8))
        if scene.world.time > scene.stops_at and not scene.stood_still:
            await _stop(scene)
        fault, name = scene.draw.choice([*MAKE]), scene.draw.choice(NAMES)
        if scene.may_fail(name):
            scene.faults[fault] += 1
            await MAKE[fault](scene, name)
    scene.events_while_faulty = scene.watch.events


async def _live(scene: Scene, messages: int, seconds: float) -> None:
    await scene.open(NAMES[:2])
    ports = [CLIENTS + number for number in range(len(NAMES))]
    credit = scene.draw.choice((1, 3, 20))
    manners = Manners(0.1, 0.1, 0.02, 0.02, credit=credit, work=0.6, batch=4, pause=0.9)
    scene.exercise = Exercise(ports, ("orders", "bills"), scene.draw.random(), manners)
    scene.exercise.start(publishers=3, consumers=4, messages=messages)
    await asyncio.sleep(scene.draw.uniform(0.0, 1.0))
    await scene.start("C")  # It joins late.
    await asyncio.sleep(0.5)
    await _trouble(scene, seconds)
    until = scene.world.time + BOUND
    while scene.exercise.publishing and scene.world.time < until:
        await asyncio.sleep(0.2)
    scene.exercise.calm()
    while not scene.exercise.complete and scene.world.time < until:
        await asyncio.sleep(0.2)
    if not scene.exercise.complete:
        scene.late.append(f"not everything had come {BOUND} s after the faults")
    await scene.exercise.end()
    await _share(scene)
    await asyncio.sleep(scene.config.silence)
    scene.late += [left for broker in scene.brokers.values() for left in _left_behind(broker)]
    scene.close()
    await asyncio.sleep(0.1)
    scene.late += timers_left(scene.loop, Connection, Bus, Broker, LocalNode)
    await asyncio.sleep(0.9)


def _left_behind(broker: Broker) -> list[str]:
    """What a broker still has of clients when they have all gone: it would grow with that."""
    node = broker.node
    if node is None:
        return []
    kept: dict[str, Collection[object]] = {
        "desks": vars(broker)["_desks"],
        "outstanding": vars(node)["_outstanding"],
        "left": [each for ended in vars(node)["_left"].values() for each in ended],
        "subscribed": [each for has in vars(node)["_subscriptions"].values() for each in has],
        "held": node.replica.held,
        "acquiring": node.replica.acquiring,
        "settling": node.replica.settling,
        "local": node.replica.local,
        "journaled": vars(node)["_unobserved"].keys() - _machines(node),
    }
    return [f"{node.me} still has {len(each)} of {name}" for name, each in kept.items() if each]


def _machines(node: LocalNode) -> set[str]:
    """The names under which a journal knows the machines that a node has."""
    declared = node.replica.declared
    owners = {f"{q}/{declared[q]}" for q in node.owners}
    return {"replica"} | owners | {f"updater of {n}" for n in node.updaters}


async def _share(scene: Scene) -> None:
    """While messages come, a consumer at each of two brokers has its turn."""
    clients = [await scene.client(name) for name in NAMES[:2]]
    publisher = clients[0]
    got = [0, 0]

    async def take(number: int) -> None:
        await clients[number].declare("shared")
        await clients[number].subscribe("shared", 10)
        while (message := await clients[number].next()) is not None:
            got[number] += 1
            await clients[number].accept(message)

    await publisher.declare("shared")
    takers = [asyncio.create_task(take(number)) for number in (0, 1)]
    for number in range(SHARED):
        await publisher.send("shared", b"%d" % number)
        await asyncio.sleep(0.05)
        if all(got):
            break
    else:
        scene.late.append(f"of {SHARED} messages two consumers got {got}")
    for taker in takers:
        taker.cancel()
    await asyncio.gather(*takers, return_exceptions=True)
    for client in clients:
        client.abort()


def simulate(
    seed: int,
    *,
    journal: Recorder | None = None,
    messages: int = 40,
    seconds: float = 6.0,
) -> Run:
    """One run: three publishers with so many messages each, four consumers, two brokers and a third
    that joins, faults for so many seconds."""
    slice_seconds = random.Random(seed).choice((0.05, 0.5))
    config = NARROW if seed % 4 == 0 else CONFIG
    scene = Scene(seed, config=replace(config, slice_seconds=slice_seconds), journal=journal)
    found: list[str] = []
    try:
        play(scene.world, scene.loop, _live(scene, messages, seconds))
    except Exception as error:
        found.append(f"{type(error).__name__}: {error}")
    found += scene.late
    found += problems(scene.exercise.history)
    found += scene.errors
    if scene.bus.counts["founded"] != 1:
        found.append(f"the cluster began {scene.bus.counts['founded']} times")
    every = [*scene.gone, *scene.brokers.values()]
    counted = sum((broker.counts for broker in every), Counter[str]())
    if counted["refused"]:
        found.append(f"{counted['refused']} multicasts were refused by a machine")
    return Run(
        seed=seed,
        problems=found,
        digest=scene.watch.digest,
        transitions=scene.watch.transitions,
        faults=scene.faults,
        counts=counted + counts(scene.exercise.history) + scene.bus.counts,
        seconds=scene.world.time,
        events=scene.watch.events,
        active=scene.events_while_faulty,
        pieces=scene.network.counts["pieces"],
    )
