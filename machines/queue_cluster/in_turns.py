"""The nodes of `system.py` take turns: they refine `turns.py`, which is about any number of nodes.

Source: `new-cluster-plan.org`, as in both. `ClusterInTurns` is `ClusterFixed` with a history: when
each turn began, who held it, how many turns each node knows, and which nodes have sent a release of
their turn. With this history each step of the cluster is one of `Turns`, or none. A turn begins
with a place in the order that decides who owns the queue: the owner's release, its leaving, or, if
there is no owner, a consume.

This refinement is explored. Induction proves it with two nodes and at most two multicasts under way
from each and to each (scope `short` of `ClusterFixed`): the proof needs what all nodes know
together, and thus goes through all inboxes.

Abstraction. Turns go on for ever, so that a scope cuts them; the cluster itself is explored without
that bound.
"""

from lawful import Ghost, Nat, Scope, drop, invariant, refines, require, total, transition

from .messages import Consume, Node, Release
from .ownership import Ownership
from .system import ClusterFixed, Known, Left, Placed, applied
from .turns import Turns


def begins_turn(owner: Node | None, m: Placed) -> bool:
    """Whether this multicast begins a turn, if this node is the owner."""
    match m.said:
        case Consume():
            return owner is None
        case Release() | Left():
            return owner == m.sender
        case _:
            return False


class ClusterInTurns(ClusterFixed):
    """The cluster with the history that `Turns` needs."""

    turn: Ghost[Nat] = 0
    holder: Ghost[dict[Nat, Node | None]] = {0: None}
    known: Ghost[dict[Node, Nat]] = total(0)
    said: Ghost[dict[Node, Nat]] = total(0)
    runs: Ghost[set[Node]] = set()
    releasing: Ghost[set[Node]] = set()

    @transition()
    def take(self, n: Node) -> None:
        super().take(n)
        if self.nodes[n].state == Ownership.OWNED:
            self.runs.add(n)
        else:
            self.releases(n)

    @transition()
    def stopped(self, n: Node) -> None:
        super().stopped(n)
        self.releases(n)

    def releases(self, n: Node) -> None:
        self.runs.discard(n)
        self.releasing.add(n)
        self.said[n] = self.known[n] + 1

    def put(self, m: Placed) -> None:
        if isinstance(m.said, Release):
            self.releasing.discard(m.sender)
        if begins_turn(self.in_order.owner, m):
            self.turn += 1
            self.holder[self.turn] = applied(self.in_order, m).owner
        super().put(m)

    @transition()
    def handle(self, n: Node) -> None:
        require(n in self.nodes, "is gone")
        require(len(self.inbox[n]) > 0, "everything is handled")
        if begins_turn(self.nodes[n].owner, self.inbox[n][0]):
            self.known[n] += 1
        super().handle(n)

    @refines(Turns)
    def takes_turns(self) -> Turns:
        return Turns.lawful.state(
            turn=self.turn,
            holder=dict(self.holder),
            here=set(self.nodes),
            known=self.known,
            said=self.said,
            runs=set(self.runs),
            releasing=set(self.releasing),
        )

    # What it follows from.

    @invariant
    def each_turn_has_its_holder(self) -> bool:
        """A node comes to know the holders one turn after the other, up to the last (Q37)."""
        return all(self.turns_are_known(n) for n in self.nodes)

    def turns_are_known(self, n: Node) -> bool:
        known, t = Known(self.nodes[n].owner, frozenset(self.nodes[n].consumers)), self.known[n]
        right = self.holder[t] == known.owner
        for m in self.inbox[n]:
            if begins_turn(known.owner, m):
                t += 1
            known = applied(known, m)
            right = right and self.holder[t] == known.owner
        return right and t == self.turn

    @invariant
    def runs_until_it_has_stopped(self, n: Node) -> bool:
        """A node that waits for busy consumers still runs (Q31)."""
        return n not in self.nodes or (n in self.runs) == (self.nodes[n].state != Ownership.STOPPED)

    @invariant
    def releases_until_that_has_its_place(self, n: Node) -> bool:
        """A node is `releasing` exactly while a release of its own has no place (Q39)."""
        return n not in self.nodes or (n in self.releasing) == (
            any(isinstance(m, Release) for m in self.nodes[n].sent[self.placed(n) :])
        )

    @invariant
    def who_releases_owns_the_queue(self, n: Node) -> bool:
        """A node is the owner until its release has a place (Q39)."""
        return n not in self.nodes or n not in self.releasing or self.in_order.owner == n

    @invariant
    def a_turn_is_released_once(self, n: Node) -> bool:
        """A node remembers its release until it has handled it (Q36)."""
        if n not in self.nodes:
            return True
        if self.nodes[n].releases():
            return self.said[n] == self.known[n] + 1
        return self.said[n] <= self.known[n]

    nobody_changes_that_often = drop("cancels_and_consumes_again_at_once")

    scope = Scope(Node=2, Nat=range(0, 4), inbox=5, sent=4, most_changes=(2,))
    large = Scope(Nat=range(0, 5), most_changes=(3,))
