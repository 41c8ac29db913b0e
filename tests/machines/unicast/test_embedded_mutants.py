"""Who notices each mutant of the two entries where an endpoint embeds them: a table; see
`tests/machines/embedded_mutants.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.runtime.journal import Journal
from tests.machines.embedded_mutants import (
    SURVIVED,
    Embedded,
    replay,
    simulation,
    stories,
    writing,
)
from tests.machines.simulated_runs import Run
from tests.machines.unicast import test_receiver_timeline, test_sender_timeline
from tests.machines.unicast.plan import plan_of
from tests.machines.unicast.simulated import simulate

HERE = Path(__file__).parent
CLASSES = (SenderEntryFixed, ReceiverEntryFixed)


def short(seed: int) -> Run:
    return simulate(seed, plan=plan_of(seed, messages=20, seconds=2.0))


def journaled(seed: int, journal: Journal) -> Run:
    return simulate(seed, plan=plan_of(seed, messages=20, seconds=2.0), journal=journal)


MUTANTS = Embedded(
    HERE / "embedded_mutants.txt",
    CLASSES,
    {
        "sender": stories(test_sender_timeline),
        "receiver": stories(test_receiver_timeline),
        "short": simulation(short, range(4)),
        "replay": replay(journaled, (0, 30, 34), CLASSES),
        "simulation": simulation(simulate, range(3)),
    },
)
FIRST = (
    "The runtime fires the first transition of a timer that is possible: in OPEN `expire`, and in"
    " CLOSING `remove` before `give_up`."
)
# What survives, by its machine, row and change, with the reason.
SURVIVORS = {
    ("SenderEntryFixed", "remove", "from any state"): FIRST,
    ("SenderEntryFixed", "give_up", "from any state"): FIRST,
    (
        "SenderEntryFixed",
        "give_up",
        "without require(self.highest_acked < self.highest_sent)",
    ): FIRST,
    (
        "SenderEntryFixed",
        "give_up",
        "self.highest_acked <= self.highest_sent for self.highest_acked < self.highest_sent",
    ): FIRST,
    ("ReceiverEntryFixed", "remove", "from any state"): FIRST,
}
# These do the same as the machine; `equivalent_mutants.toml` says why.
EQUIVALENT = {
    *(
        ("ReceiverEntryFixed", row, "self.idle is started again")
        for row in ("accept", "resume", "establish", "close_received", "remove")
    ),
    ("SenderEntryFixed", "send", "self.idle is started again"),
    ("ReceiverEntryFixed", "touch", "without self.idle.stop()"),
}


def test_the_table_has_every_mutant_and_a_reason_for_each_that_survives() -> None:
    assert list(MUTANTS.kept()) == list(MUTANTS.every())
    assert MUTANTS.survived() == set(SURVIVORS) | EQUIVALENT
    assert len(SURVIVORS) * 50 <= MUTANTS.tried() == 393


def test_what_survives_is_noticed_by_a_check_or_does_the_same() -> None:
    tables = (HERE / "sender_mutants.txt", HERE / "receiver_mutants.txt")
    assert MUTANTS.missed(*tables) == EQUIVALENT


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    assert MUTANTS.noticed_as_declared() == SURVIVED
    if writing():
        MUTANTS.fill()
    assert MUTANTS.wrong() == []
