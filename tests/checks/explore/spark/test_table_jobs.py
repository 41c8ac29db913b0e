"""Jobs whose files are in tables: the same answers, and workers see nothing but rows.

The frames here are in memory. A nightly test has those of Spark on two executors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.explore import Limits
from lawful.checks.explore.checkpoints import Snapshots, Unfit
from lawful.checks.explore.spark import file_tables, level_tasks, table_jobs
from lawful.checks.explore.spark.arrow_rows import batch_of
from lawful.checks.explore.spark.clustered import Clustered
from lawful.checks.explore.spark.file_tables import pieces, put_together
from lawful.checks.explore.spark.level_tasks import NewStates
from lawful.checks.explore.spark.table_jobs import FetchedNewStates, TableJobs
from tests.checks.declarations.wide import Crowd
from tests.checks.explore.spark.frames import Session
from tests.checks.explore.spark.test_clustered import comparable, in_memory, on_jobs, tiny
from tests.checks.explore.spill.test_spilled import Killed, at_once, killed_after
from tests.classics.broken import PetersonWithoutFlags
from tests.classics.chang_roberts import ChangRoberts
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase

FOLDER = "hdfs://states/kept"
__all__ = ["tiny"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tiny: None) -> None:
    """A file has several pieces."""
    monkeypatch.setattr(file_tables, "PIECE", 100)


def in_tables(
    cls: type[Machine], session: Session, limits: Limits | None = None, least: int = 20
) -> Any:
    return comparable(on_jobs(cls, TableJobs(session, FOLDER, least), limits))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cls", "least"),
    [
        pytest.param(TwoPhase, 20, marks=pytest.mark.nightly),
        (ChangRoberts, 0),  # Two tasks expand a file that the driver has written.
        pytest.param(TwoPhase, 0, marks=pytest.mark.nightly),
        pytest.param(PetersonWithoutFlags, 0, marks=pytest.mark.nightly),
    ],
)
def test_the_result_is_that_of_the_search_in_memory(cls: type[Machine], least: int) -> None:
    session = Session(2)
    assert in_tables(cls, session, least=least) == comparable(in_memory(cls))
    assert session.tasks != [] and session.folders == {}  # What it left was removed.


@pytest.mark.nightly
def test_a_state_that_is_left_to_the_reference_engine() -> None:
    assert in_tables(Crowd, Session(2), least=0) == comparable(in_memory(Crowd))


@pytest.mark.nightly
@pytest.mark.parametrize("row", CLASSICS, ids=lambda row: row.machine.__name__)
def test_every_classic(row: Any) -> None:
    assert in_tables(row.machine, Session(3), least=0) == comparable(in_memory(row.machine))


@pytest.mark.nightly
def test_workers_look_into_no_folder_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first job the driver has no file that a worker made."""
    seen: list[int] = []
    written = file_tables.FileTables.write

    def noted(self: file_tables.FileTables, frame: Any) -> str:
        levels = next(tmp_path.glob("TwoPhase.*/levels"))
        seen.append(sum(file.name not in self.table_of for file in levels.iterdir()))
        return written(self, frame)

    monkeypatch.setattr(file_tables.FileTables, "write", noted)
    whole = comparable(in_memory(TwoPhase))
    assert in_tables(TwoPhase, Session(2), Limits(spill=tmp_path)) == whole
    assert max(seen[1:]) == 0 < seen[0]


def test_a_file_is_put_together_of_its_pieces(tmp_path: Path) -> None:
    (tmp_path / "seen.1").write_bytes(content := bytes(range(250)))
    rows = [*pieces(5, tmp_path / "seen.1")]
    assert [row[:4] for row in rows] == [("seen", 5, "seen.1", i) for i in range(3)]
    assert put_together(tmp_path / "b", (row[4] for row in rows)).read_bytes() == content


# Breaks.


class SendsNoRuns(FetchedNewStates):
    """The files that it made stay where they are."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for each in super().__call__(batches):
            if each.column(0).to_pylist() != [file_tables.SEEN]:
                yield each


class LosesPieces(FetchedNewStates):
    """Of the files that it made it sends the first piece."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for each in super().__call__(batches):
            if each.column(3).to_pylist() == [0]:
                yield each


class HasNoRuns(FetchedNewStates):
    """What was seen before is not looked at."""

    def _in(self, folder: Path, bucket: int) -> NewStates:
        new = super()._in(folder, bucket)
        new.seen = {bucket: []}
        return new


@pytest.mark.parametrize(
    "broken", [SendsNoRuns, LosesPieces, pytest.param(HasNoRuns, marks=pytest.mark.nightly)]
)
def test_a_broken_level_is_noticed(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_jobs, "FetchedNewStates", broken)
    whole = comparable(in_memory(TwoPhase))
    try:
        found = in_tables(TwoPhase, Session(2), Limits(states=600))
    except (OSError, ValueError):
        return
    assert found != whole


@pytest.mark.nightly
def test_runs_that_stand_in_others_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of seen states are fewer than levels when it ends; those of new states stay."""
    sessions = Session(2), Session(2)
    kept = [dict[str, Any]()] * 2

    def stays(self: TableJobs) -> None:
        """The folder is not removed."""

    def nothing(self: TableJobs, runs: Any) -> None:
        """No run is removed."""

    for i, session in enumerate(sessions):
        with monkeypatch.context() as patch:
            jobs = TableJobs(session, FOLDER, 20)
            patch.setattr(TableJobs, "end", stays)
            if i:
                patch.setattr(TableJobs, "removed", nothing)
            assert comparable(on_jobs(TwoPhase, jobs)) == comparable(in_memory(TwoPhase))
        kept[i] = {
            of: sum(f"of={of}" in name for name in session.folders) for of in ("new", "seen")
        }
    assert kept[0]["new"] == kept[1]["new"]
    assert kept[0]["seen"] < kept[1]["seen"]


@pytest.mark.nightly
@pytest.mark.nightly
def test_tables_that_cannot_be_removed_cost_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(self: file_tables.FileTables, folder: str) -> None:
        if "of=" not in folder:
            raise RuntimeError("the session has ended\nat java")

    monkeypatch.setattr(file_tables.FileTables, "delete", stopped)
    with pytest.warns(UserWarning, match="was not removed: the session has ended$"):
        found = in_tables(ChangRoberts, Session(2), least=0)
    assert found == comparable(in_memory(ChangRoberts))


# Snapshots.


def test_a_search_that_was_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits, session = Limits(resume=tmp_path), Session(2)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killed_after(5, patch, Clustered)
        in_tables(TwoPhase, session, limits)
    monkeypatch.setattr(Snapshots, "due", at_once)
    for file in (tmp_path / "TwoPhase.states" / "levels").iterdir():
        file.unlink()  # All of them are in tables.
    jobs = len(session.tasks)
    assert in_tables(TwoPhase, session, limits) == comparable(in_memory(TwoPhase))
    assert (jobs, len(session.tasks) - jobs) == (8, 10)  # Two of each of nine jobs.
    assert session.folders != {}  # They stay for the snapshot.


@pytest.mark.nightly
def test_files_that_are_in_no_table_are_noticed(tmp_path: Path) -> None:
    limits, session = Limits(resume=tmp_path), Session(2)
    in_tables(TwoPhase, session, limits)
    for name in [name for name in session.folders if name.endswith("of=new")]:
        kinds, _ = session.folders[name]
        session.folders[name] = kinds, []
    for file in (tmp_path / "TwoPhase.states" / "levels").iterdir():
        file.unlink()
    with pytest.raises(Unfit, match="which the snapshot names, is not there"):
        in_tables(TwoPhase, session, limits)


def test_reports_name_files_of_the_driver(tmp_path: Path) -> None:
    """What a bucket tells has the names that files have in the driver's folder."""
    told: list[Any] = []
    new = NewStates(tmp_path, 1, {})
    row = (0, level_tasks.STATES, b"\1" + bytes(7) + b"\5" + bytes(7), None, 0)
    for each in FetchedNewStates(new)([batch_of([row], table_jobs.SENT_OR_SEEN)]):
        told += [text for text in each.column(6).to_pylist() if text is not None]
    (file,) = map(json.loads, told)
    assert {Path(path).parent for path in (file["path"], *(p for _, p in file["runs"]))} == {
        tmp_path
    }
    assert [*tmp_path.iterdir()] == []
