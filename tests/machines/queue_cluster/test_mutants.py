"""The mutants of the ownership that a service embeds: who notices each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lawful.checks.explore import Limits, explore
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.subscribers import SubscribersFixed, SubscribersInTime
from lawful.spec import ir
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.targets import scope_of
from tests.machines.mutation_tables import NO_MACHINE, SURVIVED, Asked, Table, judge_of

# The cheapest judge is the first one.
TABLE = Table(
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


def test_the_table_has_every_mutant_and_those_that_survive_are_marked() -> None:
    table, every, marked = TABLE.kept(), TABLE.every(), TABLE.marked()
    assert list(table) == list(every)
    assert {name for name, by in table.items() if by == SURVIVED} == set(marked)
    tried = sum(by != NO_MACHINE for by in table.values())
    assert (len(marked), tried) == (9, 340)


def size(machine: ir.Machine) -> tuple[int, int]:
    """Distinct states and depth."""
    found = resolve(QueueOwnerFixed)
    flat = lower(machine, scope_of(QueueOwnerFixed, []), abstract_scopes(found))
    result = explore(flat, found.world, {}, limits=Limits())
    assert result.complete
    return result.distinct, result.depth


@pytest.mark.nightly
def test_what_is_marked_reaches_the_same_states() -> None:
    sizes = {name: size(TABLE.every()[name].made()) for name in TABLE.marked()}
    assert sizes == dict.fromkeys(sizes, size(resolve(QueueOwnerFixed).machine))


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    if os.environ.get("MUTANTS") == "write":
        TABLE.write(TABLE.judged())
    assert TABLE.confirmed() == {name: judge_of(by) for name, by in TABLE.kept().items()}
