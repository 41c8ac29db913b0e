"""The scheduler's service in a simulated world: real code, simulated time, threads and network.

    run = simulate(seed=7)
    run.problems        # what the judge of the histories found; empty if all is well
    run.digest          # of all events of the machine, in order: equal seeds, equal digests

Four threads and an event loop: clients that schedule, withdraw and wait; one that makes faults;
one that waits until all is answered after the faults have ceased, and stops the scheduler.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from lawful import Refused
from lawful.machines.message_scheduler.declaration import ChannelId, Reason, Token
from lawful.machines.message_scheduler.service import MessageScheduler
from lawful.machines.message_scheduler.service.offering import Message, Offering
from lawful.machines.message_scheduler.service.overlay import Overlay, Session
from lawful.machines.message_scheduler.service.responder import (
    FATES,
    Behaviour,
    Responder,
    answer,
)
from lawful.machines.message_scheduler.service.settings import Config, Options
from lawful.runtime.instance import Machine
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.message_scheduler import turns
from tests.machines.message_scheduler.history import Asking, History, Sending, Times, problems
from tests.machines.simulated_runs import Clock, Recorder, Run, Watch, timers_left

CONFIG = Config(
    least=1, greatest=40, silence=3.0, redial=0.3, backlog=4_000, tolerated=4, longest_body=2_000
)
TIMEOUT = 1.0  # Seconds of each message, at most.
BOUND = 30.0  # Seconds within which all ends, after the faults have ceased.
TRANSITIONS = (
    "connect", "disconnect", "schedule", "withdraw_sender", "call", "send_request",
    "send_notification", "skip", "returned", "receive", "stray", "expire", "withdraw_receiver",
    "stop",
)  # fmt: skip
FAULTS = (
    *("cut", "refused", "frozen", "clock forward", "clock back", "restart", "silence"),
    *("on_offer raised", "on_success raised", "on_failure raised", "on_discard raised"),
    *FATES,
)


class SchedulerWatch(Watch):
    def named(self, instance: str, done: Stepped[Machine]) -> str:
        return "stray" if done.outcome == "ignored" else super().named(instance, done)


class Scene:
    """What the threads of one run share; `talking`: how many threads of clients there are."""

    scheduler: MessageScheduler
    overlay: Overlay

    def __init__(self, world: World, network: Network, loop: SimulatedLoop) -> None:
        self.world = world
        self.network = network
        self.loop = loop
        self.clock = Clock(world)
        self.watch = SchedulerWatch()
        self.history = History()
        self.faults: Counter[str] = Counter()
        self.failures: list[Exception] = []
        self.peers: list[Responder] = []
        self.busy: dict[ChannelId, Asking] = {}
        self.talking = 3
        self.faulty = True
        self.events_while_faulty = 0
        self.inside = 0
        self.stopped = False
        self.late = ""
        self.timers: list[str] = []  # That are left at the end.
        self.made = 0
        self.skipped = 0.0  # Seconds that the clock has jumped forward, in all.

    def times(self) -> Times:
        """Now, for the judge."""
        return Times(self.world.time, self.world.time + self.skipped, self.faults["clock back"])

    def soon(self, act: Callable[..., object], *args: object) -> None:
        """Act in the event loop."""
        self.loop.call_soon_threadsafe(act, *args)

    def chance(self, probability: float) -> bool:
        return self.world.random.random() < probability

    def message(self) -> Message:
        """Another one each time; a few are long."""
        self.made += 1
        body = b"%d" % self.made + bytes(1_500 * self.chance(0.1))
        self.history.right[body] = answer("ledger", body)
        return Message("ledger", body, self.world.random.uniform(0.1, TIMEOUT))


class Client:
    """A sender and receiver that does something at random, notes all, and may raise."""

    def __init__(self, scene: Scene, kind: str) -> None:
        self.sending = Sending(refuses=kind == "refuses")
        self.numbers: dict[int, Asking] = {}
        self._scene = scene
        self._kind = kind
        self._used = 0

    def schedule(self) -> Token | None:
        """With a priority, or without one."""
        history = self._scene.history
        history.sendings.append(self.sending)
        priority = self._scene.world.random.choice(PRIORITIES)
        token = self._scene.scheduler.schedule(self, priority)
        self.sending.accepted = token is not None
        if token is not None:
            history.turns.append(turns.Accepted(int(token), priority))
        return token

    def withdraw(self, token: Token) -> bool:
        noted = self._scene.history.turns
        noted.append(turns.Withdrawing(int(token)))
        returned = self._scene.scheduler.withdraw(token)
        noted.append(turns.Withdrawn(int(token), returned))
        if returned:
            self.sending.ends.append("withdrawn")
        return returned

    def on_offer(self, offering: Offering) -> None:
        noted = self._scene.history.turns
        noted.append(turns.Offered(int(offering.token), offering.channels))
        with Inside(self._scene, "on_offer"):
            channels = list(offering)
            try:
                if not self.sending.refuses or self._scene.chance(0.5):
                    self._send(offering, channels)
            finally:
                self.sending.offers.append((offering.size, self._used))
                if self._used:
                    self.sending.ends.append("served")

    def _send(self, offering: Offering, channels: list[ChannelId]) -> None:
        scene = self._scene
        for channel in channels[: scene.world.random.randint(1, 3)]:
            if offering.left == 0:
                break
            asking = scene.busy.pop(channel, None)
            scene.history.shared += asking is not None and not asking.ends
            message = scene.message()
            if self._kind == "notifies":
                offering.send_notification(channel, message)
            else:
                number = offering.send_request(channel, message, self)
                name = str(channel.peer).partition("#")[0]
                asking = Asking(name, number, message.body, message.timeout, scene.times())
                self.numbers[number] = scene.busy[channel] = asking
                scene.history.askings.append(asking)
            scene.history.turns.append(turns.Sent(int(offering.token), channel))
            self._used += 1

    def on_discard(self) -> None:
        with Inside(self._scene, "on_discard"):
            self.sending.ends.append("discarded")

    def on_success(self, number: int, body: bytes) -> None:
        with Inside(self._scene, "on_success"):
            self.numbers[number].ends.append("answered")
            self.numbers[number].answer = body

    def on_failure(self, number: int, reason: Reason) -> None:
        with Inside(self._scene, "on_failure"):
            self.numbers[number].ends.append(reason.value)
            self.numbers[number].failed_at = self._scene.times()
            if self._kind == "again":
                Client(self._scene, "asks").schedule()


class Planned(Exception):
    """What a callback raises on purpose."""


class Inside:
    """A callback runs: nobody else's may; at its end it may raise."""

    def __init__(self, scene: Scene, name: str) -> None:
        self._scene = scene
        self._name = name

    def __enter__(self) -> None:
        self._scene.history.overlapping += self._scene.inside > 0
        self._scene.history.after_stop += self._scene.stopped
        self._scene.inside += 1
        self._scene.world.pause()

    def __exit__(self, kind: object, *_: object) -> None:
        self._scene.inside -= 1
        self._scene.history.turns.append(turns.Returned())
        raises = self._scene.chance(0.05 if self._scene.faulty else 0.0)
        if raises and kind is None:
            self._scene.faults[f"{self._name} raised"] += 1
            raise Planned("a callback fails, on purpose")


PRIORITIES = (0, 0, 0, 1, 2)
KINDS = ("asks", "asks", "again", "refuses", "notifies")


def clients(scene: Scene, count: int) -> None:
    """One thread of clients."""
    draw = scene.world.random
    for _ in range(count):
        client = Client(scene, draw.choice(KINDS))
        token = client.schedule()
        if scene.chance(0.3):  # Else the next one comes at once, and they wait together.
            scene.world.sleep(draw.uniform(0.0, 3.0))
        if token is not None and scene.chance(0.1):
            client.withdraw(token)
        for number, asking in [*client.numbers.items()]:
            if not asking.ends and scene.chance(0.1) and scene.scheduler.withdraw(number):
                asking.ends.append("withdrawn")
        refused = client.sending.refuses and not client.sending.ends and token is not None
        if refused and token is not None:
            client.withdraw(token)
    scene.talking -= 1


def trouble(scene: Scene, seconds: float) -> None:
    """Make faults, and after so many seconds none any more."""
    draw = scene.world.random
    while scene.world.time < seconds:
        scene.world.sleep(draw.uniform(0.1, 0.8))
        port = draw.randint(1, len(scene.peers))
        draw.choice((_cut, _refuse, _freeze, _jump, _restart, _silence))(scene, port)
    for number, peer in enumerate(scene.peers, 1):
        peer.behaviour = Behaviour(heartbeat=1.0)
        scene.soon(scene.network.refuse, number, False)
        scene.soon(scene.network.thaw, number)
    scene.faulty = False
    scene.events_while_faulty = scene.watch.events


def _cut(scene: Scene, port: int) -> None:
    scene.faults["cut"] += 1
    scene.soon(scene.network.cut, port)


def _refuse(scene: Scene, port: int) -> None:
    scene.faults["refused"] += 1
    scene.soon(scene.network.refuse, port, scene.chance(0.5))


def _freeze(scene: Scene, port: int) -> None:
    scene.faults["frozen"] += 1
    scene.soon(scene.network.freeze, port)
    scene.world.sleep(scene.world.random.uniform(0.1, 5.0))
    scene.soon(scene.network.thaw, port)


def _jump(scene: Scene, port: int) -> None:
    forward = scene.chance(0.5)
    scene.faults["clock forward" if forward else "clock back"] += 1
    seconds = scene.world.random.uniform(0.0, 3.0)
    scene.clock.offset += seconds * (1 if forward else -1)
    scene.skipped += seconds * forward


def _restart(scene: Scene, port: int) -> None:
    scene.faults["restart"] += 1
    peer = scene.peers[port - 1]
    scene.soon(peer.close)
    scene.world.sleep(scene.world.random.uniform(0.0, 1.0))
    scene.soon(lambda: scene.loop.create_task(peer.open(port)))


def _silence(scene: Scene, port: int) -> None:
    scene.faults["silence"] += 1
    kept = scene.peers[port - 1].behaviour
    scene.peers[port - 1].behaviour = replace(kept, heartbeat=0.0)
    scene.world.sleep(scene.world.random.uniform(0.0, 5.0))
    scene.peers[port - 1].behaviour = kept


def finish(scene: Scene, early: bool) -> None:
    """Wait until all is answered, and stop; or stop in the middle."""
    world, history = scene.world, scene.history
    if early:
        world.sleep(world.random.uniform(1.0, 8.0))
    else:
        while scene.faulty or scene.talking:
            world.sleep(0.5)
        until = world.time + BOUND
        while world.time < until and not _all_ended(history):
            world.sleep(0.5)
        if not _all_ended(history):
            scene.late = f"not all had ended {BOUND} s after the faults"
    scene.scheduler.stop()
    scene.stopped = True
    scene.scheduler.stop()
    while scene.faulty or scene.talking:
        world.sleep(0.5)
    scene.overlay.close()


def _all_ended(history: History) -> bool:
    sendings = (s.ends or s.refuses or not s.accepted for s in history.sendings)
    return all(sendings) and all(asking.ends for asking in history.askings)


def simulate(
    seed: int,
    *,
    kind: type[MessageScheduler] = MessageScheduler,
    journal: Recorder | None = None,
    count: int = 25,
) -> Run:
    """One run: three threads of so many clients each, three peers, faults for ten seconds."""
    world = World(seed, limit=150.0)
    network = Network(world)
    scene = Scene(world, network, SimulatedLoop(world, network))
    scene.watch.journal = journal
    draw = random.Random(seed)
    config = replace(CONFIG, greatest=draw.choice((40, 4_000)), patience=draw.choice((0, 1, 3)))
    options = Options(
        clock=scene.clock, journal=scene.watch, threads=world, failed=scene.failures.append
    )
    scene.history.patience = config.patience
    scene.scheduler = kind(config, options)
    share = {fate: draw.choice((0.0, 0.0, 0.1)) for fate in FATES}
    for name in "ABC":
        behaviour = Behaviour(channels=draw.randint(1, 3), delay=0.05, heartbeat=1.0, **share)
        scene.peers.append(Responder(name, behaviour, seed))
    scene.overlay = Overlay(scene.scheduler, {"A": 1, "B": 2, "C": 3}, config)

    async def live() -> None:
        for port, peer in enumerate(scene.peers, 1):
            await peer.open(port)
        await scene.overlay.run()
        await asyncio.sleep(0.1)  # Its connections hear of their ends.
        scene.timers = timers_left(scene.loop, Session, Overlay)

    world.start(lambda: scene.loop.run_until_complete(live()), "event loop")
    for number in range(scene.talking):
        world.start(lambda: clients(scene, count), f"clients {number}")
    world.start(lambda: trouble(scene, 10.0), "faults")
    world.start(lambda: finish(scene, early=draw.random() < 0.25), "end")
    return _ran(seed, scene)


def left_behind(scheduler: MessageScheduler) -> list[str]:
    """What it still has after `stop`, and need not have: it would grow with that. Of peers whose
    connections it has not yet heard end it may have something, each once."""
    kept = vars(scheduler)
    found = [
        f"{name} has {len(kept[name])} left" for name in ("_senders", "_receivers") if kept[name]
    ]
    gone = [channel for channel in kept["_used"] if channel.peer not in kept["_links"]]
    found += [f"_used has channels of peers that have left: {sorted(map(str, gone))}"] * bool(gone)
    return found + [f"_links has {len(kept['_links'])} peers"] * (len(kept["_links"]) > 3)


BAD = {"twice": "unexpected", "garbage": "malformed", "oversized": "oversized"}


def _blamed(scene: Scene) -> list[str]:
    """Frames that were counted as bad ones, though no peer has sent such."""
    sent = {each for fate, each in BAD.items() if scene.faults[fate]}
    counts = scene.scheduler.stats().counts
    return [
        f"{counts[each]} frames were taken for {each}"
        for each in BAD.values()
        if each not in sent and each in counts
    ]


def _ran(seed: int, scene: Scene) -> Run:
    """Let it happen, and judge it."""
    found: list[str] = []
    try:
        scene.world.run()
    except Exception as error:
        found.append(f"{type(error).__name__}: {error}")
    finally:
        scene.loop.close()
    for peer in scene.peers:
        scene.history.arrived[peer.name] = peer.counts["requests"]
        lied = peer.counts["wrong_id"] > 0
        scene.history.lies[peer.name] = frozenset({b"of another request"} if lied else ())
        scene.faults.update({fate: peer.counts[fate] for fate in FATES})
    found += [scene.late] if scene.late else []
    found += problems(scene.history)
    found += left_behind(scene.scheduler) + scene.timers
    found += _blamed(scene)
    strange = [e for e in scene.failures if not isinstance(e, Planned | Refused)]
    found += [f"a callback raised {error!r}" for error in strange]
    watch = scene.watch
    return Run(
        seed=seed,
        problems=found,
        digest=watch.digest,
        transitions=watch.transitions,
        faults=scene.faults,
        counts=Counter(scene.scheduler.stats().counts),
        seconds=scene.world.time,
        events=watch.events,
        active=scene.events_while_faulty,
        pieces=scene.network.counts["pieces"],
    )
