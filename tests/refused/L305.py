"""What asks for the elements of a growing sort outside the machine itself."""

from lawful import Machine, Nat, Scope, Sort, infinitely_often, total, transition


class Node(Sort, growing=True):
    """A member."""


def few() -> bool:
    return len(Node) < 3


class Part(Machine):
    load: dict[Node, Nat] = total(0)


class Wrong(Machine):
    part: Part = Part()
    busy: bool = False

    @transition()
    def work(self, n: Node) -> None:
        self.busy = few()

    @infinitely_often
    def rests(self, n: Node) -> bool:
        return not self.busy

    scope = Scope(Node=2, Nat=range(0, 2))
