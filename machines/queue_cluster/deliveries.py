"""The queue cluster, composed: what a multicast is to the replica of a node, and a join.

Source: `new-cluster-plan.org`, as in `declaration.py`.
"""

from lawful import Ghost, Nat

from .joining import Content, Count, Declared, Route, Updatee
from .ledger import Ledger
from .messages import (
    AboutMessages,
    AboutWiring,
    Acquire,
    Bind,
    Create,
    Declare,
    Dequeue,
    Destroy,
    Enqueue,
    MessageId,
    Node,
    QueueName,
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

    def handle_wiring(self, n: Node, said: AboutWiring) -> None:
        match said:
            case Declare(queue=q):
                self.replicas[n].declare_delivered(q)
            case Bind():
                self.replicas[n].bind_delivered(said)
            case Destroy(queue=q):
                self.replicas[n].destroy_delivered(q)

    # A node joins, and another one brings it up to date.

    def welcome(self, u: Node, n: Node) -> tuple[Content, ...]:
        """The stall: what the new node n has to know before it goes on; return what u is to send
        [seed:407-411,418]."""
        one = self.replicas[u]
        bindings, counts, routes = frozenset(one.bindings), self.counts_of(u), self.routes_of(u)
        self.replicas[n].welcome(self.declared_of(u), one.declarations, bindings, counts, routes)
        return self.contents_of(u)

    def declared_of(self, u: Node) -> tuple[Declared, ...]:
        one = self.replicas[u]
        return tuple(Declared(q, one.declared[q]) for q in sorted(one.queues))

    def contents_of(self, u: Node) -> tuple[Content, ...]:
        queues = self.replicas[u].queues
        return tuple(Content(q, tuple(queues[q])) for q in sorted(QueueName) if q in queues)

    def counts_of(self, u: Node) -> tuple[Count, ...]:
        created = self.replicas[u].created
        return tuple(Count(n, created[n]) for n in sorted(Node) if n in created)

    def routes_of(self, u: Node) -> tuple[Route, ...]:
        one = self.replicas[u]
        ids = [MessageId(n, seq) for n in sorted(Node) for seq in range(one.created.get(n, 0))]
        return tuple(
            Route(i, frozenset(one.routing[i]), one.bodies[i]) for i in ids if i in one.routing
        )


class Group(Deliveries, abstract=True):
    """Other nodes come and speak until they leave. Beside the ledger, history has what is being
    routed, and which numbers are used."""

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
