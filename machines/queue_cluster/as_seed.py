"""Queue ownership to the letter: the plan's text where `declaration.py` deviates.

Each class restores what `new-cluster-plan.org` says (`[seed:293]` is its line 293), and the checker
shows the consequence. Q-B1: no node is ever made the owner. Q-B2, Q-B4: a node takes a queue
although its last consumer has left. Q-B3: a node that releases a queue may get it back, whether it
wants it or not. Q-B5: a member that left stays in the sets. Q-B9: each cancelled consumer cancels
for all.

The document calls its sketch the happy path: its assertions say what it takes for granted. Here
other nodes meet these assertions too, or any of them would break one at once. Waiting for busy
consumers, with locks held, is a guard; `take()` belongs to the delivery that calls it.
"""

from lawful import Expect, Scope, drop, require, transition

from .messages import Cancel, Consume, Node, Release
from .ownership import Ownership, QueueOwner


class QueueOwnerAsSeed(QueueOwner):
    """`QueueOwnership`, `QueueOwnerHandler` and the two intercepts as the document sketches
    them."""

    never_stopping = drop("stopped")
    never_one_of_several = drop("cancel_one")
    taken_when_delivered = drop("take")
    taken_with_consumers = drop("start_consumers")
    never_passed_on = drop("pass_on")
    nothing_meanwhile = drop("is_consumed_again_while_it_stops")

    @transition()
    def consume(self) -> Consume | None:
        """Intercept [seed:311-312]."""
        self.consumers_here += 1
        if self.consumers_here > 1:
            return None
        self.sent.append(Consume())
        return Consume()

    @transition(source=Ownership.STOPPED, event="cancel")
    def cancel_last(self) -> Cancel | None:
        """Intercept [seed:314-317]: by the indentation, a cancel for every consumer (Q-B9)."""
        return self.cancel_it()

    @transition(source=Ownership.OWNED, target=(Ownership.OWNED, Ownership.STOPPED), event="cancel")
    def lose_interest(self) -> Cancel | None:
        """If it was the last, `drop()` before that [seed:315-316]."""
        if self.consumers_here == 1:
            self.release_it()
            self.state = Ownership.STOPPED
        return self.cancel_it()

    def cancel_it(self) -> Cancel | None:
        require(self.consumers_here > 0, "there is no consumer")
        self.consumers_here -= 1
        self.sent.append(Cancel())
        return Cancel()

    @transition(source=Ownership.OWNED, target=Ownership.STOPPED, timer="time_slice")
    def slice_over(self) -> None:
        """`timer.fire(): drop()`, whether others are interested or not [seed:276]."""
        self.release_it()

    def release_it(self) -> None:
        """`drop()` of an owner, which waits for busy consumers [seed:222-225,263-268]."""
        require(self.busy == 0, "consumers are busy")
        self.sent.append(Release(interested=False))
        self.time_slice.stop()

    @transition(target=(Ownership.STOPPED, Ownership.OWNED))
    def consume_delivered(self, sender: Node) -> None:
        """[seed:293-295]: `owner[q]` is not assigned (Q-B1)."""
        self.receive(sender, Consume())
        if sender == self.me and len(self.consumers) == 0:
            self.take_it()
        self.consumers.add(sender)

    @transition(target=(Ownership.STOPPED, Ownership.OWNED))
    def release_delivered(self, sender: Node, m: Release) -> None:
        """[seed:297-300]: the search may come back to the sender (Q-B3)."""
        owns = self.owner == sender and sender in self.consumers
        require(owns or sender == self.me, "other nodes keep to what is asserted")
        self.receive(sender, m)
        assert self.owner == sender and sender in self.consumers
        self.hand_over(sender)

    @transition()
    def cancel_delivered(self, sender: Node) -> None:
        """[seed:302-304]: "sender must release() before cancel()" (Q-B2, Q-B4)."""
        released = self.owner != sender
        require(released or sender == self.me, "other nodes keep to what is asserted")
        self.receive(sender, Cancel())
        assert self.owner != sender
        self.consumers.discard(sender)

    @transition(target=(Ownership.STOPPED, Ownership.OWNED))
    def member_leaves(self, member: Node) -> None:
        """[seed:306-307]: a release in its name, and nothing else (Q-B5)."""
        require(member != self.me, "this node is here")
        if self.owner == member:
            self.hand_over(member)

    def hand_over(self, old: Node) -> None:
        self.owner = self.next_after(old, True)
        if self.owner == self.me:
            self.take_it()

    def take_it(self) -> None:
        """`take()` [seed:270-274], whoever consumes, or nobody."""
        if self.state == Ownership.STOPPED:
            self.state = Ownership.OWNED
            self.time_slice.start(self.slice_seconds)

    # What goes wrong needs few multicasts under way at once.
    scope = Scope(Node=3, Nat=range(0, 3), sent=2, me=(Node("Node2"),))
    # Nobody ever owns a queue, so that none is waited for; what is cut leaves that open.
    expects = Expect(
        asserts=("violated", 4),
        consumers_run_only_at_the_owner=("violated", 2),
        unowned_if_nobody_is_interested=("violated", 2),
        interest_is_known=("violated", 3),
        runs_for_its_consumers=("violated", 3),
        slices_are_for_sharing=("violated", 2),
        can_own="unknown",
        waits_while_another_owns="unknown",
        owns_without_consumers="unknown",
    )


class QueueOwnerAssigned(QueueOwnerAsSeed):
    """With the most obvious repairs: the first node to consume becomes the owner (Q-B1), and only
    the last consumer to leave sends a cancel (Q-B9)."""

    @transition(target=(Ownership.STOPPED, Ownership.OWNED))
    def consume_delivered(self, sender: Node) -> None:
        self.receive(sender, Consume())
        self.consumers.add(sender)
        if self.owner is None:
            self.owner = sender
            if sender == self.me:
                self.take_it()

    def cancel_it(self) -> Cancel | None:
        require(self.consumers_here > 0, "there is no consumer")
        self.consumers_here -= 1
        if self.consumers_here > 0:
            return None
        self.sent.append(Cancel())
        return Cancel()

    expects = Expect(
        consumers_run_only_at_the_owner="holds-within-scope",
        unowned_if_nobody_is_interested="holds-within-scope",
        interest_is_known="holds-within-scope",
        waits_while_another_owns="holds",
        owns_without_consumers="holds",
    )
