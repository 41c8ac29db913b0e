"""Bugs that are planted in the service: each a class in the place of another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import ModuleType

from lawful.machines.queue_cluster.messages import Acquire, Body, Delivery, Key, Node, QueueName
from lawful.machines.queue_cluster.service import broker, connection
from lawful.machines.queue_cluster.service.broker import Broker
from lawful.machines.queue_cluster.service.bus import Bus, Link
from lawful.machines.queue_cluster.service.desk import Desk, message_of
from lawful.machines.queue_cluster.service.frames import Interest, Said, Stall
from lawful.machines.queue_cluster.service.node import LocalNode, Then
from lawful.machines.queue_cluster.service.subscription import Subscription
from lawful.machines.queue_cluster.system import Left
from lawful.machines.services.incoming import Incoming
from tests.machines.queue_cluster import simulated


@dataclass(frozen=True)
class Bug:
    """This class stands for the one that the module has under that name."""

    cls: type[object]
    module: ModuleType = broker
    name: str = "LocalNode"


def _nothing() -> None:
    return


class Hasty(LocalNode):
    """A message is delivered before its acquire has a place."""

    def _say(self, said: Said, then: Then | None = None) -> None:
        if isinstance(said, Acquire) and then is not None:
            super()._say(said)
            self._loop.call_soon(then)
        else:
            super()._say(said, then)

    def _granted(self, subscription: Subscription, delivery: Delivery) -> None:
        if delivery.key in subscription.has:
            subscription.subscriber.deliver(subscription, delivery)


class AcceptsEarly(LocalNode):
    """An acceptance is answered before it has a place."""

    def accept(self, subscription: Subscription, key: Key, then: Then) -> None:
        super().accept(subscription, key, _nothing)
        self._loop.call_soon(then)


class PublishesEarly(LocalNode):
    """A publishing is answered before it has a place."""

    def publish(self, queues: Iterable[QueueName], body: Body, then: Then) -> None:
        super().publish(queues, body, _nothing)
        self._loop.call_soon(then)


class Endless(LocalNode):
    """A time slice never ends."""

    def _set_alarm(self, q: QueueName) -> None:
        return


class Forgetful(LocalNode):
    """Nothing comes back from a member that left."""

    def _handle_leaving(self, member: Node) -> None:
        return


class Keeping(LocalNode):
    """What comes back is offered to nobody."""

    def release(self, subscription: Subscription, key: Key, then: Then | None = None) -> None:
        self._settled(subscription, key)
        self._loop.call_soon(then or _nothing)


class AlwaysNew(LocalNode):
    """No message is said to be redelivered."""

    def _granted(self, subscription: Subscription, delivery: Delivery) -> None:
        super()._granted(subscription, replace(delivery, redelivered=False))


class Routeless(LocalNode):
    """A node that joins does not know the messages that are being routed."""

    def _welcome(self, m: Stall) -> None:
        super()._welcome(replace(m, routes=()))


class Ownerless(LocalNode):
    """A node that joins takes every queue for one that nobody owns."""

    def _welcome(self, m: Stall) -> None:
        none = tuple(Interest(each.queue, None, frozenset()) for each in m.interests)
        super()._welcome(replace(m, interests=none))


class LosesTheEnded(Desk):
    """What a client has of a subscription that it ended goes back to nobody when it hangs up."""

    def _go(self) -> None:
        self._every = [each for each in self._every if not each.ended]
        super()._go()


class LosesTheComing(Desk):
    """What a client is about to get when it hangs up goes back to nobody."""

    def _give_back(self, node: LocalNode, subscription: Subscription) -> None:
        subscription.has &= {key for key in subscription.has if self._gave(key)}
        super()._give_back(node, subscription)

    def _gave(self, key: Key) -> bool:
        return (key.queue, message_of(key)) in self._has


class KeepsQuiet(Bus):
    """Nobody is told that a member left."""

    def _place(self, sender: Node, said: Said) -> None:
        if not isinstance(said, Left):
            super()._place(sender, said)


class HearsTheDead(Bus):
    """What a member has said and waits for its place gets it after the member has left."""

    def _end(self, link: Link) -> None:
        waiting = tuple(self._unplaced)
        self._unplaced.clear()
        super()._end(link)
        self._unplaced.extend(waiting)
        self._order()


class RemembersItsLife(Broker):
    """What came before a node knew anything is handled in the next life, too."""

    def _leave(self) -> None:
        before = tuple(self._before)
        super()._leave()
        self._before.extend(before)


class CountsOn(Desk):
    """A command that was answered counts as one that waits."""

    def _complete(self, number: int) -> None:
        self._outstanding += 1
        super()._complete(number)


class KeepsClients(Broker):
    """A client that has gone is remembered."""

    def forget(self, desk: Desk) -> None:
        return


class KeepsTheSubscribed(LocalNode):
    """A subscription whose client has gone is remembered."""

    def unsubscribe(self, subscription: Subscription) -> None:
        before = subscription.ended
        super().unsubscribe(subscription)
        if not before:
            self._left.setdefault(subscription.queue, {})[subscription] = None


class CountsStillness(Incoming):
    """Others were silent, it says, while this process stood still."""

    def excuse(self, seconds: float) -> None: ...


BUGS = {
    **{
        cls.__name__: Bug(cls)
        for cls in (
            *(Hasty, AcceptsEarly, Endless, Forgetful, Keeping),
            *(PublishesEarly, AlwaysNew, Routeless, Ownerless, KeepsTheSubscribed),
        )
    },
    **{cls.__name__: Bug(cls, name="Desk") for cls in (LosesTheEnded, LosesTheComing, CountsOn)},
    **{cls.__name__: Bug(cls, simulated, "Bus") for cls in (KeepsQuiet, HearsTheDead)},
    **{cls.__name__: Bug(cls, simulated, "Broker") for cls in (RemembersItsLife, KeepsClients)},
    "CountsStillness": Bug(CountsStillness, connection, "Incoming"),
}
