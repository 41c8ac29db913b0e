"""Queue cluster: what one replica answers to clients, accepts of the group, and refuses.

Source: `new-cluster-plan.org`, as in `declaration.py`. `clients.py` has the steps: the embedded
`Updatee`, and everything that calls it.
"""

from lawful import Nat, Scope, can, implies, invariant

from .clients import Clients
from .messages import (
    Acquire,
    Body,
    Create,
    Dequeue,
    Exchange,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Requeue,
    Routed,
)


class ClientsFixed(Clients):
    """The properties."""

    # What clients and the group may rely on.

    @invariant
    def what_is_said_is_what_was_asked(self) -> bool:
        """The multicast of each event, the answer to an updater, and the completion (Q10, Q18, Q20,
        Q21, Q46, Q56)."""
        return not self.misspoken

    @invariant
    def clients_get_the_first_that_is_free(self) -> bool:
        """The right body, and whether it comes again (Q20, Q29)."""
        return not self.misled and not self.out_of_turn

    @invariant
    def queues_are_as_said(self) -> bool:
        """Their messages in order, who has which, what comes again, and to which exchanges they are
        bound (Q17, Q23, Q24, Q26, Q27, Q28, Q29, Q47)."""
        one = self.replicas[self.me]
        return (
            one.queues == self.queued
            and one.acquired == self.taken
            and one.redelivered == {key for key in self.again if self.is_queued(key)}
            and one.bindings == self.bound
            and one.declared == self.made
            and one.declarations == self.makings
        )

    @invariant
    def bodies_are_as_published(self) -> bool:
        """It has the bodies of messages that are queued or routed (Q18, Q22, Q25)."""
        one = self.replicas[self.me]
        return one.bodies == {id: body for id, body in self.content.items() if self.is_wanted(id)}

    @invariant
    def routing_is_as_said(self) -> bool:
        """What is being routed, and how many numbers each member has used (Q15, Q24, Q25, Q29)."""
        one = self.replicas[self.me]
        return one.routing == self.routes and one.created == self.used

    @invariant
    def nothing_of_this_node_is_forgotten(self) -> bool:
        """What its clients have, what its threads route, and what it said (Q9, Q10, Q20)."""
        one = self.replicas[self.me]
        back = {m.seq for m in self.said if isinstance(m, Routed)}
        return (
            one.held == self.having
            and one.publishing == self.threads
            and one.sequence == self.numbers
            and one.local == set(self.threads) | back
            and one.acquiring == {m.key for m in self.said if isinstance(m, Acquire)}
            and one.settling
            == {m.key for m in self.said if isinstance(m, Requeue | Dequeue | Reject)}
        )

    @invariant
    def a_member_keeps_no_update_in_mind(self) -> bool:
        """Nobody updates it (Q56)."""
        one = self.replicas[self.me]
        return (one.heard, one.left) == ({}, set()) and (one.told, one.gone, one.updating) == (
            set(),
            set(),
            set(),
        )

    # What is possible for the replica itself: the machine around it has budgets.

    @invariant
    def clients_may_publish(self, seq: Nat, q: QueueName, body: Body) -> bool:
        """At any time, to each queue once (Q16, Q18, Q19)."""
        one = self.replicas[self.me]
        routed = seq in self.threads
        new = routed and q in self.queued and q not in self.threads[seq]
        return (
            can(one.publish, body)
            and can(one.enqueue, seq, q) == new
            and can(one.routed, seq) == routed
        )

    @invariant
    def clients_may_take_what_is_free(self, key: Key) -> bool:
        """(Q20, Q22, Q50, Q-B10)"""
        one = self.replicas[self.me]
        some = self.first_free(key.queue) is not None
        return can(one.acquire, key.queue) == some and can(one.expire, key) == self.is_free(key)

    @invariant
    def clients_may_settle_what_they_have(self, key: Key, to: QueueName | None) -> bool:
        """A reject needs another queue that is there, or none, and a message that is there (Q20,
        Q21)."""
        one = self.replicas[self.me]
        has = key in self.having
        routes = (to is None or to in self.queued) and to != key.queue
        return (
            can(one.accept, key) == has
            and can(one.release, key) == has
            and can(one.reject, key, to) == (has and routes and self.is_wanted(key.id))
        )

    @invariant
    def clients_may_wire(self, exchange: Exchange, q: QueueName) -> bool:
        """They declare what is not there, and bind and destroy what is (Q47)."""
        one = self.replicas[self.me]
        known = q in self.queued
        return (
            can(one.declare, q) != known
            and can(one.bind, exchange, q) == known
            and can(one.destroy, q) == known
        )

    @invariant
    def what_is_delivered_is_handled(self, n: Node, q: QueueName) -> bool:
        """This node's own, the wiring, and that a member leaves (Q24, Q26, Q29, Q47)."""
        one = self.replicas[self.me]
        return (
            can(self.come_back) == (len(self.said) > 0)
            and can(one.member_leaves, n) == (n != self.me)
            and can(one.declare_delivered, q)
            and can(one.destroy_delivered, q)
        )

    @invariant
    def numbers_are_used_in_turn(self, n: Node, seq: Nat, body: Body) -> bool:
        """Each once; a node that left comes back with another ID (Q15, Q29)."""
        used = n in self.absent and any(key.id.node == n for key in self.known_keys())
        new = seq == self.used.get(n, 0) and not used
        return n == self.me or can(self.replicas[self.me].create_delivered, n, seq, body) == new

    def known_keys(self) -> set[Key]:
        """What is on a queue, or what a client here had and has not settled in the order."""
        mine = {m.key for m in self.said if isinstance(m, Acquire | Requeue | Dequeue | Reject)}
        return mine | self.having | {Key(id, q) for q, ids in self.queued.items() for id in ids}

    @invariant
    def what_is_routed_is_created(self, n: Node, seq: Nat, q: QueueName) -> bool:
        """It is enqueued by its origin, to each queue once (Q24, Q25)."""
        one = self.replicas[self.me]
        id = MessageId(n, seq)
        new = id in self.routes and q not in self.routes[id]
        return n == self.me or (
            can(one.enqueue_delivered, n, Key(id, q)) == new
            and can(one.routed_delivered, n, seq) == (id in self.routes)
            and not can(one.enqueue_delivered, self.me, Key(id, q))
        )

    @invariant
    def what_somebody_has_is_not_taken(self, n: Node, key: Key) -> bool:
        """Another node acquires what is free in the order, and removes that or its own (Q26, Q28,
        Q-B10)."""
        one = self.replicas[self.me]
        free = key not in self.taken and Acquire(key) not in self.said
        return n == self.me or (
            can(one.acquire_delivered, n, key) == (free or not self.is_queued(key))
            and can(one.dequeue_delivered, n, key) == (free or self.taken.get(key) == n)
            and can(one.requeue_delivered, n, key)
        )

    @invariant
    def nobody_speaks_for_this_node(self, key: Key, body: Body) -> bool:
        """The group gives back what this node said, and nothing else (Q24, Q26, Q28)."""
        one = self.replicas[self.me]
        me = self.me
        said = {m.key for m in self.said if isinstance(m, Acquire)}
        done = {m.key for m in self.said if isinstance(m, Requeue | Dequeue | Reject)} - said
        return (
            can(one.acquire_delivered, me, key) == (key in said)
            and can(one.requeue_delivered, me, key) == (key in done)
            and implies(can(one.dequeue_delivered, me, key), key in done)
            and implies(can(one.routed_delivered, me, key.id.seq), Routed(key.id.seq) in self.said)
            and implies(
                can(one.create_delivered, me, key.id.seq, body),
                Create(key.id.seq, body) in self.said,
            )
        )

    @invariant
    def numbers_of_this_node_are_its_own(self, m: Reject) -> bool:
        """What it rejected comes back, with a number that it has used (Q15, Q27)."""
        used = m.seq < self.numbers and self.is_under_way(m.key)
        return implies(can(self.replicas[self.me].reject_delivered, self.me, m), used)

    @invariant
    def only_who_has_nothing_is_welcomed(self) -> bool:
        """A member is brought up to date by nobody (Q48)."""
        one = self.replicas[self.me]
        wiring, bindings = self.declared_of(self.me), frozenset(one.bindings)
        counts, routes = self.counts_of(self.me), self.routes_of(self.me)
        nothing = len(self.queued) == 0 and len(self.used) == 0
        return nothing == can(one.welcome, wiring, one.declarations, bindings, counts, routes)

    scope = Scope(
        {"MessageId.seq": range(0, 1)},
        Node=2,
        QueueName=1,
        Exchange=1,
        Body=1,
        Nat=range(0, 2),
        queues=2,
        queued=2,
        said=2,
        me=(Node("Node1"),),
        ring=(0,),
        wirings=(0,),
    )
    # Queues are declared, bound and destroyed.
    wiring = Scope(said=1, wirings=(1,))
    # A queue keeps one message.
    ringing = Scope(ring=(1,))
    # Messages are rejected to a queue that is not there.
    dead_letters = Scope(QueueName=2, queued=1, queues=1, said=1)
    # A rejected message comes to the other queue, behind one that is there. Nobody else is there.
    rejecting = Scope(
        {"MessageId.seq": range(0, 2), "Create.seq": range(0, 1)},
        Node=1,
        Nat=range(0, 3),
        QueueName=2,
        queued=2,
        queues=2,
        said=2,
    )
    # Its queue is destroyed while it is rejected.
    destroying = Scope(
        {"MessageId.seq": range(0, 2), "Create.seq": range(0, 1)},
        Node=1,
        Nat=range(0, 3),
        QueueName=2,
        queued=2,
        queues=2,
        said=2,
        wirings=(1,),
    )
    # Nobody else is there, so that two messages are few enough.
    alone = Scope({"MessageId.seq": range(0, 2)}, Node=1, Nat=range(0, 3))
    # Two queues and two exchanges come and go. Nothing is published.
    rewiring = Scope(
        {
            "wired": range(0, 4),
            "declarations": range(0, 4),
            "declared": range(0, 3),
            "makings": range(0, 4),
            "made": range(0, 3),
            "sequence": range(0, 1),
            "numbers": range(0, 1),
        },
        Node=1,
        QueueName=2,
        Exchange=2,
        queues=1,
        queued=1,
        said=2,
        wirings=(3,),
    )
