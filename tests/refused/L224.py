"""Growing sorts in places where an element that comes later would have no value."""

from collections.abc import Mapping

from lawful import Machine, Nat, Param, Sort, assume, initial, total, transition


class Node(Sort, growing=True):
    """A member."""


class Wrong(Machine):
    load: dict[Node, Nat]
    weight: Param[Mapping[Node, Nat]]
    universe_Node: dict[Node, bool] = total(False)

    @initial
    def begin(self) -> None:
        self.load = {n: 0 for n in Node}

    @transition()
    def grow_Node(self) -> None: ...

    @assume
    def some(self) -> bool:
        return any(self.weight[n] > 0 for n in Node)
