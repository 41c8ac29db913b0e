"""Messages to the letter: what the plan says where `replica.py` deviates.

Source: `new-cluster-plan.org`, cited as in `declaration.py`. Q-B7: a message is on its queue where
it is published before the others have it, so that queues differ in their order. Q-B8: a rejected
message is enqueued again under a number of whoever rejects it, which is not its own, and what was
prepared for that stays for ever. Q-B10: what is dequeued is taken for acquired. `ReplicaRinging` is
as it has to be but for one thing: a ring queue removes what nobody here has, as each broker would.

Where the document has several multicasts for one step, they are said in a row. Its maps of messages
that are being routed, one for each node, are one map here, keyed by the whole ID; a look-up of what
is not there is an assertion.
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
    """On its queue here at once, at the others when its enqueue is delivered (Q-B7)."""

    @transition()
    def enqueue(self, q: QueueName) -> tuple[Multicast, ...]:
        """An intercept of what has happened here already [seed:109-116]."""
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
    """`BrokerHandler` and `MessageHandler` as they are sketched."""

    @transition()
    def reject(self, key: Key, to: QueueName | None) -> tuple[Multicast, ...]:
        """And the alternate exchange routes it [seed:138-144]: it has an ID, so that it is not
        created, and of that its number alone is told [seed:116] (Q-B8)."""
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
        """ "Prepare for re-queueing" [seed:194-195]; nobody ever says `rejected` (Q-B8)."""
        self.receive(sender)
        self.routing[m.key.id] = set()

    @transition()
    def dequeue_delivered(self, sender: Node, key: Key) -> None:
        """`node[entry.acquired]`, also where nobody has acquired it [seed:200-205] (Q-B10)."""
        self.settled(sender, key)
        del self.acquired[key]
        self.queues[key.queue].remove(key.id)


class ReplicaRinging(ReplicaFixed):
    """Removes what is free as far as this node knows: its own consumers may have taken it, and the
    others do not know yet (Q8, Q17)."""

    def push(self, key: Key) -> None:
        self.queues[key.queue].append(key.id)
        if self.ring > 0 and len(self.queues[key.queue]) > self.ring:
            ids = self.queues[key.queue]
            oldest = next((id for id in ids if self.free(Key(id, key.queue))), key.id)
            self.remove(Key(oldest, key.queue))
