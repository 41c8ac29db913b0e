"""Replication of messages by repaired nodes, with the invariants that prove it correct.

Source: `new-cluster-plan.org`, as in `replica.py`. Ghost variables keep what all multicasts with a
place in the order make of the queues: each node will have exactly that once it has handled its
inbox. So invariants judge a multicast when it gets its place, and then it fits wherever it is
handled. Only the owner acquires, and only messages that are free at the owner and in the order. A
node that settles a message has acquired it before, and settles it once. A number is used once.
"""

from lawful import Expect, Ghost, Nat, Scope, initial, invariant, total

from .kept_bodies import KeptBodies
from .messages import (
    AboutMessages,
    Acquire,
    Create,
    Dequeue,
    Enqueue,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Requeue,
    Routed,
)
from .replica import ReplicaFixed
from .replication import Pass, Placed
from .system import Left


class ReplicationFixed(KeptBodies):
    """All nodes repaired."""

    nodes: dict[Node, ReplicaFixed] = {}
    # What is on each queue, who has what of it, and whose the queues are, once all is handled.
    queued: Ghost[dict[QueueName, list[MessageId]]] = total([])
    taken: Ghost[dict[Key, Node]] = {}
    keeper: Ghost[Node]

    @initial
    def begin(self, first: Node) -> None:
        for n in Node:
            self.nodes[n] = ReplicaFixed(me=n)
            self.declare_all(n)
        self.owner = {n: first for n in Node}
        self.keeper = first

    def note(self, m: Placed) -> None:
        super().note(m)
        match m.said:
            case Enqueue(key=key):
                self.queued[key.queue].append(key.id)
            case Acquire(key=key):
                self.taken[key] = m.sender
            case Requeue(key=key):
                self.is_free(key)
            case Dequeue(key=key):
                self.is_gone(key)
            case Reject(key=key, seq=seq, to=to):
                self.is_gone(key)
                if to is not None:
                    self.queued[to].append(MessageId(m.sender, seq))
            case Pass(to=to):
                self.keeper = self.unless_it_crashed(to)
            case Left():
                self.taken = {key: n for key, n in self.taken.items() if n != m.sender}
                self.keeper = self.unless_it_crashed(self.keeper)
            case Create() | Routed():
                pass

    def is_gone(self, key: Key) -> None:
        self.is_free(key)
        if key.id in self.queued[key.queue]:
            self.queued[key.queue].remove(key.id)

    def is_free(self, key: Key) -> None:
        if key in self.taken:
            del self.taken[key]

    def unless_it_crashed(self, owner: Node) -> Node:
        circle = [k for k in sorted(Node) if k >= owner] + sorted(Node)
        return next((k for k in circle if k in self.nodes), owner)

    # What the order makes of every node.

    @invariant
    def queues_will_be_the_same(self) -> bool:
        """After its inbox is handled, each node has the queues of the order (Q24)."""
        return all(self.queue_to_be(n, q) == self.queued[q] for n in self.nodes for q in QueueName)

    def queue_to_be(self, n: Node, q: QueueName) -> list[MessageId]:
        ids = list(self.nodes[n].queues[q])
        for m in self.inbox[n]:
            gone = self.taken_away(m.said)
            if gone is not None and gone.queue == q and gone.id in ids:
                ids.remove(gone.id)
            new = self.brought(m)
            if new is not None and new.queue == q:
                ids.append(new.id)
        return ids

    def taken_away(self, m: AboutMessages | Pass | Left) -> Key | None:
        return m.key if isinstance(m, Dequeue | Reject) else None

    def brought(self, m: Placed) -> Key | None:
        match m.said:
            case Enqueue(key=key):
                return key
            case Reject(seq=seq, to=to):
                return None if to is None else Key(MessageId(m.sender, seq), to)
            case _:
                return None

    @invariant
    def holders_will_be_the_same(self) -> bool:
        """The same holders of messages, among those who are present (Q26, Q29)."""
        return all(
            self.holder_to_be(n, key) == self.taken.get(key)
            for n in self.nodes
            for key in self.enqueued
        )

    def holder_to_be(self, n: Node, key: Key) -> Node | None:
        holder = self.nodes[n].acquired.get(key)
        for m in self.inbox[n]:
            if m.said == Acquire(key):
                holder = m.sender
            if self.settled(m.said) == key or (isinstance(m.said, Left) and holder == m.sender):
                holder = None
        return holder

    def settled(self, m: AboutMessages | Pass | Left) -> Key | None:
        return m.key if isinstance(m, Requeue | Dequeue | Reject) else None

    @invariant
    def owners_will_be_the_same(self) -> bool:
        """The same owner: the node that got the queues last, or the next one present (Q34, Q41)."""
        return all(self.owner_to_be(n) == self.keeper for n in self.nodes)

    def owner_to_be(self, n: Node) -> Node:
        owner = self.owner[n]
        for m in self.inbox[n]:
            if isinstance(m.said, Pass):
                owner = m.said.to
            if isinstance(m.said, Pass | Left):
                owner = self.unless_it_crashed(owner)
        return owner

    @invariant
    def what_is_taken_is_queued(self) -> bool:
        return all(key.id in self.queued[key.queue] for key in self.taken)

    @invariant
    def who_has_a_message_is_present(self) -> bool:
        """What a node had is free in the order as soon as the node leaves (Q29)."""
        return all(n in self.nodes for n in self.taken.values())

    @invariant
    def who_has_left_is_known(self) -> bool:
        """Every node knows who left, or has that in its inbox (Q29)."""
        return all(
            (k in self.left[n] or Placed(k, Left()) in self.inbox[n]) == (k not in self.nodes)
            for n in self.nodes
            for k in Node
        )

    @invariant
    def each_node_is_itself(self) -> bool:
        """Its queues have no limit, and it sends all multicasts about a new message in one step."""
        return all(
            node.me == n
            and node.ring == 0
            and node.publishing == {}
            and all(q in node.queues for q in QueueName)
            for n, node in self.nodes.items()
        )

    @invariant
    def there_is_one_order(self) -> bool:
        return all(
            len(self.inbox[a]) != len(self.inbox[b]) or self.inbox[a] == self.inbox[b]
            for a in self.nodes
            for b in self.nodes
        )

    # What is next in an inbox is no surprise, and what is said is none where it gets its place.

    @invariant
    def what_is_next_can_be_handled(self) -> bool:
        """The next multicast fits the node's messages and its owner (Q20, Q26, Q28)."""
        return all(self.is_expected(n, ms[0]) for n, ms in self.inbox.items() if len(ms) > 0)

    def is_expected(self, n: Node, m: Placed) -> bool:
        node = self.nodes[n]
        match m.said:
            case Acquire(key=key):
                own = m.sender != n or key in node.acquiring
                return own and self.is_owners(n, m.sender, key)
            case Requeue(key=key) | Reject(key=key):
                own = m.sender != n or key in node.settling
                return own and node.is_of(m.sender, key)
            case Dequeue(key=key):
                own = m.sender != n or key in node.settling
                return own and (node.is_of(m.sender, key) or self.is_owners(n, m.sender, key))
            case Pass():
                return self.owner[n] == m.sender
            case Create() | Enqueue() | Routed() | Left():
                return True

    def is_owners(self, n: Node, owner: Node, key: Key) -> bool:
        """Whether, as far as this node knows, that node is the owner and the message is free."""
        node = self.nodes[n]
        return self.owner[n] == owner and node.has(key) and key not in node.acquired

    @invariant
    def who_acquires_or_passes_is_the_owner(self) -> bool:
        """Whoever sends these is the owner when they get their place (Q32, Q33)."""
        return all(
            self.keeper == n or not isinstance(m, Acquire | Pass)
            for n in self.nodes
            for m in self.outbox[n]
        )

    @invariant
    def what_is_acquired_is_free(self) -> bool:
        """It is free when the acquire gets its place (Q20)."""
        return all(
            not isinstance(m, Acquire)
            or (
                m.key in node.acquiring
                and m.key.id in self.queued[m.key.queue]
                and m.key not in self.taken
            )
            for n, node in self.nodes.items()
            for m in self.outbox[n]
        )

    @invariant
    def what_is_settled_was_taken(self) -> bool:
        """The sender acquired it before; or it expires, at the owner, while it is free (Q28,
        Q50)."""
        return all(self.may_settle(n, m) for n in self.nodes for m in self.outbox[n])

    def may_settle(self, n: Node, m: AboutMessages | Pass) -> bool:
        key = self.settled(m)
        if key is None:
            return True
        return key in self.nodes[n].settling and (
            self.has(n, key)
            or (
                isinstance(m, Dequeue)
                and self.keeper == n
                and key.id in self.queued[key.queue]
                and key not in self.taken
            )
        )

    def has(self, n: Node, key: Key) -> bool:
        """Whether the node has acquired it in the order, or will have."""
        return (key in self.taken and self.taken[key] == n) or Acquire(key) in self.outbox[n]

    @invariant
    def who_holds_a_message_has_it(self) -> bool:
        """A node that holds a message has acquired it in the order, or will have (Q20)."""
        return all(self.has(n, key) for n, node in self.nodes.items() for key in node.held)

    # What a node says is in its order.

    @invariant
    def what_is_settled_is_over(self) -> bool:
        """A node acquires a message once before it settles it, and sends nothing of it after
        (Q20)."""
        return all(
            self.comes_before(self.outbox[n][i], self.outbox[n][j])
            for n in self.nodes
            for i in range(len(self.outbox[n]))
            for j in range(i + 1, len(self.outbox[n]))
        )

    def comes_before(self, one: AboutMessages | Pass | Left, other: AboutMessages | Pass) -> bool:
        key = self.settled(one)
        if key is not None:
            return self.settled(other) != key and other != Acquire(key)
        return not isinstance(one, Acquire) or other != one

    @invariant
    def what_is_settled_in_the_order_is_over(self) -> bool:
        """The same for multicasts that have their place and that the sender has not handled."""
        return all(
            m.sender != n or self.settled(m.said) is None or self.comes_before(m.said, other)
            for n in self.nodes
            for m in self.inbox[n]
            for other in self.outbox[n]
        )

    @invariant
    def who_passes_the_queues_has_done_with_them(self) -> bool:
        """After a pass, a node sends only about messages that it holds (Q33)."""
        return all(
            not isinstance(self.outbox[n][i], Pass) or self.may_still_say(n, self.outbox[n][j])
            for n in self.nodes
            for i in range(len(self.outbox[n]))
            for j in range(i + 1, len(self.outbox[n]))
        )

    def may_still_say(self, n: Node, m: AboutMessages | Pass) -> bool:
        if isinstance(m, Dequeue):
            return self.has(n, m.key)
        return not isinstance(m, Acquire | Pass)

    # Numbers are used once, and what becomes of them is told.

    @invariant
    def queued_is_what_was_enqueued(self) -> bool:
        """A message is queued if it was enqueued and has not gone."""
        return (
            self.gone <= self.enqueued
            and all(
                (key.id in self.queued[key.queue]) == (key not in self.gone)
                for key in self.enqueued
            )
            and all(Key(id, q) in self.enqueued for q, ids in self.queued.items() for id in ids)
        )

    @invariant
    def numbers_are_used(self) -> bool:
        return all(
            key.id.node not in self.nodes or key.id.seq < self.nodes[key.id.node].sequence
            for key in self.enqueued
        )

    @invariant
    def what_is_new_was_nowhere(self) -> bool:
        """A new message was on no queue, and has a number of its sender (Q15, Q-B8)."""
        return all(self.is_new(n, m) for n in self.nodes for m in self.outbox[n])

    def is_new(self, n: Node, m: AboutMessages | Pass) -> bool:
        seq, key = self.introduced(m), self.brought(Placed(n, m))
        return (seq is None or seq < self.nodes[n].sequence) and (
            key is None or (key.id.node == n and key not in self.enqueued)
        )

    def introduced(self, m: AboutMessages | Pass) -> Nat | None:
        """The number that this multicast gives to a message."""
        match m:
            case Enqueue(key=key):
                return key.id.seq
            case Reject(seq=seq):
                return seq
            case _:
                return None

    @invariant
    def what_is_new_is_so_once(self) -> bool:
        return all(
            self.introduced(self.outbox[n][i]) is None
            or self.introduced(self.outbox[n][i]) != self.introduced(self.outbox[n][j])
            for n in self.nodes
            for i in range(len(self.outbox[n]))
            for j in range(i + 1, len(self.outbox[n]))
        )

    @invariant
    def what_is_created_is_routed_after_that(self) -> bool:
        """By the node that created it, unless that leaves (Q18, Q19)."""
        return all(
            not isinstance(m, Create) or Routed(m.seq) in self.outbox[n][i + 1 :]
            for n in self.nodes
            for i, m in enumerate(self.outbox[n])
        ) and all(
            not isinstance(m.said, Create)
            or self.routing_ends_at(n, MessageId(m.sender, m.said.seq))
            for n in self.nodes
            for m in self.inbox[n]
        )

    @invariant
    def what_is_routed_will_end(self) -> bool:
        """(Q25, Q29)."""
        return all(
            self.routing_ends_at(n, id) for n, node in self.nodes.items() for id in node.routing
        )

    def routing_ends_at(self, n: Node, id: MessageId) -> bool:
        end = Routed(id.seq)
        return (
            Placed(id.node, end) in self.inbox[n]
            or Placed(id.node, Left()) in self.inbox[n]
            or (id.node in self.nodes and end in self.outbox[id.node])
        )

    @invariant
    def what_is_routed_here_will_end(self) -> bool:
        return all(
            Routed(seq) in self.outbox[n] or Placed(n, Routed(seq)) in self.inbox[n]
            for n, node in self.nodes.items()
            for seq in node.local
        )

    scope = Scope(
        {"MessageId.seq": range(0, 2)},
        Node=2,
        QueueName=1,
        Exchange=1,
        Body=1,
        Nat=range(0, 3),
        inbox=2,
        outbox=8,
        queues=2,
        queued=2,
        messages=(1,),
        lag=(1,),
    )
    dead_letters = Scope(QueueName=2)
    # Nobody crashes, or there is nobody whose client could have it.
    several = Scope(
        messages=(2,),
        returns=(0,),
        crashes=(0,),
        outbox=10,
        expects=Expect(comes_back_from_the_dead="violated"),
    )
    large = Scope(messages=(2,), lag=(2,), inbox=3, outbox=10, returns=(0,))
    # For proofs, which go through every list, message by message.
    short = Scope(inbox=1, outbox=3)
