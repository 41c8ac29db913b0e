"""The queue cluster, composed: what it promises to clients.

Source: `new-cluster-plan.org`, as in `declaration.py`. The properties speak of what clients see,
and of what the multicasts in their order amount to: the ledger of `brokers.py`.
"""

from lawful import (
    Fairness,
    Nat,
    Scope,
    Strong,
    Weak,
    can,
    invariant,
    leads_to,
    reachable,
    step_property,
)

from .brokers import Brokers
from .ledger import Of
from .messages import (
    Acquire,
    Declare,
    Dequeue,
    Destroy,
    Done,
    Key,
    Node,
    QueueName,
    Reject,
    Requeue,
)
from .ownership import Ownership
from .system import Known


class BrokersFixed(Brokers):
    """The promises."""

    @invariant
    def at_most_one_owner(self, q: QueueName) -> bool:
        """At any time [seed:241-244] (Q32)."""
        return (
            sum(
                1
                for n in self.replicas
                if (n, q) in self.owners
                and self.owners[n, q].state in (Ownership.OWNED, Ownership.STOPPING)
            )
            <= 1
        )

    @invariant
    def one_client_has_it(self) -> bool:
        """A message is delivered elsewhere only after it was given back, or its node has left (Q20,
        Q26)."""
        return all(
            a == b or one.held.isdisjoint(other.held)
            for a, one in self.replicas.items()
            for b, other in self.replicas.items()
        )

    @invariant
    def nobody_gets_what_is_gone(self) -> bool:
        """No message is acquired after it was dequeued or rejected (Q28)."""
        return all(replica.held.isdisjoint(self.gone) for replica in self.replicas.values())

    @invariant
    def messages_are_taken_in_turn(self) -> bool:
        """A consumer gets the first message that is free, also one that came back (Q20, Q26)."""
        return not self.out_of_turn

    @invariant
    def what_was_published_is_delivered(self) -> bool:
        """The right body, and whether another client may have had the message (Q18, Q20, Q29)."""
        return not self.misled

    @invariant
    def replicas_have_what_was_said(self, n: Node) -> bool:
        """A node that has handled everything has the queues of the ledger: the same messages in the
        same order, acquired by the same nodes; after a join, too (Q23, Q24, Q27, Q48, Q56)."""
        return not self.is_up_to_date(n) or (
            self.replicas[n].bindings == self.bound
            and self.replicas[n].queues == self.queued
            and self.replicas[n].acquired == self.taken
            and all(
                self.replicas[n].bodies[id] == self.content[id]
                and (Key(id, q) in self.replicas[n].redelivered) == (Key(id, q) in self.again)
                for q, ids in self.queued.items()
                for id in ids
            )
        )

    def is_up_to_date(self, n: Node) -> bool:
        return (
            n in self.replicas
            and n not in self.waiting
            and len(self.inbox[n]) == 0
            and len(self.replicas[n].updating) == 0
        )

    @invariant
    def owners_know_what_was_said(self, n: Node, q: QueueName) -> bool:
        """It knows the owner and who is interested; after a join, too (Q37, Q48)."""
        return (
            n not in self.replicas
            or n in self.waiting
            or len(self.inbox[n]) > 0
            or (q in self.known) != self.lasts(n, q)
            or q not in self.known
            or self.known[q]
            == Known(self.owners[n, q].owner, frozenset(self.owners[n, q].consumers))
        )

    @invariant
    def every_queue_is_everywhere(self, n: Node, q: QueueName) -> bool:
        """A queue is at each node that has handled its declaration, until its destruction (Q43,
        Q47)."""
        return (
            n not in self.replicas
            or n in self.waiting
            or len(self.inbox[n]) > 0
            or (
                (q in self.known) == self.lasts(n, q)
                and (q in self.known) == (q in self.replicas[n].queues)
            )
        )

    @invariant
    def in_the_end_somebody_interested_owns_it(self, q: QueueName) -> bool:
        """Once everything is handled, an interested node owns the queue; if none is, no node
        (Q32, Q33)."""
        calm = self.quiet() and all(
            owner.state not in (Ownership.STOPPING, Ownership.UPDATING) and not owner.granted()
            for owner in self.owners.values()
        )
        if not calm or q not in self.known:
            return True
        owner = self.known[q].owner
        interested = any(self.wants(n, q) for n in self.replicas)
        return (not interested) if owner is None else self.wants(owner, q)

    def wants(self, n: Node, q: QueueName) -> bool:
        return (n, q) in self.owners and self.owners[n, q].consumers_here > 0

    @invariant
    def what_is_under_way_is_remembered(self, n: Node) -> bool:
        """Each multicast is what its sender remembers as sent (Q10, Q20, Q36)."""
        if n not in self.replicas:
            return True
        said = [m.said for m in self.inbox[n] if m.sender == n] + self.outbox[n]
        one = self.replicas[n]
        return (
            one.acquiring == {m.key for m in said if isinstance(m, Acquire)}
            and one.settling == {m.key for m in said if isinstance(m, Requeue | Dequeue | Reject)}
            and all(
                self.owners[n, q].sent
                == [
                    m.said
                    for m in said
                    if isinstance(m, Of) and m.queue == q and m.declared == one.declared[q]
                ]
                for q in QueueName
                if self.lasts(n, q)
            )
        )

    @step_property
    def handling_ends_no_consumer(self, after: "BrokersFixed") -> bool:
        """A consumer that is busy is counted until it leaves, whatever its node handles; also one
        of a queue that is destroyed and declared again (Q31, Q43)."""
        return all(
            after.busy(n, q) == self.busy(n, q)
            for n in after.replicas
            if len(after.inbox[n]) < len(self.inbox[n])
            for q in QueueName
        )

    def busy(self, n: Node, q: QueueName) -> Nat:
        return self.owners[n, q].busy if (n, q) in self.owners else 0

    @invariant
    def what_has_its_place_is_handled(self, n: Node) -> bool:
        """No node refuses what comes next in the order; it waits at most until its consumers have
        left a queue that was destroyed (Q24, Q26, Q31, Q37, Q56)."""
        if n not in self.replicas or n in self.waiting or len(self.inbox[n]) == 0:
            return True
        said = self.inbox[n][0].said
        return can(self.handle, n) or (isinstance(said, Declare) and self.ends(n, said.queue))

    @invariant
    def an_update_goes_on_until_it_is_done(self, u: Node, n: Node, q: QueueName) -> bool:
        """The updater still sends the queue, or has said that this is done, or the queue is
        destroyed (Q43, Q56)."""
        if (u, n) not in self.updaters or q not in self.replicas[n].updating:
            return True
        return (
            q in self.updaters[u, n].to_send
            or Done(q) in self.link[n]
            or any(m.said == Destroy(q) for m in self.inbox[n])
        )

    @reachable
    def is_consumed_elsewhere(self) -> bool:
        """A message is consumed at another node than its publisher's."""
        return any(key.id.node != n for n, one in self.replicas.items() for key in one.held)

    scope = Scope(
        {"MessageId.seq": range(0, 2)},
        Node=2,
        QueueName=1,
        Exchange=1,
        Body=1,
        Nat=range(0, 3),
        inbox=2,
        outbox=6,
        link=3,
        queues=2,
        queued=2,
        sent=4,
        to_send=2,
        messages=(1,),
        changes=(2,),
        returns=(1,),
        lag=(1,),
    )
    # A consumer of a queue with a message, a requeue or a reject, while another node joins.
    joining = Scope(joins=(1,), changes=(1,))
    # A node joins while the last consumer of the owner leaves.
    leaving = Scope(joins=(1,), changes=(2,), messages=(0,), returns=(0,))
    # A node crashes, with what it has and what it said.
    crashing = Scope(crashes=(1,), returns=(0,))
    # Two nodes declare one queue, and it is destroyed in between.
    declaring = Scope(declares=(1,), wirings=(2,), destroys=(1,), changes=(1,), returns=(0,))


class BrokersLive(BrokersFixed):
    """What happens in the end, if threads, clients and the group go on."""

    @leads_to
    def who_is_busy_ends(self, n: Node, q: QueueName) -> tuple[bool, bool]:
        """A consumer that began to take a message has taken one, or found none (Q31)."""
        return self.busy(n, q) > 0, self.busy(n, q) == 0

    @leads_to
    def what_is_acquired_is_settled(self, key: Key) -> tuple[bool, bool]:
        """A message that a node was granted is accepted, given back or rejected, or its node has
        left, or its queue is destroyed (Q20, Q26, Q28, Q29)."""
        return key in self.taken, key not in self.taken

    @leads_to
    def who_joins_gets_every_queue(self, n: Node) -> tuple[bool, bool]:
        """It knows at last what is on each queue, and its consumers may run (Q48, Q56)."""
        return n in self.replicas and not self.is_complete(n), self.is_complete(n)

    def is_complete(self, n: Node) -> bool:
        return (
            n in self.replicas
            and n not in self.waiting
            and len(self.replicas[n].updating) == 0
            and all(
                self.owners[n, q].state != Ownership.UPDATING
                for q in QueueName
                if (n, q) in self.owners
            )
        )

    # Multicasts get their places, nodes handle them, an updater sends; consumers leave, and clients
    # accept what they have.
    fairness = Fairness(
        Strong("place"),
        Weak("handle"),
        Weak("stopped"),
        Weak("dispatched"),
        Weak("accept"),
        Weak("send"),
        Weak("done"),
        Weak("receive"),
    )
