"""Who notices each mutant of what a node of the cluster embeds: a table; see
`tests/machines/embedded_mutants.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.joining import Updatee, Updater
from lawful.runtime.journal import Journal
from tests.machines.embedded_mutants import (
    SURVIVED,
    Embedded,
    replay,
    retold,
    simulation,
    stories,
    writing,
)
from tests.machines.queue_cluster import (
    test_busy_timeline,
    test_by_hand_timeline,
    test_embedded_by_hand,
    test_joining_timeline,
    test_leaving_meanwhile_timeline,
    test_lying_timeline,
    test_lying_updater_timeline,
    test_messages_timeline,
    test_ownership_timeline,
    test_remembering_timeline,
    test_slow_joining_timeline,
)
from tests.machines.queue_cluster.simulated import simulate
from tests.machines.queue_cluster.told import Recording
from tests.machines.simulated_runs import Run

HERE = Path(__file__).parent
CLASSES = (QueueOwnerFixed, Updatee, Updater)


def journaled(seed: int, journal: Journal) -> Run:
    return simulate(seed, journal=journal, messages=15, seconds=3.0)


def record(journal: Journal) -> None:
    Recording.journal = journal


MUTANTS = Embedded(
    HERE / "embedded_mutants.txt",
    CLASSES,
    {
        "ownership": stories(test_ownership_timeline),
        "messages": stories(test_messages_timeline),
        "joining": stories(test_joining_timeline),
        "busy": stories(test_busy_timeline),
        "slow joining": stories(test_slow_joining_timeline),
        "remembering": stories(test_remembering_timeline),
        "leaving": stories(test_leaving_meanwhile_timeline),
        "by hand": stories(test_by_hand_timeline),
        "lying": stories(test_lying_timeline),
        "lying updater": stories(test_lying_updater_timeline),
        "alone": stories(test_embedded_by_hand),
        "retold": retold(
            (test_ownership_timeline, test_leaving_meanwhile_timeline), record, CLASSES
        ),
        "simulation": simulation(simulate, range(3)),
        "replay": replay(journaled, range(2), CLASSES),
    },
)
# These do the same as the machine; see `equivalent_mutants.toml`. No other one survives.
EQUIVALENT = {
    *(
        ("QueueOwnerFixed", row, "from any state")
        for row in (
            *("cancel_one", "slice_over", "release_delivered", "cancel_delivered"),
            *("member_leaves", "destroy_delivered"),
        )
    ),
    ("QueueOwnerFixed", "member_leaves", "True for False"),
    (
        "QueueOwnerFixed",
        "updated",
        "self.sent.insert(0, Consume()) for self.sent.append(Consume())",
    ),
    (
        "Updatee",
        "count",
        "sender not in self.created for sender not in self.created and sender != self.me",
    ),
    (
        "Updatee",
        "forget",
        "not self.is_needed(id) for id in self.bodies and not self.is_needed(id)",
    ),
}


def test_the_table_has_every_mutant_and_what_survives_does_the_same() -> None:
    assert list(MUTANTS.kept()) == list(MUTANTS.every())
    assert MUTANTS.survived() == EQUIVALENT
    assert MUTANTS.tried() == 962


def test_no_check_notices_what_does_the_same() -> None:
    tables = ("mutants.txt", "updater_mutants.txt", "updatee_mutants.txt")
    assert MUTANTS.missed(*(HERE / each for each in tables)) == EQUIVALENT


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    assert MUTANTS.noticed_as_declared() == SURVIVED
    if writing():
        MUTANTS.fill()
    assert MUTANTS.wrong() == []
