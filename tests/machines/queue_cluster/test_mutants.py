"""The mutants of the ownership that a service embeds: what its own properties notice.

The brokers, which notice more, are not asked here: a mutant takes them much longer. So the table
says what is left to be noticed, and the number of these mutants may only go down.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from tests.machines.mutation_tables import SURVIVED, Asked, Table, judge_of

TABLE = Table(
    Path(__file__).with_name("mutants.txt"),
    QueueOwnerFixed,
    ("QueueOwnerFixed",),
    (Asked(QueueOwnerFixed),),
)
LEFT = 75  # Of 351. No reason is known yet why they should stay.


def test_the_table_has_every_mutant_and_counts_what_is_left() -> None:
    table = TABLE.kept()
    assert list(table) == list(TABLE.every())
    assert sum(by == SURVIVED for by in table.values()) == LEFT


@pytest.mark.nightly
def test_every_mutant_is_noticed_as_the_table_says() -> None:
    if os.environ.get("MUTANTS") == "write":
        TABLE.write(TABLE.judged())
    assert TABLE.confirmed() == {name: judge_of(by) for name, by in TABLE.kept().items()}
