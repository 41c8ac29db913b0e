"""The echo algorithm: a spanning tree from one initiator.

Source: E. J. H. Chang, "Echo algorithms: depth parallel operations on general graphs" (1982); as in
tlaplus/Examples, specifications/echo/Echo.tla (S. Merz), whose manifest has the figures. The
configuration was not read: with three nodes, each a neighbour of both others, they come out. Like
the translation there, `rest` is a step that changes nothing once all are done.
"""

from enum import Enum
from typing import Annotated

from annotated_types import Interval

from lawful import (
    Machine,
    Record,
    State,
    implies,
    invariant,
    reachable,
    require,
    total,
    transition,
)

COUNTS = (75, 116, 16)


class Node(Enum):
    """The first is the initiator."""

    A = "a"
    B = "b"
    C = "c"


class Label(State):
    """Where a node's program stands."""

    N0 = "n0"
    N1 = "n1"
    N2 = "n2"
    DONE = "done"


class Kind(Enum):
    """Of messages: a child tells its parent that it is one."""

    MESSAGE = "m"
    CHILD = "c"


class Mail(Record):
    """What arrives."""

    kind: Kind
    sender: Node


class Echo(Machine):
    """Whoever hears first takes the sender as its parent and tells the others."""

    pc: dict[Node, Label] = total(Label.N0)
    inbox: dict[Node, set[Mail]] = total(set())
    parent: dict[Node, Node | None] = total(None)
    children: dict[Node, set[Node]] = total(set())
    received: dict[Node, Annotated[int, Interval(ge=0, le=2)]] = total(0)

    @transition(source=Label.N0, target=Label.N1, of="pc[node]")
    def begin(self, node: Node) -> None:
        """n0."""
        if node == Node.A:
            self.tell(node, node)

    def tell(self, node: Node, not_to: Node) -> None:
        """multicast."""
        for other in (Node.A, Node.B, Node.C):
            if other not in (node, not_to):
                self.inbox[other].add(Mail(Kind.MESSAGE, node))

    @transition(source=Label.N1, of="pc[node]")
    def receive(self, node: Node, mail: Mail) -> None:
        """n1, its first branch."""
        require(self.received[node] < 2, "all have been heard")
        require(mail in self.inbox[node], "no such message")
        self.inbox[node].remove(mail)
        self.received[node] += 1
        if node != Node.A and self.received[node] == 1:
            assert mail.kind == Kind.MESSAGE
            self.parent[node] = mail.sender
            self.tell(node, mail.sender)
        if mail.kind == Kind.CHILD:
            self.children[node].add(mail.sender)

    @transition(source=Label.N1, target=Label.N2, of="pc[node]")
    def heard_all(self, node: Node) -> None:
        """n1, its second branch."""
        require(self.received[node] == 2, "some have not been heard")

    @transition(source=Label.N2, target=Label.DONE, of="pc[node]")
    def finish(self, node: Node) -> None:
        """n2."""
        if node != Node.A:
            parent = self.parent[node]
            assert parent is not None
            self.inbox[parent].add(Mail(Kind.CHILD, node))

    @transition()
    def rest(self) -> None:
        require(self.all_done(), "somebody works")

    def all_done(self) -> bool:
        return all(label == Label.DONE for label in self.pc.values())

    @invariant
    def initiator_has_no_parent(self) -> bool:
        """InitiatorNoParent."""
        return self.parent[Node.A] is None

    @invariant
    def children_know_their_parent(self, a: Node, b: Node) -> bool:
        """ParentChild."""
        grown = self.parent[b] == a and self.pc[a] == Label.DONE
        return implies(b in self.children[a], self.parent[b] == a) and implies(
            grown, b in self.children[a]
        )

    @invariant
    def a_tree_at_the_end(self) -> bool:
        """AncestorProperties: of three nodes, not both have the other as parent."""
        cycle = self.parent[Node.B] == Node.C and self.parent[Node.C] == Node.B
        rooted = self.parent[Node.B] is not None and self.parent[Node.C] is not None
        return not self.all_done() or (rooted and not cycle)

    @reachable
    def a_chain(self) -> bool:
        return self.all_done() and self.parent[Node.C] == Node.B
