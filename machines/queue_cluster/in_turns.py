"""The nodes of `system.py` take turns: what they do is what `turns.py` says of any number of them.

Source: `new-cluster-plan.org`, as in both. `ClusterInTurns` is `ClusterFixed` with a history: when
a turn began, and who had it; how many of them each node knows; who has said that it releases its
own. Seen through that, each of its steps is one of `Turns`, or none. A turn begins where something
gets its place by which the owner changes, or stays: the release of the owner, its leaving, or, if
there is none, a consume.

That is explored. By induction, with two nodes and two multicasts at most on their way from each and
to each, it is shown of the start and of each step that is none of `Turns`; of the others it needs
what all nodes know together, as `who_runs_owns_the_queue` does, which goes through all inboxes.

Abstraction, confessed. Turns go on for ever, so that a scope cuts them; the cluster itself is
explored without that.
"""

from lawful import Ghost, Nat, Scope, drop, refines, require, total, transition

from .declaration import Consume, Node, Ownership, Release
from .system import ClusterFixed, Left, Placed, applied
from .turns import Turns


def begins_turn(owner: Node | None, m: Placed) -> bool:
    """Whether it does, where this node is the owner."""
    match m.said:
        case Consume():
            return owner is None
        case Release() | Left():
            return owner == m.sender
        case _:
            return False


class ClusterInTurns(ClusterFixed):
    """With the history that `Turns` is about."""

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

    nobody_changes_that_often = drop("cancels_and_consumes_again_at_once")

    scope = Scope(Node=2, Nat=range(0, 4), inbox=5, sent=4, most_changes=(2,))
    large = Scope(Nat=range(0, 5), most_changes=(3,))
