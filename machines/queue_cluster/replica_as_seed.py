"""Messages to the letter: the plan's text where `replica.py` deviates.

Source: `new-cluster-plan.org`, cited as in `declaration.py`. Q-B7: a message is on its queue at its
origin before other nodes have it, so that queues differ in their order. Q-B8: a rejected message is
enqueued again under a number of the rejecting node that belongs to another message, and the entry
prepared for it stays for ever. Q-B10: every dequeued message is assumed to be acquired.
`ReplicaRinging` is repaired except for one thing: a ring queue removes a message that no consumer
of this node has, as each broker would.

If the document has several multicasts for one step, they are sent one after the other. Its maps of
messages that are being routed, one for each node, are one map here, keyed by the whole ID. To look
up a missing entry violates an assertion.
"""

from lawful import Nat, require, transition

from .declaration import Node
from .replica import (
    Create,
    Dequeue,
    Enqueue,
    Key,
    MessageId,
    Multicast,
    QueueName,
    Reject,
    Replica,
    ReplicaFixed,
    Routed,
)


class ReplicaPushing(Replica):
    """On its queue at the origin at once, elsewhere when its enqueue is delivered (Q-B7)."""

    @transition()
    def enqueue(self, q: QueueName) -> tuple[Multicast, ...]:
        """An intercept of an enqueue that has already happened here [seed:109-116]."""
        require(q not in self.routed_to, "once to each queue")
        self.routed_to.add(q)
        seq = self.sequence if self.routing_here is None else self.routing_here
        key = Key(MessageId(self.me, seq), q)
        self.queues[q].append(key.id)
        if self.routing_here is None:
            self.sequence += 1
            self.routing_here = seq
            self.local.add(seq)
            return Create(seq), Enqueue(key)
        return (Enqueue(key),)

    @transition()
    def enqueue_delivered(self, sender: Node, key: Key) -> None:
        """[seed:169-176]."""
        self.receive(sender)
        require(key.id.node == sender, "its origin routes it")
        require(key.id in self.routing, "it is not routed")
        require(key.queue not in self.routing[key.id], "once to each queue")
        self.routing[key.id].add(key.queue)
        if sender != self.me:
            self.push(key)


class ReplicaAsSeed(ReplicaPushing):
    """`BrokerHandler` and `MessageHandler` as the document sketches them."""

    @transition()
    def reject(self, key: Key, to: QueueName | None) -> tuple[Multicast, ...]:
        """The alternate exchange routes it [seed:138-144]. It already has an ID, so it is not
        created, and the multicast contains only the number of that ID [seed:116] (Q-B8)."""
        require(key.queue != to, "is rejected by this queue")
        self.settle(key)
        seq = key.id.seq
        if to is None:
            return Reject(key, seq, to), Dequeue(key)
        alternate = Enqueue(Key(MessageId(self.me, seq), to))
        return Reject(key, seq, to), alternate, Routed(seq), Dequeue(key)

    @transition()
    def create_delivered(self, sender: Node, seq: Nat) -> None:
        """[seed:166-167]."""
        self.receive(sender)
        self.count(sender, seq)
        if sender != self.me:
            self.routing[MessageId(sender, seq)] = set()

    @transition()
    def enqueue_delivered(self, sender: Node, key: Key) -> None:
        """Others push it [seed:169-176]."""
        self.receive(sender)
        if sender == self.me:
            assert key.id.seq in self.local
        else:
            assert key.id in self.routing
            self.queues[key.queue].append(key.id)

    @transition()
    def routed_delivered(self, sender: Node, seq: Nat) -> None:
        """[seed:178-180]."""
        self.receive(sender)
        if sender == self.me:
            self.local.discard(seq)
        elif MessageId(sender, seq) in self.routing:
            del self.routing[MessageId(sender, seq)]

    @transition()
    def reject_delivered(self, sender: Node, m: Reject) -> None:
        """ "Prepare for re-queueing" [seed:194-195]; no node ever sends `rejected` (Q-B8)."""
        self.receive(sender)
        self.routing[m.key.id] = set()

    @transition()
    def dequeue_delivered(self, sender: Node, key: Key) -> None:
        """`node[entry.acquired]`, even if no node has acquired it [seed:200-205] (Q-B10)."""
        self.settled(sender, key)
        del self.acquired[key]
        self.queues[key.queue].remove(key.id)


class ReplicaRinging(ReplicaFixed):
    """Removes a message that is free as far as this node knows: its own consumers may have taken
    another, which other nodes do not know yet (Q8, Q17)."""

    def push(self, key: Key) -> None:
        self.queues[key.queue].append(key.id)
        if self.ring > 0 and len(self.queues[key.queue]) > self.ring:
            ids = self.queues[key.queue]
            oldest = next((id for id in ids if self.free(Key(id, key.queue))), key.id)
            self.remove(Key(oldest, key.queue))
