"""Leader election on a unidirectional ring.

Source: E. Chang and R. Roberts, "An improved algorithm for decentralized extrema-finding in
circular configurations of processes" (1979); as in tlaplus/Examples,
specifications/chang_roberts/ChangRoberts.tla, whose manifest has the figures: three nodes, and
node i has the identity i. Any of them may start; the smallest that does is elected.
"""

from collections.abc import Mapping
from typing import Annotated

from annotated_types import Interval

from lawful import (
    Fairness,
    Machine,
    State,
    Weak,
    implies,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    total,
    transition,
)

COUNTS = (137, 227, 10)

Node = Annotated[int, Interval(ge=1, le=3)]


class Label(State):
    """Where a node's program stands."""

    N0 = "n0"
    N1 = "n1"


class Standing(State):
    """What a node knows of itself."""

    CANDIDATE = "cand"
    LOST = "lost"
    WON = "won"


def after(node: Node) -> Node:
    """The next node on the ring."""
    return 1 if node == 3 else node + 1


class ChangRoberts(Machine):
    """Each passes on what is smaller than itself; its own identity tells that it has won."""

    pc: dict[Node, Label] = total(Label.N0)
    initiator: Mapping[Node, bool]
    standing: dict[Node, Standing]
    inbox: dict[Node, set[Node]] = total(set())

    @initial
    def some_start(self, initiator: Mapping[Node, bool]) -> None:
        """Init."""
        self.initiator = initiator
        self.standing = {
            n: Standing.CANDIDATE if initiator[n] else Standing.LOST for n in range(1, 4)
        }

    @transition(source=Label.N0, target=Label.N1, of="pc[node]")
    def begin(self, node: Node) -> None:
        """n0."""
        if self.initiator[node]:
            self.inbox[after(node)].add(node)

    @transition(source=Label.N1, of="pc[node]")
    def handle(self, node: Node, identity: Node) -> None:
        """n1."""
        require(identity in self.inbox[node], "no such message")
        self.inbox[node].remove(identity)
        if self.standing[node] == Standing.LOST:
            self.inbox[after(node)].add(identity)
        elif identity < node:
            self.standing[node] = Standing.LOST
            self.inbox[after(node)].add(identity)
        elif identity == node:
            self.standing[node] = Standing.WON

    @invariant
    def the_right_one_wins(self, node: Node, other: Node) -> bool:
        """Correctness."""
        won = self.standing[node] == Standing.WON
        lost = self.standing[other] == Standing.LOST
        smallest = implies(self.initiator[other], other > node)
        return implies(won, self.initiator[node] and (node == other or (lost and smallest)))

    @reachable
    def wins(self, node: Node) -> bool:
        return self.standing[node] == Standing.WON

    @leads_to
    def somebody_wins(self) -> tuple[bool, bool]:
        """Liveness."""
        candidate = any(self.standing[n] == Standing.CANDIDATE for n in range(1, 4))
        won = any(self.standing[n] == Standing.WON for n in range(1, 4))
        return candidate, won

    fairness = Fairness(Weak("begin", "handle", each=("node",)))
    deadlock_ok = True
