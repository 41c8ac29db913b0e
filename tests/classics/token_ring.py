"""A ring that stabilises by itself.

Source: E. W. Dijkstra, "Self-stabilizing systems in spite of distributed control" (EWD 426, 1974);
as in tlaplus/Examples, specifications/ewd426/TokenRing.tla, whose manifest has the figures. The
configuration was not read: they come out for six nodes with six values.
"""

from collections.abc import Mapping
from typing import Annotated

from annotated_types import Interval

from lawful import (
    Fairness,
    Machine,
    Weak,
    eventually_always,
    implies,
    initial,
    invariant,
    reachable,
    require,
    step_property,
    transition,
)

COUNTS = (46656, 248832, 1)

NODES = 6
VALUES = 6
Node = Annotated[int, Interval(ge=0, le=5)]
Value = Annotated[int, Interval(ge=0, le=5)]


class TokenRing(Machine):
    """Node 0 has a token where its value is that of the last one, any other where it differs."""

    values: dict[Node, Value]

    @initial
    def anyhow(self, values: Mapping[Node, Value]) -> None:
        """Init."""
        self.values = dict(values)

    @transition()
    def first(self) -> None:
        """CreateToken."""
        require(self.values[0] == self.values[NODES - 1], "has no token")
        self.values[0] = (self.values[0] + 1) % VALUES

    @transition()
    def other(self, node: Node) -> None:
        """PassToken."""
        require(node != 0 and self.values[node] != self.values[node - 1], "has no token")
        self.values[node] = self.values[node - 1]

    def tokens(self) -> int:
        first = 1 if self.values[0] == self.values[NODES - 1] else 0
        return first + sum(1 for i in range(1, NODES) if self.values[i] != self.values[i - 1])

    @invariant
    def some_token(self) -> bool:
        return self.tokens() >= 1

    @step_property
    def never_more(self, after: "TokenRing") -> bool:
        return after.tokens() <= self.tokens()

    @step_property
    def one_stays_one(self, after: "TokenRing") -> bool:
        return implies(self.tokens() == 1, after.tokens() == 1)

    @reachable
    def every_node_has_one(self) -> bool:
        return self.tokens() == NODES

    @eventually_always
    def stabilises(self) -> bool:
        """Stab."""
        return self.tokens() == 1

    fairness = Fairness(Weak("first", "other", each=()))
