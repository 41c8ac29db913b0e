"""Queue cluster: what one node's clients and the group see of its replica of the queues.

Source: `new-cluster-plan.org`, as in `declaration.py`. The embedded `Updatee` has callers: threads
of connections, and the deliver thread. What its events return is what is multicast. The machine
notes what each client has, and what was multicast and has not come back; the ledger has what the
delivered multicasts amount to by the document's words.

Abstractions. This node owns each queue of which it takes a message, so that what it takes comes
back before another node acquires. The other nodes say anything at any time, but only the holder of
a message settles it; what their multicasts must not be is a property. Queues and bindings change
within a budget. Nobody joins: `promises.py` has that.
`acceptance.py` declares the properties.
"""

from lawful import Ghost, Nat, Param, initial, require, transition

from .deliveries import Group
from .joining import Updatee
from .ledger import Ordered
from .messages import (
    AboutMessages,
    AboutWiring,
    Acquire,
    Bind,
    Body,
    Create,
    Declare,
    Dequeue,
    Destroy,
    Enqueue,
    Exchange,
    Front,
    Gone,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Requeue,
    Routed,
)
from .system import Left


class Clients(Group, abstract=True):
    """The queues at the node `me`, and everything that calls its `Updatee`."""

    said: list[AboutMessages | AboutWiring] = []
    wired: Nat = 0
    # What clients have; what this node's threads route; how many numbers it has used.
    having: Ghost[set[Key]] = set()
    threads: Ghost[dict[Nat, set[QueueName]]] = {}
    numbers: Ghost[Nat] = 0
    misspoken: Ghost[bool] = False

    me: Param[Node]
    ring: Param[Nat] = 0
    wirings: Param[Nat] = 0

    @initial
    def begin(self, queues: frozenset[QueueName]) -> None:
        self.replicas[self.me] = Updatee(me=self.me, ring=self.ring)
        for q in sorted(queues):
            self.replicas[self.me].declare_delivered(q)
            self.note_declaration(q)

    # Clients.

    @transition()
    def publish(self, body: Body) -> None:
        said = self.replicas[self.me].publish(body)
        self.said.append(said)
        self.misspoken = said != Create(self.numbers, body)
        self.threads[self.numbers] = set()
        self.numbers += 1

    @transition()
    def enqueue(self, seq: Nat, q: QueueName) -> None:
        said = self.replicas[self.me].enqueue(seq, q)
        self.said.append(said)
        self.misspoken = said != Enqueue(Key(MessageId(self.me, seq), q))
        if seq in self.threads:
            self.threads[seq].add(q)

    @transition()
    def routed(self, seq: Nat) -> None:
        said = self.replicas[self.me].routed(seq)
        self.said.append(said)
        self.misspoken = said != Routed(seq)
        if seq in self.threads:
            del self.threads[seq]

    @transition()
    def acquire(self, q: QueueName) -> None:
        given, said = self.replicas[self.me].acquire(q)
        self.out_of_turn = given.key != self.first_free(q)
        self.misled = not self.is_right(given)
        self.said.append(said)
        self.misspoken = said != Acquire(given.key)
        self.having.add(given.key)

    @transition()
    def accept(self, key: Key) -> None:
        said = self.replicas[self.me].accept(key)
        self.said.append(said)
        self.misspoken = said != Dequeue(key)
        self.having.discard(key)

    @transition()
    def release(self, key: Key) -> None:
        said = self.replicas[self.me].release(key)
        self.said.append(said)
        self.misspoken = said != Requeue(key)
        self.having.discard(key)

    @transition()
    def reject(self, key: Key, to: QueueName | None) -> None:
        said = self.replicas[self.me].reject(key, to)
        for m in said:
            self.said.append(m)
        self.misspoken = said != (Reject(key, self.numbers, to, self.content[key.id]),)
        self.having.discard(key)
        self.numbers += 1

    @transition()
    def expire(self, key: Key) -> None:
        said = self.replicas[self.me].expire(key)
        self.said.append(said)
        self.misspoken = said != Dequeue(key)

    @transition()
    def front(self, key: Key) -> None:
        """This node is an updater (Q56)."""
        front = self.replicas[self.me].front(key)
        self.misspoken = front != self.front_of(key)

    def front_of(self, key: Key) -> Front | Gone:
        if not self.is_queued(key):
            return Gone(key)
        return Front(key, self.content[key.id], self.taken.get(key), key in self.again)

    @transition()
    def declare(self, q: QueueName) -> None:
        self.wire()
        said = self.replicas[self.me].declare(q)
        self.said.append(said)
        self.misspoken = said != Declare(q)

    @transition()
    def bind(self, exchange: Exchange, q: QueueName) -> None:
        self.wire()
        said = self.replicas[self.me].bind(exchange, q)
        self.said.append(said)
        self.misspoken = said != Bind(exchange, q)

    @transition()
    def destroy(self, q: QueueName) -> None:
        self.wire()
        said = self.replicas[self.me].destroy(q)
        self.said.append(said)
        self.misspoken = said != Destroy(q)

    def wire(self) -> None:
        require(self.wired < self.wirings, "wiring has changed enough")
        self.wired += 1

    # The group.

    @transition()
    def come_back(self) -> None:
        """The oldest multicast of this node."""
        require(len(self.said) > 0, "everything came back")
        m = self.said.pop(0)
        if isinstance(m, AboutWiring):
            self.deliver_wiring(self.me, m)
        else:
            self.deliver(self.me, m)

    @transition()
    def hear(self, n: Node, m: AboutMessages) -> None:
        require(n != self.me, "this node's own come back in its order")
        require(n not in self.absent, "a node that left says nothing")
        match m:
            case Requeue(key=key) | Reject(key=key):
                require(self.replicas[self.me].is_of(n, key), "it does not have the message")
            case Acquire(key=key) | Dequeue(key=key):
                require(key not in self.replicas[self.me].settling, "does not own the queue")
            case _:
                pass
        self.deliver(n, m)

    @transition()
    def hear_of_wiring(self, n: Node, m: AboutWiring) -> None:
        require(n != self.me and n not in self.absent, "says nothing, or in its order")
        self.wire()
        self.deliver_wiring(n, m)

    @transition()
    def leave(self, n: Node) -> None:
        require(n != self.me, "this node is here")
        require(n not in self.absent, "has left")
        self.replicas[self.me].member_leaves(n)
        self.note_absence(n)
        self.note(Ordered(n, Left()))

    def deliver(self, n: Node, m: AboutMessages) -> None:
        completes = self.handle_message(self.me, n, m)
        self.misspoken = completes != (n == self.me and isinstance(m, Routed))
        self.note_routing(n, m)
        self.note(Ordered(n, m))
        self.note_ring()

    def deliver_wiring(self, n: Node, m: AboutWiring) -> None:
        self.handle_wiring(self.me, m)
        self.note(Ordered(n, m))

    def note_ring(self) -> None:
        """A full ring loses the oldest message that nobody has [seed:102-107] (Q17)."""
        kept = {
            q: [id for id in ids if not self.is_lost(Key(id, q))] for q, ids in self.queued.items()
        }
        self.queued = kept

    def is_lost(self, key: Key) -> bool:
        ids = tuple(self.queued.get(key.queue, []))
        free = [id for id in ids if Key(id, key.queue) not in self.taken]
        return len(ids) > self.ring > 0 and free[:1] == [key.id]

    # For the observer.

    def first_free(self, q: QueueName) -> Key | None:
        first = next((id for id in self.queued.get(q, []) if self.is_free(Key(id, q))), None)
        return None if first is None else Key(first, q)

    def is_free(self, key: Key) -> bool:
        """Nobody has it, and nothing that this node said about it is under way."""
        return self.is_queued(key) and key not in self.taken and not self.is_under_way(key)

    def is_under_way(self, key: Key) -> bool:
        return any(
            m.key == key for m in self.said if isinstance(m, Acquire | Requeue | Dequeue | Reject)
        )
