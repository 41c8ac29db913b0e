"""Each guard of the ownership that a service embeds is true and refuses somewhere: no exception."""

from __future__ import annotations

from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from tests.machines.covering import Exercised, exercised


def test_everything_happens() -> None:
    found = exercised((QueueOwnerFixed, "scope"))
    assert found == Exercised({}, frozenset(), frozenset())
