"""A client at a broker: its commands, its subscriptions, and the messages that it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Protocol

from lawful import Refused

from ...services.framing import WireError
from ...services.round_robin import RoundRobin
from ..messages import Delivery, Exchange, Key, QueueName
from .connection import Connection
from .frames import (
    VERSION,
    Accept,
    Answer,
    BindQueue,
    Command,
    Completed,
    DeclareQueue,
    Delivered,
    DestroyQueue,
    Ended,
    Failed,
    Publish,
    Reject,
    Release,
    Send,
    Settlement,
    Subscribe,
    Unsubscribe,
    Welcome,
)
from .node import LocalNode, Then, alternate_of
from .settings import Config
from .subscription import Subscription


class Place(Protocol):
    """The broker, as its clients need it."""

    cluster: int

    @property
    def clients(self) -> int: ...

    @property
    def serves(self) -> LocalNode | None: ...

    def is_full(self, q: QueueName) -> bool: ...

    def forget(self, desk: Desk) -> None: ...


class Desk:
    """One client, over its connection `link`: a `Subscriber`. What it may not do is answered by
    `Failed`, counted as `refused_commands`, and changes nothing."""

    def __init__(
        self, broker: Place, config: Config, counts: Counter[str], turns: RoundRobin
    ) -> None:
        kinds, longest = (Command, Answer), config.longest_line
        self.link = Connection[Command](config, kinds, longest, counts, turns)
        self._broker = broker
        self._config = config
        self._counts = counts
        self._node: LocalNode | None = None
        self._subscriptions: dict[QueueName, Subscription] = {}
        self._every: list[Subscription] = []  # Those too that have ended and still have something.
        self._has: dict[tuple[QueueName, str], tuple[Subscription, Key]] = {}
        self._outstanding = 0
        self.link.on_made = self._greet
        self.link.on_frame = self._take
        self.link.on_fault = self._tell_fault
        self.link.on_end = self._go

    def _greet(self) -> None:
        most = self._config.connections
        if self._broker.clients > most:
            self._counts["turned_away"] += 1
            self._refuse(0, f"this broker has {most} clients, and may have {most}")
            self.link.close()
            return
        self._node = self._broker.serves
        if self._node is None:
            self._refuse(0, "this broker is no member of the cluster")
            self.link.close()
        else:
            self.link.send(Welcome(VERSION, str(self._node.me), self._broker.cluster))

    def _tell_fault(self, error: WireError) -> None:
        self.link.send(Failed(0, str(error)))

    def _refuse(self, number: int, why: str) -> None:
        self._counts["refused_commands"] += 1
        self.link.send(Failed(number, why))

    def _go(self) -> None:
        """The client has gone: what it had goes back."""
        self._broker.forget(self)
        node = self._node
        if node is None or node.over:
            return
        for subscription in self._subscriptions.values():
            node.unsubscribe(subscription)
        for subscription in self._every:
            self._give_back(node, subscription)

    def _give_back(self, node: LocalNode, subscription: Subscription) -> None:
        """All that it has, and what it is about to get."""
        for key in sorted(subscription.has, key=lambda key: (key.id.node, key.id.seq)):
            self._has.pop((key.queue, message_of(key)), None)
            node.release(subscription, key)

    # What the node calls.

    def deliver(self, subscription: Subscription, delivery: Delivery) -> None:
        key, message = delivery.key, message_of(delivery.key)
        self._has[key.queue, message] = subscription, key
        self.link.send(Delivered(key.queue, message, delivery.body, delivery.redelivered))

    def ended(self, subscription: Subscription) -> None:
        current = self._subscriptions.get(subscription.queue) is subscription
        if self._node is not None:
            self._give_back(self._node, subscription)
        if current:  # The client has not ended it before.
            del self._subscriptions[subscription.queue]
            self.link.send(Ended(subscription.queue))

    # Commands.

    def _take(self, command: Command) -> None:
        node = self._node
        if node is None or node.over:
            self._refuse(command.number, "this broker is no member of the cluster")
            return
        if self._outstanding >= self._config.outstanding:
            self._refuse(command.number, f"{self._outstanding} commands wait for an answer")
            return
        try:
            self._do(node, command)
        except (Refused, _Useless) as error:
            self._refuse(command.number, str(error))

    def _ask(self, number: int, ask: Callable[[Then], None]) -> None:
        """Answer when the multicast has come back; not if the node refuses at once."""
        ask(partial(self._complete, number))
        self._outstanding += 1

    def _complete(self, number: int) -> None:
        self._outstanding -= 1
        self.link.send(Completed(number))

    def _do(self, node: LocalNode, command: Command) -> None:
        match command:
            case DeclareQueue(number=number, queue=q):
                self._declare(node, number, q)
            case BindQueue(exchange=exchange, queue=q) if exchange == alternate_of(q):
                raise _Useless(f"the queue {q} is not its own alternate")
            case BindQueue(number=number, exchange=exchange, queue=q):
                self._has_room(len(node.replica.bindings), self._config.queues, "bindings")
                self._ask(number, partial(node.bind, exchange, q))
            case DestroyQueue(number=number, queue=q):
                self._ask(number, partial(node.destroy, q))
            case Publish(number=number, exchange=exchange, body=body):
                self._publish(node, number, self._routed(node, exchange), body)
            case Send(number=number, queue=q, body=body):
                self._publish(node, number, [self._known(node, q)], body)
            case Subscribe():
                self._subscribe(node, command)
            case Unsubscribe(number=number, queue=q):
                self._unsubscribe(node, number, q)
            case _:
                self._settle(node, command)

    def _declare(self, node: LocalNode, number: int, q: QueueName) -> None:
        if q in node.replica.queues:
            self.link.send(Completed(number))
        else:
            self._has_room(len(node.replica.queues), self._config.queues, "queues")
            self._ask(number, partial(node.declare, q))

    def _has_room(self, found: int, most: int, what: str) -> None:
        if found >= most:
            raise _Useless(f"there are {found} {what}, and may be {most}")

    def _known(self, node: LocalNode, q: QueueName) -> QueueName:
        if q not in node.replica.queues:
            raise _Useless(f"there is no queue {q}")
        return q

    def _routed(self, node: LocalNode, exchange: Exchange) -> list[QueueName]:
        queues = node.queues_of(exchange)
        if not queues:
            raise _Useless(f"no queue is bound to the exchange {exchange}")
        return queues

    def _publish(self, node: LocalNode, number: int, queues: list[QueueName], body: bytes) -> None:
        if len(body) > self._config.longest_body:
            raise _Useless(f"a message has at most {self._config.longest_body} bytes")
        full = next((q for q in queues if self._broker.is_full(q)), None)
        if full is not None:
            raise _Useless(f"the queue {full} is full")
        self._ask(number, partial(node.publish, queues, body))

    def _subscribe(self, node: LocalNode, m: Subscribe) -> None:
        q = self._known(node, m.queue)
        if q in self._subscriptions:
            raise _Useless(f"it has a subscription to {q}")
        if not 1 <= m.credit <= self._config.credit:
            raise _Useless(f"a credit is in 1..{self._config.credit}, not {m.credit}")
        subscription = self._subscriptions[q] = Subscription(self, q, m.credit)
        self._every = [each for each in self._every if each.has or not each.ended]
        self._every.append(subscription)
        self.link.send(Completed(m.number))
        node.subscribe(subscription)

    def _unsubscribe(self, node: LocalNode, number: int, q: QueueName) -> None:
        subscription = self._subscriptions.pop(q, None)
        if subscription is None:
            raise _Useless(f"it has no subscription to {q}")
        node.unsubscribe(subscription)
        self.link.send(Completed(number))

    def _settle(self, node: LocalNode, m: Settlement) -> None:
        found = self._has.get((m.queue, m.message))
        if found is None:
            raise _Useless(f"it does not have the message {m.message} of {m.queue}")
        subscription, key = found
        match m:
            case Accept():
                settle = node.accept
            case Release():
                settle = node.release
            case Reject():
                settle = node.reject
        self._ask(m.number, partial(settle, subscription, key))
        del self._has[m.queue, m.message]


class _Useless(Exception):
    """A command that this broker does not do; the message says why."""


def message_of(key: Key) -> str:
    """The name of a message, in the words of clients."""
    return f"{key.id.node}/{key.id.seq}"
