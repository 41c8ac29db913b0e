"""The queue cluster, composed of what a service embeds.

Source: `new-cluster-plan.org`, as in `declaration.py`. A broker has a `QueueOwner` for each queue,
an `Updatee` as its replica of all messages, and an `Updater` for each node that it brings up to
date. What their events return is what is multicast; nothing else is. Multicasts get places in one
total order, those of each sender in its own order, and every broker handles that order at its own
pace. When a node crashes, its multicasts without a place are lost. Its leaving has a place in the
order as well, and so has a join.

`ledger.py` has what the multicasts amount to, and `promises.py` compares the brokers with that.

Abstractions. Clients act within budgets. A node has at most one consumer of a queue. If the updater
crashed, the new node would have to leave, and join again; here no node crashes that updates
another, or was updated. The first step of an update, the stall, has no duration: the new node does
nothing before it.
"""

from lawful import Nat, Param, initial, rank, require, terminal, total, transition

from .declaration import QueueOwnerFixed
from .deliveries import Deliveries
from .joining import Updatee, Updater
from .ledger import Joined, Of, Ordered, Said
from .messages import (
    Bind,
    Body,
    Cancel,
    Consume,
    Declare,
    Destroy,
    Done,
    Exchange,
    Front,
    Gone,
    Key,
    Node,
    QueueName,
    Release,
)
from .ownership import Ownership
from .system import Left


class Brokers(Deliveries, abstract=True):
    """All brokers, and the group between them."""

    owners: dict[tuple[Node, QueueName], QueueOwnerFixed] = {}
    updaters: dict[tuple[Node, Node], Updater] = {}
    outbox: dict[Node, list[Said]] = total([])
    inbox: dict[Node, list[Ordered]] = total([])
    link: dict[Node, list[Front | Gone | Done]] = total([])
    waiting: set[Node] = set()
    crashed: set[Node] = set()
    published: Nat = 0
    changed: Nat = 0
    returned: Nat = 0
    wired: Nat = 0
    destroyed: Nat = 0

    messages: Param[Nat] = 1
    changes: Param[Nat] = 2
    returns: Param[Nat] = 0
    crashes: Param[Nat] = 0
    joins: Param[Nat] = 0
    declares: Param[Nat] = 0
    wirings: Param[Nat] = 0
    destroys: Param[Nat] = 0
    lag: Param[Nat] = 1

    @initial
    def begin(self, queues: frozenset[QueueName]) -> None:
        """Some nodes join later, and some queues are declared later."""
        require(len(queues) + self.declares == len(QueueName), "others are declared later")
        for n in sorted(Node):
            if rank(n) + self.joins < len(Node):
                self.replicas[n] = Updatee(me=n)
                for q in sorted(queues):
                    self.replicas[n].declare_delivered(q)
                    self.owners[n, q] = QueueOwnerFixed(me=n)
        for q in sorted(queues):
            self.note_declaration(q)

    # Ownership at each node.

    @transition()
    def consume(self, n: Node, q: QueueName) -> None:
        require((n, q) in self.owners, "has no such queue")
        require(self.owners[n, q].consumers_here == 0, "it has a consumer")
        self.change()
        self.say(n, q, self.owners[n, q].consume())

    @transition()
    def cancel(self, n: Node, q: QueueName) -> None:
        require((n, q) in self.owners, "has no such queue")
        require(self.owners[n, q].consumers_here > 0, "it has no consumer")
        self.change()
        self.say(n, q, self.owners[n, q].cancel())

    def change(self) -> None:
        require(self.changed < self.changes, "enough has changed")
        self.changed += 1

    @transition()
    def take(self, n: Node, q: QueueName) -> None:
        require((n, q) in self.owners, "has no such queue")
        self.say(n, q, self.owners[n, q].take())

    @transition()
    def slice_over(self, n: Node, q: QueueName) -> None:
        require((n, q) in self.owners, "has no such queue")
        self.owners[n, q].slice_over()

    @transition()
    def stopped(self, n: Node, q: QueueName) -> None:
        require((n, q) in self.owners, "has no such queue")
        release, cancel = self.owners[n, q].stopped()
        self.say(n, q, release)
        self.say(n, q, cancel)

    def say(self, n: Node, q: QueueName, m: Consume | Release | Cancel | None) -> None:
        if m is not None:
            self.outbox[n].append(Of(q, self.replicas[n].declared[q], m))

    @transition()
    def forget(self, n: Node, q: QueueName) -> None:
        """Nobody is busy with a queue that is destroyed (Q43)."""
        require((n, q) in self.owners, "has no such queue")
        require(self.owners[n, q].over(), "goes on")
        del self.owners[n, q]

    # What clients do with messages.

    @transition()
    def publish(self, n: Node, body: Body) -> None:
        require(n in self.replicas and n not in self.waiting, "is not here")
        require(self.published < self.messages, "enough is published")
        self.published += 1
        self.outbox[n].append(self.replicas[n].publish(body))

    @transition()
    def enqueue(self, n: Node, seq: Nat, q: QueueName) -> None:
        require(n in self.replicas, "is not here")
        self.outbox[n].append(self.replicas[n].enqueue(seq, q))

    @transition()
    def routed(self, n: Node, seq: Nat) -> None:
        require(n in self.replicas, "is not here")
        self.outbox[n].append(self.replicas[n].routed(seq))

    @transition()
    def dispatch(self, n: Node, q: QueueName) -> None:
        """A consumer's thread enters (Q31)."""
        require((n, q) in self.owners, "has no such queue")
        self.owners[n, q].dispatch()

    @transition()
    def acquire(self, n: Node, q: QueueName) -> None:
        """It takes a message (Q20)."""
        require((n, q) in self.owners, "has no such queue")
        require(self.owners[n, q].busy > 0, "no consumer is busy")
        delivery, said = self.replicas[n].acquire(q)
        self.outbox[n].append(said)
        self.out_of_turn = not self.is_next(n, delivery.key)
        self.misled = not self.is_right(delivery)

    @transition()
    def dispatched(self, n: Node, q: QueueName) -> None:
        """It leaves (Q31)."""
        require((n, q) in self.owners, "has no such queue")
        self.owners[n, q].dispatched()

    def is_next(self, n: Node, key: Key) -> bool:
        """Whether each earlier one in the order is taken, or was not free as far as n knows."""
        if key.queue not in self.queued:
            return True  # It is destroyed, which n has yet to handle.
        mine = self.replicas[n].acquiring | self.replicas[n].settling
        if not self.is_queued(key):
            return False
        ids = self.queued[key.queue]
        return all(
            Key(id, key.queue) in self.taken
            or Key(id, key.queue) in mine
            or Key(id, key.queue) in self.replicas[n].acquired
            for id in ids[: ids.index(key.id)]
        )

    @transition()
    def accept(self, n: Node, key: Key) -> None:
        require(n in self.replicas, "is not here")
        self.outbox[n].append(self.replicas[n].accept(key))

    @transition()
    def release(self, n: Node, key: Key) -> None:
        require(n in self.replicas, "is not here")
        self.give_back()
        self.outbox[n].append(self.replicas[n].release(key))

    @transition()
    def reject(self, n: Node, key: Key, to: QueueName | None) -> None:
        require(n in self.replicas, "is not here")
        self.give_back()
        for m in self.replicas[n].reject(key, to):
            self.outbox[n].append(m)

    def give_back(self) -> None:
        require(self.returned < self.returns, "enough has come back")
        self.returned += 1

    @transition()
    def expire(self, n: Node, key: Key) -> None:
        """It expires where a consumer could take it; `Queue::purge()` does this for each message
        (Q50)."""
        require((n, key.queue) in self.owners, "has no such queue")
        require(self.owners[n, key.queue].busy > 0, "is not the owner's")
        self.give_back()
        self.outbox[n].append(self.replicas[n].expire(key))

    # Queues and nodes come and go.

    @transition()
    def declare(self, n: Node, q: QueueName) -> None:
        require(n in self.replicas and n not in self.waiting, "is not here")
        self.wire()
        self.outbox[n].append(self.replicas[n].declare(q))

    @transition()
    def bind(self, n: Node, exchange: Exchange, q: QueueName) -> None:
        require(n in self.replicas and n not in self.waiting, "is not here")
        self.wire()
        self.outbox[n].append(self.replicas[n].bind(exchange, q))

    def wire(self) -> None:
        require(self.wired < self.wirings, "wiring has changed enough")
        self.wired += 1

    @transition()
    def destroy(self, n: Node, q: QueueName) -> None:
        require(n in self.replicas and n not in self.waiting, "is not here")
        require(self.destroyed < self.destroys, "enough is destroyed")
        self.destroyed += 1
        self.outbox[n].append(self.replicas[n].destroy(q))

    @transition()
    def join(self, n: Node, updater: Node) -> None:
        """The join gets its place; from there on, the new node gets what has a place."""
        require(n not in self.replicas and n not in self.crashed, "is here, or gone")
        require(updater in self.replicas and len(self.waiting) == 0, "nobody can update it")
        require(len(self.replicas[updater].updating) == 0, "is updated itself")
        self.put(Ordered(n, Joined(updater)))
        self.replicas[n] = Updatee(me=n)
        self.waiting.add(n)

    @transition()
    def send(self, u: Node, n: Node, q: QueueName) -> None:
        """The update iterator's thread (Q56)."""
        require((u, n) in self.updaters, "does not update it")
        self.link[n].append(self.replicas[u].front(self.updaters[u, n].send(q)))

    @transition()
    def done(self, u: Node, n: Node, q: QueueName) -> None:
        require((u, n) in self.updaters, "does not update it")
        self.link[n].append(self.updaters[u, n].done(q))

    @transition()
    def receive(self, n: Node) -> None:
        require(len(self.link[n]) > 0, "nothing has come")
        m = self.link[n].pop(0)
        match m:
            case Front():
                self.replicas[n].receive(m)
            case Gone():
                self.replicas[n].pass_over(m)
            case Done(queue=q):
                self.replicas[n].end(m)
                if (n, q) in self.owners:
                    self.say(n, q, self.owners[n, q].updated())

    @transition()
    def crash(self, n: Node) -> None:
        require(n in self.replicas, "is not here")
        require(len(self.crashed) < self.crashes, "enough has crashed")
        require(len(self.waiting) == 0, "somebody joins")
        require(all(n not in pair for pair in self.updaters), "updates, or is updated")
        self.crashed.add(n)
        del self.replicas[n]
        for q in sorted(QueueName):
            if (n, q) in self.owners:
                del self.owners[n, q]
        self.inbox[n] = []
        self.outbox[n] = []
        self.put(Ordered(n, Left()))

    # The group.

    @transition()
    def place(self, n: Node) -> None:
        """The node's oldest multicast without a place gets the next one, unless a node is too far
        behind (Q51)."""
        require(len(self.outbox[n]) > 0, "everything has its place")
        self.put(Ordered(n, self.outbox[n].pop(0)))

    def put(self, m: Ordered) -> None:
        require(all(len(self.inbox[k]) < self.lag for k in self.replicas), "one is far behind")
        for n in self.replicas:
            self.inbox[n].append(m)
        self.note(m)

    @transition()
    def handle(self, n: Node) -> None:
        """The deliver thread handles the next multicast in the order."""
        require(n in self.replicas and n not in self.waiting, "is not here")
        require(len(self.inbox[n]) > 0, "everything is handled")
        m = self.inbox[n].pop(0)
        match m.said:
            case Of():
                self.handle_ownership(n, m.sender, m.said)
            case Declare(queue=q):
                require(not self.ends(n, q), "a consumer is busy with the last queue of this name")
                self.replicas[n].declare_delivered(q)
                if not self.lasts(n, q):
                    self.owners[n, q] = QueueOwnerFixed(me=n)
            case Destroy(queue=q):
                self.handle_destruction(n, q)
            case Bind():
                self.replicas[n].bind_delivered(m.said)
            case Joined(updater=updater):
                if n == updater:
                    self.handle_join(n, m.sender)
            case Left():
                self.handle_leaving(n, m.sender)
            case _:
                self.handle_message(n, m.sender, m.said)

    def handle_ownership(self, n: Node, sender: Node, m: Of) -> None:
        q, said = m.queue, m.said
        if (n, q) in self.owners and self.replicas[n].declared.get(q) == m.declared:
            match said:
                case Consume():
                    self.owners[n, q].consume_delivered(sender)
                case Release():
                    self.owners[n, q].release_delivered(sender, said)
                case Cancel():
                    self.owners[n, q].cancel_delivered(sender)

    def lasts(self, n: Node, q: QueueName) -> bool:
        return (n, q) in self.owners and self.owners[n, q].state != Ownership.ENDED

    def ends(self, n: Node, q: QueueName) -> bool:
        """A consumer may still be busy with it."""
        return not self.lasts(n, q) and (n, q) in self.owners and not self.owners[n, q].over()

    def handle_destruction(self, n: Node, q: QueueName) -> None:
        self.replicas[n].destroy_delivered(q)
        if (n, q) in self.owners:
            self.owners[n, q].destroy_delivered()
        for k in sorted(Node):
            if (n, k) in self.updaters:
                self.updaters[n, k].destroy_delivered(q)

    def handle_join(self, u: Node, n: Node) -> None:
        """The stall: what the new node has to know before it goes on [seed:407-411,418]."""
        self.updaters[u, n] = Updater()
        self.updaters[u, n].begin(self.welcome(u, n))
        for q in sorted(self.replicas[u].queues):
            owner, consumers = self.owners[u, q].owner, frozenset(self.owners[u, q].consumers)
            self.owners[n, q] = QueueOwnerFixed(me=n)
            self.owners[n, q].join(owner, consumers)
        self.waiting.discard(n)

    def handle_leaving(self, n: Node, member: Node) -> None:
        self.replicas[n].member_leaves(member)
        for q in sorted(QueueName):
            if (n, q) in self.owners:
                self.owners[n, q].member_leaves(member)

    @terminal
    def nothing_happens_any_more(self) -> bool:
        return self.quiet()

    def quiet(self) -> bool:
        """Every multicast is handled everywhere."""
        return all(len(self.inbox[n]) == 0 and len(self.outbox[n]) == 0 for n in self.replicas)
