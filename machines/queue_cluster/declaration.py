"""Queue cluster: who owns one queue, from the point of view of one node.

Source: the design document `new-cluster-plan.org` (Qpid C++, the new cluster). `[seed:48]` is its
line 48, `Q32` the number of a demand, `Q-B1` of a defect that its text allows. Only the owner of a
queue delivers messages from it. The nodes agree on the owner by multicasts in one total order,
which every node, the sender too, handles in that order. A `QueueOwnerFixed` is one queue at the
node `me`: its part of the replicated maps, and the local `QueueOwnership` with the consumers that
it stops and starts. It does no I/O: an event returns what its caller must multicast. This file
declares the repaired design; `as_seed.py` restores the document's text where it goes wrong.

The caller holds one lock during each event. It multicasts what the event returns, with the queue's
name and the number of its declaration (`Updatee.declared`), and hands over what is delivered with
that number:

1. A consumer's thread calls `dispatch`, then takes a message from the `Replica` and multicasts
   that, then calls `dispatched`. Between the two, `stopped` is refused.
2. While `take` or `stopped` is possible, call it.
3. A node that joins calls `join` with what the updater knows, and `updated` once it has the whole
   queue. What is delivered after `destroy_delivered` has no effect; the object can go when it is
   `over`. A queue that is declared again gets another object, once the last one is `over`.

Abstractions. `consumers_here` counts consumers with credit: getting credit is `consume`, running
out of it is `cancel` (Q33). Waiting for busy consumers (Q31) is a state of its own, so that no lock
is held meanwhile (Q-B12). Checking the flag and counting the dispatch are one step (Q-B11). The
deliver thread keeps the replicated maps; what `take()` starts is a later event, before which
another thread may cancel. This node's multicasts come back in its order (`sent`), those of others
at any time. The group promises that nothing comes from a node that left. The ring is the order of
the nodes' IDs; nodes may come that nobody knew when the object was made.

The document's assertions on delivery are dropped: with a cancel under way, a node may be granted
the queue, and must pass it on (Q-B2, Q-B4). The document gives no delay; 20 ms is from its
implementation.
"""

from lawful import (
    can,
    drop,
    ignore,
    implies,
    invariant,
    reachable,
    require,
    step_property,
    terminal,
    transition,
)

from .messages import Cancel, Consume, Node, Release
from .ownership import LASTING, Ownership, QueueOwner


class QueueOwnerFixed(QueueOwner):
    """The owner is always interested, or is about to give the queue away. Nodes join, and the queue
    is destroyed."""

    @transition(source=Ownership.STOPPED, target=Ownership.UPDATING)
    def join(self, owner: Node | None, consumers: frozenset[Node]) -> None:
        """This node has joined: at that place in the order, these are the owner and the interested
        nodes [seed:355,407-411] (Q48, Q56). Between a release for good and the cancel after it,
        the old owner is still interested, and nobody owns the queue."""
        require(self.owner is None and len(self.consumers) == 0, "knows the queue")
        require(len(self.sent) == 0, "has said something")
        require(owner != self.me and self.me not in consumers, "this node is new")
        require(owner is not None or len(consumers) <= 1, "the interested have an owner")
        self.owner = owner
        self.consumers = set(consumers)

    @transition(source=Ownership.UPDATING, target=Ownership.STOPPED)
    def updated(self) -> Consume | None:
        """`update_done(q)`: this node may own the queue from here on [seed:421-423] (Q56)."""
        if self.consumers_here == 0:
            return None
        self.sent.append(Consume())
        return Consume()

    @transition(source=LASTING, target=Ownership.ENDED)
    def destroy_delivered(self) -> None:
        """At this place in the order, the queue and its ownership end on every node [seed:319]
        (Q43). A consumer that is busy may end later."""
        self.time_slice.stop()
        self.consumers_here = 0
        self.sent.clear()
        self.owner = None
        self.consumers.clear()

    @terminal
    def over(self) -> bool:
        """Nobody is busy with a queue that is destroyed (Q43)."""
        return self.state == Ownership.ENDED and self.busy == 0

    # A queue that is destroyed is owned by nobody; until then, `system.py` says more.
    owned_until_then = drop("can_own")
    nothing_to_cancel = ignore("cancel", source=Ownership.ENDED, because="is destroyed")
    consumed_no_more = ignore("consume_delivered", source=Ownership.ENDED, because="is destroyed")
    released_no_more = ignore("release_delivered", source=Ownership.ENDED, because="is destroyed")
    cancelled_no_more = ignore("cancel_delivered", source=Ownership.ENDED, because="is destroyed")
    left_no_more = ignore("member_leaves", source=Ownership.ENDED, because="is destroyed")
    destroyed_before = ignore("destroy_delivered", source=Ownership.ENDED, because="is destroyed")

    @invariant
    def nothing_is_said_of_a_queue_that_is_updated(self) -> bool:
        """So that this node cannot be granted it (Q56)."""
        return implies(
            self.state == Ownership.UPDATING,
            self.owner != self.me and self.me not in self.consumers and self.sent == [],
        )

    @invariant
    def nothing_is_known_of_a_queue_that_has_ended(self) -> bool:
        """(Q43)"""
        return implies(
            self.state == Ownership.ENDED,
            self.owner is None
            and self.consumers == set()
            and self.sent == []
            and self.consumers_here == 0,
        )

    @invariant
    def one_release_is_on_its_way(self) -> bool:
        """At most one: a queue that was given away is not given away again (Q39)."""
        return sum(1 for m in self.sent if isinstance(m, Release)) <= 1

    @invariant
    def gives_up_its_interest_with_the_queue(self) -> bool:
        """A release for good comes after a cancel, or right before one (Q40, Q-B2, Q-B4)."""
        return all(
            not self.interested_before(i)
            or (i + 1 < len(self.sent) and isinstance(self.sent[i + 1], Cancel))
            for i, m in enumerate(self.sent)
            if isinstance(m, Release) and not m.interested
        )

    def interested_before(self, i: int) -> bool:
        """What the cluster knows of this node's interest when it handles that message."""
        said = [isinstance(m, Consume) for m in self.sent[:i] if isinstance(m, Consume | Cancel)]
        return said[-1] if len(said) > 0 else self.me in self.consumers

    @invariant
    def one_of_several_may_cancel(self) -> bool:
        """While it stops, even the last one may: nobody waits for busy consumers (Q42, Q-B12)."""
        last = 0 if self.state in (Ownership.STOPPING, Ownership.UPDATING) else 1
        return can(self.cancel_one) == (self.consumers_here > last)

    @invariant
    def what_is_granted_is_taken(self) -> bool:
        """The node can take the queue as soon as it has a consumer (Q35, Q36)."""
        wanted = self.granted() and self.state == Ownership.STOPPED and self.consumers_here > 0
        return can(self.start_consumers) == wanted

    @step_property
    def consumers_come_one_by_one(self, after: "QueueOwnerFixed") -> bool:
        """Only an existing, idle consumer begins to take a message (Q31, Q42)."""
        one = after.consumers_here <= self.consumers_here + 1
        idle = self.busy < self.consumers_here and after.busy == self.busy + 1
        return one and (after.busy <= self.busy or idle)

    @step_property
    def only_the_first_is_told(self, after: "QueueOwnerFixed") -> bool:
        """Only the first consumer at this node is multicast (Q42, Q-B9)."""
        told = len(after.sent) > len(self.sent) and after.sent[-1] == Consume()
        return implies(told, self.consumers_here == 0 or self.state == Ownership.UPDATING)

    @step_property
    def releases_for_a_reason(self, after: "QueueOwnerFixed") -> bool:
        """It stops without consumers or if others are interested [seed:246-248] (Q33), and sends
        the release once its consumers have stopped (Q36)."""
        if after.state == Ownership.ENDED:
            return True
        stops = self.state == Ownership.OWNED and after.state != Ownership.OWNED
        shared = any(n != self.me for n in self.consumers)
        quiet = self.state != Ownership.STOPPING or after.state == Ownership.STOPPING
        return implies(stops, after.consumers_here == 0 or shared) and (quiet or after.releases())

    @step_property
    def what_is_released_for_good_goes_on(self, after: "QueueOwnerFixed") -> bool:
        """When its release is delivered here, another node owns the queue, or none (Q39, Q-B3)."""
        delivered = len(after.sent) < len(self.sent) and self.sent[0] == Release(False)
        return implies(delivered, after.owner != self.me)

    @reachable
    def cancels_before_it_releases(self) -> bool:
        """It was granted a queue that it no longer wanted, and passes it on (Q-B2, Q-B4)."""
        return self.sent[-2:] == [Cancel(), Release(False)]
