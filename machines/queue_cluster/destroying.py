"""Queue ownership, composed: the queue is destroyed (Q43).

Source: `new-cluster-plan.org`, which leaves that to be done [seed:319]. Here the destruction is a
multicast like others: it has one place in the order, the same for all nodes. Until a node reaches
that place, it continues. There it stops its consumers, once none is busy, and forgets the queue,
its owner and its time slice. Multicasts about the queue behind that place have no effect. A later
queue with the same name begins afresh.

In `ClusterForgetting` a node forgets the queue and sends nothing.

Abstractions, beside those of `system.py`. Multicasts about the queue that are behind its end, or
have no place yet, are not delivered at all, because every node would ignore them.
"""

from lawful import (
    Expect,
    Fairness,
    Nat,
    Scope,
    Weak,
    drop,
    invariant,
    leads_to,
    reachable,
    require,
    transition,
)

from .declaration import Node, Ownership, Release
from .system import ClusterFixed, Placed


class ClusterDestroying(ClusterFixed):
    """The end of the queue has a place in the order."""

    destroyed: bool = False

    @transition()
    def destroy(self, n: Node) -> None:
        """A client asks a node to destroy the queue; this gets its place at once (Q43)."""
        require(n in self.nodes, "is gone")
        require(not self.destroyed, "is destroyed")
        self.destroyed = True

    def put(self, m: Placed) -> None:
        if not self.destroyed:
            super().put(m)

    @transition()
    def place(self, n: Node) -> None:
        require(not self.destroyed, "is of a queue that is destroyed")
        super().place(n)

    def at_the_end(self, n: Node) -> bool:
        """Whether the node has reached that place."""
        return self.destroyed and len(self.inbox[n]) == 0

    @transition()
    def dispatch(self, n: Node) -> None:
        """At the end no consumer starts; otherwise one or another could stay busy for ever."""
        require(not self.at_the_end(n), "the queue is no more")
        super().dispatch(n)

    @transition()
    def forget(self, n: Node) -> None:
        """When no consumer is busy (Q31, Q43)."""
        require(self.at_the_end(n), "the queue goes on here")
        require(n in self.nodes, "is gone")
        require(self.nodes[n].busy == 0, "consumers are busy")
        del self.nodes[n]

    @invariant
    def the_owner_lives(self) -> bool:
        """Until the queue is destroyed."""
        owner = self.in_order.owner
        return self.destroyed or (
            (owner is None or owner in self.nodes)
            and all(n in self.nodes for n in self.in_order.consumers)
        )

    some_may_wait_for_what_is_no_more = drop("in_the_end_somebody_interested_owns_it")

    @leads_to
    def everybody_forgets_it(self) -> tuple[bool, bool]:
        """Every node forgets the queue (Q43)."""
        return self.destroyed, len(self.nodes) == 0

    @reachable
    def is_destroyed_while_another_releases_it(self) -> bool:
        """The release is behind the queue's end, or has no place."""
        return self.destroyed and any(
            isinstance(m, Release) for node in self.nodes.values() for m in node.sent
        )

    @reachable
    def consumers_run_until_their_node_comes_to_the_end(self) -> bool:
        return self.destroyed and any(
            node.state == Ownership.OWNED and node.busy > 0 for node in self.nodes.values()
        )

    fairness = Fairness(
        Weak("take"),
        Weak("place"),
        Weak("handle"),
        Weak("stopped"),
        Weak("slice_over"),
        Weak("dispatched", each=("n",)),
        Weak("forget", each=("n",)),
    )
    changes_are_few = drop("cancels_and_consumes_again_at_once")
    scope = Scope(Node=2, Nat=range(0, 6), inbox=5, sent=4, most_changes=(2,))
    large = Scope(most_changes=(3,))


class ClusterForgetting(ClusterFixed):
    """A node forgets the queue and does not tell the others: they wait for a release that never
    comes (Q43)."""

    forgotten: Nat = 0

    @transition()
    def destroy(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        require(self.forgotten == 0, "is destroyed")
        self.forgotten += 1
        del self.nodes[n]
        self.inbox[n] = []

    nobody_crashes = drop("the_owner_crashes")
    no_release_is_lost = drop("the_owner_crashes_before_its_release_has_a_place")
    scope = Scope(Node=2, Nat=range(0, 6), inbox=5, sent=4, most_changes=(2,), most_crashes=(0,))
    expects = Expect(
        cancels_and_consumes_again_at_once="violated",
        the_owner_lives=("violated", 3),
        in_the_end_somebody_interested_owns_it=("violated", 4),
        interested_nodes_own_it_one_day=("violated", 7),
    )
