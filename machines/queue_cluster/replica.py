"""Queue cluster: the messages of the queues, as one node replicates them.

Source: `new-cluster-plan.org`, cited as in `declaration.py`. A `Replica` is the part of all
replicated queues at the node `me`: the document's `BrokerHandler`, `LocalMessageMap` and
`MessageHandler` in one machine (Q9, Q10, Q11, Q13). Connection threads enqueue, acquire, accept,
release and reject; such an event returns what its caller must multicast. The deliver thread handles
every multicast, this node's own too, by the event of its name with `_delivered`, at all nodes in
one order. `declaration.py` decides whether this node owns a queue, and so may acquire from it.

This file declares the repaired design; `replica_as_seed.py` restores the document's text where it
goes wrong. Every node, the origin too, pushes a message when its enqueue is delivered, so that all
have the same order (Q-B7). A reject is one multicast, which names the queue to which the rejecting
node routes the message. All nodes move it there, and it continues as a new message of that node, so
that no key is ever used twice (Q-B8, and an issue of Q8). An entry may leave its queue without
being acquired (Q-B10).

Abstractions. The content of messages is left out, so that creating one only makes its ID known
(Q18). A node routes one message at a time; an alternate exchange has one queue, or none.
`noReplicate` is not a flag: the events `..._delivered` return nothing (Q16). Each replica of a ring
queue removes its oldest message by itself (`isRouting`); which one depends only on what was
delivered, not on what its consumers do (Q17). An acquired entry stays at its place in the queue, so
that a release has nothing to put back.
"""

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Sort,
    implies,
    invariant,
    needed,
    reachable,
    require,
    total,
    transition,
)

from .declaration import Node


class QueueName(Sort):
    """A replicated queue."""


class MessageId(Record):
    """[seed:90] (Q15)."""

    node: Node
    seq: Nat


class Key(Record):
    """A message on a queue: `QueueKey` [seed:156] (Q23)."""

    id: MessageId
    queue: QueueName


class Create(Record):
    """The sender is about to route its message with this number [seed:114] (Q18)."""

    seq: Nat


class Enqueue(Record):
    """[seed:116] (Q18)."""

    key: Key


class Routed(Record):
    """The message is on all its queues [seed:120] (Q19)."""

    seq: Nat


class Acquire(Record):
    """A consumer of the sender has acquired it [seed:126] (Q20)."""

    key: Key


class Requeue(Record):
    """It was given back: `release` [seed:131] (Q20)."""

    key: Key


class Dequeue(Record):
    """It was accepted, or has expired [seed:136] (Q20)."""

    key: Key


class Reject(Record):
    """It moves to another queue, if the alternate exchange has one, as the sender's message with
    this number [seed:140] (Q21)."""

    key: Key
    seq: Nat
    to: QueueName | None


Multicast = Create | Enqueue | Routed | Acquire | Requeue | Dequeue | Reject


class Replica(Machine, abstract=True):
    """The replicated queues, as one node sees them."""

    # Of connection threads.
    sequence: Nat = 0
    routing_here: Nat | None = None
    routed_to: set[QueueName] = set()
    held: set[Key] = set()

    # What was multicast here and is not yet delivered here.
    local: set[Nat] = set()
    acquiring: set[Key] = set()
    settling: set[Key] = set()

    # Replicated.
    created: dict[Node, Nat] = total(0)
    routing: dict[MessageId, set[QueueName]] = {}
    queues: dict[QueueName, list[MessageId]] = total([])
    acquired: dict[Key, Node] = {}
    left: set[Node] = set()

    me: Param[Node]
    # Messages that a ring queue keeps; no limit if 0.
    ring: Param[Nat] = 0

    # What happens at this node [seed:102-151].

    @transition()
    def enqueue(self, q: QueueName) -> tuple[Multicast, ...]:
        """The exchange routes a message to a queue: a new one gets an ID, and is created first
        [seed:109-116] (Q15, Q16, Q18)."""
        require(q not in self.routed_to, "once to each queue")
        self.routed_to.add(q)
        if self.routing_here is None:
            seq = self.next_number()
            self.routing_here = seq
            self.local.add(seq)
            return Create(seq), Enqueue(Key(MessageId(self.me, seq), q))
        return (Enqueue(Key(MessageId(self.me, self.routing_here), q)),)

    @transition()
    def routed(self) -> Routed:
        """To all its queues [seed:118-121] (Q19)."""
        seq = needed(self.routing_here, "no message is routed")
        self.routing_here = None
        self.routed_to.clear()
        return Routed(seq)

    def next_number(self) -> Nat:
        self.sequence += 1
        return self.sequence - 1

    @transition()
    def acquire(self, key: Key) -> Acquire:
        """A consumer takes a message that is free, as far as this node knows [seed:123-126]
        (Q20)."""
        require(self.free(key), "is not there, or acquired")
        self.held.add(key)
        self.acquiring.add(key)
        return Acquire(key)

    @transition()
    def accept(self, key: Key) -> Dequeue:
        """[seed:133-136] (Q20)."""
        self.settle(key)
        return Dequeue(key)

    @transition()
    def release(self, key: Key) -> Requeue:
        """[seed:128-131] (Q20)."""
        self.settle(key)
        return Requeue(key)

    @transition()
    def reject(self, key: Key, to: QueueName | None) -> tuple[Multicast, ...]:
        """Routed here, once for all [seed:138-144] (Q8, Q21, Q-B8)."""
        require(key.queue != to, "is rejected by this queue")
        self.settle(key)
        return (Reject(key, self.next_number(), to),)

    @transition()
    def expire(self, key: Key) -> Dequeue:
        """A free message expires; as with an acquire, only the queue's owner may do this
        [seed:146-151,364-376] (Q22, Q50, Q-B10)."""
        require(self.free(key), "is not there, or acquired")
        self.settling.add(key)
        return Dequeue(key)

    def settle(self, key: Key) -> None:
        require(key in self.held, "no consumer here has it")
        self.held.discard(key)
        self.settling.add(key)

    def free(self, key: Key) -> bool:
        """Whether no node has acquired it, and no multicast of this node about it is under way."""
        return (
            key.id in self.queues[key.queue]
            and key not in self.acquired
            and key not in self.acquiring
            and key not in self.settling
        )

    # What is delivered, at every node in one order [seed:164-210].

    @transition()
    def create_delivered(self, sender: Node, seq: Nat) -> None:
        """[seed:166-167] (Q24)."""
        self.receive(sender)
        require(sender != self.me or seq in self.local, "not what this node said")
        self.count(sender, seq)
        self.routing[MessageId(sender, seq)] = set()

    @transition()
    def enqueue_delivered(self, sender: Node, key: Key) -> None:
        """All nodes push it, its origin too [seed:169-176] (Q24, Q-B7)."""
        self.receive(sender)
        require(key.id.node == sender, "its origin routes it")
        require(key.id in self.routing, "it is not routed")
        require(key.queue not in self.routing[key.id], "once to each queue")
        self.routing[key.id].add(key.queue)
        self.push(key)

    @transition()
    def routed_delivered(self, sender: Node, seq: Nat) -> None:
        """To its publisher this is the completion [seed:178-180] (Q25, Q46)."""
        self.receive(sender)
        require(MessageId(sender, seq) in self.routing, "it is not routed")
        del self.routing[MessageId(sender, seq)]
        if sender == self.me:
            require(self.routing_here != seq, "not what this node said")
            self.local.discard(seq)

    @transition()
    def acquire_delivered(self, sender: Node, key: Key) -> None:
        """Nothing happens if the message has gone meanwhile [seed:182-186] (Q26)."""
        self.receive(sender)
        if sender == self.me:
            require(key in self.acquiring, "not what this node said")
            self.acquiring.discard(key)
        elif self.has(key):
            require(key not in self.acquiring, "this node is the owner")
        if self.has(key):
            require(key not in self.acquired, "owners acquire what is free")
            self.acquired[key] = sender

    @transition()
    def requeue_delivered(self, sender: Node, key: Key) -> None:
        """It is free again, at its place [seed:188-192] (Q26)."""
        self.settled(sender, key)
        if self.is_of(sender, key):
            del self.acquired[key]

    @transition()
    def dequeue_delivered(self, sender: Node, key: Key) -> None:
        """Whether or not a node has acquired it [seed:200-205] (Q28, Q-B10)."""
        self.settled(sender, key)
        require(self.is_of(sender, key) or self.is_nobodys(key), "somebody else has it")
        self.remove(key)

    @transition()
    def reject_delivered(self, sender: Node, m: Reject) -> None:
        """It moves to the queue that the multicast names [seed:194-198] (Q27, Q-B8)."""
        self.settled(sender, m.key)
        self.count(sender, m.seq)
        if self.is_of(sender, m.key):
            self.remove(m.key)
            if m.to is not None:
                self.push(Key(MessageId(sender, m.seq), m.to))

    @transition()
    def member_leaves(self, member: Node) -> None:
        """Its acquired messages are free again; messages that it was routing end [seed:207-210]
        (Q29)."""
        require(member != self.me, "this node is here")
        self.receive(member)
        self.left.add(member)
        self.acquired = {key: n for key, n in self.acquired.items() if n != member}
        self.routing = {id: set(qs) for id, qs in self.routing.items() if id.node != member}

    def receive(self, sender: Node) -> None:
        require(sender not in self.left, "its sender left before")

    def count(self, sender: Node, seq: Nat) -> None:
        require(seq == self.created[sender], "not the next of its sender")
        require(sender != self.me or seq < self.sequence, "not what this node said")
        self.created[sender] += 1

    def settled(self, sender: Node, key: Key) -> None:
        """This comes after the acquire, because one node sent both."""
        self.receive(sender)
        if sender == self.me:
            require(key in self.settling and key not in self.acquiring, "not what this node said")
            self.settling.discard(key)

    def has(self, key: Key) -> bool:
        return key.id in self.queues[key.queue]

    def is_nobodys(self, key: Key) -> bool:
        return key not in self.acquired and key not in self.acquiring

    def is_of(self, n: Node, key: Key) -> bool:
        return key in self.acquired and self.acquired[key] == n

    def push(self, key: Key) -> None:
        """A full ring queue loses its oldest message that is not acquired; if all are acquired, it
        loses the new one [seed:102-107] (Q8, Q17)."""
        self.queues[key.queue].append(key.id)
        if self.ring > 0 and len(self.queues[key.queue]) > self.ring:
            oldest = next(
                (id for id in self.queues[key.queue] if Key(id, key.queue) not in self.acquired),
                key.id,
            )
            self.remove(Key(oldest, key.queue))

    def remove(self, key: Key) -> None:
        if key.id in self.queues[key.queue]:
            self.queues[key.queue].remove(key.id)
        if key in self.acquired:
            del self.acquired[key]

    # What holds at this node.

    @invariant
    def each_is_queued_once(self) -> bool:
        return all(
            ids[i] not in ids[i + 1 :] for ids in self.queues.values() for i in range(len(ids))
        )

    @invariant
    def acquired_messages_are_on_their_queue(self) -> bool:
        """And acquired by members that are present (Q23, Q29)."""
        return all(self.has(key) and n not in self.left for key, n in self.acquired.items())

    @invariant
    def what_is_held_is_acquired(self) -> bool:
        """Or about to be acquired, or removed from its queue meanwhile (Q20)."""
        return all(
            key in self.acquiring or self.is_of(self.me, key) or not self.has(key)
            for key in self.held
        )

    @invariant
    def what_is_settled_is_given_up(self) -> bool:
        return self.held.isdisjoint(self.settling)

    @invariant
    def what_is_routed_here_is_kept(self) -> bool:
        """In the map of local messages, until its `Routed` is delivered (Q10, Q25)."""
        here = self.routing_here
        return implies(here is not None, here in self.local) and all(
            seq < self.sequence for seq in self.local
        )

    @invariant
    def who_left_routes_nothing(self) -> bool:
        """And this node routes only messages of its own (Q25, Q29)."""
        return all(
            id.node not in self.left and (id.node != self.me or id.seq in self.local)
            for id in self.routing
        )

    @reachable
    def is_given_back_in_its_order(self) -> bool:
        """Behind a message that another node has acquired, and before one that waits."""
        return any(
            len(ids) > 1
            and Key(ids[0], q) in self.acquired
            and Key(ids[1], q) not in self.acquired
            and Key(ids[1], q) in self.settling
            for q, ids in self.queues.items()
        )

    @reachable
    def is_settled_before_it_is_known(self) -> bool:
        """It is accepted, released or rejected while its acquire is under way."""
        return not self.settling.isdisjoint(self.acquiring)

    scope = Scope(Node=2, QueueName=1, Nat=range(0, 2), queues=2, me=(Node("Node1"),), ring=(0, 1))
    large = Scope(QueueName=2, ring=(0,))


class ReplicaFixed(Replica):
    """A message is created before it is pushed, and pushed when its enqueue is delivered."""

    @invariant
    def no_key_is_used_twice(self) -> bool:
        """A message that is still to be pushed is on no queue (Q15, Q-B8)."""
        return all(self.was_pushed(Key(id, q)) for q, ids in self.queues.items() for id in ids)

    @invariant
    def what_is_held_was_pushed(self) -> bool:
        return all(self.was_pushed(key) for key in self.held)

    @invariant
    def what_is_on_its_way_was_pushed(self) -> bool:
        return all(self.was_pushed(key) for key in self.acquiring) and all(
            self.was_pushed(key) for key in self.settling
        )

    def was_pushed(self, key: Key) -> bool:
        routed = key.id not in self.routing or key.queue in self.routing[key.id]
        return routed and key.id.seq < self.created[key.id.node]

    @invariant
    def routed_messages_are_created(self) -> bool:
        """In the order of their numbers (Q15, Q24)."""
        return self.created[self.me] <= self.sequence and all(
            id.seq < self.created[id.node] for id in self.routing
        )
