"""The search whose levels are jobs: the same counts and verdicts as in memory, wherever they run.

Here the two tasks of a level run in this process; a test of replay's Spark session runs them there.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, Limits, explore, explore_on_spark
from lawful.checks.explore.checkpoints import Snapshots, Unfit
from lawful.checks.explore.spark import (
    clustered,
    level_files,
    level_tasks,
    search_program,
    sent_states,
)
from lawful.checks.explore.spark.arrow_rows import arrow
from lawful.checks.explore.spark.clustered import Clustered
from lawful.checks.explore.spark.level_files import STEP
from lawful.checks.explore.spark.level_jobs import LevelJobs, Span
from lawful.checks.explore.spark.level_tasks import SENT, SPANS, Expansion, NewStates
from lawful.checks.explore.spill import block_expansion
from lawful.checks.explore.spill.run_code import run_code
from lawful.checks.explore.spill.spilled_search import REFUSED
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from tests.checks.declarations.timed import Fischer
from tests.checks.declarations.wide import Crowd
from tests.checks.explore.spill.test_spilled import Killed, at_once, killed_after
from tests.classics.broken import AlternatingBitWithoutBit, PetersonWithoutFlags
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase
from tests.machines.test_large import named

SYSTEMS = (
    "message_scheduler.system:MessagingFixed",
    "object_diffusion.declaration:InboundPeerFixed",
    "queue_cluster.declaration:QueueOwnerFixed",
    "read_only_windows.declaration:WindowFixed",
    "unicast.declaration:SenderEntryFixed",
)


class Here(LevelJobs):
    """Runs tasks in this process, each as it arrives at a worker."""

    @property
    def buckets(self) -> int:
        return 3

    def told(
        self, spans: Sequence[Span], expansion: Expansion, new: NewStates
    ) -> Sequence[tuple[int, bytes]]:
        sent: list[Any] = []
        for task in reversed(range(1 + spans[-1][0])):
            given = pickle.loads(pickle.dumps(expansion))
            sent += given([batch([row for row in spans if row[0] == task], SPANS)])
        rows = [row for each in sent for row in each.to_pylist()]
        out: list[Any] = []
        for bucket in range(expansion.buckets):
            of_bucket = [tuple(row.values()) for row in rows if row["bucket"] == bucket]
            out += new([batch(of_bucket, SENT)])
        return [(row["kind"], row["told"]) for each in out for row in each.to_pylist()]


def batch(rows: Sequence[tuple[Any, ...]], schema: str) -> Any:
    pa = arrow()
    names = [column.split()[0] for column in schema.split(", ")]
    made = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    return made.combine_chunks().to_batches()[0] if rows else pa.record_batch([[]] * 3, names=names)


def clustered_check(
    cls: type[Machine], least: int = 0, limits: Limits | None = None
) -> CheckResult:
    return on_jobs(cls, Here(None, least), limits)


def on_jobs(cls: type[Machine], jobs: LevelJobs, limits: Limits | None = None) -> CheckResult:
    found, flat = lowered(cls)
    return explore_on_spark(flat, found.world, found.expects, jobs, limits=limits)


def in_memory(cls: type[Machine]) -> CheckResult:
    found, flat = lowered(cls)
    return explore(flat, found.world, found.expects, engine="compiled")


def lowered(cls: type[Machine]) -> Any:
    found = resolve(cls)
    scope = found.scopes.get("scope", Scope())
    return found, lower(found.machine, scope, abstract_scopes(found))


def comparable(result: CheckResult) -> Any:
    """What does not depend on which of two steps reached a state first."""
    counts = result.distinct, result.generated, result.depth, result.cut_by, result.complete
    enabled = {name: row["enabled"] for name, row in result.transitions.items()}
    new = sum(row["new"] for row in result.transitions.values())
    verdicts = [
        (p.name, p.verdict, None if p.trace is None else len(p.trace.steps))
        for p in result.properties
        if p.kind not in REFUSED
    ]
    return counts, enabled, new, verdicts


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces so small that every way is gone."""
    sizes = {clustered: ("FEWEST", "MOST", "CHUNK"), level_tasks: ("BLOCK",)}
    for module, names in sizes.items():
        for name in names:
            monkeypatch.setattr(module, name, 7)
    monkeypatch.setattr(sent_states, "CACHE", 256)
    monkeypatch.setattr(sent_states, "SENDING", 16)
    monkeypatch.setattr(block_expansion, "GATHERED", 16)
    search_program.expander_of.cache_clear()
    monkeypatch.setattr(level_files, "GROUP", 5)


@pytest.mark.parametrize(
    ("cls", "least"),
    [(TwoPhase, 20), (PetersonWithoutFlags, 0), (Fischer, 0)],
    ids=["TwoPhase", "PetersonWithoutFlags", "Fischer"],
)
@pytest.mark.usefixtures("tiny")
def test_the_result_is_that_of_the_search_in_memory(cls: type[Machine], least: int) -> None:
    assert comparable(clustered_check(cls, least)) == comparable(in_memory(cls))


@pytest.mark.nightly
@pytest.mark.usefixtures("tiny")
def test_a_state_that_is_left_to_the_reference_engine() -> None:
    assert comparable(clustered_check(Crowd)) == comparable(in_memory(Crowd))


@pytest.mark.nightly
@pytest.mark.parametrize("row", CLASSICS, ids=lambda row: row.machine.__name__)
def test_every_classic(row: Any) -> None:
    assert comparable(clustered_check(row.machine)) == comparable(in_memory(row.machine))


@pytest.mark.nightly
@pytest.mark.parametrize("row", SYSTEMS)
def test_every_system(row: str) -> None:
    """A machine of each, every level as a job."""
    cls = named(row)
    assert comparable(clustered_check(cls)) == comparable(in_memory(cls))


class Counted(Here):
    sizes: list[int]

    def told(
        self, spans: Sequence[Span], expansion: Expansion, new: NewStates
    ) -> Sequence[tuple[int, bytes]]:
        self.sizes.append(sum(row[4] for row in spans))
        return super().told(spans, expansion, new)


@pytest.mark.usefixtures("tiny")
def test_only_large_levels_are_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counted, "sizes", [], raising=False)
    found = on_jobs(TwoPhase, Counted(None, 40))
    assert comparable(found) == comparable(in_memory(TwoPhase))
    assert Counted.sizes == [50, 54, 49]  # As the reference engine has them.


def test_the_counts_of_a_machine(tmp_path: Path) -> None:
    found = clustered_check(TwoPhase, 0, Limits(spill=tmp_path))
    assert (found.engine, found.distinct, found.generated, found.depth) == ("spark", 288, 1_146, 11)
    assert list(tmp_path.iterdir()) == []


def test_what_needs_the_steps_is_unknown_by_name() -> None:
    found = clustered_check(AlternatingBitWithoutBit)
    (live,) = (p for p in found.properties if p.name == "sent_leads_to_received")
    why = "leads_to needs the steps between all states, which --engine spark does not keep"
    assert (live.verdict, live.why, live.trace) == (Verdict.UNKNOWN, why, None)


def test_a_limit_of_states_ends_it_after_a_level() -> None:
    found = clustered_check(TwoPhase, 0, Limits(states=20))
    assert (found.complete, found.stopped) == (False, "states")


def test_a_worker_with_other_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    search_program.expander_of.cache_clear()
    digests = iter("ab")

    def another(_steps: Any) -> str:
        return next(digests)

    monkeypatch.setattr(search_program, "digest_of", another)
    with pytest.raises(ValueError, match="TwoPhase: a worker makes other steps"):
        clustered_check(TwoPhase)


class SeesNothing(NewStates):
    def kept(self, bucket: int, rows: Any) -> Any:
        return NewStates(self.folder, self.words, {}).kept(bucket, rows)


class KeepsEqual(NewStates):
    def once(self, rows: Any, hashes: Any) -> Any:
        return rows, hashes


class KeepsTheLast(NewStates):
    def once(self, rows: Any, hashes: Any) -> Any:
        rows[:, STEP] *= -1
        found, of = super().once(rows, hashes)
        found[:, STEP] *= -1
        return found, of


class LosesABucket(NewStates):
    def kept(self, bucket: int, rows: Any) -> Any:
        return super().kept(bucket, rows) if bucket else None


class HasStaleRuns(NewStates):
    def kept(self, bucket: int, rows: Any) -> Any:
        told = super().kept(bucket, rows)
        return told and {**told, "runs": self.seen.get(bucket, []), "merged": []}


class HasOtherParents(NewStates):
    def once(self, rows: Any, hashes: Any) -> Any:
        found, of = super().once(rows, hashes)
        found[:, STEP] = found[::-1, STEP]
        return found, of


class LosesReports(NewStates):
    def __call__(self, batches: Iterable[Any]) -> Any:
        for each in super().__call__(batches):
            if each.column(0).to_pylist() == [level_tasks.REPORT]:
                report = json.loads(each.column(1).to_pylist()[0])
                report[0] = [0] * len(report[0])
                told = (level_tasks.REPORT, json.dumps(report).encode())
                yield batch([told], level_tasks.TOLD)
            else:
                yield each


@pytest.mark.parametrize(
    "broken", [SeesNothing, KeepsEqual, LosesABucket, HasStaleRuns, HasOtherParents, LosesReports]
)
@pytest.mark.usefixtures("tiny")
def test_a_broken_level_is_noticed(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_tasks, "NewStates", broken)
    try:
        found = clustered_check(PetersonWithoutFlags, 0, Limits(states=150))
    except AssertionError as error:
        assert "no step leads from state" in str(error)
    else:
        assert comparable(found) != comparable(in_memory(PetersonWithoutFlags))


def test_of_equal_states_the_least_step_is_kept() -> None:
    rows = np.array([(9, 4, 4), (7, 4, 4), (8, 5, 4), (7, 5, 5)], np.int64)
    code = run_code(2)
    kept, _ = NewStates(Path(), 2, {}).once(*code.sort(rows))
    assert sorted(kept.tolist()) == [[7, 4, 4], [7, 5, 5], [8, 5, 4]]
    assert KeepsTheLast(Path(), 2, {}).once(*code.sort(rows))[0].tolist() != kept.tolist()


# Snapshots.


@pytest.mark.parametrize(
    "writes", [5, *(pytest.param(each, marks=pytest.mark.nightly) for each in (1, 9))]
)
@pytest.mark.usefixtures("tiny")
def test_a_search_that_was_killed_goes_on(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(resume=tmp_path)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killed_after(writes, patch, Clustered)
        clustered_check(TwoPhase, 20, limits)
    monkeypatch.setattr(Snapshots, "due", at_once)
    whole = comparable(in_memory(TwoPhase))
    assert comparable(clustered_check(TwoPhase, 20, limits)) == whole
    files = {file.name for file in (tmp_path / "TwoPhase.states" / "levels").iterdir()}
    assert comparable(clustered_check(TwoPhase, 20, limits)) == whole  # It is over.
    assert {file.name for file in (tmp_path / "TwoPhase.states" / "levels").iterdir()} <= files


@pytest.mark.usefixtures("tiny")
def test_files_that_are_gone_are_noticed(tmp_path: Path) -> None:
    limits = Limits(resume=tmp_path)
    clustered_check(TwoPhase, 20, limits)
    next((tmp_path / "TwoPhase.states" / "levels").glob("new.*")).unlink()
    with pytest.raises(Unfit, match="which the snapshot names, is not there"):
        clustered_check(TwoPhase, 20, limits)
