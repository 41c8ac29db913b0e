"""Queue cluster: the messages of the queues, as one node replicates them.

Source: `new-cluster-plan.org`, cited as in `declaration.py`. A `Replica` is the part of all
replicated queues at the node `me`: the document's `BrokerHandler`, `LocalMessageMap` and
`MessageHandler` in one machine (Q9, Q10, Q11, Q13). Connection threads publish, acquire, accept,
release and reject; such an event returns what its caller must multicast. The deliver thread handles
every multicast, this node's own too, by the event of its name with `_delivered`, at all nodes in
one order. A consumer acquires between `dispatch` and `dispatched` of `declaration.py`, which
decides whether this node owns the queue.

This file declares the repaired design; `replica_as_seed.py` restores the document's text where it
goes wrong. Every node, the origin too, pushes a message when its enqueue is delivered, so that all
have the same order (Q-B7). A reject is one multicast, which names the queue to which the rejecting
node routes the message. All nodes move it there, and it continues as a new message of that node, so
that no key is ever used twice (Q-B8, and an issue of Q8). An entry may leave its queue without
being acquired (Q-B10).

Abstractions. An alternate exchange has one queue, or none. `noReplicate` is not a flag: the events
`..._delivered` return nothing (Q16). Each replica of a ring queue removes its oldest message by
itself (`isRouting`); which one depends only on what was delivered, not on what its consumers do
(Q17). An acquired entry stays at its place in the queue, so that a release has nothing to put back.
The group promises that nothing comes from a node that left. A multicast about a queue that was
destroyed has no effect.
"""

from lawful import (
    Expect,
    Nat,
    Param,
    Scope,
    invariant,
    needed,
    reachable,
    require,
    transition,
)

from .messages import (
    AboutMessages,
    Acquire,
    Body,
    Create,
    Delivery,
    Dequeue,
    Enqueue,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Requeue,
    Routed,
)
from .wiring import Wiring


class Replica(Wiring, abstract=True):
    """The replicated queues, as one node sees them."""

    # Of connection threads: to which queues each message goes, and what consumers have.
    sequence: Nat = 0
    publishing: dict[Nat, set[QueueName]] = {}
    held: set[Key] = set()

    # What was multicast here and is not yet delivered here.
    local: set[Nat] = set()
    acquiring: set[Key] = set()
    settling: set[Key] = set()

    # Replicated.
    created: dict[Node, Nat] = {}
    routing: dict[MessageId, set[QueueName]] = {}
    bodies: dict[MessageId, Body] = {}
    acquired: dict[Key, Node] = {}
    redelivered: set[Key] = set()

    me: Param[Node]
    # Messages that a ring queue keeps; no limit if 0.
    ring: Param[Nat] = 0

    # What happens at this node [seed:102-151].

    @transition()
    def publish(self, body: Body) -> Create:
        """A client's message gets an ID, which the next events name: several threads may route at a
        time [seed:102-116] (Q15, Q16, Q18)."""
        seq = self.next_number()
        self.publishing[seq] = set()
        self.local.add(seq)
        return Create(seq, body)

    @transition()
    def enqueue(self, seq: Nat, q: QueueName) -> Enqueue:
        """The exchange routes it to a queue [seed:109-116] (Q18)."""
        require(seq in self.publishing, "this message is not routed here")
        require(q in self.queues, "there is no such queue")
        require(q not in self.publishing[seq], "once to each queue")
        self.publishing[seq].add(q)
        return Enqueue(Key(MessageId(self.me, seq), q))

    @transition()
    def routed(self, seq: Nat) -> Routed:
        """To all its queues [seed:118-121] (Q19)."""
        require(seq in self.publishing, "this message is not routed here")
        del self.publishing[seq]
        return Routed(seq)

    def next_number(self) -> Nat:
        self.sequence += 1
        return self.sequence - 1

    @transition()
    def acquire(self, q: QueueName) -> tuple[Delivery, Acquire]:
        """A consumer takes the first message that is free, as far as this node knows
        [seed:123-126] (Q20)."""
        require(q in self.queues, "there is no such queue")
        first = next((id for id in self.queues[q] if self.free(Key(id, q))), None)
        key = Key(needed(first, "no message is free"), q)
        self.held.add(key)
        self.acquiring.add(key)
        return Delivery(key, self.bodies[key.id], key in self.redelivered), Acquire(key)

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
    def reject(self, key: Key, to: QueueName | None) -> tuple[AboutMessages, ...]:
        """Routed here, once for all [seed:138-144] (Q8, Q21, Q-B8)."""
        require(key.queue != to, "is rejected by this queue")
        require(to is None or to in self.queues, "there is no such queue")
        body = needed(self.bodies.get(key.id), "it has gone with its queue")
        self.settle(key)
        return (Reject(key, self.next_number(), to, body),)

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
            self.has(key)
            and key not in self.acquired
            and key not in self.acquiring
            and key not in self.settling
        )

    # What is delivered, at every node in one order [seed:164-210].

    @transition()
    def declare_delivered(self, q: QueueName) -> None:
        """It is empty; if it was declared before, nothing changes [seed:345-346] (Q47)."""
        if q not in self.queues:
            self.queues[q] = []

    @transition()
    def destroy_delivered(self, q: QueueName) -> None:
        """Its messages and bindings go with it [seed:319,376] (Q43, Q50)."""
        self.bindings = {b for b in self.bindings if b.queue != q}
        if q in self.queues:
            for id in tuple(self.queues[q]):
                self.remove(Key(id, q))
            del self.queues[q]

    @transition()
    def create_delivered(self, sender: Node, seq: Nat, body: Body) -> None:
        """[seed:166-167] (Q24)."""
        require(sender != self.me or seq in self.local, "not what this node said")
        self.count(sender, seq)
        self.routing[MessageId(sender, seq)] = set()
        self.bodies[MessageId(sender, seq)] = body

    @transition()
    def enqueue_delivered(self, sender: Node, key: Key) -> None:
        """All nodes push it, its origin too [seed:169-176] (Q24, Q-B7)."""
        require(key.id.node == sender, "its origin routes it")
        require(key.id in self.routing, "it is not routed")
        require(key.queue not in self.routing[key.id], "once to each queue")
        self.routing[key.id].add(key.queue)
        self.push(key)

    @transition()
    def routed_delivered(self, sender: Node, seq: Nat) -> bool:
        """Return whether this node published it: then this is the completion [seed:178-180] (Q25,
        Q46)."""
        id = MessageId(sender, seq)
        require(id in self.routing, "it is not routed")
        del self.routing[id]
        if sender == self.me:
            require(seq not in self.publishing, "not what this node said")
            self.local.discard(seq)
        self.forget(id)
        return sender == self.me

    @transition()
    def acquire_delivered(self, sender: Node, key: Key) -> None:
        """Nothing happens if the message has gone meanwhile [seed:182-186] (Q26)."""
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
            self.redelivered.add(key)

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
            self.move(m.to, MessageId(sender, m.seq), m.body)

    @transition()
    def member_leaves(self, member: Node) -> None:
        """Its acquired messages are free again; messages that it was routing end [seed:207-210]
        (Q29)."""
        require(member != self.me, "this node is here")
        self.redelivered |= {key for key, n in self.acquired.items() if n == member}
        self.acquired = {key: n for key, n in self.acquired.items() if n != member}
        self.routing = {id: set(qs) for id, qs in self.routing.items() if id.node != member}
        self.bodies = {id: body for id, body in self.bodies.items() if self.is_needed(id)}
        if member in self.created:
            del self.created[member]

    def count(self, sender: Node, seq: Nat) -> None:
        new = sender not in self.created and sender != self.me
        require(not new or not self.knows(sender), "it left before: its ID is used")
        require(seq == self.created.get(sender, 0), "not the next of its sender")
        require(sender != self.me or seq < self.sequence, "not what this node said")
        self.created[sender] = seq + 1

    def knows(self, n: Node) -> bool:
        """Whether there is a message of this node, or was one that is not settled yet."""
        return any(id.node == n for id in self.bodies) or any(
            key.id.node == n for key in self.held | self.acquiring | self.settling
        )

    def settled(self, sender: Node, key: Key) -> None:
        """This comes after the acquire, because one node sent both."""
        if sender == self.me:
            require(key in self.settling and key not in self.acquiring, "not what this node said")
            self.settling.discard(key)

    def has(self, key: Key) -> bool:
        return key.queue in self.queues and key.id in self.queues[key.queue]

    def is_nobodys(self, key: Key) -> bool:
        return key not in self.acquired and key not in self.acquiring

    def is_of(self, n: Node, key: Key) -> bool:
        return key in self.acquired and self.acquired[key] == n

    def move(self, to: QueueName | None, id: MessageId, body: Body) -> None:
        """A rejected message comes to the alternate queue, if that is still there."""
        if to is not None and to in self.queues:
            self.bodies[id] = body
            self.push(Key(id, to))

    def push(self, key: Key) -> None:
        """A full ring queue loses its oldest message that is not acquired; if all are acquired, it
        loses the new one [seed:102-107] (Q8, Q17)."""
        if key.queue in self.queues:
            self.queues[key.queue].append(key.id)
            if self.ring > 0 and len(self.queues[key.queue]) > self.ring:
                self.remove(Key(self.oldest(key), key.queue))

    def oldest(self, new: Key) -> MessageId:
        ids = self.queues[new.queue]
        return next((id for id in ids if Key(id, new.queue) not in self.acquired), new.id)

    def remove(self, key: Key) -> None:
        if self.has(key):
            self.take_off(key)
            self.redelivered.discard(key)
            self.forget(key.id)
        if key in self.acquired:
            del self.acquired[key]

    def take_off(self, key: Key) -> None:
        self.queues[key.queue].remove(key.id)

    def forget(self, id: MessageId) -> None:
        """Its body goes once no queue has it and nobody routes it."""
        if id in self.bodies and not self.is_needed(id):
            del self.bodies[id]

    def is_needed(self, id: MessageId) -> bool:
        return id in self.routing or any(id in ids for ids in self.queues.values())

    # What holds at this node.

    @invariant
    def each_is_queued_once(self) -> bool:
        return all(
            ids[i] not in ids[i + 1 :] for ids in self.queues.values() for i in range(len(ids))
        )

    @invariant
    def acquired_messages_are_on_their_queue(self) -> bool:
        """(Q23)"""
        return all(self.has(key) for key in self.acquired)

    @invariant
    def what_comes_again_waits(self) -> bool:
        """On its queue (Q29)."""
        return all(self.has(key) for key in self.redelivered)

    @invariant
    def bodies_are_kept_while_needed(self) -> bool:
        """It keeps those of the messages that are queued or routed, no others (Q10, Q22, Q25)."""
        return all(self.is_needed(id) for id in self.bodies) and all(
            id in self.bodies for ids in self.queues.values() for id in ids
        )

    @invariant
    def routed_messages_have_bodies(self) -> bool:
        return all(id in self.bodies for id in self.routing)

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
        return all(seq in self.local for seq in self.publishing) and all(
            seq < self.sequence for seq in self.local
        )

    @invariant
    def this_node_routes_its_own(self) -> bool:
        """(Q25, Q29)"""
        return all(id.node != self.me or id.seq in self.local for id in self.routing)

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

    scope = Scope(
        {"MessageId.seq": range(0, 2)},
        Node=2,
        QueueName=1,
        Exchange=1,
        Body=1,
        Nat=range(0, 2),
        queues=2,
        me=(Node("Node1"),),
        ring=(0, 1),
    )
    # Each queue has a place for one message, so that nothing comes back in front of another one.
    large = Scope(
        QueueName=2,
        queues=1,
        ring=(0,),
        expects=Expect(is_given_back_in_its_order="unknown"),
    )


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
        """Nothing from a node that left is pushed any more; this one has not left."""
        routed = key.id not in self.routing or key.queue in self.routing[key.id]
        unknown = 0 if key.id.node == self.me else key.id.seq + 1
        return routed and key.id.seq < self.created.get(key.id.node, unknown)

    @invariant
    def routed_messages_are_created(self) -> bool:
        """In the order of their numbers (Q15, Q24)."""
        return self.created.get(self.me, 0) <= self.sequence and all(
            id.seq < self.created.get(id.node, 0) for id in self.routing
        )
