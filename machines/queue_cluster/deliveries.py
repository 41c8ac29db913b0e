"""The queue cluster, composed: what a multicast about messages is to the replica of a node.

Source: `new-cluster-plan.org`, as in `declaration.py`.
"""

from .joining import Updatee
from .ledger import Ledger
from .messages import (
    AboutMessages,
    Acquire,
    Create,
    Dequeue,
    Enqueue,
    Node,
    Reject,
    Requeue,
    Routed,
)


class Deliveries(Ledger, abstract=True):
    """Replicas, and the deliver thread of each."""

    replicas: dict[Node, Updatee] = {}

    def handle_message(self, n: Node, sender: Node, said: AboutMessages) -> bool:
        """At the node n; return whether this completes what a client of it published (Q46)."""
        match said:
            case Create(seq=seq, body=body):
                self.replicas[n].create_delivered(sender, seq, body)
            case Enqueue(key=key):
                self.replicas[n].enqueue_delivered(sender, key)
            case Routed(seq=seq):
                return self.replicas[n].routed_delivered(sender, seq)
            case Acquire(key=key):
                self.replicas[n].acquire_delivered(sender, key)
            case Requeue(key=key):
                self.replicas[n].requeue_delivered(sender, key)
            case Dequeue(key=key):
                self.replicas[n].dequeue_delivered(sender, key)
            case Reject():
                self.replicas[n].reject_delivered(sender, said)
        return False
