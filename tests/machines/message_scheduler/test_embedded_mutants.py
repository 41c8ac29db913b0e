"""Who notices each mutant of `Scheduler` where the service embeds it: a table; see
`tests/machines/embedded_mutants.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.machines.message_scheduler.declaration import Scheduler
from lawful.runtime.journal import Journal
from tests.machines.embedded_mutants import (
    SURVIVED,
    Embedded,
    replay,
    service_tests,
    simulation,
    writing,
)
from tests.machines.message_scheduler.simulated import simulate
from tests.machines.simulated_runs import Run

HERE = Path(__file__).parent
SEEDS = range(1, 17)
SKIPPED = 47  # With this seed channels whose peer is dead are skipped;
SKIPPED_SOON = 114  # with this one among few clients.
WAITING = 46  # With this seed a sender waits when the scheduler is stopped.


def journaled(seed: int, journal: Journal) -> Run:
    return simulate(seed, journal=journal, count=8)


MUTANTS = Embedded(
    HERE / "embedded_mutants.txt",
    (Scheduler,),
    {
        "simulation": simulation(simulate, (*SEEDS, SKIPPED)),
        "replay": replay(journaled, (*SEEDS, SKIPPED_SOON, WAITING), (Scheduler,)),
        "test": service_tests(
            str(HERE / "test_inside_callbacks.py"),
            str(HERE / "test_service.py"),
            str(HERE / "test_priorities.py"),
            *("-k", "not tcp and not nobody_listens and not program"),  # Sockets add nothing.
        ),
    },
)
# What survives, by its row and change, with the reason.
SURVIVORS = {
    ("connect", "without require(all(c.peer != peer for c in self.channels))"): "The service gives"
    " each connection a name of its own.",
    ("schedule", "without require(token not in self.seen)"): "The service makes each token, and"
    " none twice.",
    ("call", "without require(not self.calling)"): "While a callback runs the service does not ask"
    " for another, so as not to have a refusal in the journal for each event.",
    ("returned", "without require(self.calling)"): "The service says so once after each callback.",
}


def test_the_table_has_every_mutant_and_a_reason_for_each_that_survives() -> None:
    kept, survivors = MUTANTS.kept(), MUTANTS.survivors()
    assert list(kept) == list(MUTANTS.every())
    assert {(each.row, each.change.what) for each in survivors.values()} == set(SURVIVORS)
    assert len(survivors) * 50 <= MUTANTS.tried() == 286


def test_what_survives_is_noticed_by_a_check() -> None:
    assert MUTANTS.missed(HERE / "mutants.txt") == set()


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    assert MUTANTS.noticed_as_declared() == SURVIVED
    if writing():
        MUTANTS.fill()
    assert MUTANTS.wrong() == []
