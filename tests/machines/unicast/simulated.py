"""The unicast service in a simulated world: real endpoints, simulated time and network, one seed.

    run = simulate(seed=7)
    run.problems        # what the judge of the histories found; empty if all is well
    run.digest          # of all events of all machines, in order: equal seeds, equal digests
    shrunk(7)           # the smallest part of the plan of this seed that still fails

Three endpoints send to each other. Of each name there are lives, one after another. The network
loses, doubles, delays and reorders datagrams all the time; the plan has the other faults, each at
its moment.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Coroutine
from dataclasses import replace

from lawful.machines.unicast.messages import Close, Data, Dropped
from lawful.machines.unicast.service import endpoint
from lawful.machines.unicast.service.endpoint import EndpointClosed
from lawful.machines.unicast.service.settings import Config, Options
from lawful.machines.unicast.service.wire import Batch, encode
from lawful.runtime.instance import Machine
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.simulation.datagrams import LOOPBACK, Datagrams
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.shrinking import smallest
from tests.machines.simulated_runs import Recorder, Run, Watch, play, tasks_left
from tests.machines.unicast.history import History, Sent, problems
from tests.machines.unicast.leftovers import left_of_messages, left_of_peer
from tests.machines.unicast.plan import NAMES, Fault, Plan, plan_of

PORTS = {name: 7_001 + number for number, name in enumerate(NAMES)}
LIAR = 7_900  # The port from which garbage comes.
KEY = b"the key of all endpoints"
CONFIG = Config(
    xmit_interval=0.02,
    ack_interval=0.02,
    conn_expiry_timeout=1.0,
    conn_close_timeout=0.5,
    window=16,
    inbox=8,
    largest_part=24,
    largest_payload=300,
)
LAST_WORDS = 5  # Messages.
LATER = "later "  # They begin with this.
BOUND = 20.0  # Seconds within which everything has come, after the last fault.
TRANSITIONS = (
    *("send", "ack", "task", "retransmit", "send_first", "close", "expire", "remove", "give_up"),
    *("accept", "resume", "establish", "ask_first", "deliver", "send_ack", "request_missing"),
    *("send_sync", "close_received"),
)


def shrunk(seed: int) -> Plan:
    """Of the plan of this seed, which fails, a part that fails and no longer does if any of its
    faults is left out, or the network's, or half of the messages. ValueError if it does not."""
    plan = plan_of(seed)

    def fails(plan: Plan) -> bool:
        return bool(simulate(seed, plan=plan).problems)

    faults = smallest(plan.faults, lambda faults: fails(replace(plan, faults=tuple(faults))))
    plan = replace(plan, faults=tuple(faults))
    while plan.messages > 1 and fails(smaller := replace(plan, messages=plan.messages // 2)):
        plan = smaller
    network = plan.network
    for better in (
        replace(network, loss=0.0),
        replace(network, duplicate=0.0),
        replace(network, reorder=0.0),
        replace(network, loss=0.0, duplicate=0.0, reorder=0.0),
    ):
        if fails(replace(plan, network=better)):
            plan = replace(plan, network=better)
    return plan


class Life:
    """An endpoint, its application and its clock."""

    def __init__(self, scene: Scene, name: str, number: int) -> None:
        self.name, self.number = name, number
        self.deaf = False
        self.leaving: set[str] = set()  # Those that it is about to forget.
        self._scene = scene
        self._jobs: list[asyncio.Task[None]] = []
        self._talks: list[asyncio.Task[None]] = []
        self._unicast: endpoint.Unicast | None = None
        self.config = scene.config
        if takes := scene.plan.takes:
            turn = (NAMES.index(name) + number) % len(takes)
            self.config = replace(scene.config, largest_payload=takes[turn])

    @property
    def unicast(self) -> endpoint.Unicast:
        assert self._unicast is not None
        return self._unicast

    async def open(self) -> None:
        """Begin, where the life before it was."""
        scene = self._scene
        options = Options(
            clock=scene.clock,
            journal=scene.watch,
            epoch=(self.number + 1) * 1_000,
            on_dropped=self._dropped,
            key=KEY,
        )
        port = PORTS[self.name]
        self._unicast = await endpoint.Unicast.open(self.name, self.config, options, port)
        for other in NAMES:
            if other != self.name:
                self.unicast.connect(other, (LOOPBACK, PORTS[other]))
                self._talks.append(self._job(self._talk(other)))
        self._job(self._listen())

    def _job(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        self._jobs.append(asyncio.get_running_loop().create_task(work))
        return self._jobs[-1]

    @property
    def silent(self) -> bool:
        """Whether it has said everything, and waits for no place to say more."""
        return all(talk.done() for talk in self._talks)

    async def end(self, kill: bool) -> None:
        """Close, or be killed: then nothing more is said."""
        scene = self._scene
        scene.history.troubled.add(self.name)
        for job in self._jobs:
            job.cancel()
        if kill:
            scene.history.killed.add((self.name, self.number))
            scene.datagrams.cut(PORTS[self.name])
        await self.unicast.aclose()
        got = scene.history.got[self.name, self.number]
        got += [payload async for _, payload in self.unicast.receive()]
        scene.counts += count_of(self.unicast)
        scene.datagrams.mend(PORTS[self.name])

    async def forget(self, other: str, seconds: float, deaf: bool) -> None:
        """Disconnect this peer, and connect it again after so many seconds. Who is deaf meanwhile
        has no room for what comes."""
        scene = self._scene
        scene.history.troubled |= {self.name, other}
        known = vars(self.unicast)["_peers"][other]
        self.leaving.add(other)
        self.deaf = deaf
        await self.unicast.disconnect(other)
        self.leaving.discard(other)
        scene.errors += left_of_peer(self.unicast, known)
        self.deaf = False
        await asyncio.sleep(seconds)
        scene.errors += left_of_peer(self.unicast, known)
        if seconds < scene.forgotten_after:
            got = scene.history.got[self.name, self.number]
            scene.history.forgot.setdefault((self.name, self.number), []).append((len(got), other))
        self.unicast.connect(other, (LOOPBACK, PORTS[other]))

    async def _talk(self, other: str, when: str = "") -> None:
        scene, draw = self._scene, self._scene.draw
        try:
            while scene.left[self.name, other, when] > 0:
                scene.left[self.name, other, when] -= 1
                place = scene.left[self.name, other, when]
                payload = f"{when}{self.name}{self.number}>{other}/{place}".encode()
                if draw.random() < 0.2:  # So large that it goes in several messages.
                    payload += b"." * draw.choice((30, 100, 250))
                ordered = draw.random() < 0.8
                # Taken or not, it is in the history before it can arrive.
                last = place - LAST_WORDS * bool(when)
                sent = Sent(self.name, self.number, other, last, ordered=ordered)
                scene.history.sent[payload] = sent
                try:
                    await self.unicast.send(other, payload, ordered=ordered)
                except KeyError:  # It is forgotten, and met again.
                    sent.dropped = True
                    while other not in self.unicast.stats().connections or other in self.leaving:
                        await asyncio.sleep(0.05)
                except ValueError:
                    sent.dropped = True
                    if len(payload) <= self.config.largest_payload:
                        scene.note_too_large(self.name, other, payload)
                except BaseException:
                    sent.dropped = True  # Not taken, so nothing is promised of it.
                    raise
                if draw.random() < 0.3:
                    await asyncio.sleep(draw.choice((0.0, 0.01, 0.1, 0.3)))
                if draw.random() < 0.01 and not scene.calm:
                    await asyncio.sleep(4.0)  # So long that the connection expires.
        except EndpointClosed:
            return

    async def say_last_words(self) -> None:
        """A few more messages to each, now that nobody disturbs."""
        for other in NAMES:
            if other != self.name:
                self._scene.left[self.name, other, LATER] = LAST_WORDS
                self._talks.append(self._job(self._talk(other, LATER)))

    async def _listen(self) -> None:
        got = self._scene.history.got.setdefault((self.name, self.number), [])
        async for _, payload in self.unicast.receive():
            got.append(payload)
            while self.deaf:
                await asyncio.sleep(0.05)

    def _dropped(self, peer: str, dropped: Dropped) -> None:
        troubled = bool(self._scene.history.troubled & {peer, self.name})
        for data in dropped.in_doubt:
            if not troubled:
                self._scene.note_too_large(self.name, peer, data.payload)
            sent = self._scene.history.sent.get(data.payload)
            if sent is None or (sent.target, sent.source) != (peer, self.name):
                self._scene.errors.append(f"{self.name} was told of what it did not send to {peer}")
            else:
                sent.dropped = True
        if self._scene.draw.random() < 0.5:
            raise RuntimeError("the application failed")


class EndpointWatch(Watch):
    def kept_as(self, instance: str) -> str:
        return f"{instance}/{self.events}"  # Each life of an entry has a name of its own.

    def said(self, done: Stepped[Machine]) -> str:
        return ""  # A third of the time of a run would go into the text of payloads.


class Clock:
    """What the machines take the time from; it jumps forward, and stands still where it would go
    back."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._offset = 0.0
        self._latest = 0.0

    def jump(self, seconds: float) -> None:
        """The wall clock is set."""
        self._offset += seconds

    def now(self) -> float:
        self._latest = max(self._latest, 100.0 + self._world.time + self._offset)
        return self._latest


class Scene:
    """What one run consists of."""

    def __init__(self, seed: int, plan: Plan, config: Config, journal: Recorder | None) -> None:
        self.world = World(seed, limit=300.0)
        self.datagrams = Datagrams(self.world)
        self.datagrams.faults = replace(plan.network)
        self.loop = SimulatedLoop(self.world, Network(self.world), self.datagrams)
        self.draw = random.Random(seed)
        self.plan, self.config = plan, config
        self.clock = Clock(self.world)
        self.watch = EndpointWatch()
        self.watch.journal = journal
        self.history = History()
        self.lives: dict[str, Life] = {}
        self.least: dict[str, int] = {}  # Parts of a payload that all lives of a name have taken.
        # How many messages are to be sent: from whom, to whom, and whether they are the last.
        self.left = {(a, b, ""): plan.messages for a in NAMES for b in NAMES if a != b}
        self.counts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.errors: list[str] = []
        # After so many seconds nobody sends again what it sent before: its connection is over.
        over = config.conn_expiry_timeout + config.conn_close_timeout
        self.forgotten_after = over + plan.network.hold + 1.0
        self.calm = False  # The last fault is over: applications take no long breaks any more.
        self.active = 0
        self.loop.set_exception_handler(self._hear_error)

    def _hear_error(self, _: object, context: dict[str, object]) -> None:
        if "on_dropped" not in str(context.get("message")):
            self.errors.append(f"{context.get('message')}: {context.get('exception')!r}")

    def note_too_large(self, name: str, peer: str, payload: bytes) -> None:
        """It is an error that a payload was not taken, unless some life of the peer takes no such
        payload."""
        if -(-len(payload) // self.config.largest_part) <= self.least.get(peer, 2**32):
            size = f"a payload of {len(payload)} bytes"
            self.errors.append(f"{name} was told that {peer} does not take {size}, it does")

    async def begin(self, name: str) -> None:
        number = self.lives[name].number + 1 if name in self.lives else 0
        life = Life(self, name, number)
        self.least[name] = min(self.least.get(name, 2**32), life.config.most_parts)
        await life.open()
        self.lives[name] = life

    # Faults.

    async def make(self, fault: Fault) -> None:
        """Let it happen; returns when it is over."""
        self.faults[fault.what] += 1
        life, port = self.lives[fault.name], PORTS[fault.name]
        match fault.what:
            case "cut":
                self.history.troubled.add(fault.name)
                self.datagrams.cut(port)
                await asyncio.sleep(fault.length)
                self.datagrams.mend(port)
            case "killed" | "closed":
                await life.end(kill=fault.what == "killed")
                await asyncio.sleep(fault.length / 4)
                await self.begin(fault.name)
            case "deaf":
                self.history.troubled.add(fault.name)
                life.deaf = True
                await asyncio.sleep(fault.length)
                life.deaf = False
            case "clock forward":
                self.history.troubled.update(NAMES)  # All time-outs may run out at once.
                self.clock.jump(fault.length)
            case "clock back":
                self.clock.jump(-fault.length / 5)
            case "disconnected":
                others = [name for name in NAMES if name != fault.name]
                deaf = fault.number % 4 > 1
                await life.forget(others[fault.number % 2], 2 * fault.length, deaf)
            case "view":
                self.history.troubled.update(NAMES)
                life.unicast.view([name for name in NAMES if fault.number % 2 and name != "A"])
            case _:  # "lies" or "forged".
                self._lie(fault, port)

    def _lie(self, fault: Fault, port: int) -> None:
        """Somebody without the key, and one who has it and talks nonsense."""
        draw = random.Random(fault.number)
        source = draw.choice([name for name in NAMES if name != fault.name])
        lies = (
            Data(seqno=1, conn=2**64 - 1, first=True, payload=b"\x03a lie"),
            Data(
                seqno=draw.randrange(2**64),
                conn=draw.randrange(9_000),
                first=False,
                payload=b"\x03?",
            ),
            Close(conn=draw.randrange(9_000)),
        )
        if fault.what == "forged":
            for lie in lies:
                datagram = encode(
                    Batch(source, fault.name, (lie,), 1), draw.choice((b"", b"other"))
                )
                self.datagrams.send(self.loop, datagram, LIAR, port)
        good = encode(Batch("stranger", fault.name, lies, 1), KEY)
        for bad in (good, good[: draw.randrange(len(good))], draw.randbytes(40), b""):
            self.datagrams.send(self.loop, bad, LIAR, port)
        wrong = encode(Batch(source, "nobody", lies, 1), KEY)
        self.datagrams.send(self.loop, wrong, LIAR, port)

    @property
    def quiet(self) -> bool:
        """Whether all is said, sent, and acknowledged or told of."""
        if not all(life.silent for life in self.lives.values()):
            return False
        ends = [life.unicast for life in self.lives.values()]
        stats = [
            end.stats().connections[other] for end in ends for other in NAMES if other != end.name
        ]
        return not any(self.left.values()) and all(each.unacked == 0 for each in stats)


def count_of(unicast: endpoint.Unicast) -> Counter[str]:
    """The statistics of an endpoint that are numbers."""
    stats = vars(unicast.stats())
    return Counter({name: n for name, n in stats.items() if isinstance(n, int) and n})


async def _live(scene: Scene) -> None:
    for name in NAMES[:2]:
        await scene.begin(name)
    await asyncio.sleep(scene.draw.uniform(0.0, 0.5))
    await scene.begin("C")  # It joins late.
    for fault in scene.plan.faults:
        await asyncio.sleep(max(0.0, fault.at - scene.world.time))
        await scene.make(fault)
    scene.active = scene.watch.events
    scene.calm = True
    until = scene.world.time + BOUND
    while not scene.quiet and scene.world.time < until:
        await asyncio.sleep(0.1)
    if not scene.quiet:
        scene.errors.append(f"not everything had come {BOUND} s after the faults")
    await asyncio.sleep(CONFIG.conn_close_timeout + 1.0)  # What was cut off is over.
    scene.history.troubled.clear()
    for name in NAMES:
        await scene.lives[name].say_last_words()
    until = scene.world.time + BOUND
    while not scene.quiet and scene.world.time < until:
        await asyncio.sleep(0.1)
    if not scene.quiet:
        scene.errors.append(f"the last words had not come after {BOUND} s")
    await asyncio.sleep(0.2)  # What is acknowledged is in an inbox, and is taken out of it.
    await asyncio.sleep(0.0)  # What is said in this turn of the loop goes out at its end.
    for life in scene.lives.values():
        scene.errors += left_of_messages(life.unicast)
        await life.unicast.aclose()
        scene.counts += count_of(life.unicast)
    scene.errors += tasks_left()


def simulate(
    seed: int,
    *,
    plan: Plan | None = None,
    config: Config = CONFIG,
    journal: Recorder | None = None,
) -> Run:
    """One run of this plan, or of that of the seed."""
    scene = Scene(seed, plan or plan_of(seed), config, journal)
    found: list[str] = []
    try:
        play(scene.world, scene.loop, _live(scene))
    except Exception as error:
        found.append(f"{type(error).__name__}: {error}")
    found += scene.errors
    found += problems(scene.history)
    counts = scene.counts
    for name in ("sent", "arrived", "lost", "doubled", "held", "cut", "unheard"):
        counts[f"network: {name}"] = scene.datagrams.counts[name]
    return Run(
        seed=seed,
        problems=found,
        digest=scene.watch.digest,
        transitions=scene.watch.transitions,
        faults=scene.faults,
        counts=counts,
        seconds=scene.world.time,
        events=scene.watch.events,
        active=scene.active,
        pieces=scene.datagrams.counts["arrived"],
    )
