"""A level as one job of Spark; of a session it needs data frames alone, so any session will do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..spill.sorted_runs import Run
from ..spill.spilled import forced
from .level_tasks import SENT, SPANS, TOLD, Expansion, NewStates

LEAST = 1 << 18  # States of a level that is worth a job.
EACH = 16  # Buckets for each partition.
PARTITIONS = "spark.sql.shuffle.partitions"
Span = tuple[int, str, int, int, int]  # A row of `SPANS`.


class LevelJobs:
    """A Spark session, and how many states a level has that is worth a job. A smaller one is
    expanded in this process. 0 makes every level a job.

    Files are in a folder that all workers see; see `table_jobs` for others."""

    def __init__(self, session: Any, least: int = LEAST) -> None:
        self.session = session
        self.least = least

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

    def begin(self) -> None:
        """Raise an error where the files cannot be."""

    def done_here(self, states: int) -> bool:
        """Whether a level of so many states is expanded in this process, though the states are in
        files of workers."""
        return states < self.least

    def fetched(self, path: str) -> str:
        """The path, when its file can be read there."""
        return path

    def lacking(self, paths: Iterable[str]) -> Sequence[str]:
        """Those of the files that are nowhere."""
        return [path for path in paths if not Path(path).exists()]

    def kept(self, files: Iterable[tuple[int, str]]) -> Mapping[str, str]:
        """Make files safe, each with its bucket, and tell what a snapshot needs to find them."""
        for _, path in files:
            forced(path)
        return {}

    def go_on(self, places: Mapping[str, str]) -> None:
        """Find the files of a snapshot, which has what `kept` told."""

    def removed(self, runs: Iterable[Run]) -> None:
        """Nobody asks for these runs any more; their files here are gone."""

    def end(self) -> None:
        """Remove what the search left, where no snapshot names it."""
