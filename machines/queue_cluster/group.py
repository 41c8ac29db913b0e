"""Queue cluster: what other nodes say of messages, as one or two nodes of it hear it.

Source: `new-cluster-plan.org`, as in `declaration.py`. Beside the ledger, this is history: what is
being routed, and which numbers are used. `clients.py` and `updates.py` use it.
"""

from lawful import Ghost, Nat

from .deliveries import Deliveries
from .messages import AboutMessages, Create, Enqueue, MessageId, Node, QueueName, Reject, Routed


class Group(Deliveries, abstract=True):
    """Members come and speak until they leave."""

    absent: set[Node] = set()
    # In the order: the messages that are being routed, and how many numbers each node has used.
    routes: Ghost[dict[MessageId, set[QueueName]]] = {}
    used: Ghost[dict[Node, Nat]] = {}

    def note_routing(self, n: Node, m: AboutMessages) -> None:
        match m:
            case Create(seq=seq):
                self.routes[MessageId(n, seq)] = set()
                self.used[n] = seq + 1
            case Enqueue(key=key):
                if key.id in self.routes:
                    self.routes[key.id].add(key.queue)
            case Routed(seq=seq):
                if MessageId(n, seq) in self.routes:
                    del self.routes[MessageId(n, seq)]
            case Reject(seq=seq):
                self.used[n] = seq + 1
            case _:
                pass

    def note_absence(self, n: Node) -> None:
        self.absent.add(n)
        self.routes = {id: set(qs) for id, qs in self.routes.items() if id.node != n}
        self.used = {k: count for k, count in self.used.items() if k != n}

    def is_wanted(self, id: MessageId) -> bool:
        """It is queued or routed."""
        return id in self.routes or any(id in ids for ids in self.queued.values())
