"""The mutants of the classes that a service embeds: who notices each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lawful.checks.explore import Limits, explore
from lawful.machines.queue_cluster.acceptance import ClientsFixed
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.subscribers import SubscribersFixed, SubscribersInTime
from lawful.machines.queue_cluster.updates import UpdatesFixed
from lawful.spec import ir
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.targets import scope_of
from tests.machines.mutation_tables import NO_MACHINE, OPEN, SURVIVED, Asked, Table, judge_of

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
        Asked(ClientsFixed, "rejecting", bounds=("wirings=1",)),
        *(
            Asked(UpdatesFixed, scope)
            for scope in (
                *("scope", "wiring", "rejecting", "dead_letters"),
                *("several", "crowded", "behind"),
            )
        ),
        Asked(UpdatesFixed, bounds=("Nat=0..3",)),
    ),
)
TABLES = pytest.mark.parametrize(
    "table", [OWNERSHIP, UPDATER, UPDATEE], ids=["ownership", "updater", "updatee"]
)


@pytest.mark.parametrize(
    ("table", "marked", "left", "tried"),
    [(OWNERSHIP, 9, 0, 340), (UPDATER, 1, 0, 29), (UPDATEE, 0, 88, 599)],
    ids=["ownership", "updater", "updatee"],
)
def test_the_table_has_every_mutant_and_those_that_survive_are_marked(
    table: Table, marked: int, left: int, tried: int
) -> None:
    """`left` are open: of `Updatee` not every mutant has been judged."""
    kept = table.kept()
    assert list(kept) == list(table.every())
    assert {name for name, by in kept.items() if by == SURVIVED} == set(table.marked())
    assert len(table.marked()) == marked
    assert sum(by == OPEN for by in kept.values()) == left
    assert sum(by != NO_MACHINE for by in kept.values()) == tried


def size(machine: ir.Machine) -> tuple[int, int]:
    """Distinct states and depth."""
    found = resolve(QueueOwnerFixed)
    flat = lower(machine, scope_of(QueueOwnerFixed, []), abstract_scopes(found))
    result = explore(flat, found.world, {}, limits=Limits())
    assert result.complete
    return result.distinct, result.depth


@pytest.mark.nightly
def test_what_is_marked_reaches_the_same_states() -> None:
    sizes = {name: size(OWNERSHIP.every()[name].made()) for name in OWNERSHIP.marked()}
    assert sizes == dict.fromkeys(sizes, size(resolve(QueueOwnerFixed).machine))


@pytest.mark.nightly
@TABLES
def test_every_mutant_is_noticed_as_the_table_says(table: Table) -> None:
    if os.environ.get("MUTANTS") == "write":
        table.write(table.judged())
    assert table.confirmed() == {name: judge_of(by) for name, by in table.kept().items()}
