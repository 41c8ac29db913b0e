"""Termination detection on a ring.

Source: E. W. Dijkstra, W. H. J. Feijen, A. J. M. van Gasteren, "Derivation of a termination
detection algorithm for distributed computations" (EWD 840, 1983); as in tlaplus/Examples,
specifications/ewd840/EWD840.tla, whose manifest has the figures for four nodes (EWD840_json): 1,566
distinct states, depth 12, and 15,986 generated. TLC counts a step once for every true disjunct of
its guard: 128 times a probe and 896 times a token has two reasons or three to go, counted once
here.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Annotated

from annotated_types import Interval

from lawful import (
    Expect,
    Fairness,
    Machine,
    Weak,
    implies,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    terminal,
    transition,
)

COUNTS = (1566, 14962, 12)

NODES = 4
Node = Annotated[int, Interval(ge=0, le=3)]


class Color(Enum):
    """Of nodes and of the token."""

    WHITE = "white"
    BLACK = "black"


class TerminationDetection(Machine):
    """The token goes from node 3 down to node 0 and learns whether anybody was active."""

    active: dict[Node, bool]
    color: dict[Node, Color]
    at: Node
    token: Color = Color.BLACK

    @initial
    def anyhow(self, active: Mapping[Node, bool], color: Mapping[Node, Color], at: Node) -> None:
        """Init: the token is black, everything else is arbitrary."""
        self.active = dict(active)
        self.color = dict(color)
        self.at = at

    @transition()
    def initiate_probe(self) -> None:
        """InitiateProbe."""
        require(self.at == 0, "the token is elsewhere")
        inconclusive = self.token == Color.BLACK or self.color[0] == Color.BLACK
        require(inconclusive, "the last round was conclusive")
        self.at = NODES - 1
        self.token = Color.WHITE
        self.color[0] = Color.WHITE

    @transition()
    def pass_token(self, node: Node) -> None:
        """PassToken."""
        require(node != 0 and self.at == node, "the token is elsewhere")
        black = self.color[node] == Color.BLACK
        require(not self.active[node] or black or self.token == Color.BLACK, "active")
        self.at = node - 1
        self.token = Color.BLACK if black else self.token
        self.color[node] = Color.WHITE

    @transition()
    def send(self, node: Node, to: Node) -> None:
        """SendMsg: a node is woken; one that sends past the token becomes black."""
        require(self.active[node], "not active")
        require(to != node, "to itself")
        self.active[to] = True
        self.color[node] = Color.BLACK if to > node else self.color[node]

    @transition()
    def deactivate(self, node: Node) -> None:
        """Deactivate."""
        require(self.active[node], "not active")
        self.active[node] = False

    def terminated(self) -> bool:
        return not any(self.active.values())

    def detected(self) -> bool:
        calm = self.color[0] == Color.WHITE and not self.active[0]
        return self.at == 0 and self.token == Color.WHITE and calm

    @invariant
    def detection_is_right(self) -> bool:
        """TerminationDetection."""
        return implies(self.detected(), self.terminated())

    @invariant
    def dijkstra(self) -> bool:
        """Inv."""
        calm = all(not self.active[i] for i in range(self.at + 1, NODES))
        stained = any(self.color[j] == Color.BLACK for j in range(self.at + 1))
        return calm or stained or self.token == Color.BLACK

    @invariant
    def token_stays_black(self) -> bool:
        """TokenAlwaysBlack, which is not supposed to hold."""
        return self.token == Color.BLACK

    @reachable
    def detects(self) -> bool:
        return self.detected()

    @reachable
    def works_behind_the_token(self) -> bool:
        return self.at == 0 and self.token == Color.WHITE and self.active[3]

    @leads_to
    def detection_comes(self) -> tuple[bool, bool]:
        """Liveness."""
        return self.terminated(), self.detected()

    @terminal
    def done(self) -> bool:
        return self.detected()

    fairness = Fairness(Weak("initiate_probe", "pass_token"))
    expects = Expect(token_stays_black=("violated", 1))
