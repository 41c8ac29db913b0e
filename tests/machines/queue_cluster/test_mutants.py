"""The mutants of the classes that a service embeds: who notices each."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.machines.queue_cluster.acceptance import ClientsFixed
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.subscribers import SubscribersFixed, SubscribersInTime
from lawful.machines.queue_cluster.updates import UpdatesFixed
from tests.machines.equivalence import states_with_the_same_steps
from tests.machines.mutation_tables import (
    NO_MACHINE,
    OPEN,
    SURVIVED,
    Asked,
    Question,
    Table,
    each_question,
    judge_of,
    within,
)

# The cheapest judge is the first one.
OWNERSHIP = Table(
    Path(__file__).with_name("mutants.txt"),
    QueueOwnerFixed,
    ("QueueOwnerFixed",),
    (
        Asked(QueueOwnerFixed),
        Asked(SubscribersFixed),
        Asked(SubscribersFixed, bounds=("Node=3",)),
        Asked(SubscribersInTime),
    ),
)
UPDATER = Table(
    Path(__file__).with_name("updater_mutants.txt"),
    UpdatesFixed,
    ("Updater",),
    (
        Asked(UpdatesFixed),
        Asked(UpdatesFixed, "wiring"),
        Asked(UpdatesFixed, "wiring", bounds=("QueueName=2", "Nat=0..3", "Create.seq=1..1")),
        Asked(UpdatesFixed, "several"),
    ),
)
UPDATEE = Table(
    Path(__file__).with_name("updatee_mutants.txt"),
    ClientsFixed,
    ("Updatee",),
    (
        *(
            Asked(ClientsFixed, scope)
            for scope in (
                *("scope", "wiring", "ringing", "dead_letters", "rejecting"),
                *("alone", "rewiring"),
            )
        ),
        # A number more, in one place, is still within the scope.
        Asked(ClientsFixed, "rejecting", bounds=("MessageId.seq=0..2", "Reject.seq=0..1")),
        Asked(ClientsFixed, "destroying"),
        *(
            Asked(UpdatesFixed, scope)
            for scope in (
                *("scope", "wiring", "rejecting", "dead_letters"),
                *("several", "crowded", "behind"),
            )
        ),
        Asked(UpdatesFixed, bounds=("Nat=0..3",)),
        Asked(UpdatesFixed, "dead_letters", bounds=("MessageId.seq=0..2",)),
    ),
)


@pytest.mark.parametrize(
    ("table", "marked", "tried"),
    [(OWNERSHIP, 9, 340), (UPDATER, 0, 29), (UPDATEE, 2, 591)],
    ids=["ownership", "updater", "updatee"],
)
def test_the_table_has_every_mutant_and_those_that_survive_are_marked(
    table: Table, marked: int, tried: int
) -> None:
    table.rewritten()
    kept = table.kept()
    assert list(kept) == list(table.every())
    assert table.asked_about() == set(kept)
    assert {name for name, by in kept.items() if by == SURVIVED} == set(table.marked())
    assert len(table.marked()) == marked
    assert OPEN not in kept.values()
    assert sum(by != NO_MACHINE for by in kept.values()) == tried


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("table", "asked", "states"),
    [
        (OWNERSHIP, Asked(QueueOwnerFixed), 530),
        (OWNERSHIP, Asked(QueueOwnerFixed, "anywhere"), 1_590),
        (UPDATEE, Asked(ClientsFixed, "rejecting", bounds=("queues=1", "queued=1")), 3_278),
    ],
    ids=["ownership", "ownership anywhere", "updatee"],
)
def test_what_is_marked_does_the_same(table: Table, asked: Asked, states: int) -> None:
    """From each state, and with the same outputs."""
    marked = within(table, asked, table.marked())
    assert {
        name: states_with_the_same_steps(asked, each.made()) for name, each in marked.items()
    } == dict.fromkeys(table.marked(), states)


@pytest.mark.nightly
def test_what_is_noticed_does_something_else() -> None:
    asked = Asked(QueueOwnerFixed)
    noticed = [n for n, by in OWNERSHIP.kept().items() if judge_of(by) == asked.name][::20]
    same = [
        states_with_the_same_steps(asked, each.made())
        for each in within(OWNERSHIP, asked, noticed).values()
    ]
    assert same == [0] * 14


@pytest.mark.nightly
@each_question(OWNERSHIP, UPDATER, UPDATEE)
def test_mutants_are_noticed_as_the_table_says(question: Question) -> None:
    assert question.answered() == question.said()
