"""A search whose levels are jobs of a Spark session: the counts and verdicts of one in memory.

It is here because the session is. `tests/checks/explore/spark` has what needs no session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lawful.checks.explore.spark.level_jobs import PARTITIONS, LevelJobs
from tests.checks.explore.spark.test_clustered import comparable, in_memory, on_jobs
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.classics.channel import Channel
from tests.classics.table import CLASSICS

pytestmark = [*NEEDS_SPARK, pytest.mark.nightly]  # `make test` has the same without a session.


@pytest.fixture
def jobs(session: Any) -> Iterator[LevelJobs]:
    before = session.conf.get(PARTITIONS)
    session.conf.set(PARTITIONS, "2")
    yield LevelJobs(session, 0)
    session.conf.set(PARTITIONS, before)


def test_every_level_is_a_job(jobs: LevelJobs) -> None:
    found = on_jobs(Channel, jobs)
    assert comparable(found) == comparable(in_memory(Channel))


@pytest.mark.parametrize("row", CLASSICS, ids=lambda row: row.machine.__name__)
def test_every_classic(row: Any, jobs: LevelJobs) -> None:
    assert comparable(on_jobs(row.machine, jobs)) == comparable(in_memory(row.machine))
