"""Jobs during which a process dies: an executor in the middle of either task, or the driver.

Executors import this module, so that it is no part of a test's text.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lawful.checks.explore.spark.level_jobs import LevelJobs, Span
from lawful.checks.explore.spark.level_tasks import Expansion, NewStates


def end_executor(flag: Path) -> None:
    """Kill the JVM above this worker, unless the flag says that it was done before."""
    try:
        flag.touch(exist_ok=False)
    except FileExistsError:
        return
    daemon = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8")
    os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)


class DyingExpansion(Expansion):
    """The first of its workers that has sent something kills its executor."""

    flag: Path

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in super().__call__(batches):
            yield batch
            end_executor(self.flag)


class DyingNewStates(NewStates):
    """The first of its workers that has written the files of a bucket kills its executor."""

    flag: Path

    def kept(self, bucket: int, rows: Any) -> Any:
        told = super().kept(bucket, rows)
        end_executor(self.flag)
        return told


class Deaths(LevelJobs):
    """`expansion`, `new`: during which job, from 1, an executor dies that expands, or keeps new
    states. `driver`: after which one the driver dies. `jobs`: how many there were."""

    expansion = new = driver = jobs = 0
    flags = Path()

    def told(
        self, spans: Sequence[Span], expansion: Expansion, new: NewStates
    ) -> Sequence[tuple[int, bytes]]:
        cls = type(self)
        cls.jobs += 1
        if cls.jobs == cls.expansion:
            expansion = DyingExpansion(expansion.program, expansion.buckets)
            expansion.flag = cls.flags / "expansion"
        if cls.jobs == cls.new:
            new = DyingNewStates(new.folder, new.words, new.seen)
            new.flag = cls.flags / "new"
        found = super().told(spans, expansion, new)
        if cls.jobs == cls.driver:
            os.kill(os.getpid(), signal.SIGKILL)
        return found
