"""What the scopes of the embedded classes exercise.

Each guard of the ownership of a queue is true and refuses somewhere, with no exception. Of replicas
and brokers, each transition happens somewhere, and each property is reached. Their events have many
arguments, so that guards are not counted in all states, but in those that random walks reach: there
each guard is true and refuses, or is listed with its reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful import Machine
from lawful import machines as package
from lawful.machines.queue_cluster.acceptance import ClientsFixed
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.promises import BrokersFixed
from lawful.machines.queue_cluster.replica import ReplicaFixed
from lawful.machines.queue_cluster.updates import UpdatesFixed
from tests.machines.covering import Exercised, Guard, exercised, odd_on_walks, texts

FOLDER = Path(package.__path__[0]) / "queue_cluster"
EVERYTHING = Exercised({}, frozenset(), frozenset())
OWNERSHIP = {"ownership", "declaration"}  # Their guards are counted in all states.
ONCE = "A node is welcomed once, before all else; `test_brokers` calls it twice."
THERE = "A message is rejected to no queue, or to one that is there from the start on."
BUDGET = "A budget of the clients, which the walks do not use up."
ALONE = "In each scope a node joins or a node crashes, never both: an abstraction of `brokers.py`."
AGAIN = (
    "It needs a busy consumer of a queue that is declared again: `test_breaks` has such a scope."
)
# What never refuses on the walks, and why.
NEVER_REFUSES: dict[Guard, str] = {
    ("joining", "len(self.queues) == 0"): ONCE,
    ("joining", "len(self.created) == 0"): ONCE,
    ("joining", "len(self.to_send) == 0"): ONCE,
    ("replica", "to is None or to in self.queues"): THERE,
    ("updates", "self.wired < self.wirings"): BUDGET,
    ("brokers", "len(self.waiting) == 0"): ALONE,
    ("brokers", "len(self.replicas[updater].updating) == 0"): ALONE,
    ("brokers", "all(n not in pair for pair in self.updaters)"): ALONE,
    ("brokers", "not self.ends(n, _1.queue)"): AGAIN,
}


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


def test_the_guards_that_are_listed_are_in_the_source() -> None:
    # What is matched has no name in the source: `_1`.
    listed = {guard: "never refuses" for guard in NEVER_REFUSES if "_1" not in guard[1]}
    assert set(texts(FOLDER, listed).values()) == {True}


@pytest.mark.nightly
def test_each_guard_is_true_and_refuses_or_is_listed() -> None:
    brokers = ((BrokersFixed, scope) for scope in ("scope", "joining", "crashing", "declaring"))
    replicas = (ReplicaFixed, "scope"), (ClientsFixed, "wiring"), (UpdatesFixed, "wiring")
    found = odd_on_walks(*replicas, *brokers)
    others = {guard: odd for guard, odd in found.items() if guard[0] not in OWNERSHIP}
    assert others == dict.fromkeys(NEVER_REFUSES, "never refuses")
