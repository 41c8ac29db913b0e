"""The job of a level: how many tasks it has, and that one of them may keep several buckets."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.explore import Limits
from lawful.checks.explore.spark import clustered, level_jobs, level_tasks, search_program
from lawful.checks.explore.spark.arrow_rows import batch_of, rows_of
from lawful.checks.explore.spark.level_jobs import LevelJobs
from lawful.checks.explore.spark.level_tasks import SENT, NewStates
from lawful.checks.explore.spark.session_memory import bounded
from lawful.checks.explore.spill import window
from tests.checks.explore.spark.frames import Session
from tests.checks.explore.spark.test_clustered import comparable, in_memory, on_jobs
from tests.classics.two_phase import TwoPhase

ROW = 16  # Bytes of a state that is sent: its step, and one word.
LEVELS = 11  # Of two-phase commit, which all are jobs here.


@pytest.fixture
def seven(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task expands seven states, so that large levels have several."""
    for name in ("FEWEST", "MOST"):
        monkeypatch.setattr(clustered, name, 7)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Workers that no other test has used: a test may change how much they hold."""
    search_program.expander_of.cache_clear()
    yield
    search_program.expander_of.cache_clear()


def found_with(session: Session) -> Any:
    return comparable(on_jobs(TwoPhase, LevelJobs(session, 0)))


@functools.cache
def whole() -> Any:
    return comparable(in_memory(TwoPhase))


@pytest.mark.usefixtures("seven")
def test_a_small_level_has_few_tasks_that_keep_several_buckets() -> None:
    """Eight buckets of two partitions. A job is dealt out twice: states, and buckets."""
    session = Session(2)
    assert found_with(session) == whole()
    dealt = list(zip(session.tasks[::2], session.tasks[1::2], strict=True))
    assert len(dealt) == LEVELS
    assert [keeping for _, keeping in dealt] == [min(states, 8) for states, _ in dealt]
    assert dealt[0] == (1, 1) and max(dealt) == (8, 8)


class KeepsAllAsOne(NewStates):
    """All that a task gets is taken for the states of one bucket."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        rows = list(rows_of(batches))
        first = min((row[0] for row in rows if row[1] == level_tasks.STATES), default=0)
        yield from super().__call__(batch_of([(first, *row[1:])], SENT) for row in rows)


class KeepsTheFirst(NewStates):
    """Of what a task gets one bucket is kept."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        files = 0
        for each in super().__call__(batches):
            files += each.column(0).to_pylist() == [level_tasks.FILE]
            if files < 2:
                yield each


@pytest.mark.parametrize("broken", [KeepsAllAsOne, KeepsTheFirst])
@pytest.mark.usefixtures("seven")
def test_a_task_that_confuses_its_buckets_is_noticed(
    broken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(level_tasks, "NewStates", broken)
    assert found_with(Session(2)) != whole()


@pytest.mark.usefixtures("seven")
def test_one_task_for_each_bucket_costs_more_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first test looks at: the number of tasks is what the optimisation saves."""
    few, many = Session(2), Session(2)
    found_with(few)

    def most(*numbers: int) -> int:
        return max(numbers)

    monkeypatch.setattr(level_jobs, "min", most, raising=False)
    assert found_with(many) == whole()
    assert sum(few.tasks) < sum(many.tasks)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many states each batch has that a task sends."""
    sizes: list[int] = []
    called = level_tasks.Expansion.__call__

    def noted(self: Any, batches: Any) -> Iterator[Any]:
        for each in called(self, batches):
            states = [row for _, kind, row in rows_of([each]) if kind == level_tasks.STATES]
            sizes.append(sum(map(len, states)) // ROW)
            yield each

    monkeypatch.setattr(level_tasks.Expansion, "__call__", noted)
    return sizes


def test_rows_are_sent_in_small_batches(sent: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """However many states a window has, a batch has at most `SENDING`."""
    monkeypatch.setattr(level_tasks, "SENDING", 5)
    assert found_with(Session(2)) == whole()
    assert max(sent) == 5


def test_what_a_task_met_lately_is_sent_once(
    sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each level is one task here, which sends each state that it meets once."""
    assert found_with(Session(2)) == whole()
    once = sum(sent)
    sent.clear()

    def forgets(self: search_program.Expander, words: Any, first: int) -> Any:
        for at in range(len(words)):
            yield from steps(self, words[at : at + 1], first + at)
            yield self.window.take()
            self.window.begin(self.window.base)
            self.window.arrays.recent[:] = -1

    steps: Any = search_program.Expander.steps
    monkeypatch.setattr(search_program.Expander, "steps", forgets)
    assert found_with(Session(2)) == whole()
    assert (once, sum(sent)) == ONCE_AND_ALWAYS


ONCE_AND_ALWAYS = (520, 886)


def test_a_worker_makes_the_code_of_a_machine_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[search_program.SearchProgram] = []
    begun = search_program.Expander.__init__

    def noted(self: search_program.Expander, program: search_program.SearchProgram) -> None:
        made.append(program)
        begun(self, program)

    monkeypatch.setattr(search_program.Expander, "__init__", noted)
    assert found_with(Session(2)) == whole()
    assert len(made) == 1


@pytest.mark.parametrize("held", [16, clustered.HELD])
def test_before_levels_are_jobs_this_process_holds_few_states(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window is full in the middle of a level, and begins anew."""
    monkeypatch.setattr(clustered, "HELD", held)
    monkeypatch.setattr(window, "GATHERED", 16)
    most: list[int] = []
    release = window.Window.release

    def noted(self: window.Window) -> None:
        most.append(self.most)
        release(self)

    monkeypatch.setattr(window.Window, "release", noted)
    assert comparable(on_jobs(TwoPhase, LevelJobs(Session(2), 40))) == whole()
    assert most == [2 * held * 7 // 10]


def test_the_window_gives_its_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the levels are jobs, this process keeps no state in memory."""
    rooms: list[tuple[int, int]] = []
    release = window.Window.release

    def noted(self: window.Window) -> None:
        before = self.held.arrays.store
        release(self)
        rooms.append((self.count, self.held.arrays.store is before))

    monkeypatch.setattr(window.Window, "release", noted)
    assert comparable(on_jobs(TwoPhase, LevelJobs(Session(2), 40))) == whole()
    assert rooms == [(0, False)]


@pytest.mark.parametrize("folder", ["hdfs://host/states", "s3a://bucket/states", "file:///states"])
def test_a_folder_that_is_not_mounted_is_refused_before_work_is_done(folder: str) -> None:
    session = Session(2)
    with pytest.raises(ValueError, match="expected a folder that is mounted, not a URI"):
        on_jobs(TwoPhase, LevelJobs(session, 0), Limits(spill=Path(folder)))
    assert session.tasks == [] and not Path(folder.partition(":")[0] + ":").exists()


def test_the_heap_grows_with_the_cores() -> None:
    heaps = {each: bounded(each).get("spark.driver.memory") for each in MASTERS}
    assert heaps == {"local": "448m", "local[2]": "512m", "local[8,3]": "896m", "spark://a:1": None}


MASTERS = ("local", "local[2]", "local[8,3]", "spark://a:1")
