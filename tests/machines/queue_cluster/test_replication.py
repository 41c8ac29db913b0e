"""Replication of messages: one node's replica, all of them together, and how it was as written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

from lawful import Machine
from lawful.checks.prove import How, prove
from lawful.machines.queue_cluster.messages import Exchange, Node, QueueName
from lawful.machines.queue_cluster.replica import ReplicaFixed
from lawful.machines.queue_cluster.replica_as_seed import (
    ReplicaAsSeed,
    ReplicaPushing,
    ReplicaRinging,
    ReplicationAsSeed,
    ReplicationPushing,
    ReplicationRinging,
)
from lawful.machines.queue_cluster.replication import ReplicationRing
from lawful.machines.queue_cluster.replication_fixed import ReplicationFixed
from lawful.runtime.timers import SimulatedClock
from lawful.spec.resolve import resolve
from lawful.testing import conformance
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=20, stateful_step_count=30
)
NODES = [Node("a"), Node("b")]


def replica(clock: SimulatedClock) -> ReplicaFixed:
    queues = [QueueName("q"), QueueName("alternate")]
    universe: dict[type[Any], list[Any]] = {
        Node: NODES,
        QueueName: queues,
        Exchange: [Exchange("e")],
    }
    return ReplicaFixed(me=NODES[0], clock=clock, universe=universe)


TestReplica = pytest.mark.nightly(conformance(ReplicaFixed, replica, settings=QUICK))


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        pytest.param(ReplicaFixed, (34_432, 970_676, 24), marks=pytest.mark.nightly),
        pytest.param(ReplicationFixed, (5_782, 13_562, 31), marks=pytest.mark.nightly),
        pytest.param(ReplicationRing, (4_574, 9_242, 37), marks=pytest.mark.nightly),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert {p.verdict.value for p in result.properties} <= {"holds", "holds-within-scope"}


@pytest.mark.nightly
def test_that_replicas_agree_is_proved() -> None:
    """With a multicast on its way to each node, and three from it."""
    sizes = {
        "Node": 2,
        "QueueName": 1,
        "Exchange": 1,
        "inbox": 1,
        "outbox": 3,
        "queues": 2,
        "queued": 2,
    }
    machine = resolve(ReplicationFixed).machine
    everything = {name.name for name in machine.transitions} | {"begin"}
    result = prove(
        machine,
        sizes=sizes,
        how=How(workers=2),
        transitions_seen=lambda: everything,
    )
    assert [o for o in result.obligations if not o.verdict.good] == []
    assert len(result.obligations) == 582


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        pytest.param(ReplicationAsSeed, (1_470, 2_674, 27), marks=pytest.mark.nightly),
        pytest.param(ReplicationPushing, (7_502, 16_274, 37), marks=pytest.mark.nightly),
        pytest.param(ReplicationRinging, (2_678, 5_042, 37), marks=pytest.mark.nightly),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_goes_wrong(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert len(same_sequences(result)) > 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (ReplicaAsSeed, (107_364, 4_600_339, 29)),
        (ReplicaPushing, (46_256, 919_198, 29)),
        (ReplicaRinging, (34_432, 970_676, 24)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_a_replica_alone_shows(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    """`ReplicaRinging` goes wrong only beside other replicas."""
    assert counts(checked(cls)) == expected


def test_the_pictures_are_what_is_declared() -> None:
    same_states(ReplicationFixed)
