"""What the scopes of the embedded classes exercise: no exception is listed.

Each guard of the ownership of a queue is true and refuses somewhere. Of replicas and brokers, whose
events have many arguments, each transition happens somewhere, and each property is reached.
"""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.machines.queue_cluster.acceptance import ClientsFixed
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.promises import BrokersFixed
from lawful.machines.queue_cluster.updates import UpdatesFixed
from tests.machines.covering import Exercised, exercised

EVERYTHING = Exercised({}, frozenset(), frozenset())


def test_everything_happens() -> None:
    assert exercised((QueueOwnerFixed, "scope")) == EVERYTHING


@pytest.mark.nightly
@pytest.mark.parametrize(
    "asked",
    [
        [(ClientsFixed, "wiring"), (UpdatesFixed, "wiring")],
        [
            (BrokersFixed, scope)
            for scope in ("scope", "joining", "leaving", "crashing", "declaring")
        ],
    ],
    ids=["replicas", "brokers"],
)
def test_each_transition_happens_and_each_property_is_reached(
    asked: list[tuple[type[Machine], str]],
) -> None:
    assert exercised(*asked, counting=False) == EVERYTHING


@pytest.mark.nightly
def test_what_never_happens_is_noticed() -> None:
    """Nobody joins in this scope, and nothing is delivered."""
    found = exercised((BrokersFixed, "leaving"), counting=False)
    assert found.unreached == {"is_consumed_elsewhere"}
    assert found.never == {
        *("forget", "publish", "enqueue", "routed", "acquire", "accept", "release", "reject"),
        *("expire", "declare", "bind", "destroy", "send", "crash"),
    }
