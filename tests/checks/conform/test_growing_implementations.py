"""Conformance tests of machines whose sorts grow: the rules let elements join."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as Settings

from lawful import Machine
from lawful.checks.conform.lockstep import Mismatch
from lawful.runtime.timers import SimulatedClock
from lawful.testing import conformance
from tests.checks.declarations.growing import Cluster, Node, Queue, Ring, Seat

FEW = Settings(
    max_examples=12,
    stateful_step_count=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
UNIVERSES: dict[type[Machine], Any] = {
    Cluster: {Node: ["a"]},
    Ring: {Seat: ["Seat1"], Queue: ["q"]},
}


@pytest.mark.parametrize("cls", UNIVERSES)
def test_an_instance_conforms_while_it_grows(cls: type[Machine]) -> None:
    def make(clock: SimulatedClock) -> Machine:
        return cls(universe=UNIVERSES[cls], clock=clock)

    conformance(cls, make, settings=FEW)("runTest").runTest()


class ByHand:
    """An implementation by hand, beside an instance; the third node is up at once."""

    def __init__(self, clock: SimulatedClock) -> None:
        self.inner = Cluster(universe={Node: ["a"]}, clock=clock)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def grow_Node(self, element: Node) -> None:
        self.inner.lawful.grow(Node, element)
        if len(self.inner.load) == 3:
            self.inner.start(element)


def test_one_by_hand_that_treats_a_newcomer_otherwise_is_found() -> None:
    like = Cluster(universe={Node: ["a"]})
    with pytest.raises(Mismatch) as raised:
        conformance(like, ByHand, settings=FEW)("runTest").runTest()
    assert "grow_Node(Node('Node1'))\n    grow_Node(Node('Node2'))\n" in str(raised.value)
    assert "up, in it: expected nothing, found Node('Node2')" in str(raised.value)
