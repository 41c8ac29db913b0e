"""Queue cluster: who owns one queue, from the point of view of one node.

Source: the design document `new-cluster-plan.org` (Qpid C++, the new cluster). `[seed:48]` is its
line 48, `Q32` the number of a demand, `Q-B1` of a defect that its text allows. Only the owner of a
queue delivers messages from it. The nodes agree on the owner by multicasts in one total order,
which every node, the sender too, handles in that order. A `QueueOwner` is one queue at the node
`me`: its part of the replicated maps, and the local `QueueOwnership` with the consumers that it
stops and starts. It does no I/O: an event returns what its caller must multicast. This file
declares the repaired design; `as_seed.py` restores the document's text where it goes wrong.

Abstractions. Messages appear only as far as ownership needs them: a dispatch takes one, and
multicasts that it is acquired. `consumers_here` counts consumers with credit: getting credit is
`consume`, running out of it is `cancel` (Q33). Waiting for busy consumers (Q31) is a state of its
own, so that no lock is held meanwhile (Q-B12). Checking the flag and counting the dispatch are one
step (Q-B11). The deliver thread keeps the replicated maps; what `take()` starts is a later event,
before which another thread may cancel. This node's multicasts come back in its order (`sent`),
those of others at any time. A node that left never returns: a restarted node has another ID. The
ring is the order of the universe of nodes.

The document's assertions on delivery are dropped: with a cancel under way, a node may be granted
the queue, and must pass it on (Q-B2, Q-B4). The document gives no delay; 20 ms is from its
implementation.
"""

from lawful import (
    Machine,
    Nat,
    OrderedSort,
    Param,
    Record,
    Scope,
    State,
    Timer,
    can,
    event,
    implies,
    invariant,
    reachable,
    recoverable,
    require,
    step_property,
    transition,
)


class Node(OrderedSort):
    """A member of the cluster; node IDs are ordered round a ring [seed:250-252] (Q34)."""


class Ownership(State):
    """Whether the queue's consumers at this node run [seed:218,254-255] (Q30, Q35)."""

    STOPPED = "consumers are stopped"
    OWNED = "consumers run"
    STOPPING = "waits for busy consumers"


class Consume(Record):
    """The sender becomes interested in the queue [seed:293] (Q38)."""


class Release(Record):
    """The owner gives the queue away. `interested` is the Boolean that the document passes and
    never uses [seed:267] (Q36): False if it lost interest, True if it wants another turn."""

    interested: bool


class Cancel(Record):
    """The sender is no longer interested [seed:302] (Q40)."""


class Acquire(Record):
    """A consumer of the sender took a message [seed:182] (Q20)."""


Multicast = Consume | Release | Cancel | Acquire


class QueueOwner(Machine, abstract=True):
    """One queue at the node `me`: the local `QueueOwnership`, the replicated `QueueOwnerHandler`.

    The event with the name of a multicast and `_delivered` handles it, at all nodes in one order.
    """

    state: Ownership = Ownership.STOPPED
    consumers_here: Nat = 0
    busy: Nat = 0
    time_slice: Timer = Timer()
    sent: list[Multicast] = []

    owner: Node | None = None
    consumers: set[Node] = set()
    left: set[Node] = set()

    me: Param[Node]
    slice_seconds: Param[float] = 0.02

    # What happens at this node [seed:257-281,309-317].

    @transition()
    def consume(self) -> Consume | None:
        """A consumer subscribes or gets credit; the first one is multicast [seed:311-312] (Q42).

        While this node gives the queue away, the cluster still knows it as interested.
        """
        self.consumers_here += 1
        if self.consumers_here > 1 or self.state == Ownership.STOPPING:
            return None
        self.sent.append(Consume())
        return Consume()

    @event
    def cancel(self) -> Cancel | None: ...

    @transition(event="cancel")
    def cancel_one(self) -> Cancel | None:
        """A consumer leaves or has no credit, and others stay, or the queue is being given away:
        nothing is sent (Q42, Q-B9)."""
        several = 1 if self.state == Ownership.STOPPING else 2
        require(self.consumers_here >= several, "not one of several")
        self.consumers_here -= 1
        return None

    @transition(source=Ownership.STOPPED, event="cancel")
    def cancel_last(self) -> Cancel | None:
        """The last consumer of a queue that this node does not own: no longer interested (Q42)."""
        require(self.consumers_here == 1, "not the last")
        self.consumers_here = 0
        self.sent.append(Cancel())
        return Cancel()

    @transition(source=Ownership.OWNED, target=Ownership.STOPPING, event="cancel")
    def lose_interest(self) -> Cancel | None:
        """The last consumer of a queue that is owned: `drop()` [seed:246-247,315-316] (Q33,
        Q36)."""
        require(self.consumers_here == 1, "not the last")
        self.consumers_here = 0
        self.time_slice.stop()
        return None

    @transition(source=Ownership.OWNED, target=Ownership.STOPPING, timer="time_slice")
    def slice_over(self) -> None:
        """The delay expires and other nodes are interested: `drop()` [seed:248,276] (Q33, Q36)."""

    @transition(source=Ownership.STOPPING, target=Ownership.STOPPED)
    def stopped(self) -> tuple[Release, Cancel | None]:
        """`stopConsumers()` has ended: release, and cancel without a consumer
        [seed:263-268,304,314-317] (Q31, Q36, Q40)."""
        require(self.busy == 0, "consumers are busy")
        release = Release(interested=self.consumers_here > 0)
        self.sent.append(release)
        if release.interested:
            return release, None
        self.sent.append(Cancel())
        return release, Cancel()

    @event
    def take(self) -> Release | None: ...

    @transition(source=Ownership.STOPPED, target=Ownership.OWNED, event="take")
    def start_consumers(self) -> Release | None:
        """`take()`, once this node is the owner [seed:270-274] (Q35, Q36)."""
        require(self.granted(), "this node is not the owner, or has released the queue")
        require(self.consumers_here > 0, "nobody consumes")
        self.start_slice()
        return None

    @transition(source=Ownership.STOPPED, event="take")
    def pass_on(self) -> Release | None:
        """Without consumers, pass it on: the cancel is under way or delivered (Q-B2, Q-B4)."""
        require(self.granted(), "this node is not the owner, or has released the queue")
        require(self.consumers_here == 0, "somebody consumes")
        self.sent.append(Release(interested=False))
        return Release(interested=False)

    def granted(self) -> bool:
        return self.owner == self.me and not self.releases()

    def releases(self) -> bool:
        """Whether a release of this node is under way."""
        return any(isinstance(m, Release) for m in self.sent)

    def start_slice(self) -> None:
        """The slice runs while others are interested; a single node keeps the queue (Q33)."""
        if any(n != self.me for n in self.consumers):
            self.time_slice.start(self.slice_seconds)

    @transition(source=Ownership.OWNED)
    def dispatch(self) -> None:
        """A consumer is about to take a message; not from a locked queue [seed:218,232-234]
        (Q30, Q31)."""
        require(self.busy < self.consumers_here, "every consumer is busy")
        self.busy += 1

    @transition(source=(Ownership.OWNED, Ownership.STOPPING))
    def dispatched(self, took: bool) -> Acquire | None:
        """A consumer took a message, or found none [seed:123-126,235-236] (Q20, Q31)."""
        require(self.busy > 0, "no consumer is busy")
        self.busy -= 1
        if not took:
            return None
        self.sent.append(Acquire())
        return Acquire()

    # What is delivered, at every node in one order [seed:291-307].

    @transition()
    def consume_delivered(self, sender: Node) -> None:
        """The first interested node becomes the owner [seed:293-295] (Q38, Q-B1)."""
        self.receive(sender, Consume())
        self.consumers.add(sender)
        if self.owner is None:
            self.owner = sender
        self.keep_time()

    @transition()
    def release_delivered(self, sender: Node, m: Release) -> None:
        """The next node owns it, the sender only if it wants another turn [seed:297-300] (Q34, Q39,
        Q-B3). A node that does not own the queue cannot give it away."""
        self.receive(sender, m)
        if self.owner == sender:
            self.owner = self.next_after(sender, m.interested)

    @transition()
    def cancel_delivered(self, sender: Node) -> None:
        """Ownership moves only with a release, which follows if the sender owns the queue
        [seed:302-304] (Q40, Q-B2, Q-B4, Q-B6)."""
        self.receive(sender, Cancel())
        self.consumers.discard(sender)
        self.keep_time()

    @transition()
    def acquire_delivered(self, sender: Node) -> None:
        """The replica of the queue records it [seed:182-186] (Q26)."""
        self.receive(sender, Acquire())

    @transition()
    def member_leaves(self, member: Node) -> None:
        """Its interest ends, and a queue that it owns is released [seed:306-307] (Q41, Q-B5)."""
        require(member != self.me, "this node is here")
        require(member not in self.left, "it left before")
        self.left.add(member)
        self.consumers.discard(member)
        if self.owner == member:
            self.owner = self.next_after(member, False)
        self.keep_time()

    def receive(self, sender: Node, m: Multicast) -> None:
        """The group promises: nothing comes from nodes that left, and own multicasts in order."""
        require(sender not in self.left, "its sender left before")
        if sender == self.me:
            require(len(self.sent) > 0 and self.sent[0] == m, "not what this node said next")
            self.sent.pop(0)

    def keep_time(self) -> None:
        """The interested nodes have changed: a slice begins, continues, or has no end."""
        if all(n == self.me for n in self.consumers):
            self.time_slice.stop()
        elif self.state == Ownership.OWNED and not self.time_slice.armed:
            self.time_slice.start(self.slice_seconds)

    def next_after(self, old: Node, again: bool) -> Node | None:
        """The next interested node in node-ID order, treated as a circular list, starting after the
        old owner, which is last or left out [seed:250-252] (Q34)."""
        interested = sorted(n for n in self.consumers if again or n != old)
        circle = [n for n in interested if n > old] + [n for n in interested if n <= old]
        return circle[0] if len(circle) > 0 else None

    # What holds at this node.

    @invariant
    def consumers_run_only_at_the_owner(self) -> bool:
        """The owner's consumers run, unless it has released the queue (Q30, Q32, Q35)."""
        if self.owner == self.me:
            return self.state == Ownership.STOPPED or not self.releases()
        return self.state == Ownership.STOPPED and not self.releases()

    @invariant
    def unowned_if_nobody_is_interested(self) -> bool:
        """Otherwise only while the cancel of the last releaser is under way [seed:244] (Q32,
        Q-B3)."""
        mine = self.me in self.consumers and not any(isinstance(m, Cancel) for m in self.sent)
        return implies(self.owner is None, len(self.consumers) <= 1 and not mine)

    @invariant
    def the_owner_is_interested(self) -> bool:
        """Or its last multicast is still under way (Q32, Q-B2, Q-B4)."""
        wants = self.me in self.consumers or len(self.sent) > 0 or self.granted()
        return implies(self.owner == self.me, wants)

    @invariant
    def interest_is_known(self) -> bool:
        """This node's last multicast about its interest is true, or the cluster knows (Q42,
        Q-B9)."""
        said = [isinstance(m, Consume) for m in self.sent if isinstance(m, Consume | Cancel)]
        known = said[-1] if len(said) > 0 else self.me in self.consumers
        return known == (self.consumers_here > 0 or self.state == Ownership.STOPPING)

    @invariant
    def stopped_consumers_are_idle(self) -> bool:
        """No consumer takes a message after the queue is released (Q30, Q31, Q-B11)."""
        return implies(self.state == Ownership.STOPPED, self.busy == 0)

    @invariant
    def runs_for_its_consumers(self) -> bool:
        """A node without consumers does not keep the queue (Q33, Q-B2, Q-B4)."""
        return implies(self.state == Ownership.OWNED, self.consumers_here > 0)

    @invariant
    def acquires_come_before_a_release(self) -> bool:
        """In the total order, only the owner acquires (Q20, Q26)."""
        return all(
            self.owner == self.me and not any(isinstance(b, Release) for b in self.sent[:i])
            for i, m in enumerate(self.sent)
            if isinstance(m, Acquire)
        )

    @invariant
    def who_left_is_gone(self) -> bool:
        return self.consumers.isdisjoint(self.left) and (
            self.owner is None or self.owner not in self.left
        )

    @invariant
    def slices_are_for_sharing(self) -> bool:
        """The slice runs exactly if other nodes wait for the queue (Q33)."""
        shared = any(n != self.me for n in self.consumers)
        return self.time_slice.armed == (self.state == Ownership.OWNED and shared)

    @step_property
    def the_next_one_gets_it(self, after: "QueueOwner") -> bool:
        """No interested node is skipped between the old owner and the new one (Q34)."""
        old, new = self.owner, after.owner
        if old is None or new is None or old == new:
            return True
        skipped = any(self.between(old, n, new) for n in after.consumers)
        return new in after.consumers and not skipped

    def between(self, old: Node, n: Node, new: Node) -> bool:
        """Whether n is on the way round the ring from one node to the other."""
        if old < new:
            return old < n < new
        return n > old or n < new

    @recoverable
    def can_own(self) -> bool:
        """An interested node can always still get the queue (Q32, Q-B1, Q-B5)."""
        return self.state == Ownership.OWNED

    @reachable
    def waits_while_another_owns(self) -> bool:
        return self.me in self.consumers and self.owner is not None and self.owner != self.me

    @reachable
    def owns_without_consumers(self) -> bool:
        """It became the owner after its last consumer had left (Q-B2, Q-B4)."""
        return self.owner == self.me and self.consumers_here == 0 and self.releases()

    @reachable
    def is_consumed_again_while_it_stops(self) -> bool:
        return self.state == Ownership.STOPPING and self.consumers_here > 0 and self.busy > 0

    @reachable
    def inherits(self) -> bool:
        """The owner has left, and this node owns the queue (Q41)."""
        return self.state == Ownership.OWNED and len(self.left) > 0

    scope = Scope(Node=3, Nat=range(0, 3), sent=3, me=(Node("Node2"),))
    anywhere = Scope(me=(Node("Node1"), Node("Node2"), Node("Node3")))


class QueueOwnerFixed(QueueOwner):
    """The owner is always interested, or is about to give the queue away."""

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
        last = 0 if self.state == Ownership.STOPPING else 1
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
        return implies(told, self.consumers_here == 0)

    @step_property
    def releases_for_a_reason(self, after: "QueueOwnerFixed") -> bool:
        """It stops without consumers or if others are interested [seed:246-248] (Q33), and sends
        the release once its consumers have stopped (Q36)."""
        stops = self.state == Ownership.OWNED and after.state != Ownership.OWNED
        shared = any(n != self.me for n in self.consumers)
        quiet = self.state != Ownership.STOPPING or after.state == Ownership.STOPPING
        return implies(stops, after.consumers_here == 0 or shared) and (quiet or after.releases())

    @step_property
    def what_is_released_for_good_goes_on(self, after: "QueueOwnerFixed") -> bool:
        """When its release is delivered here, another node owns the queue, or none (Q39, Q-B3)."""
        delivered = len(after.sent) < len(self.sent) and self.sent[0] == Release(False)
        return implies(delivered, after.owner != self.me)

    @recoverable
    def may_lose_interest(self) -> bool:
        """However many consumers it has (Q33)."""
        return self.consumers_here == 0 and self.me not in self.consumers

    @reachable
    def acquires_before_it_releases(self) -> bool:
        """An acquire and a release of this node are both under way (Q20)."""
        return Acquire() in self.sent and self.releases()

    @reachable
    def cancels_before_it_releases(self) -> bool:
        """It was granted a queue that it no longer wanted, and passes it on (Q-B2, Q-B4)."""
        return self.sent[-2:] == [Cancel(), Release(False)]
