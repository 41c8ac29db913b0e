"""Replication of messages, composed: all nodes of a cluster, and the group between them.

Source: `new-cluster-plan.org`, as in `replica.py`. As in `system.py`, multicasts get places in one
total order, those of each sender in its own order. Every node handles that order at its own pace;
multicasts that have a place and are not handled wait in its inbox. When a node crashes, its
multicasts without a place are lost. Its leaving has a place in the order as well.

Of ownership, the subject of `system.py`, this model has only what messages need. One node at a time
owns the queues and may acquire from them. It passes them on by a multicast, after all its earlier
ones, and then does nothing with them until they come back. If the owner has left, the next node
round the ring owns them.

Abstractions. All queues change hands together, at most `passes` times, whoever is interested. A
message is published to one queue: one step creates it, routes it and ends its routing. There are at
most `messages` of them, and clients give back or reject at most `returns` times. A client may keep
a message for ever, unless fairness makes it accept.
"""

from typing import Any

from lawful import (
    Fairness,
    Ghost,
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Strong,
    Weak,
    drop,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    step_property,
    terminal,
    total,
    transition,
)

from .messages import (
    AboutMessages,
    Acquire,
    Body,
    Create,
    Delivery,
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
from .system import Left


class Pass(Record):
    """The sender gives the queues to another node: `release` of ownership [seed:250-252] (Q34)."""

    to: Node


class Placed(Record):
    """A multicast, or the leaving of its sender, with a place in the order."""

    sender: Node
    said: AboutMessages | Pass | Left


class Replication(Machine, abstract=True):
    """Every node with its replica of the queues."""

    # Which class of `Replica` the nodes have is up to the variant.
    nodes: dict[Node, Any]
    owner: dict[Node, Node]
    outbox: dict[Node, list[AboutMessages | Pass]] = total([])
    inbox: dict[Node, list[Placed]] = total([])
    published: Nat = 0
    passed: Nat = 0
    returned: Nat = 0
    crashed: Nat = 0
    left: dict[Node, set[Node]] = total(set())
    # What is so of a key in the order: it is on its queue, and it has gone from there.
    enqueued: Ghost[set[Key]] = set()
    gone: Ghost[set[Key]] = set()
    given: Ghost[Delivery | None] = None
    bodies: Ghost[dict[MessageId, Body]] = {}

    messages: Param[Nat] = 2
    passes: Param[Nat] = 1
    returns: Param[Nat] = 1
    crashes: Param[Nat] = 1
    lag: Param[Nat] = 2

    def declare_all(self, n: Node) -> None:
        for q in sorted(QueueName):
            self.nodes[n].declare_delivered(q)

    # What clients do.

    @transition()
    def publish(self, n: Node, q: QueueName, body: Body) -> None:
        require(n in self.nodes, "is gone")
        require(self.published < self.messages, "enough is published")
        self.published += 1
        m = self.nodes[n].publish(body)
        self.bodies[MessageId(n, m.seq)] = body
        self.outbox[n].append(m)
        self.outbox[n].append(self.nodes[n].enqueue(m.seq, q))
        self.outbox[n].append(self.nodes[n].routed(m.seq))

    @transition()
    def acquire(self, n: Node, q: QueueName) -> None:
        """A dispatch takes a message, only at the owner (Q32)."""
        require(self.owns(n), "does not own the queues")
        delivery, said = self.nodes[n].acquire(q)
        self.outbox[n].append(said)
        self.given = delivery

    def owns(self, n: Node) -> bool:
        """Whether it owns the queues as far as it knows, and has not given them away."""
        return (
            n in self.nodes
            and self.owner[n] == n
            and not any(isinstance(m, Pass) for m in self.outbox[n])
            and not any(m.sender == n and isinstance(m.said, Pass) for m in self.inbox[n])
        )

    def is_first(self, n: Node, key: Key) -> bool:
        ids = self.nodes[n].queues[key.queue]
        free = [id for id in ids if self.nodes[n].free(Key(id, key.queue))]
        return len(free) > 0 and free[0] == key.id

    @transition()
    def accept(self, n: Node, key: Key) -> None:
        require(n in self.nodes, "is gone")
        self.outbox[n].append(self.nodes[n].accept(key))

    @transition()
    def release(self, n: Node, key: Key) -> None:
        require(n in self.nodes, "is gone")
        self.give_back()
        self.outbox[n].append(self.nodes[n].release(key))

    @transition()
    def reject(self, n: Node, key: Key, to: QueueName | None) -> None:
        require(n in self.nodes, "is gone")
        self.give_back()
        for m in self.nodes[n].reject(key, to):
            self.outbox[n].append(m)

    def give_back(self) -> None:
        require(self.returned < self.returns, "enough has come back")
        self.returned += 1

    @transition()
    def expire(self, n: Node, key: Key) -> None:
        """A message expires (Q50)."""
        require(self.owns(n), "does not own the queues")
        self.give_back()
        self.outbox[n].append(self.nodes[n].expire(key))

    # What the cluster does.

    @transition()
    def pass_on(self, n: Node, to: Node) -> None:
        """The queues go to another node (Q33, Q34)."""
        require(self.owns(n) and n != to, "does not own the queues, or keeps them")
        require(to in self.nodes, "it has gone")
        require(self.passed < self.passes, "enough has changed hands")
        self.passed += 1
        self.outbox[n].append(Pass(to))

    @transition()
    def place(self, n: Node) -> None:
        """The node's oldest multicast without a place gets the next one, unless a node is too far
        behind (Q51)."""
        require(n in self.nodes, "is gone")
        require(len(self.outbox[n]) > 0, "everything has its place")
        require(all(len(self.inbox[k]) < self.lag for k in self.nodes), "one is far behind")
        self.put(Placed(n, self.outbox[n].pop(0)))

    def put(self, m: Placed) -> None:
        for n in self.nodes:
            self.inbox[n].append(m)
        self.note(m)

    def note(self, m: Placed) -> None:
        """Record the effect of this multicast when it gets its place."""
        match m.said:
            case Enqueue(key=key):
                self.enqueued.add(key)
            case Dequeue(key=key):
                self.gone.add(key)
            case Reject(key=key, seq=seq, to=to):
                self.gone.add(key)
                self.bodies[MessageId(m.sender, seq)] = self.bodies[key.id]
                if to is not None:
                    self.enqueued.add(Key(MessageId(m.sender, seq), to))
            case Create() | Routed() | Acquire() | Requeue() | Pass() | Left():
                pass

    @transition()
    def handle(self, n: Node) -> None:
        """The deliver thread handles the next multicast in the order."""
        require(n in self.nodes, "is gone")
        require(len(self.inbox[n]) > 0, "everything is handled")
        m = self.inbox[n].pop(0)
        match m.said:
            case Create(seq=seq, body=body):
                self.nodes[n].create_delivered(m.sender, seq, body)
            case Enqueue(key=key):
                self.nodes[n].enqueue_delivered(m.sender, key)
            case Routed(seq=seq):
                self.nodes[n].routed_delivered(m.sender, seq)
            case Acquire(key=key):
                self.nodes[n].acquire_delivered(m.sender, key)
            case Requeue(key=key):
                self.nodes[n].requeue_delivered(m.sender, key)
            case Dequeue(key=key):
                self.nodes[n].dequeue_delivered(m.sender, key)
            case Reject():
                self.nodes[n].reject_delivered(m.sender, m.said)
            case Pass(to=to):
                self.owner[n] = self.unless_it_left(n, to)
            case Left():
                self.nodes[n].member_leaves(m.sender)
                self.left[n].add(m.sender)
                self.owner[n] = self.unless_it_left(n, self.owner[n])

    def unless_it_left(self, n: Node, owner: Node) -> Node:
        """The owner, or the next node round the ring that is present, as far as this node knows
        (Q34, Q41)."""
        left = self.left[n]
        circle = [k for k in sorted(Node) if k >= owner] + sorted(Node)
        return next((k for k in circle if k not in left), n)

    @transition()
    def crash(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        require(self.crashed < self.crashes, "enough has crashed")
        self.crashed += 1
        del self.nodes[n]
        self.inbox[n] = []
        self.outbox[n] = []
        self.put(Placed(n, Left()))

    @terminal
    def nothing_happens_any_more(self) -> bool:
        return self.quiet()

    def quiet(self) -> bool:
        """Every multicast is handled everywhere."""
        return all(len(self.inbox[n]) == 0 and len(self.outbox[n]) == 0 for n in self.nodes)

    # What holds of all nodes together.

    @invariant
    def replicas_agree(self) -> bool:
        """Nodes that have handled the same have the same queues in the same order, the same
        acquired messages and the same owner (Q23)."""
        return all(
            len(self.inbox[a]) != len(self.inbox[b])
            or (
                one.queues == other.queues
                and one.acquired == other.acquired
                and self.owner[a] == self.owner[b]
            )
            for a, one in self.nodes.items()
            for b, other in self.nodes.items()
        )

    @invariant
    def queues_have_one_order(self) -> bool:
        """However far each node is behind, messages that two nodes have are in the same order
        (Q24)."""
        return all(
            [id for id in one.queues[q] if id in other.queues[q]]
            == [id for id in other.queues[q] if id in one.queues[q]]
            for one in self.nodes.values()
            for other in self.nodes.values()
            for q in QueueName
        )

    @invariant
    def what_was_published_is_delivered(self) -> bool:
        """A consumer gets the body that was published, also after a reject (Q18, Q20, Q27)."""
        return self.given is None or self.given.body == self.bodies.get(self.given.key.id)

    @invariant
    def one_client_has_it(self) -> bool:
        """A message is delivered elsewhere only after it was given back, or its node has left (Q20,
        Q26)."""
        return all(
            a == b or one.held.isdisjoint(other.held)
            for a, one in self.nodes.items()
            for b, other in self.nodes.items()
        )

    @step_property
    def messages_are_taken_in_turn(self, after: "Replication") -> bool:
        """A consumer takes the first message that is free there [seed:123-126] (Q20)."""
        return all(
            key in self.nodes[n].held or self.is_first(n, key)
            for n, node in after.nodes.items()
            for key in node.held
        )

    @invariant
    def nobody_gets_what_is_gone(self) -> bool:
        """No message is acquired after it was dequeued or rejected (Q28)."""
        return all(node.held.isdisjoint(self.gone) for node in self.nodes.values())

    @invariant
    def nothing_is_lost_or_doubled(self) -> bool:
        """Once everything is handled, an enqueued message is on its queue at every node, until it
        is dequeued or rejected (Q24, Q27, Q28)."""
        return not self.quiet() or all(
            (id in node.queues[q]) == (Key(id, q) in self.enqueued and Key(id, q) not in self.gone)
            for node in self.nodes.values()
            for id in self.everything()
            for q in QueueName
        )

    def everything(self) -> set[MessageId]:
        """Every message that is on some queue, or should be."""
        kept = {id for node in self.nodes.values() for ids in node.queues.values() for id in ids}
        return kept | {key.id for key in self.enqueued}

    @invariant
    def routing_ends(self) -> bool:
        """Once everything is handled, no message is being routed (Q25, Q29)."""
        return not self.quiet() or all(
            node.routing == {} and node.local == set() for node in self.nodes.values()
        )

    @invariant
    def what_left_had_is_free(self) -> bool:
        """Once everything is handled, all holders of messages are present (Q29)."""
        return not self.quiet() or all(
            n in self.nodes for node in self.nodes.values() for n in node.acquired.values()
        )

    @leads_to
    def everything_is_consumed(self) -> tuple[bool, bool]:
        """Clients of the owner take and accept each message, until it is gone (Q20)."""
        over = self.enqueued <= self.gone
        return not over, over or len(self.nodes) == 0

    @leads_to
    def publishing_completes(self, n: Node) -> tuple[bool, bool]:
        """When `Routed` is delivered to the publisher's node, unless that crashes (Q25)."""
        routes = n in self.nodes and len(self.nodes[n].local) > 0
        return routes, not routes

    @reachable
    def is_consumed_elsewhere(self) -> bool:
        """A message is consumed at another node than its publisher's."""
        return any(key.id.node != n for n, node in self.nodes.items() for key in node.held)

    @reachable
    def comes_back_from_the_dead(self) -> bool:
        """Its node crashed, and another's client has it (Q29)."""
        return any(
            key.id.node != n and len(self.left[n]) > 0
            for n, node in self.nodes.items()
            for key in node.held
        )

    @reachable
    def is_settled_by_who_owns_no_more(self) -> bool:
        return any(self.owner[n] != n and len(node.settling) > 0 for n, node in self.nodes.items())

    fairness = Fairness(
        Weak("place"), Weak("handle"), Weak("acquire", each=("n",)), Strong("accept", each=("key",))
    )


class Quiet(Replication, abstract=True):
    """Two messages, published with one multicast each; no node crashes, and the owner stays."""

    nobody_crashes = drop("comes_back_from_the_dead")
    owners_stay = drop("is_settled_by_who_owns_no_more")

    scope = Scope(
        {"MessageId.seq": range(0, 2)},
        Node=2,
        QueueName=1,
        Exchange=1,
        Body=1,
        Nat=range(0, 3),
        inbox=2,
        outbox=10,
        queues=2,
        messages=(2,),
        lag=(1,),
        crashes=(0,),
        passes=(0,),
        returns=(0,),
    )


class Ring(Quiet, abstract=True):
    """Queues that keep one message, and lose older ones (Q17)."""

    what_is_over_is_lost = drop("nothing_is_lost_or_doubled")
    nobody_can_consume_that = drop("everything_is_consumed")


class ReplicationRing(Ring):
    """All nodes repaired."""

    nodes: dict[Node, ReplicaFixed] = {}

    @initial
    def begin(self, first: Node) -> None:
        for n in Node:
            self.nodes[n] = ReplicaFixed(me=n, ring=1)
            self.declare_all(n)
        self.owner = {n: first for n in Node}
