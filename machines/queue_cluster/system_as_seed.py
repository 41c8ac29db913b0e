"""Queue ownership in a whole cluster: as the document describes it, and with repairs that do not
work.

`ClusterAsSeed` and `ClusterAssigned` have the nodes of `as_seed.py`, and `ClusterPassing` repairs
these once more (Q-B6). The others begin with the repaired nodes, and change one thing each. With
Q-B15 a node sends nothing about a consumer that comes while the cancel of the last one is under
way, as a successor of this design had it. With Q-B16 the group continues in two halves.
"""

from lawful import (
    Expect,
    Fairness,
    Nat,
    Scope,
    Weak,
    drop,
    initial,
    require,
    transition,
)

from .as_seed import QueueOwnerAsSeed, QueueOwnerAssigned
from .declaration import QueueOwnerFixed
from .messages import Cancel, Consume, Node, Release
from .ownership import LASTING, Ownership
from .system import Cluster, ClusterFixed, Left, Placed


class ClusterSketched(Cluster, abstract=True):
    """The queue is taken on delivery and released in one step."""

    nothing_in_between = drop("stopped")
    taken_when_delivered = drop("take")
    never_for_another_turn = drop("each_gives_it_to_another")

    fairness = Fairness(
        Weak("place"), Weak("handle"), Weak("slice_over"), Weak("dispatched", each=("n",))
    )


class ClusterAsSeed(ClusterSketched):
    """The order never names an owner; the node that takes the queue first does so without a
    right."""

    nodes: dict[Node, QueueOwnerAsSeed] = {}
    nobody_is_the_owner = drop("the_owner_crashes")

    @initial
    def begin(self) -> None:
        for n in Node:
            self.nodes[n] = QueueOwnerAsSeed(me=n)

    expects = Expect(
        deadlock=("violated", 8),
        asserts=("violated", 6),
        at_most_one_owner=("violated", 10),
        who_runs_owns_the_queue=("violated", 9),
        all_come_to_know_the_same=("violated", 3),
        in_the_end_somebody_interested_owns_it=("violated", 8),
        interested_nodes_own_it_one_day=("violated", 6),
        who_left_is_gone=("violated", 5),
        **{
            "nodes.consumers_run_only_at_the_owner": ("violated", 3),
            "nodes.unowned_if_nobody_is_interested": ("violated", 3),
            "nodes.runs_for_its_consumers": ("violated", 4),
            "nodes.slices_are_for_sharing": ("violated", 3),
        },
    )


class ClusterAssigned(ClusterSketched):
    """With the most obvious repairs: the first node to consume becomes the owner (Q-B1), and only
    the last consumer to leave sends a cancel (Q-B9)."""

    nodes: dict[Node, QueueOwnerAssigned] = {}

    @initial
    def begin(self) -> None:
        for n in Node:
            self.nodes[n] = QueueOwnerAssigned(me=n)

    expects = Expect(
        deadlock=("violated", 7),
        asserts=("violated", 6),
        who_runs_owns_the_queue=("violated", 6),
        all_come_to_know_the_same=("violated", 5),
        in_the_end_somebody_interested_owns_it=("violated", 11),
        interested_nodes_own_it_one_day=("violated", 8),
        who_left_is_gone=("violated", 5),
        **{
            "nodes.runs_for_its_consumers": ("violated", 4),
            "nodes.slices_are_for_sharing": ("violated", 3),
        },
    )


class QueueOwnerPassing(QueueOwnerAssigned):
    """Ownership also moves when the owner's cancel is delivered: the obvious repair of Q-B2."""

    @transition(target=(Ownership.STOPPED, Ownership.OWNED))
    def cancel_delivered(self, sender: Node) -> None:
        self.receive(sender, Cancel())
        self.consumers.discard(sender)
        if self.owner == sender:
            if sender == self.me:
                self.state = Ownership.STOPPED
                self.time_slice.stop()
            self.hand_over(sender)


class ClusterPassing(ClusterSketched):
    """Others handle the cancel before the owner does, which still runs: two nodes run (Q-B6).

    Ownership may move only when the owner says that it has stopped, or when it leaves.
    """

    nodes: dict[Node, QueueOwnerPassing] = {}

    @initial
    def begin(self) -> None:
        for n in Node:
            self.nodes[n] = QueueOwnerPassing(me=n)

    expects = Expect(
        deadlock=("violated", 11),
        asserts=("violated", 9),
        at_most_one_owner=("violated", 10),
        who_runs_owns_the_queue=("violated", 6),
        all_come_to_know_the_same=("violated", 5),
        in_the_end_somebody_interested_owns_it=("violated", 8),
        interested_nodes_own_it_one_day=("violated", 8),
        who_left_is_gone=("violated", 5),
        **{
            "nodes.consumers_run_only_at_the_owner": ("violated", 7),
            "nodes.stopped_consumers_are_idle": ("violated", 8),
            "nodes.runs_for_its_consumers": ("violated", 4),
            "nodes.slices_are_for_sharing": ("violated", 3),
        },
    )


class QueueOwnerTrusting(QueueOwnerFixed):
    """Relies on what the cluster knows: it does not multicast a first consumer while the cluster
    still knows this node as interested, although its cancel is under way (Q-B15)."""

    @transition()
    def consume(self) -> Consume | None:
        self.consumers_here += 1
        if self.consumers_here > 1 or self.me in self.consumers:
            return None
        self.sent.append(Consume())
        return Consume()


class ClusterTrusting(Cluster):
    """A consumer that arrives at the wrong moment is never served."""

    nodes: dict[Node, QueueOwnerTrusting] = {}

    @initial
    def begin(self) -> None:
        for n in Node:
            self.nodes[n] = QueueOwnerTrusting(me=n)

    expects = Expect(
        in_the_end_somebody_interested_owns_it=("violated", 12),
        interested_nodes_own_it_one_day=("violated", 12),
        **{
            "nodes.interest_is_known": ("violated", 5),
        },
    )


class QueueOwnerCounting(QueueOwnerFixed):
    """Looks for the next owner among all who are interested, the releaser too, whatever it says:
    the Boolean of `release` is not read (Q-B3)."""

    @transition(source=LASTING)
    def release_delivered(self, sender: Node, m: Release) -> None:
        self.receive(sender, m)
        if self.owner == sender:
            self.owner = self.next_after(sender, True)


class ClusterCounting(Cluster):
    """A node that lost interest is granted the queue again."""

    nodes: dict[Node, QueueOwnerCounting] = {}

    @initial
    def begin(self) -> None:
        for n in Node:
            self.nodes[n] = QueueOwnerCounting(me=n)

    expects = Expect(
        all_come_to_know_the_same=("violated", 8),
        who_runs_owns_the_queue=("violated", 8),
        **{"nodes.what_is_released_for_good_goes_on": ("violated", 8)},
    )


class QueueOwnerExcluding(QueueOwnerFixed):
    """Never counts the releaser, also if it wants another turn (Q-B3)."""

    @transition(source=LASTING)
    def release_delivered(self, sender: Node, m: Release) -> None:
        self.receive(sender, m)
        if self.owner == sender:
            self.owner = self.next_after(sender, False)


class ClusterExcluding(Cluster):
    """The others have left when a slice ends: nobody owns a queue that somebody wants."""

    nodes: dict[Node, QueueOwnerExcluding] = {}

    @initial
    def begin(self) -> None:
        for n in Node:
            self.nodes[n] = QueueOwnerExcluding(me=n)

    expects = Expect(
        all_come_to_know_the_same=("violated", 9),
        in_the_end_somebody_interested_owns_it=("violated", 16),
        interested_nodes_own_it_one_day=("violated", 11),
        **{"nodes.unowned_if_nobody_is_interested": ("violated", 9)},
    )


class QueueOwnerGranted(QueueOwnerFixed):
    """Takes what it is granted, whether it has consumers or not (Q-B4)."""

    never_passed_on = drop("pass_on")

    @transition(source=Ownership.STOPPED, target=Ownership.OWNED, event="take")
    def start_consumers(self) -> Release | None:
        require(self.granted(), "this node is not the owner, or has released the queue")
        self.start_slice()
        return None


class ClusterGranted(Cluster):
    """A slice ends for a node that cancels meanwhile: it owns the queue, without a consumer, and
    keeps it."""

    nodes: dict[Node, QueueOwnerGranted] = {}

    @initial
    def begin(self) -> None:
        for n in Node:
            self.nodes[n] = QueueOwnerGranted(me=n)

    expects = Expect(
        **{
            "nodes.interest_is_known": ("violated", 9),
            "nodes.runs_for_its_consumers": ("violated", 5),
            "nodes.what_is_granted_is_taken": ("violated", 4),
        }
    )


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
        who_left_is_gone=("violated", 4),
        the_owner_lives=("violated", 3),
        in_the_end_somebody_interested_owns_it=("violated", 4),
        interested_nodes_own_it_one_day=("violated", 7),
    )


class ClusterParted(ClusterFixed):
    """A group without a majority rule: a node that cannot be reached has left for the others, and
    continues alone (Q-B16)."""

    parted: set[Node] = set()
    deadlock_ok = True
    nothing_is_lost = drop("the_owner_crashes_before_its_release_has_a_place")

    @transition()
    def crash(self, n: Node) -> None:
        """The node still runs, but no longer sends or receives anything."""
        require(n in self.nodes, "is gone")
        require(self.crashes < self.most_crashes, "enough has crashed")
        self.crashes += 1
        self.parted.add(n)
        self.put(Placed(n, Left()))

    def put(self, m: Placed) -> None:
        super().put(m)
        for n in self.parted:
            self.inbox[n] = []

    @transition()
    def place(self, n: Node) -> None:
        require(n not in self.parted, "nobody hears it")
        super().place(n)

    expects = Expect(
        at_most_one_owner=("violated", 11),
        who_runs_owns_the_queue=("violated", 4),
        all_come_to_know_the_same=("violated", 3),
        in_the_end_somebody_interested_owns_it=("violated", 16),
        interested_nodes_own_it_one_day=("violated", 3),
    )
