"""The mutants of the entries that a service embeds: who notices each, and which survive. The judges
are the entry alone, its caller, the caller without reaping, and the entry under a clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.machines.unicast.callers import (
    ReceiverCalled,
    ReceiverUnreaped,
    SenderCalled,
    SenderUnreaped,
)
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.in_time import ReceiverInTime, SenderInTime
from tests.machines.mutation_tables import SURVIVED, Asked, Question, Table, each_question

HERE = Path(__file__).parent
SENDER = Table(
    HERE / "sender_mutants.txt",
    SenderEntryFixed,
    ("SenderEntryFixed",),
    (
        Asked(SenderEntryFixed),
        Asked(SenderCalled),
        Asked(SenderUnreaped),
        Asked(SenderInTime, called={"SenderEntryFixed": "SenderInTime"}),
    ),
)
RECEIVER = Table(
    HERE / "receiver_mutants.txt",
    ReceiverEntryFixed,
    ("ReceiverEntryFixed",),
    (
        Asked(ReceiverEntryFixed),
        Asked(ReceiverCalled),
        Asked(ReceiverUnreaped),
        Asked(ReceiverInTime, called={"ReceiverEntryFixed": "ReceiverInTime"}),
    ),
)


@pytest.mark.parametrize(
    ("table", "marked", "every"), [(SENDER, 1, 200), (RECEIVER, 6, 201)], ids=["sender", "receiver"]
)
def test_the_table_has_every_mutant_and_those_that_survive_are_marked(
    table: Table, marked: int, every: int
) -> None:
    table.rewritten()
    kept = table.kept()
    assert list(kept) == list(table.every())
    assert table.asked_about() == set(kept)
    assert {name for name, by in kept.items() if by == SURVIVED} == set(table.marked())
    assert (len(table.marked()), len(kept)) == (marked, every)


@pytest.mark.nightly
@each_question(SENDER, RECEIVER)
def test_mutants_are_noticed_as_the_table_says(question: Question) -> None:
    assert question.answered() == question.said()
