"""Queue cluster: what one node's consumers and the group see of its `QueueOwner`.

Source: `new-cluster-plan.org`, as in `declaration.py`. The embedded `QueueOwnerFixed` has callers:
consumers with a thread each, the timer, and the deliver thread. What its events return is what is
multicast. The machine notes who consumes and who takes a message, and what was multicast and has
not come back; as ghosts, what the delivered multicasts amount to by the document's words (`Known`).

Abstractions. The other nodes may say anything at any time, and members may leave and come again.
Time slices end at any moment; `SubscribersInTime` has their duration, in ticks of 10 ms.
"""

from lawful import (
    Clock,
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    can,
    implies,
    initial,
    invariant,
    require,
    step_property,
    terminal,
    transition,
)

from .declaration import QueueOwnerFixed
from .messages import Cancel, Consume, Node, Release
from .ownership import Multicast, Ownership
from .system import Known, Left, Placed, applied


class Subscriber(Sort):
    """A consumer at this node, with credit; its thread takes messages [seed:311-312] (Q31, Q42)."""


class SubscribersFixed(Machine):
    """A queue at the node `me`, and everything that calls its `QueueOwnerFixed`."""

    owners: dict[Node, QueueOwnerFixed] = {}
    subscribed: set[Subscriber] = set()
    taking: set[Subscriber] = set()
    said: list[Multicast] = []
    known: Ghost[Known] = Known(None, frozenset())
    updating: Ghost[bool] = False
    ended: Ghost[bool] = False

    me: Param[Node]

    @initial
    def begin(self) -> None:
        self.owners[self.me] = QueueOwnerFixed(me=self.me)

    # Consumers.

    @transition()
    def consume(self, s: Subscriber) -> None:
        require(s not in self.subscribed and s not in self.taking, "consumes already")
        self.say(self.owners[self.me].consume())
        self.subscribed.add(s)

    @transition()
    def cancel(self, s: Subscriber) -> None:
        """It may be busy with a message, and take it (Q31)."""
        require(s in self.subscribed, "does not consume")
        self.say(self.owners[self.me].cancel())
        self.subscribed.discard(s)

    @transition()
    def dispatch(self, s: Subscriber) -> None:
        require(s in self.subscribed and s not in self.taking, "is busy, or does not consume")
        self.owners[self.me].dispatch()
        self.taking.add(s)

    @transition()
    def dispatched(self, s: Subscriber) -> None:
        require(s in self.taking, "takes no message")
        self.owners[self.me].dispatched()
        self.taking.discard(s)

    # The node's own threads.

    @transition()
    def take(self) -> None:
        self.say(self.owners[self.me].take())

    @transition()
    def slice_over(self) -> None:
        self.owners[self.me].slice_over()

    @transition()
    def stopped(self) -> None:
        release, cancel = self.owners[self.me].stopped()
        self.say(release)
        self.say(cancel)

    @transition()
    def join(self, owner: Node | None, consumers: frozenset[Node]) -> None:
        self.owners[self.me].join(owner, consumers)
        self.known = Known(owner, consumers)
        self.updating = True

    @transition()
    def updated(self) -> None:
        self.say(self.owners[self.me].updated())
        self.updating = False

    def say(self, m: Multicast | None) -> None:
        if m is not None:
            self.said.append(m)

    # What is delivered.

    @transition()
    def come_back(self) -> None:
        """The oldest multicast of this node, also one about a queue that was destroyed."""
        require(len(self.said) > 0, "everything came back")
        self.deliver(self.me, self.said.pop(0))

    @transition()
    def hear(self, n: Node, m: Multicast) -> None:
        require(n != self.me, "this node's own come back in its order")
        self.deliver(n, m)

    @transition()
    def leave(self, n: Node) -> None:
        require(n != self.me, "this node is here")
        self.owners[self.me].member_leaves(n)
        self.note(Placed(n, Left()))

    @transition()
    def destroy(self) -> None:
        self.owners[self.me].destroy_delivered()
        self.subscribed.clear()
        self.updating = False
        self.ended = True

    def deliver(self, n: Node, m: Multicast) -> None:
        match m:
            case Consume():
                self.owners[self.me].consume_delivered(n)
            case Release():
                self.owners[self.me].release_delivered(n, m)
            case Cancel():
                self.owners[self.me].cancel_delivered(n)
        self.note(Placed(n, m))

    def note(self, m: Placed) -> None:
        if not self.ended:
            self.known = applied(self.known, m)

    @terminal
    def nothing_is_under_way(self) -> bool:
        return self.owners[self.me].over() and len(self.taking) == 0 and len(self.said) == 0

    # What consumers and the group may rely on.

    @invariant
    def counts_its_consumers(self) -> bool:
        """Those that are here, and those that take a message (Q31, Q42)."""
        one = self.owners[self.me]
        return one.consumers_here == len(self.subscribed) and one.busy == len(self.taking)

    @invariant
    def remembers_what_it_said(self) -> bool:
        """What its events returned, in that order, until it comes back (Q36, Q42)."""
        return self.ended or self.owners[self.me].sent == self.said

    @invariant
    def knows_what_was_said(self) -> bool:
        """The owner and who is interested, by the document's words (Q34, Q37, Q48)."""
        one = self.owners[self.me]
        return self.ended or Known(one.owner, frozenset(one.consumers)) == self.known

    @invariant
    def consumers_come_and_go(self, s: Subscriber) -> bool:
        """At any time until the queue is destroyed: nobody waits for busy consumers, for the update
        or for the owner (Q42, Q56, Q-B12)."""
        new = s not in self.subscribed and s not in self.taking and not self.ended
        return can(self.consume, s) == new and can(self.cancel, s) == (s in self.subscribed)

    @invariant
    def an_owner_delivers(self, s: Subscriber) -> bool:
        """Several consumers of the owner may take messages at a time: as many as there are, also if
        one has left that is still busy. Each may always end that (Q30, Q31)."""
        runs = self.owners[self.me].state == Ownership.OWNED
        idle = s in self.subscribed and s not in self.taking
        fewer = len(self.taking) < len(self.subscribed)
        return implies(runs and idle and fewer, can(self.dispatch, s)) and can(
            self.dispatched, s
        ) == (s in self.taking)

    @invariant
    def what_is_delivered_is_handled(self, n: Node) -> bool:
        """No node refuses what has a place in the order: not while it is updated, not while its
        consumers stop, and not after the queue was destroyed (Q37, Q43, Q56)."""
        other = n != self.me
        return (
            can(self.come_back) == (len(self.said) > 0)
            and can(self.hear, n, Consume()) == other
            and can(self.hear, n, Release(True)) == other
            and can(self.hear, n, Cancel()) == other
            and can(self.leave, n) == other
            and can(self.destroy)
        )

    @invariant
    def who_is_new_may_join(self, owner: Node | None, consumers: frozenset[Node]) -> bool:
        """A node that has said and heard nothing of the queue may, with whatever a member knows
        between two multicasts: at most one is interested while nobody owns the queue (Q48)."""
        new = self.known == Known(None, frozenset()) and not self.updating and not self.ended
        silent = len(self.subscribed) == 0 and len(self.said) == 0
        known = owner is not None or len(consumers) <= 1
        others = owner != self.me and self.me not in consumers
        return can(self.join, owner, consumers) == (new and silent and known and others)

    @step_property
    def interest_is_told_once(self, after: "SubscribersFixed") -> bool:
        """A node that is known as interested, or about to be, does not say so again (Q42)."""
        told = len(after.said) > len(self.said) and isinstance(after.said[-1], Consume)
        said = [isinstance(m, Consume) for m in self.said if isinstance(m, Consume | Cancel)]
        interested = said[-1] if len(said) > 0 else self.me in self.known.consumers
        return implies(told, not interested)

    @step_property
    def a_release_says_who_waits(self, after: "SubscribersFixed") -> bool:
        """The node wants another turn if it has consumers, and only then (Q36, Q39)."""
        return all(
            m.interested == (len(after.subscribed) > 0)
            for m in after.said[len(self.said) :]
            if isinstance(m, Release)
        )

    scope = Scope(Node=2, Subscriber=2, Nat=range(0, 3), sent=3, said=3, me=(Node("Node1"),))


class SubscribersInTime(SubscribersFixed):
    """How long the node keeps a queue that others wait for."""

    clock: Clock = Clock(tick=0.01)
    shared: Ghost[bool] = False
    since: Ghost[Nat] = 0

    @transition()
    def take(self) -> None:
        super().take()
        self.watch()

    @transition()
    def come_back(self) -> None:
        super().come_back()
        self.watch()

    @transition()
    def hear(self, n: Node, m: Multicast) -> None:
        super().hear(n, m)
        self.watch()

    @transition()
    def leave(self, n: Node) -> None:
        super().leave(n)
        self.watch()

    def watch(self) -> None:
        """When others began to wait for a queue that this node owns."""
        if not self.shared:
            self.since = self.clock.now
        self.shared = self.is_shared()

    def is_shared(self) -> bool:
        others = any(n != self.me for n in self.known.consumers)
        return others and self.owners[self.me].state == Ownership.OWNED

    @invariant
    def a_slice_has_its_length(self) -> bool:
        """20 ms after others began to wait, whoever of them comes or goes meanwhile (Q33)."""
        due = self.clock.now - self.since >= 2
        return implies(self.is_shared(), can(self.slice_over) == due)

    scope = Scope(
        Node=3,
        Subscriber=1,
        Nat=range(0, 6),
        sent=2,
        said=2,
        clock=range(0, 6),
        me=(Node("Node1"),),
    )
