"""Termination of a computation whose messages take time.

Source: the problem that EWD 998 solves; as in tlaplus/Examples, specifications/ewd998,
AsyncTerminationDetection.tla, whose manifest has the figures. Neither module nor configuration was
read: they come out for four nodes with at most three messages under way to each.
"""

from collections.abc import Mapping

from lawful import (
    Fairness,
    Machine,
    Nat,
    Scope,
    Sort,
    Weak,
    constraint,
    implies,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    step_property,
    total,
    transition,
)

COUNTS = (4097, 53271, 14)


class Node(Sort):
    """Takes part in the computation."""


class AsyncTerminationDetection(Machine):
    """Somebody learns that nobody is active, and no message under way."""

    active: dict[Node, bool]
    pending: dict[Node, Nat] = total(0)
    detected: bool

    @initial
    def start(self, active: Mapping[Node, bool], detected: bool) -> None:
        self.active = dict(active)
        self.detected = detected
        require(implies(detected, self.terminated()), "not yet")

    def terminated(self) -> bool:
        return all(not self.active[n] and self.pending[n] == 0 for n in Node)

    @transition()
    def terminate(self, node: Node, at_once: bool) -> None:
        """A node ends its work; that this was the last may be learnt at once."""
        require(self.active[node], "not active")
        self.active[node] = False
        if at_once:
            require(not self.detected and self.terminated(), "not yet")
            self.detected = True

    @transition()
    def send(self, node: Node, to: Node) -> None:
        require(self.active[node], "not active")
        self.pending[to] += 1

    @transition()
    def receive(self, node: Node) -> None:
        require(self.pending[node] > 0, "nothing is under way")
        self.active[node] = True
        self.pending[node] -= 1

    @transition()
    def detect(self) -> None:
        require(self.terminated(), "not yet")
        self.detected = True

    @constraint
    def few_messages(self) -> bool:
        return all(self.pending[n] <= 3 for n in Node)

    @invariant
    def safe(self) -> bool:
        return implies(self.detected, self.terminated())

    @step_property
    def quiescence(self, after: "AsyncTerminationDetection") -> bool:
        return implies(self.terminated(), after.terminated())

    @reachable
    def detects(self) -> bool:
        return self.detected

    @leads_to
    def live(self) -> tuple[bool, bool]:
        return self.terminated(), self.detected

    deadlock_ok = True
    fairness = Fairness(Weak("detect"))
    scope = Scope(Node=4, Nat=range(0, 5))
