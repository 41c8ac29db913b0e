"""One life of a broker in the cluster: its machines, and what it does with what they return.

The machines decide: which queues there are, who owns them, which message is next, who has it, what
comes back. This class hands them what the group has ordered, says what their events return, and
hands messages to subscribers. It keeps only what the machines do not know: which subscriber has
which message, and who waits for which multicast.

A subscriber gets a message when its acquire has come back in the order, not before: by then every
member knows that it may have been delivered. So a node that was cut off delivers nothing.

Everything runs in one event loop, which is the one lock that the machines ask for. So a consumer is
never busy while another event happens.

Source: `new-cluster-plan.org`, as in `../declaration.py`.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable
from functools import partial

from lawful import Refused
from lawful.runtime.instance import Machine
from lawful.runtime.timers import Clock, SteadyClock

from ..declaration import QueueOwnerFixed
from ..joining import Updatee, Updater
from ..ledger import Joined, Of
from ..messages import (
    AboutMessages,
    Acquire,
    Bind,
    Body,
    Cancel,
    Consume,
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
from ..ownership import Ownership
from ..system import Left
from .frames import Said, Stall, Told
from .group import Group
from .settings import Config, LoopClock, Options
from .stalls import contents, stall
from .subscription import Subscription

Then = Callable[[], None]
AT_ONCE = 50  # Messages that an updater sends before it lets others go on.
HANDED_OUT = 10  # Messages that consumers of a queue get before others go on.


def prepare() -> None:
    """Compile the machines, which takes a good part of a second, before anybody waits for them."""
    Updatee(me=Node("?"))
    QueueOwnerFixed(me=Node("?"))
    Updater()


class LocalNode:
    """This broker as the member `me`. `counts`: `delivered`, `completed`, `vanished` (acquired, but
    gone when the acquire came back), `refused` (a multicast that a machine refuses)."""

    def __init__(self, me: Node, group: Group, config: Config, options: Options) -> None:
        self.me = me
        self.counts: Counter[str] = Counter()
        self.owners: dict[QueueName, QueueOwnerFixed] = {}
        self.updaters: dict[Node, Updater] = {}
        self.ready = True
        self.over = False
        self._group = group
        self._config = config
        self._options = options
        self._loop = asyncio.get_running_loop()
        self._clock: Clock = LoopClock() if options.clock is None else SteadyClock(options.clock)
        self.replica = Updatee(me=me, clock=self._clock)
        self._outstanding: deque[tuple[Said, Then | None]] = deque()
        self._subscriptions: dict[QueueName, deque[Subscription]] = {}
        self._left: dict[QueueName, dict[Subscription, None]] = {}  # Ended, and have something.
        self._to_pump: set[QueueName] = set()
        self._alarms: dict[QueueName, asyncio.TimerHandle] = {}
        self._unobserved: dict[object, Callable[[], None]] = {}
        self._journal(self.replica, "replica")

    def _journal(self, machine: Machine, name: str) -> None:
        if self._options.journal is not None:
            end = self._options.journal.attach(machine, f"{self.me}/{name}")
            self._unobserved[name] = end

    def end(self) -> None:
        """This life is over: nothing is said any more."""
        self.over = True
        for handle in self._alarms.values():
            handle.cancel()
        for end in self._unobserved.values():
            end()

    # What clients do. Each `then` is called when the multicast has come back.

    def declare(self, q: QueueName, then: Then) -> None:
        """Errors: Refused if there is this queue."""
        self._say(self.replica.declare(q), then)

    def bind(self, exchange: Exchange, q: QueueName, then: Then) -> None:
        """Errors: Refused if there is no such queue."""
        self._say(self.replica.bind(exchange, q), then)

    def destroy(self, q: QueueName, then: Then) -> None:
        """Errors: Refused if there is no such queue."""
        self._say(self.replica.destroy(q), then)

    def queues_of(self, exchange: Exchange) -> list[QueueName]:
        """Where it routes to, in the order of names."""
        return sorted(b.queue for b in self.replica.bindings if b.exchange == exchange)

    def publish(self, queues: Iterable[QueueName], body: Body, then: Then) -> None:
        """Errors: Refused if there is no such queue; then nothing is on any queue."""
        create = self.replica.publish(body)
        try:
            enqueues = [self.replica.enqueue(create.seq, q) for q in queues]
        except Refused:  # Its number is used, so that others have to count it, too.
            self._say(create)
            self._say(self.replica.routed(create.seq))
            raise
        self._say(create)
        for said in enqueues:
            self._say(said)
        self._say(self.replica.routed(create.seq), then)

    def subscribe(self, subscription: Subscription) -> None:
        """Deliver to it from now on. Errors: KeyError if there is no such queue."""
        q = subscription.queue
        self._owner_said(q, self.owners[q].consume())
        self._subscriptions.setdefault(q, deque()).append(subscription)
        self._pump(q)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Stop delivering to it; the messages that it has are still to be settled."""
        if subscription.ended:
            return
        consumed, subscription.ended = subscription.consumes, True
        self._subscriptions[subscription.queue].remove(subscription)
        if subscription.has:
            self._left.setdefault(subscription.queue, {})[subscription] = None
        if consumed:
            self._owner_said(subscription.queue, self.owners[subscription.queue].cancel())

    def accept(self, subscription: Subscription, key: Key, then: Then) -> None:
        """Errors: Refused."""
        self._say(self.replica.accept(key), then)
        self._settled(subscription, key)

    def release(self, subscription: Subscription, key: Key, then: Then | None = None) -> None:
        """Errors: Refused."""
        self._say(self.replica.release(key), then)
        self._settled(subscription, key)

    def reject(self, subscription: Subscription, key: Key, then: Then) -> None:
        """It goes to the alternate exchange of its queue. Errors: Refused."""
        to = next(iter(self.queues_of(alternate_of(key.queue))), None)
        *others, last = self.replica.reject(key, to)
        for said in others:
            self._say(said)
        self._say(last, then)
        self._settled(subscription, key)

    def _settled(self, subscription: Subscription, key: Key) -> None:
        before = subscription.consumes
        subscription.has.discard(key)
        if subscription.consumes and not before:
            self._owner_said(key.queue, self.owners[key.queue].consume())
        if subscription.ended and not subscription.has:
            self._left.get(key.queue, {}).pop(subscription, None)

    # Consumers.

    def _pump(self, q: QueueName) -> None:
        """Hand out messages while the consumers of this queue run and one is free."""
        if q not in self._to_pump:
            for _ in range(HANDED_OUT):
                if not self._hand_out(q):
                    return
            self._to_pump.add(q)
            self._loop.call_soon(self._pump_on, q)

    def _pump_on(self, q: QueueName) -> None:
        self._to_pump.discard(q)
        if not self.over:
            self._pump(q)

    def _hand_out(self, q: QueueName) -> bool:
        """A message to a consumer; whether there was one, and one who takes it."""
        owner = self.owners.get(q)
        if owner is None or owner.state != Ownership.OWNED:
            return False
        subscription = self._next_consumer(q)
        if subscription is None:
            return False
        owner.dispatch()
        try:
            delivery, said = self.replica.acquire(q)
        except Refused:
            return False
        finally:
            owner.dispatched()
        self._say(said, partial(self._granted, subscription, delivery))
        subscription.has.add(delivery.key)
        if not subscription.consumes:
            self._owner_said(q, owner.cancel())
        return True

    def _next_consumer(self, q: QueueName) -> Subscription | None:
        """By turns."""
        subscriptions = self._subscriptions.get(q, deque())
        for _ in range(len(subscriptions)):
            first = subscriptions[0]
            subscriptions.rotate(-1)
            if first.consumes:
                return first
        return None

    def _granted(self, subscription: Subscription, delivery: Delivery) -> None:
        """The acquire has its place: the message is this subscriber's, if both are still there."""
        if delivery.key not in subscription.has:
            return
        if self.replica.acquired.get(delivery.key) == self.me:
            self.counts["delivered"] += 1
            subscription.subscriber.deliver(subscription, delivery)
        else:
            self.counts["vanished"] += 1
            self.release(subscription, delivery.key)

    # Ownership.

    def _owner_said(self, q: QueueName, *said: Consume | Release | Cancel | None) -> None:
        """Say what an event of ownership returned, and take or give away what is to be."""
        owner = self.owners[q]
        for m in said:
            if m is not None:
                self._say(Of(q, self.replica.declared[q], m))
        if owner.lawful.may("stopped"):
            self._owner_said(q, *owner.stopped())
        elif owner.lawful.may("take"):
            self._owner_said(q, owner.take())
            self._pump(q)
        self._set_alarm(q)

    def _set_alarm(self, q: QueueName) -> None:
        """Wake up when the time slice is over."""
        handle = self._alarms.pop(q, None)
        if handle is not None:
            handle.cancel()
        owner = self.owners.get(q)
        due = None if owner is None else owner.lawful.next_deadline()
        if due is not None:
            left = max(0.0, due - self._clock.now())
            self._alarms[q] = self._loop.call_later(left, self._slice_over, q)

    def _slice_over(self, q: QueueName) -> None:
        self.owners[q].lawful.fire_due(self._clock.now())
        self._owner_said(q)

    # What the group has ordered.

    def _say(self, said: Said, then: Then | None = None) -> None:
        self._outstanding.append((said, then))
        self._group.say(said)

    def placed(self, sender: Node, said: Said) -> None:
        """Handle the next multicast in the order."""
        try:
            self._handle(sender, said)
        except Refused:
            self.counts["refused"] += 1
        # Another word in its name was refused, or is not its own: nobody waits for that.
        if sender == self.me and self._outstanding and self._outstanding[0][0] == said:
            _, then = self._outstanding.popleft()
            if then is not None:
                self.counts["completed"] += 1
                then()

    def _handle(self, sender: Node, said: Said) -> None:
        match said:
            case Of():
                self._handle_ownership(sender, said)
            case Declare(queue=q):
                self.replica.declare_delivered(q)
                if q not in self.owners:
                    self._begin(q)
            case Destroy(queue=q):
                self._handle_destruction(q)
            case Bind():
                self.replica.bind_delivered(said)
            case Joined(updater=updater):
                if updater == self.me:
                    self._update(sender)
            case Left():
                self._handle_leaving(sender)
            case _:
                self._handle_message(sender, said)

    def _begin(self, q: QueueName) -> QueueOwnerFixed:
        slice_seconds = self._config.slice_seconds
        owner = QueueOwnerFixed(me=self.me, slice_seconds=slice_seconds, clock=self._clock)
        self.owners[q] = owner
        self._journal(owner, f"{q}/{self.replica.declared[q]}")
        return owner

    def _handle_ownership(self, sender: Node, m: Of) -> None:
        q, said = m.queue, m.said
        if q in self.owners and self.replica.declared[q] == m.declared:
            match said:
                case Consume():
                    self.owners[q].consume_delivered(sender)
                case Release():
                    self.owners[q].release_delivered(sender, said)
                case Cancel():
                    self.owners[q].cancel_delivered(sender)
            self._owner_said(q)

    def _handle_destruction(self, q: QueueName) -> None:
        for subscription in (*self._subscriptions.pop(q, ()), *self._left.pop(q, ())):
            subscription.ended = True
            subscription.subscriber.ended(subscription)
        number = self.replica.declared.get(q)
        self.replica.destroy_delivered(q)
        if q in self.owners:
            self.owners[q].destroy_delivered()
            assert self.owners[q].over()  # No consumer is busy between two events.
            del self.owners[q]
            self._set_alarm(q)
            self._unobserved.pop(f"{q}/{number}", _nothing)()
        for updater in self.updaters.values():
            updater.destroy_delivered(q)
        self._tell_if_complete()

    def _handle_leaving(self, member: Node) -> None:
        self.replica.member_leaves(member)
        self.updaters.pop(member, None)
        self._unobserved.pop(f"updater of {member}", _nothing)()
        for q in sorted(self.owners):
            self.owners[q].member_leaves(member)
            self._owner_said(q)
            self._pump(q)

    def _handle_message(self, sender: Node, said: AboutMessages) -> None:
        one = self.replica
        match said:
            case Create(seq=seq, body=body):
                one.create_delivered(sender, seq, body)
            case Enqueue(key=key):
                one.enqueue_delivered(sender, key)
                self._pump(key.queue)
            case Routed(seq=seq):
                one.routed_delivered(sender, seq)
            case Acquire(key=key):
                one.acquire_delivered(sender, key)
            case Requeue(key=key):
                one.requeue_delivered(sender, key)
                self._pump(key.queue)
            case Dequeue(key=key):
                one.dequeue_delivered(sender, key)
            case Reject(to=to):
                one.reject_delivered(sender, said)
                if to is not None:
                    self._pump(to)

    # A node joins.

    def wait(self) -> None:
        """This node joins: it has no queue until an updater has told it."""
        self.ready = False

    def told(self, told: Told) -> None:
        """What the updater says to this node. Errors: Refused."""
        match told:
            case Stall():
                self._welcome(told)
            case Front():
                self.replica.receive(told)
            case Gone():
                self.replica.pass_over(told)
            case Done(queue=q):
                self.replica.end(told)
                if q in self.owners:
                    self._owner_said(q, self.owners[q].updated())
        self._tell_if_complete()

    def _welcome(self, m: Stall) -> None:
        self.replica.welcome(m.queues, m.declarations, frozenset(m.bindings), m.counts, m.routes)
        for interest in m.interests:
            self._begin(interest.queue).join(interest.owner, interest.consumers)

    def _tell_if_complete(self) -> None:
        if not self.ready and not self.replica.updating:
            self.ready = True
            self._group.complete()

    def _update(self, n: Node) -> None:
        """The stall: what the new node has to know (Q56); then its queues, from back to front."""
        updater = Updater(clock=self._clock)
        self._journal(updater, f"updater of {n}")
        updater.begin(contents(self.replica))
        self.updaters[n] = updater
        self._group.tell(n, stall(self.replica, self.owners))
        self._loop.call_soon(self._send_on, n)

    def _send_on(self, n: Node) -> None:
        """A few messages; then others go on."""
        for _ in range(AT_ONCE):
            updater = self.updaters.get(n)
            if self.over or updater is None or not updater.to_send:
                return
            q = min(updater.to_send)
            if updater.to_send[q]:
                self._group.tell(n, self.replica.front(updater.send(q)))
            else:
                self._group.tell(n, updater.done(q))
        self._loop.call_later(0.001, self._send_on, n)


def alternate_of(q: QueueName) -> Exchange:
    """The exchange to which a queue's rejected messages go."""
    return Exchange(f"alternate:{q}")


def _nothing() -> None:
    return
