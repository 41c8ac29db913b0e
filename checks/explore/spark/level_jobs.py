"""A level as one job of Spark; of a session it needs data frames alone, so any session will do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.spec.quick_dataclass import dataclass

from .level_tasks import SENT, SPANS, TOLD, Expansion, NewStates

LEAST = 1 << 18  # States of a level that is worth a job.
EACH = 8  # Buckets for each partition.
PARTITIONS = "spark.sql.shuffle.partitions"
Span = tuple[int, str, int, int, int]  # A row of `SPANS`.


@dataclass(frozen=True, slots=True)
class LevelJobs:
    """A Spark session, and how many states a level has that is worth a job. A smaller one is
    expanded in this process. 0 makes every level a job."""

    session: Any
    least: int = LEAST

    @property
    def buckets(self) -> int:
        """How many buckets states are in: several for each partition of a shuffle of the session.
        A worker works on one at a time, and so holds few states more than it was sent."""
        return EACH * int(self.session.conf.get(PARTITIONS))

    def told(
        self, spans: Sequence[Span], expansion: Expansion, new: NewStates
    ) -> Sequence[tuple[int, bytes]]:
        """Run a level; what its tasks told."""
        frame: Any = self.session.createDataFrame(spans, SPANS)
        tasks = 1 + spans[-1][0]
        states = frame.repartitionById(tasks, "task").mapInArrow(expansion, SENT)
        # A task takes Spark longer than a small bucket takes, so that it gets several of these.
        shares = min(tasks, expansion.buckets)
        sent = states.repartitionById(shares, "bucket").sortWithinPartitions("bucket")
        kept = sent.mapInArrow(new, TOLD)
        return [(kind, bytes(told)) for kind, told in kept.collect()]
