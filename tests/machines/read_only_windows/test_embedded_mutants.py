"""Who notices each mutant of the window and the transaction where the service embeds them: a table;
see `tests/machines/embedded_mutants.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.machines.read_only_windows.declaration import WindowFixed
from lawful.machines.read_only_windows.transaction import Transaction
from lawful.runtime.journal import Journal
from tests.machines.embedded_mutants import (
    SURVIVED,
    Embedded,
    replay,
    service_tests,
    simulation,
    stories,
    writing,
)
from tests.machines.read_only_windows import test_timeline
from tests.machines.read_only_windows.simulated import simulate
from tests.machines.simulated_runs import Run

HERE = Path(__file__).parent
CLASSES = (WindowFixed, Transaction)


def journaled(seed: int, journal: Journal) -> Run:
    return simulate(seed, journal=journal, count=4)


MUTANTS = Embedded(
    HERE / "embedded_mutants.txt",
    CLASSES,
    {
        "timeline": stories(test_timeline),
        "simulation": simulation(simulate, range(1, 17)),
        "replay": replay(journaled, range(1, 9), CLASSES),
        "test": service_tests(str(HERE / "test_service.py"), "-k", "not process"),
    },
)
# What survives, by its machine, row and change, with the reason.
SURVIVORS = {
    ("WindowFixed", "prolong", "without require(self.queued == 0 or not self.caught_up)"): "The"
    " runtime fires the first transition of a timer that is possible: `begin`, if it is.",
    ("WindowFixed", "take", "from any state"): "A thread asks for the next transaction after the"
    " last one, and in READ none has left.",
    ("WindowFixed", "finish", "from any state"): "A thread ends what it executes.",
    ("WindowFixed", "put_back", "from any state"): "A thread puts back what it executes.",
    ("WindowFixed", "run_out", "from any state"): "In WRITE the runtime fires `begin` or `prolong`,"
    " which come first, and in READ `stop_starting`, which is due before.",
    ("Transaction", "take", "from any state"): "What is in the queue is QUEUED.",
}
# These do the same as the machine: their timers run in one state alone, as is proved.
EQUIVALENT = {
    ("WindowFixed", "stop_starting", "from any state"),
    ("Transaction", "exceed", "from any state"),
}


def test_the_table_has_every_mutant_and_a_reason_for_each_that_survives() -> None:
    assert list(MUTANTS.kept()) == list(MUTANTS.every())
    assert MUTANTS.survived() == set(SURVIVORS) | EQUIVALENT
    assert len(SURVIVORS) * 50 <= MUTANTS.tried() == 322


def test_what_survives_is_noticed_by_a_check_or_does_the_same() -> None:
    tables = (HERE / "mutants.txt", HERE / "transaction_mutants.txt")
    assert MUTANTS.missed(*tables) == EQUIVALENT


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    assert MUTANTS.noticed_as_declared() == SURVIVED
    if writing():
        MUTANTS.fill()
    assert MUTANTS.wrong() == []
