"""A message keeps its body, wherever it goes: the invariants that prove it.

Source: `new-cluster-plan.org`, as in `replica.py`. The ghost `bodies` of `Replication` keeps what
was published. A reject gives the message another number, and carries its body (Q21).
"""

from lawful import invariant

from .messages import AboutMessages, Create, Enqueue, MessageId, Node, Reject
from .replication import Pass, Replication
from .system import Left


class KeptBodies(Replication, abstract=True):
    """Every node with its replica of the queues."""

    @invariant
    def bodies_have_used_numbers(self) -> bool:
        return all(
            id.node not in self.nodes or id.seq < self.nodes[id.node].sequence for id in self.bodies
        ) and all(
            not isinstance(m, Reject) or MessageId(n, m.seq) not in self.bodies
            for n in self.nodes
            for m in self.outbox[n]
        )

    @invariant
    def what_is_enqueued_has_its_body(self) -> bool:
        """What is on a queue in the order, or will be, was published (Q18)."""
        return all(key.id in self.bodies for key in self.enqueued) and all(
            not isinstance(m, Enqueue) or m.key.id in self.bodies
            for n in self.nodes
            for m in self.outbox[n]
        )

    @invariant
    def every_body_is_the_one_published(self) -> bool:
        """That which a node keeps, and that which is on its way (Q18, Q27)."""
        return (
            all(
                self.bodies.get(id) == body
                for node in self.nodes.values()
                for id, body in node.bodies.items()
            )
            and all(self.body_is_right(n, m) for n in self.nodes for m in self.outbox[n])
            and all(self.body_is_right(m.sender, m.said) for n in self.nodes for m in self.inbox[n])
            and all(
                not isinstance(m.said, Reject)
                or self.bodies.get(MessageId(m.sender, m.said.seq)) == m.said.body
                for n in self.nodes
                for m in self.inbox[n]
            )
        )

    def body_is_right(self, n: Node, m: AboutMessages | Pass | Left) -> bool:
        match m:
            case Create(seq=seq, body=body):
                return self.bodies.get(MessageId(n, seq)) == body
            case Reject(key=key, body=body):
                return self.bodies.get(key.id) == body
            case _:
                return True
