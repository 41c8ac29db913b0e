"""The mutants of `Scheduler`: who notices each."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.machines.message_scheduler.ageing import MessagingAgeing, MessagingAgeingAtOnce
from lawful.machines.message_scheduler.system import MessagingFixed, MessagingInTime
from tests.machines.mutation_tables import SURVIVED, Asked, Question, Table, each_question

TABLE = Table(
    Path(__file__).with_name("mutants.txt"),
    MessagingFixed,
    ("Scheduler",),
    (
        Asked(MessagingFixed),
        Asked(MessagingInTime),
        Asked(MessagingAgeing),
        Asked(MessagingAgeingAtOnce),
        Asked(MessagingAgeing, "senders"),
    ),
)


def test_the_table_has_every_mutant_and_those_that_survive_are_marked() -> None:
    TABLE.rewritten()
    table = TABLE.kept()
    assert list(table) == list(TABLE.every())
    assert TABLE.asked_about() == set(table)
    assert {name for name, by in table.items() if by == SURVIVED} == set(TABLE.marked())
    assert len(TABLE.marked()) == 4
    assert len(table) == 289


@pytest.mark.nightly
@each_question(TABLE)
def test_mutants_are_noticed_as_the_table_says(question: Question) -> None:
    assert question.answered() == question.said()
