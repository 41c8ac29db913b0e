"""Replication of messages in a whole cluster: as the document describes it, and with ring queues
that each replica shortens by itself.

Source: `new-cluster-plan.org`. These machines have the nodes of `replica_as_seed.py`.
"""

from lawful import Expect, Scope, initial

from .messages import Node
from .replica_as_seed import ReplicaAsSeed, ReplicaPushing, ReplicaRinging
from .replication import Quiet, Ring


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
