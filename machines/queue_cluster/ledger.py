"""The queue cluster, composed: what the multicasts in their order amount to.

Source: `new-cluster-plan.org`, as in `declaration.py`. The ledger follows the document's words, and
uses none of the machines that a service embeds. It is history: `promises.py` compares the brokers
with it.
"""

from lawful import Ghost, Machine, Nat, Record

from .messages import (
    AboutMessages,
    AboutWiring,
    Acquire,
    Bind,
    Body,
    Cancel,
    Consume,
    Create,
    Declare,
    Delivery,
    Dequeue,
    Destroy,
    Enqueue,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Release,
    Requeue,
)
from .system import Known, Left, Placed, applied


class Of(Record):
    """A multicast of ownership, with the name of its queue, and the number of the declaration that
    made it: a late one about a queue that was destroyed is not about the next queue of that name.
    """

    queue: QueueName
    declared: Nat
    said: Consume | Release | Cancel


class Joined(Record):
    """The sender joins; this member is its updater [seed:405-411] (Q48, Q56)."""

    updater: Node


Said = Of | AboutMessages | AboutWiring | Joined | Left


class Ordered(Record):
    """A multicast, or the leaving of its sender, with a place in the order."""

    sender: Node
    said: Said


class Ledger(Machine, abstract=True):
    """The queues in the order, and whether what a consumer got last fits them."""

    queued: Ghost[dict[QueueName, list[MessageId]]] = {}
    taken: Ghost[dict[Key, Node]] = {}
    again: Ghost[set[Key]] = set()
    gone: Ghost[set[Key]] = set()
    content: Ghost[dict[MessageId, Body]] = {}
    known: Ghost[dict[QueueName, Known]] = {}
    bound: Ghost[set[Bind]] = set()
    made: Ghost[dict[QueueName, Nat]] = {}
    makings: Ghost[Nat] = 0
    misled: Ghost[bool] = False
    out_of_turn: Ghost[bool] = False

    def note(self, m: Ordered) -> None:
        """What a multicast does to the queues, where it gets its place."""
        match m.said:
            case Of(queue=q, declared=declared, said=said):
                if q in self.known and self.made[q] == declared:
                    self.known[q] = applied(self.known[q], Placed(m.sender, said))
            case Declare(queue=q):
                self.note_declaration(q)
            case Bind(queue=q):
                if q in self.known:
                    self.bound.add(m.said)
            case Destroy(queue=q):
                self.note_destruction(q)
            case Left():
                self.note_leaving(m.sender)
            case _:
                self.note_message(m)

    def note_declaration(self, q: QueueName) -> None:
        if q not in self.known:
            self.known[q] = Known(None, frozenset())
            self.queued[q] = []
            self.made[q] = self.makings
            self.makings += 1

    def note_destruction(self, q: QueueName) -> None:
        if q in self.known:
            del self.made[q]
            del self.known[q]
            del self.queued[q]
        self.taken = {key: n for key, n in self.taken.items() if key.queue != q}
        self.bound = {b for b in self.bound if b.queue != q}

    def note_leaving(self, member: Node) -> None:
        self.known = {q: applied(k, Placed(member, Left())) for q, k in self.known.items()}
        self.again |= {key for key, n in self.taken.items() if n == member}
        self.taken = {key: n for key, n in self.taken.items() if n != member}

    def note_message(self, m: Ordered) -> None:
        match m.said:
            case Create(seq=seq, body=body):
                self.content[MessageId(m.sender, seq)] = body
            case Enqueue(key=key):
                if key.queue in self.queued:
                    self.queued[key.queue].append(key.id)
            case Acquire(key=key):
                if key.queue in self.queued and key.id in self.queued[key.queue]:
                    self.taken[key] = m.sender
            case Requeue(key=key):
                if key in self.taken and self.taken[key] == m.sender:
                    del self.taken[key]
                    self.again.add(key)
            case Dequeue(key=key):
                self.note_removal(key)
            case Reject(key=key, seq=seq, to=to):
                new = MessageId(m.sender, seq)
                if key.id in self.content:
                    self.content[new] = self.content[key.id]
                if to is not None and to in self.queued and key in self.taken:
                    self.queued[to].append(new)
                self.note_removal(key)
            case _:
                pass

    def is_queued(self, key: Key) -> bool:
        return key.queue in self.queued and key.id in self.queued[key.queue]

    def note_removal(self, key: Key) -> None:
        if key.queue in self.queued and key.id in self.queued[key.queue]:
            self.queued[key.queue].remove(key.id)
        if key in self.taken:
            del self.taken[key]
        self.gone.add(key)

    def is_right(self, given: Delivery) -> bool:
        """Whether it has the body that was published, and says whether it comes again."""
        return (
            given.key.id in self.content
            and given.body == self.content[given.key.id]
            and given.redelivered == (given.key in self.again)
        )
