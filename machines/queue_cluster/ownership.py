"""Queue cluster: ownership of one queue at one node, without joins and destruction.

Source: `new-cluster-plan.org`; `declaration.py` completes this machine, which its variants share.
"""

from lawful import (
    Machine,
    Nat,
    Param,
    Scope,
    State,
    Timer,
    event,
    implies,
    invariant,
    reachable,
    recoverable,
    require,
    step_property,
    transition,
)

from .messages import Cancel, Consume, Node, Release


class Ownership(State):
    """Whether the queue's consumers at this node run [seed:218,254-255] (Q30, Q35)."""

    UPDATING = "this node does not have the whole queue yet"
    STOPPED = "consumers are stopped"
    OWNED = "consumers run"
    STOPPING = "waits for busy consumers"
    ENDED = "the queue is destroyed"


Multicast = Consume | Release | Cancel
LASTING = (Ownership.UPDATING, Ownership.STOPPED, Ownership.OWNED, Ownership.STOPPING)


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

    me: Param[Node]
    slice_seconds: Param[float] = 0.02

    # What happens at this node [seed:257-281,309-317].

    @transition(source=LASTING)
    def consume(self) -> Consume | None:
        """A consumer subscribes or gets credit; the first one is multicast [seed:311-312] (Q42).

        While this node gives the queue away, the cluster still knows it as interested. While the
        queue is updated, this node may not own it, and so says nothing (Q56).
        """
        self.consumers_here += 1
        if self.consumers_here > 1 or self.is_silent():
            return None
        self.sent.append(Consume())
        return Consume()

    def is_silent(self) -> bool:
        return self.state in (Ownership.STOPPING, Ownership.UPDATING)

    @event
    def cancel(self) -> Cancel | None: ...

    @transition(source=LASTING, event="cancel")
    def cancel_one(self) -> Cancel | None:
        """A consumer leaves or has no credit, and others stay, or the queue is being given away or
        updated: nothing is sent (Q42, Q-B9)."""
        several = 1 if self.is_silent() else 2
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

    @transition(source=(Ownership.OWNED, Ownership.STOPPING, Ownership.ENDED))
    def dispatched(self) -> None:
        """It took a message, or found none [seed:235-236] (Q31)."""
        require(self.busy > 0, "no consumer is busy")
        self.busy -= 1

    # What is delivered, at every node in one order [seed:291-307].

    @transition(source=LASTING)
    def consume_delivered(self, sender: Node) -> None:
        """The first interested node becomes the owner [seed:293-295] (Q38, Q-B1)."""
        self.receive(sender, Consume())
        self.consumers.add(sender)
        if self.owner is None:
            self.owner = sender
        self.keep_time()

    @transition(source=LASTING)
    def release_delivered(self, sender: Node, m: Release) -> None:
        """The next node owns it, the sender only if it wants another turn [seed:297-300] (Q34, Q39,
        Q-B3). A node that does not own the queue cannot give it away."""
        self.receive(sender, m)
        if self.owner == sender:
            self.owner = self.next_after(sender, m.interested)

    @transition(source=LASTING)
    def cancel_delivered(self, sender: Node) -> None:
        """Ownership moves only with a release, which follows if the sender owns the queue
        [seed:302-304] (Q40, Q-B2, Q-B4, Q-B6)."""
        self.receive(sender, Cancel())
        self.consumers.discard(sender)
        self.keep_time()

    @transition(source=LASTING)
    def member_leaves(self, member: Node) -> None:
        """Its interest ends, and a queue that it owns is released [seed:306-307] (Q41, Q-B5)."""
        require(member != self.me, "this node is here")
        self.consumers.discard(member)
        if self.owner == member:
            self.owner = self.next_after(member, False)
        self.keep_time()

    def receive(self, sender: Node, m: Multicast) -> None:
        """The group promises that this node's own multicasts come back in its order."""
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
        circle = [n for n in interested if n > old] + interested
        return circle[0] if len(circle) > 0 else None

    # What holds at this node.

    @invariant
    def consumers_run_only_at_the_owner(self) -> bool:
        """The owner's consumers run, unless it has released the queue (Q30, Q32, Q35)."""
        if self.owner == self.me:
            return self.state == Ownership.STOPPED or not self.releases()
        return self.state not in (Ownership.OWNED, Ownership.STOPPING) and not self.releases()

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
        wants = self.consumers_here > 0 and self.state != Ownership.UPDATING
        return known == (wants or self.state == Ownership.STOPPING)

    @invariant
    def stopped_consumers_are_idle(self) -> bool:
        """No consumer takes a message after the queue is released (Q30, Q31, Q-B11)."""
        stopped = self.state in (Ownership.STOPPED, Ownership.UPDATING)
        return implies(stopped, self.busy == 0)

    @invariant
    def runs_for_its_consumers(self) -> bool:
        """A node without consumers does not keep the queue (Q33, Q-B2, Q-B4)."""
        return implies(self.state == Ownership.OWNED, self.consumers_here > 0)

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

    scope = Scope(Node=3, Nat=range(0, 3), sent=3, me=(Node("Node2"),))
    anywhere = Scope(me=(Node("Node1"), Node("Node2"), Node("Node3")))
