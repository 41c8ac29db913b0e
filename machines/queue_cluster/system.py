"""Queue ownership, composed: all nodes of a cluster, and the group between them.

Source: `new-cluster-plan.org`, as in `declaration.py`. The nodes' multicasts get places in one
total order, those of each sender in its own order. Every node handles that order at its own pace:
multicasts that have a place and are not handled wait in the node's inbox, its own too. When a node
crashes, its multicasts without a place are lost. Its leaving has a place in the order as well, the
same for all.

Abstractions. There is one queue; a node has at most one consumer, which comes and goes within a
budget of `changes`. No node joins later. The ghost `in_order` is what every node knows once it has
handled everything that has a place.
"""

from typing import Any

from lawful import (
    Expect,
    Fairness,
    Ghost,
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Weak,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    terminal,
    total,
    transition,
)

from .declaration import QueueOwnerFixed
from .messages import Cancel, Consume, Node, Release
from .ownership import Ownership


class Left(Record):
    """A member left [seed:306] (Q41)."""


class Placed(Record):
    """A multicast, or the leaving of its sender, with a place in the order."""

    sender: Node
    said: Consume | Release | Cancel | Left


class Known(Record):
    """What the replicated maps record about the queue [seed:283-289] (Q37)."""

    owner: Node | None
    consumers: frozenset[Node]


def next_interested(consumers: frozenset[Node], old: Node, again: bool) -> Node | None:
    """The next one round the ring; the old owner is last, or left out [seed:250-252] (Q34)."""
    others = sorted(n for n in consumers if n > old) + sorted(n for n in consumers if n < old)
    circle = others + [n for n in (old,) if again and n in consumers]
    return circle[0] if len(circle) > 0 else None


def applied(known: Known, m: Placed) -> Known:
    """What every node knows after it has handled this."""
    s, consumers = m.sender, known.consumers
    match m.said:
        case Consume():
            return Known(s if known.owner is None else known.owner, consumers | {s})
        case Release(interested=again):
            owns = known.owner == s
            return Known(next_interested(consumers, s, again) if owns else known.owner, consumers)
        case Cancel():
            return Known(known.owner, consumers - {s})
        case Left():
            rest = consumers - {s}
            owns = known.owner == s
            return Known(next_interested(rest, s, False) if owns else known.owner, rest)


class Cluster(Machine, abstract=True):
    """Every node with its part in the ownership of one queue."""

    # Which class of `QueueOwner` the nodes are is up to the variant.
    nodes: dict[Node, Any]
    inbox: dict[Node, list[Placed]] = total([])
    changes: Nat = 0
    crashes: Nat = 0
    in_order: Ghost[Known] = Known(None, frozenset())
    lost_a_release: Ghost[bool] = False

    most_changes: Param[Nat] = 3
    most_crashes: Param[Nat] = 1

    def change(self) -> None:
        require(self.changes < self.most_changes, "enough has changed")
        self.changes += 1

    @transition()
    def consume(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        require(self.nodes[n].consumers_here == 0, "it has a consumer")
        self.change()
        self.nodes[n].consume()

    @transition()
    def cancel(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        self.change()
        self.nodes[n].cancel()

    @transition()
    def dispatch(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        self.nodes[n].dispatch()

    @transition()
    def dispatched(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        self.nodes[n].dispatched()

    @transition()
    def stopped(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        self.nodes[n].stopped()

    @transition()
    def take(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        self.nodes[n].take()

    @transition()
    def slice_over(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        self.nodes[n].slice_over()

    @transition()
    def place(self, n: Node) -> None:
        """The node's oldest multicast without a place gets the next place."""
        require(n in self.nodes, "is gone")
        placed = self.placed(n)
        require(placed < len(self.nodes[n].sent), "everything has its place")
        self.put(Placed(n, self.nodes[n].sent[placed]))

    def placed(self, n: Node) -> Nat:
        """How many of the node's multicasts have a place and are not yet handled here."""
        return sum(1 for m in self.inbox[n] if m.sender == n)

    def put(self, m: Placed) -> None:
        for n in self.nodes:
            self.inbox[n].append(m)
        self.in_order = applied(self.in_order, m)

    @transition()
    def handle(self, n: Node) -> None:
        """The deliver thread handles the next multicast in the order."""
        require(n in self.nodes, "is gone")
        require(len(self.inbox[n]) > 0, "everything is handled")
        m = self.inbox[n].pop(0)
        match m.said:
            case Consume():
                self.nodes[n].consume_delivered(m.sender)
            case Release():
                self.nodes[n].release_delivered(m.sender, m.said)
            case Cancel():
                self.nodes[n].cancel_delivered(m.sender)
            case Left():
                self.nodes[n].member_leaves(m.sender)

    @transition()
    def crash(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        require(self.crashes < self.most_crashes, "enough has crashed")
        self.crashes += 1
        placed = self.placed(n)
        unsaid = self.nodes[n].sent[placed:]
        self.lost_a_release = any(isinstance(m, Release) for m in unsaid)
        del self.nodes[n]
        self.inbox[n] = []
        self.put(Placed(n, Left()))

    @terminal
    def nothing_happens_any_more(self) -> bool:
        """Everything is handled everywhere, and all changes are used up."""
        return all(
            len(self.inbox[n]) == 0 and len(node.sent) == 0 for n, node in self.nodes.items()
        )

    # What holds of all nodes together.

    @invariant
    def at_most_one_owner(self) -> bool:
        """At any time [seed:241-244] (Q32)."""
        return sum(1 for node in self.nodes.values() if node.state != Ownership.STOPPED) <= 1

    @invariant
    def who_runs_owns_the_queue(self) -> bool:
        """However far the others are behind, the order names no other owner (Q30, Q35)."""
        return all(
            self.in_order.owner == n
            for n, node in self.nodes.items()
            if node.state != Ownership.STOPPED or node.granted()
        )

    @invariant
    def all_come_to_know_the_same(self) -> bool:
        """After its inbox is handled, each node knows the same (Q37)."""
        return all(self.later(n) == self.in_order for n in self.nodes)

    def later(self, n: Node) -> Known:
        known = Known(self.nodes[n].owner, frozenset(self.nodes[n].consumers))
        for m in self.inbox[n]:
            known = applied(known, m)
        return known

    @invariant
    def inboxes_have_what_was_said(self) -> bool:
        """Inboxes contain each node's multicasts in its order; no present node has left."""
        return all(
            [m.said for m in self.inbox[n] if m.sender == n] == node.sent[: self.placed(n)]
            and all(m.sender != n or not isinstance(m.said, Left) for m in self.inbox[n])
            for n, node in self.nodes.items()
        )

    @invariant
    def nothing_waits_for_who_is_gone(self) -> bool:
        """The inbox of a crashed node is empty (Q41)."""
        return all(n in self.nodes or len(self.inbox[n]) == 0 for n in Node)

    @invariant
    def who_left_is_gone(self) -> bool:
        """For every node that has handled that (Q41, Q-B5)."""
        return all(
            n in self.nodes
            for k, node in self.nodes.items()
            if len(self.inbox[k]) == 0
            for n in Node
            if n in node.consumers or n == node.owner
        )

    @invariant
    def each_node_knows_who_it_is(self) -> bool:
        return all(node.me == n for n, node in self.nodes.items())

    @invariant
    def the_owner_lives(self) -> bool:
        owner = self.in_order.owner
        return (owner is None or owner in self.nodes) and all(
            n in self.nodes for n in self.in_order.consumers
        )

    @invariant
    def in_the_end_somebody_interested_owns_it(self) -> bool:
        """Once everything is handled, an interested node owns the queue; if none is, no node
        (Q32)."""
        quiet = all(
            len(self.inbox[n]) == 0 and len(node.sent) == 0 and node.state != Ownership.STOPPING
            for n, node in self.nodes.items()
        )
        interested = {n for n, node in self.nodes.items() if node.consumers_here > 0}
        owner = self.in_order.owner
        right = any(owner == n for n in interested) or (owner is None and len(interested) == 0)
        # Who was granted the queue and lost interest meanwhile is about to pass it on.
        return not quiet or right or any(node.granted() for node in self.nodes.values())

    @leads_to
    def interested_nodes_own_it_one_day(self, n: Node) -> tuple[bool, bool]:
        """Unless they lose interest, or crash."""
        interested = n in self.nodes and self.nodes[n].consumers_here > 0
        owns = n in self.nodes and self.nodes[n].state == Ownership.OWNED
        return interested, owns or not interested

    @reachable
    def each_owns_it(self, n: Node) -> bool:
        return n in self.nodes and self.nodes[n].state == Ownership.OWNED

    @reachable
    def each_gives_it_to_another(self, n: Node) -> bool:
        """Another node owns the queue while the release of the first has not come back to it (Q33,
        Q34)."""
        return n in self.nodes and any(
            other.state == Ownership.OWNED and Release(True) in self.nodes[n].sent
            for other in self.nodes.values()
        )

    @reachable
    def the_owner_crashes(self) -> bool:
        return any(
            isinstance(m.said, Left) and m.sender == node.owner
            for n, node in self.nodes.items()
            for m in self.inbox[n]
        )

    @reachable
    def the_owner_crashes_before_its_release_has_a_place(self) -> bool:
        return self.lost_a_release

    @reachable
    def cancels_and_consumes_again_at_once(self) -> bool:
        return any(node.sent[-2:] == [Cancel(), Consume()] for node in self.nodes.values())

    fairness = Fairness(
        Weak("take"),
        Weak("place"),
        Weak("handle"),
        Weak("stopped"),
        Weak("slice_over"),
        Weak("dispatched", each=("n",)),
    )

    scope = Scope(Node=2, Nat=range(0, 6), inbox=5, sent=4)


class ClusterFixed(Cluster):
    """All nodes repaired."""

    nodes: dict[Node, QueueOwnerFixed] = {}

    @initial
    def begin(self) -> None:
        for n in Node:
            self.nodes[n] = QueueOwnerFixed(me=n)

    # What is proved of all nodes goes through every inbox, message by message.
    short = Scope(inbox=2, sent=2)
    # With two changes at three nodes nobody cancels and consumes again; more is cut.
    large = Scope(
        Node=3, most_changes=(2,), expects=Expect(cancels_and_consumes_again_at_once="unknown")
    )
