"""Who notices each mutant of the registry, and of the entries in it, where a node embeds them: a
table; see `tests/machines/embedded_mutants.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.object_diffusion.registry import Registry
from lawful.runtime.journal import Journal
from tests.machines.embedded_mutants import (
    SURVIVED,
    Embedded,
    replay,
    simulation,
    stories,
    writing,
)
from tests.machines.object_diffusion import (
    test_lying_peer_timeline,
    test_one_peer_timeline,
    test_slow_reader_timeline,
    test_two_peers_timeline,
    test_wrong_moment_timeline,
)
from tests.machines.object_diffusion.simulated import simulate
from tests.machines.simulated_runs import Run

HERE = Path(__file__).parent
CLASSES = (Registry, InboundPeerFixed)


def journaled(seed: int, journal: Journal) -> Run:
    return simulate(seed, journal=journal, objects=15, seconds=3.0)


MUTANTS = Embedded(
    HERE / "embedded_mutants.txt",
    CLASSES,
    {
        "one peer": stories(test_one_peer_timeline),
        "two peers": stories(test_two_peers_timeline),
        "lying peer": stories(test_lying_peer_timeline),
        "slow reader": stories(test_slow_reader_timeline),
        "wrong moment": stories(test_wrong_moment_timeline),
        "replay": replay(journaled, range(4), CLASSES),
        "simulation": simulation(simulate, range(4)),
    },
)
# What survives, by its machine, row and change, with the reason.
ROUNDS = "A round decides for active peers alone, and picks within the limits of their entries."
ONE_BY_ONE = "The service inserts one object after another, and each as soon as it was received."
SURVIVORS = {
    ("Registry", "register", "without require(p not in self.peers)"): "The service gives each"
    " connection a name of its own.",
    ("Registry", "take_lock", "without require(self.lock is None)"): ONE_BY_ONE,
    ("Registry", "take_lock", "without require(x in self.peers[p].owt_pool)"): ONE_BY_ONE,
    ("InboundPeerFixed", "on_added_to_pool", "without require(x in self.owt_pool)"): "The holder of"
    " the lock has the object on its way: `inserting_is_on_its_way`.",
    ("InboundPeerFixed", "decide", "from any state"): ROUNDS,
    ("InboundPeerFixed", "decide", "without require(objects <= self.interesting(in_pool))"): ROUNDS,
    (
        "InboundPeerFixed",
        "decide",
        "without require(self.load() + len(objects) <= self.max_num_objects_inflight)",
    ): ROUNDS,
    (
        "InboundPeerFixed",
        "decide",
        "self.load() - len(objects) for self.load() + len(objects)",
    ): ROUNDS,
    (
        "InboundPeerFixed",
        "on_request_ids",
        "without require(self.objects_requested(decision))",
    ): "The service requests objects first, and no IDs while that waits.",
}
# These do the same as the machine; see `equivalent_mutants.toml`.
EQUIVALENT = {
    ("InboundPeerFixed", row, "from any state") for row in ("on_receive_ids", "on_receive_objects")
}


def test_the_table_has_every_mutant_and_a_reason_for_each_that_survives() -> None:
    assert list(MUTANTS.kept()) == list(MUTANTS.every())
    assert MUTANTS.survived() == set(SURVIVORS) | EQUIVALENT
    assert len(SURVIVORS) * 50 <= MUTANTS.tried() == 492


def test_what_survives_is_noticed_by_a_check_or_does_the_same() -> None:
    assert MUTANTS.missed(HERE / "mutants.txt") == EQUIVALENT


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    assert MUTANTS.noticed_as_declared() == SURVIVED
    if writing():
        MUTANTS.fill()
    assert MUTANTS.wrong() == []
