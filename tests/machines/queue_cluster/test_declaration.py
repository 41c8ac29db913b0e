"""Queue ownership as declared: what exploration finds, and that the runtime does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from lawful.machines.queue_cluster.as_seed import QueueOwnerAsSeed, QueueOwnerAssigned
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.messages import Node
from lawful.machines.queue_cluster.ownership import QueueOwner
from lawful.runtime.timers import SimulatedClock
from lawful.testing import conformance
from tests.machines.checked import checked, counts

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=20, stateful_step_count=30
)
NODES = [Node("a"), Node("b"), Node("c")]


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (QueueOwnerFixed, (530, 7_522, 16)),
        (QueueOwnerAsSeed, (448, 4_233, 15)),
        (QueueOwnerAssigned, (108, 1_006, 11)),
    ],
)
def test_everything_is_as_expected(cls: type[QueueOwner], expected: tuple[int, int, int]) -> None:
    assert counts(checked(cls)) == expected


def test_every_place_on_the_ring_is_the_same() -> None:
    """As many states and steps for each node: three times those of one."""
    distinct, generated, depth = counts(checked(QueueOwnerFixed, "anywhere"))
    assert (distinct, generated, depth) == (3 * 530, 3 * 7_522, 16)


def second(cls: Any) -> Callable[[SimulatedClock], QueueOwner]:
    """The one in the middle of three nodes."""

    def make(clock: SimulatedClock) -> QueueOwner:
        owner: QueueOwner = cls(me=NODES[1], clock=clock, universe={Node: NODES})
        return owner

    return make


TestFixed = conformance(QueueOwnerFixed, second(QueueOwnerFixed), settings=QUICK)
TestAsSeed = conformance(QueueOwnerAsSeed, second(QueueOwnerAsSeed), settings=QUICK)
TestAssigned = conformance(QueueOwnerAssigned, second(QueueOwnerAssigned), settings=QUICK)
