"""Members of a cluster in a world in which nothing goes wrong but what a test makes happen: what
they say in which order, and who gets which message, and when, to the millisecond.

    scene = told((0, declares("A", "q")), (5, subscribes("A", "a", "q")))
    scene.story         # a line for each instant: "1: A: declare q", ...

Nodes are real, the group between them is a list: what is said gets its place after a millisecond,
and each member hears of it after another one, or later where a test says so.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sized
from functools import partial
from unittest import mock

from lawful import Refused
from lawful.machines.queue_cluster.joining import Updatee
from lawful.machines.queue_cluster.ledger import Joined, Of
from lawful.machines.queue_cluster.messages import (
    Acquire,
    Bind,
    Create,
    Declare,
    Delivery,
    Dequeue,
    Destroy,
    Done,
    Enqueue,
    Exchange,
    Front,
    Gone,
    Key,
    Node,
    QueueName,
    Reject,
    Release,
    Requeue,
    Routed,
)
from lawful.machines.queue_cluster.service import node
from lawful.machines.queue_cluster.service.frames import Said, Stall
from lawful.machines.queue_cluster.service.frames import Told as Handed
from lawful.machines.queue_cluster.service.node import LocalNode
from lawful.machines.queue_cluster.service.settings import Config, Options, Recorder
from lawful.machines.queue_cluster.service.subscription import Subscription
from lawful.machines.queue_cluster.system import Left
from lawful.runtime.instance import Machine
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from lawful.spec.resolve import resolve
from tests.machines.simulated_runs import play

CONFIG = Config(slice_seconds=0.05)
STEP = 0.001  # Seconds that everything takes.
MOST = 300  # Multicasts of a story.


class Recording:
    """The journal that nodes are given, where there is one."""

    journal: Recorder | None = None


class Member:
    """A node and its place in the order: a `Group` to it, and a subscriber of queues."""

    def __init__(self, scene: Told, name: str, at: int, founder: bool) -> None:
        self.name = name
        self.late = 0.0  # Seconds by which it hears later of what has a place.
        self.at = at  # What it handles next.
        self.waits = not founder
        self._scene = scene
        self._said: deque[Said] = deque()
        self._to_tell: deque[tuple[str, Handed]] = deque()
        self.node = LocalNode(Node(name), self, CONFIG, Options(journal=Recording.journal))
        if not founder:
            self.node.wait()

    def say(self, said: Said) -> None:
        if len(self._scene.order) + len(self._said) >= MOST:
            raise RuntimeError("there is no end to what is said")
        self._said.append(said)
        self._scene.loop.call_later(STEP, self._place)  # Of equal times any may be the first.

    def _place(self) -> None:
        if not self.node.over:
            self._scene.place(self.name, self._said.popleft())

    def tell(self, to: Node, told: Handed) -> None:
        self._to_tell.append((str(to), told))
        self._scene.loop.call_later(STEP, self._hand)

    def _hand(self) -> None:
        self._scene.hand(self.name, *self._to_tell.popleft())

    def complete(self) -> None:
        self._scene.tell(f"[{self.name} has all queues]")

    def go_on(self) -> None:
        """Handle the next multicast, unless an updater has to come to the join first."""
        if not self.waits and not self.node.over:
            sender, said = self._scene.order[self.at]
            self.at += 1
            self.node.placed(Node(sender), said)

    def heard(self, told: Handed) -> None:
        try:
            self.node.told(told)
        except Refused:
            self._scene.tell(f"[{self.name} refuses it]")
            if self.waits:
                self._scene.crash(self.name)  # It joins again.
            return
        if isinstance(told, Stall):
            self.waits = False
            for _ in range(self.at, self._scene.heard.get(self.name, 0)):
                self.go_on()

    # A subscriber.

    def deliver(self, subscription: Subscription, delivery: Delivery) -> None:
        again = ", again" if delivery.redelivered else ""
        what = f"{delivery.body.decode()} from {subscription.queue}{again}"
        self._scene.tell(f"[{self._scene.named(subscription)} gets {what}]")
        self._scene.keys[delivery.body.decode(), str(subscription.queue)] = delivery.key

    def ended(self, subscription: Subscription) -> None:
        self._scene.tell(f"[{self._scene.named(subscription)} has ended]")


class Told:
    """What happens when."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.loop = SimulatedLoop(world, Network(world))
        self.members: dict[str, Member] = {}
        self.order: list[tuple[str, Said]] = []
        self.heard: dict[str, int] = {}  # How much of the order each could have handled.
        self.subscriptions: dict[str, Subscription] = {}
        self.keys: dict[tuple[str, str], Key] = {}
        self.over = False
        self._told: dict[float, list[str]] = {}
        self.loop.set_exception_handler(self._hear_error)

    @property
    def story(self) -> list[str]:
        """A line for each instant."""
        return [f"{at:g}: {', '.join(what)}" for at, what in self._told.items()]

    def tell(self, what: str) -> None:
        if not self.over:
            self._told.setdefault(round(self.world.time * 1_000, 3), []).append(what)

    def _hear_error(self, _: object, context: dict[str, object]) -> None:
        self.tell(f"[error: {context.get('exception')!r}]")

    def named(self, subscription: Subscription) -> str:
        return next(name for name, each in self.subscriptions.items() if each is subscription)

    # The group.

    def place(self, name: str, said: Said) -> None:
        """It is next in the order."""
        self.tell(f"{name}: {text_of(said)}")
        self.order.append((name, said))
        for member in self.members.values():
            self.loop.call_later(STEP + member.late, self._hear, member)

    def _hear(self, member: Member) -> None:
        self.heard[member.name] = self.heard.get(member.name, member.at) + 1
        member.go_on()

    def hand(self, source: str, to: str, told: Handed) -> None:
        if source in self.members and to in self.members:
            self.tell(f"{source} to {to}: {text_of_told(told)}")
            self.members[to].heard(told)

    def found(self, name: str) -> None:
        self.members[name] = Member(self, name, len(self.order), founder=True)

    def join(self, name: str, updater: str) -> None:
        """The new member handles what comes after its join."""
        joined = Joined(Node(updater))
        self.members[name] = Member(self, name, len(self.order) + 1, founder=False)
        self.heard[name] = len(self.order)
        self.place(name, joined)

    def crash(self, name: str) -> None:
        self.members.pop(name).node.end()
        self.place(name, Left())

    def weigh(self) -> None:
        """What members keep in mind: how much there is in each container that is not empty."""
        for name, member in self.members.items():
            here = member.node
            machines: dict[str, Machine] = {"": here.replica}
            machines |= {f"{q} ": owner for q, owner in sorted(here.owners.items())}
            machines |= {f"for {n} ": updater for n, updater in sorted(here.updaters.items())}
            kept = [
                f"{of}{what} {len(value)}"
                for of, machine in machines.items()
                for what in vars_of(machine)
                if isinstance(value := getattr(machine, what), Sized) and len(value)
            ]
            self.tell(f"[{name} keeps {', '.join(kept) or 'nothing'}]")

    def look(self, *names: str) -> None:
        """What members have: of each queue who owns it, and its messages from the front."""
        for name in names or tuple(self.members):
            node = self.members[name].node
            for q, ids in sorted(node.replica.queues.items()):
                owner = node.owners[q]
                here = f"{owner.state.name} by {owner.owner} for {''.join(sorted(owner.consumers))}"
                on = " ".join(node.replica.bodies[i].decode() for i in ids)
                counts = "".join(f" {n} {what}" for what, n in sorted(node.counts.items()))
                self.tell(f"[{name}: {q} is {here}: {on or 'empty'}{counts}]")


def vars_of(machine: Machine) -> list[str]:
    return [each.name for each in resolve(type(machine)).machine.variables]


def text_of(said: Said) -> str:
    match said:
        case Of(queue=queue, declared=declared, said=inner):
            words = type(inner).__name__.lower()
            if isinstance(inner, Release):
                words += " for now" if inner.interested else " for good"
            return f"{words} {queue}/{declared}"
        case Declare(queue=queue) | Destroy(queue=queue):
            return f"{type(said).__name__.lower()} {queue}"
        case Bind(exchange=exchange, queue=queue):
            return f"bind {exchange} {queue}"
        case Create(seq=seq, body=body):
            return f"create {seq} {body.decode()}"
        case Routed(seq=seq):
            return f"routed {seq}"
        case Reject(key=key, seq=seq, to=to, body=body):
            return f"reject {text_of_key(key)} as {seq} to {to} {body.decode()}"
        case Enqueue(key=key) | Acquire(key=key) | Requeue(key=key) | Dequeue(key=key):
            return f"{type(said).__name__.lower()} {text_of_key(key)}"
        case Joined(updater=updater):
            return f"joins by {updater}"
        case Left():
            return "leaves"


def text_of_key(key: Key) -> str:
    return f"{key.id.node}{key.id.seq} on {key.queue}"


def text_of_told(told: Handed) -> str:
    match told:
        case Front(key=key, body=body, holder=holder, redelivered=again):
            return f"front {text_of_key(key)} {body.decode()} {holder}{' again' * again}"
        case Gone(key=key):
            return f"gone {text_of_key(key)}"
        case Done(queue=queue):
            return f"done {queue}"
        case Stall():
            queues = " ".join(f"{each.queue}/{each.declared}" for each in told.queues)
            counts = " ".join(f"{each.node}{each.count}" for each in told.counts)
            routes = " ".join(f"{each.id.node}{each.id.seq}" for each in told.routes)
            interests = " ".join(
                f"{each.owner}:{''.join(sorted(each.consumers))}" for each in told.interests
            )
            bound = " ".join(f"{each.exchange}>{each.queue}" for each in told.bindings)
            return f"stall {told.declarations} {queues}; {bound}; {counts}; {routes}; {interests}"


# Acts.

Does = Callable[[Told], object]
Act = tuple[float, Does]  # At so many milliseconds.
ByNode = Callable[[Told, LocalNode, Callable[[], None]], object]


def act(name: str, do: Callable[[Told, LocalNode, Callable[[], None]], object], what: str) -> Does:
    """A client of this member does it; it is told when it is done, or refused."""

    def run(scene: Told) -> None:
        done = partial(scene.tell, f"[{what} is done]")
        try:
            do(scene, scene.members[name].node, done)
        except Refused:
            scene.tell(f"[{what} is refused]")

    return run


def declares(name: str, q: str) -> Does:
    return act(name, lambda _, node, done: node.declare(QueueName(q), done), f"declare {q}")


def binds(name: str, exchange: str, q: str) -> Does:
    return act(
        name, lambda _, node, done: node.bind(Exchange(exchange), QueueName(q), done), f"bind {q}"
    )


def destroys(name: str, q: str) -> Does:
    return act(name, lambda _, node, done: node.destroy(QueueName(q), done), f"destroy {q}")


def publishes(name: str, body: str, *queues: str) -> Does:
    return act(
        name,
        lambda _, node, done: node.publish(map(QueueName, queues), body.encode(), done),
        f"publish {body}",
    )


def subscribes(name: str, who: str, q: str, credit: int = 1) -> Does:
    def run(scene: Told) -> None:
        subscription = Subscription(scene.members[name], QueueName(q), credit)
        scene.subscriptions[who] = subscription
        scene.members[name].node.subscribe(subscription)

    return run


def unsubscribes(name: str, who: str) -> Does:
    return lambda scene: scene.members[name].node.unsubscribe(scene.subscriptions[who])


def settles(how: str, name: str, who: str, body: str) -> Does:
    """`how`: `accept`, `release` or `reject` the message with this body."""

    def do(scene: Told, node: LocalNode, done: Callable[[], None]) -> None:
        subscription = scene.subscriptions[who]
        key = scene.keys.get((body, str(subscription.queue)))
        if key is None:
            scene.tell(f"[{who} has not got {body}]")
        else:
            getattr(node, how)(subscription, key, done)

    return act(name, do, f"{how} {body}")


def accepts(name: str, who: str, body: str) -> Does:
    return settles("accept", name, who, body)


def releases(name: str, who: str, body: str) -> Does:
    return settles("release", name, who, body)


def rejects(name: str, who: str, body: str) -> Does:
    return settles("reject", name, who, body)


def says(name: str, *all_said: Said) -> Does:
    """These get the next places, as if this member had said them: it lies, or the group does."""

    def run(scene: Told) -> None:
        for said in all_said:
            scene.place(name, said)

    return run


def hands(source: str, to: str, *all_told: Handed) -> Does:
    """A member hears these from another one, which lies."""

    def run(scene: Told) -> None:
        for told in all_told:
            scene.hand(source, to, told)

    return run


def asks(name: str, ask: Callable[[LocalNode], Said | None]) -> Does:
    """The application that embeds this node asks its machines, and multicasts what they return."""

    def run(scene: Told) -> None:
        try:
            said = ask(scene.members[name].node)
        except Refused as error:
            scene.tell(f"[{error}]")
        else:
            if said is not None:
                scene.members[name].say(said)

    return run


def busy(name: str, q: str) -> Does:
    """A consumer begins to take a message, and needs time for it."""
    return asks(name, lambda node: node.owners[QueueName(q)].dispatch())


def idle(name: str, q: str) -> Does:
    """It ends that, without a message."""
    return asks(name, lambda node: node.owners[QueueName(q)].dispatched())


def joins(name: str, updater: str) -> Does:
    return lambda scene: scene.join(name, updater)


def crashes(name: str) -> Does:
    return lambda scene: scene.crash(name)


def lags(name: str, milliseconds: float) -> Does:
    """From now on it hears so much later."""

    def run(scene: Told) -> None:
        scene.members[name].late = milliseconds / 1_000

    return run


def told(*acts: Act, members: str = "AB", at_once: int = node.AT_ONCE, ring: int = 0) -> Told:
    """What happens when clients of these members act. An updater sends so many messages before it
    lets others go on for a millisecond. Queues keep `ring` messages, or all for 0."""
    world = World(seed=1, limit=5.0)
    scene = Told(world)
    replica = partial(Updatee, ring=ring)
    with mock.patch.multiple(node, AT_ONCE=at_once, Updatee=replica):
        play(world, scene.loop, _live(scene, acts, members))
    return scene


async def _live(scene: Told, acts: tuple[Act, ...], members: str) -> None:
    for name in members:
        scene.found(name)
    for at, do in acts:
        await asyncio.sleep(at / 1_000 - scene.world.time)
        do(scene)
    await asyncio.sleep(0.0005)
    scene.over = True
    for member in scene.members.values():
        member.node.end()
