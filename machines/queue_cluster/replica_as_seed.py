"""Messages to the letter: the plan's text where `replica.py` deviates, of one node and of all.

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

from lawful import Expect, Nat, Scope, initial, needed, require, transition

from .messages import (
    AboutMessages,
    Body,
    Create,
    Dequeue,
    Enqueue,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Routed,
)
from .replica import Replica, ReplicaFixed
from .replication import Quiet, Ring


class ReplicaPushing(Replica):
    """On its queue at the origin at once, elsewhere when its enqueue is delivered (Q-B7)."""

    # What goes wrong needs one message.
    scope = Scope(
        {"MessageId.seq": range(0, 1)},
        Node=2,
        QueueName=1,
        Exchange=1,
        Body=1,
        Nat=range(0, 2),
        queues=2,
        me=(Node("Node1"),),
        ring=(0,),
    )
    expects = Expect(
        each_is_queued_once=("violated", 9),
        what_is_held_is_acquired=("violated", 13),
        what_is_settled_is_given_up=("violated", 14),
    )

    @transition()
    def publish(self, body: Body) -> Create:
        """`localMessage[seq]` has it from here on [seed:113]."""
        said = super().publish(body)
        self.bodies[MessageId(self.me, said.seq)] = body
        return said

    def is_needed(self, id: MessageId) -> bool:
        return (id.node == self.me and id.seq in self.local) or super().is_needed(id)

    @transition()
    def enqueue(self, seq: Nat, q: QueueName) -> Enqueue:
        """An intercept of an enqueue that has already happened here [seed:109-116]."""
        said = super().enqueue(seq, q)
        self.queues[q].append(said.key.id)
        return said

    @transition()
    def enqueue_delivered(self, sender: Node, key: Key) -> None:
        """[seed:169-176]."""
        require(key.id.node == sender, "its origin routes it")
        require(key.id in self.routing, "it is not routed")
        require(key.queue not in self.routing[key.id], "once to each queue")
        self.routing[key.id].add(key.queue)
        if sender != self.me:
            self.push(key)


class ReplicaAsSeed(ReplicaPushing):
    """`BrokerHandler` and `MessageHandler` as the document sketches them."""

    # With one place, a queue has no second message that it could give back in its order.
    scope = Scope(
        {"MessageId.seq": range(0, 1)},
        Node=2,
        QueueName=1,
        Exchange=1,
        Body=1,
        Nat=range(0, 2),
        queues=1,
        me=(Node("Node1"),),
        ring=(0,),
    )
    expects = Expect(
        asserts=("violated", 1),
        undefined=("undefined", 1),
        each_is_queued_once="holds-within-scope",
        bodies_are_kept_while_needed=("violated", 3),
        routed_messages_have_bodies=("violated", 1),
        what_is_held_is_acquired=("violated", 7),
        what_is_settled_is_given_up=("violated", 8),
        what_is_routed_here_is_kept=("violated", 2),
        this_node_routes_its_own=("violated", 1),
        is_given_back_in_its_order="unknown",
    )

    @transition()
    def reject(self, key: Key, to: QueueName | None) -> tuple[AboutMessages, ...]:
        """The alternate exchange routes it [seed:138-144]. It already has an ID, so it is not
        created, and the multicast contains only the number of that ID [seed:116] (Q-B8)."""
        require(key.queue != to, "is rejected by this queue")
        body = needed(self.bodies.get(key.id), "it has gone with its queue")
        self.settle(key)
        seq = key.id.seq
        said = Reject(key, seq, to, body)
        if to is None:
            return said, Dequeue(key)
        alternate = Enqueue(Key(MessageId(self.me, seq), to))
        return said, alternate, Routed(seq), Dequeue(key)

    @transition()
    def create_delivered(self, sender: Node, seq: Nat, body: Body) -> None:
        """[seed:166-167]."""
        self.count(sender, seq)
        if sender != self.me:
            self.routing[MessageId(sender, seq)] = set()
            self.bodies[MessageId(sender, seq)] = body

    @transition()
    def enqueue_delivered(self, sender: Node, key: Key) -> None:
        """Others push it [seed:169-176]."""
        if sender == self.me:
            assert key.id.seq in self.local
        else:
            assert key.id in self.routing
            self.queues[key.queue].append(key.id)

    @transition()
    def routed_delivered(self, sender: Node, seq: Nat) -> bool:
        """[seed:178-180]."""
        if sender == self.me:
            self.local.discard(seq)
        elif MessageId(sender, seq) in self.routing:
            del self.routing[MessageId(sender, seq)]
        self.forget(MessageId(sender, seq))
        return sender == self.me

    @transition()
    def reject_delivered(self, sender: Node, m: Reject) -> None:
        """ "Prepare for re-queueing" [seed:194-195]; no node ever sends `rejected` (Q-B8)."""
        self.routing[m.key.id] = set()

    @transition()
    def dequeue_delivered(self, sender: Node, key: Key) -> None:
        """`node[entry.acquired]`, even if no node has acquired it [seed:200-205] (Q-B10)."""
        self.settled(sender, key)
        del self.acquired[key]
        self.queues[key.queue].remove(key.id)
        self.redelivered.discard(key)
        self.forget(key.id)


class ReplicaRinging(ReplicaFixed):
    """Removes a message that is free as far as this node knows: its own consumers may have taken
    another, which other nodes do not know yet (Q8, Q17)."""

    def oldest(self, new: Key) -> MessageId:
        ids = self.queues[new.queue]
        return next((id for id in ids if self.free(Key(id, new.queue))), new.id)


# In a whole cluster.


class ReplicationAsSeed(Quiet):
    """A published message is on its queue here at once (Q-B7); a rejected message is enqueued under
    a number that is not its own (Q-B8); an expired message is assumed to be acquired (Q-B10)."""

    nodes: dict[Node, ReplicaAsSeed] = {}

    @initial
    def begin(self, first: Node) -> None:
        for n in Node:
            self.nodes[n] = ReplicaAsSeed(me=n)
            self.declare_all(n)
        self.owner = {n: first for n in Node}

    scope = Scope(
        {"MessageId.seq": range(0, 2)},
        Node=2,
        QueueName=2,
        Exchange=1,
        Body=1,
        Nat=range(0, 3),
        inbox=2,
        outbox=8,
        queues=2,
        messages=(1,),
        lag=(1,),
        crashes=(0,),
        passes=(0,),
    )
    expects = Expect(
        asserts=("violated", 17),
        undefined=("undefined", 10),
        replicas_agree=("violated", 1),
        routing_ends=("violated", 21),
        everything_is_consumed=("violated", 16),
        publishing_completes=("violated", 9),
        **{"nodes.this_node_routes_its_own": ("violated", 17)},
    )


class ReplicationPushing(Quiet):
    """Repaired, except that a message is on its queue at once: if two nodes publish, each has its
    own message first (Q-B7)."""

    nodes: dict[Node, ReplicaPushing] = {}

    @initial
    def begin(self, first: Node) -> None:
        for n in Node:
            self.nodes[n] = ReplicaPushing(me=n)
            self.declare_all(n)
        self.owner = {n: first for n in Node}

    expects = Expect(replicas_agree=("violated", 1), queues_have_one_order=("violated", 13))


class ReplicationRinging(Ring):
    """If a queue keeps one message, replicas remove different ones (Q8, Q17)."""

    nodes: dict[Node, ReplicaRinging] = {}

    @initial
    def begin(self, first: Node) -> None:
        for n in Node:
            self.nodes[n] = ReplicaRinging(me=n, ring=1)
            self.declare_all(n)
        self.owner = {n: first for n in Node}

    expects = Expect(replicas_agree=("violated", 15))
