"""The job of a level: how many tasks it has, and that one of them may keep several buckets."""

from __future__ import annotations

import ctypes
import functools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks.explore import Limits
from lawful.checks.explore.compiled.arrays import empty
from lawful.checks.explore.compiled.typed_memory import ALL_ONES, fill
from lawful.checks.explore.spark import (
    clustered,
    level_jobs,
    level_tasks,
    search_program,
    sent_states,
)
from lawful.checks.explore.spark.arrow_rows import batch_of, rows_of
from lawful.checks.explore.spark.level_jobs import LevelJobs
from lawful.checks.explore.spark.level_tasks import SENT, NewStates
from lawful.checks.explore.spark.session_memory import bounded, give_back
from lawful.checks.explore.spill import block_expansion, window
from lawful.checks.explore.spill.run_code import run_code
from tests.checks.explore.spark.frames import Frame, Session
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
    """Thirty-two buckets of two partitions. A job is dealt out twice: states, and buckets."""
    session = Session(2)
    assert found_with(session) == whole()
    dealt = list(zip(session.tasks[::2], session.tasks[1::2], strict=True))
    assert len(dealt) == LEVELS
    assert [keeping for _, keeping in dealt] == [min(states, 32) for states, _ in dealt]
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


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_rows_are_sent_in_small_batches(sent: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a batch for each gathering here, and not one of all that a task sends."""
    assert found_with(Session(2)) == whole()
    largest = max(sent)
    search_program.expander_of.cache_clear()
    sent.clear()
    monkeypatch.setattr(sent_states, "SENDING", 16)
    monkeypatch.setattr(block_expansion, "GATHERED", 4)
    assert found_with(Session(2)) == whole()
    assert (largest, max(sent)) == LARGEST_BATCHES


LARGEST_BATCHES = (97, 7)


def test_what_a_task_met_lately_is_sent_once(
    sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each level is one task here, which sends each state that it meets once."""
    assert found_with(Session(2)) == whole()
    once = sum(sent)
    sent.clear()

    def forgets(self: search_program.Expander, words: Any, first: int) -> Any:
        for at in range(len(words)):
            yield from rows(self, words[at : at + 1], first + at)
            yield self.sent.take()
            self.sent.recent[:] = -1
            fill(self.sent.arrays.recent, ALL_ONES)

    rows: Any = search_program.Expander.rows
    monkeypatch.setattr(search_program.Expander, "rows", forgets)
    assert found_with(Session(2)) == whole()
    assert (once, sum(sent)) == ONCE_AND_ALWAYS


ONCE_AND_ALWAYS = (520, 886)


def test_a_task_that_runs_again_sends_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker sent for a task that failed is lost: it sends it again."""
    pairs: list[bool] = []
    called = level_tasks.Expansion.__call__

    def twice(self: Any, batches: Any) -> Iterator[Any]:
        spans = list(batches)
        first, second = (list(called(self, spans)) for _ in range(2))
        pairs.append(first == second)
        yield from second

    monkeypatch.setattr(level_tasks.Expansion, "__call__", twice)
    assert found_with(Session(2)) == whole()
    assert pairs == [True] * LEVELS


def test_a_task_that_failed_leaves_nothing_in_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends after its first rows, and the worker does the task anew."""
    monkeypatch.setattr(sent_states, "SENDING", 16)
    monkeypatch.setattr(block_expansion, "GATHERED", 4)
    called = level_tasks.Expansion.__call__

    def again(self: Any, batches: Any) -> Iterator[Any]:
        spans = list(batches)
        next(called(self, spans))
        yield from called(self, spans)

    monkeypatch.setattr(level_tasks.Expansion, "__call__", again)
    assert found_with(Session(2)) == whole()


@pytest.mark.parametrize("words", [1, 3])
def test_the_cache_of_a_worker_has_its_size_from_the_beginning(words: int) -> None:
    assert sent_states.cache_of(words).shape == (sent_states.CACHE // 8 // words, words)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=60),
    st.sampled_from([1, 2, 7, 1 << 20]),
)
def test_a_cache_loses_no_state(states: list[tuple[int, int]], places: int) -> None:
    """What is left out is equal to one before. With a place for each, all those are."""
    words = np.array(states, np.int64).reshape(-1, 2)
    gathered = empty(2, (), 1)._replace(batch=words, origins=np.arange(len(words)))
    recent = np.full((places, 2), -1, np.int64)
    rows = np.empty((len(words) + 1, 3), np.int64)
    code = run_code(2)
    half = len(words) // 2
    kept = code.unsent(gathered, half, recent, rows, 0)
    rest = gathered._replace(
        **{
            name: np.ascontiguousarray(getattr(gathered, name)[half:])
            for name in ("batch", "origins")
        }
    )
    kept = code.unsent(rest, len(words) - half, recent, rows, kept)
    origins = rows[:kept, 0].tolist()
    assert [tuple(row) for row in rows[:kept, 1:].tolist()] == [states[i] for i in origins]
    firsts = [states.index(state) for state in dict.fromkeys(states)]
    assert origins == sorted(set(origins)) and set(firsts) <= set(origins)
    if places == 1 << 20:  # No two of the 36 states have the same one.
        assert origins == firsts


def test_the_tasks_of_a_level_have_as_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task more than a level fills would have others wait for it."""
    monkeypatch.setattr(clustered, "FEWEST", 20)
    sizes: list[list[int]] = []
    told = LevelJobs.told

    def noted(self: LevelJobs, spans: Any, expansion: Any, new: Any) -> Any:
        found = [0] * (1 + spans[-1][0])
        for task, *_, count in spans:
            found[task] += count
        sizes.append(found)
        return told(self, spans, expansion, new)

    monkeypatch.setattr(LevelJobs, "told", noted)
    assert found_with(Session(2)) == whole()
    assert sizes == SIZES


SIZES = [
    *([1], [7], [11, 10], [19, 19], [17, 17, 16], [18, 18, 18], [17, 17, 15], [18, 18]),
    *([11, 10], [9], [2]),
]


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
    monkeypatch.setattr(block_expansion, "GATHERED", 16)
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


def test_a_worker_holds_one_bucket_at_a_time(tmp_path: Path) -> None:
    """It asks for the rows of the next bucket when the files of the one before are written."""
    asked: list[int] = []

    def sent() -> Iterator[Any]:
        for bucket in (0, 0, 1, 1, 2):
            asked.append(bucket)
            row = np.array([1, 7 * bucket], np.int64).tobytes()
            yield batch_of([(bucket, level_tasks.STATES, row)], SENT)

    told = NewStates(tmp_path, 1, {})(sent())
    seen = [(json.loads(row)["bucket"], len(asked)) for each in told for _, row in rows_of([each])]
    assert seen == [(0, 3), (1, 5), (2, 5)]


class Sends(level_tasks.Expansion):
    """Sends a state for each of these buckets, in this order, and makes no steps."""

    order = (1, 0, 1, 0)

    def __init__(self) -> None:
        pass

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for at, bucket in enumerate(self.order):
            row = np.array([1, at], np.int64).tobytes()
            yield batch_of([(bucket, level_tasks.STATES, row)], SENT)


def test_a_level_that_is_done_here_has_a_file_for_each_bucket(tmp_path: Path) -> None:
    told = level_tasks.done_here([(0, "", 0, 0, 0)], Sends(), NewStates(tmp_path, 1, {}))
    files = [json.loads(row) for kind, row in told if kind == level_tasks.FILE]
    assert [(file["bucket"], file["count"]) for file in files] == [(0, 2), (1, 2)]


def test_rows_that_nobody_sorts_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_they_come(self: Frame, column: str) -> Frame:
        assert column == "bucket"
        return self

    monkeypatch.setattr(Frame, "sortWithinPartitions", as_they_come)
    monkeypatch.setattr(sent_states, "SENDING", 16)
    monkeypatch.setattr(block_expansion, "GATHERED", 4)
    with pytest.raises(ValueError, match="No such file"):  # A bucket has two last runs.
        found_with(Session(2))


def test_the_cache_is_there_while_a_task_expands_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that keeps new states has none, nor has one that waits."""
    expanders: list[search_program.Expander] = []
    told, begin = NewStates.told, search_program.Expander.begin

    def begins(self: search_program.Expander) -> None:
        begin(self)
        assert len(self.sent.recent) == sent_states.CACHE // 8
        expanders.append(self)

    def tells(self: NewStates, sent: Iterable[Any]) -> Iterator[Any]:
        for row in told(self, sent):
            assert [each.sent.recent for each in expanders] == [None] * len(expanders)
            yield row

    monkeypatch.setattr(search_program.Expander, "begin", begins)
    monkeypatch.setattr(NewStates, "told", tells)
    assert found_with(Session(2)) == whole()
    assert len(expanders) == LEVELS


def test_freed_memory_goes_back_when_the_states_are_in_buckets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[int] = []
    monkeypatch.setattr(clustered, "give_back", lambda: given.append(1))
    assert comparable(on_jobs(TwoPhase, LevelJobs(Session(2), 40))) == whole()
    assert given == [1]


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"),
    reason="its C library does not say what it gives back",
)
def test_a_process_gives_back_what_it_freed() -> None:
    """The last block is behind all others, and stays: without help, so do those."""
    blocks = [b"1" * BLOCK for _ in range(BLOCKS)]
    last = b"2" * BLOCK
    held = anonymous()
    blocks.clear()
    kept = anonymous()
    give_back()
    assert held - anonymous() > BLOCK * BLOCKS // 2 and len(last) == BLOCK
    assert held - kept < BLOCK * BLOCKS // 2


BLOCK, BLOCKS = 60_000, 600


def anonymous() -> int:
    """Bytes that this process holds and that are in no file."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (found,) = (line.split()[1] for line in status.splitlines() if line.startswith("RssAnon"))
    return 1024 * int(found)


def test_the_heap_and_the_partitions_grow_with_the_cores() -> None:
    heaps = {each: bounded(each).get("spark.driver.memory") for each in MASTERS}
    partitions = {each: bounded(each).get(level_jobs.PARTITIONS) for each in MASTERS}
    assert partitions == {"local": "4", "local[2]": "8", "local[8,3]": "32", "spark://a:1": None}
    assert heaps == {"local": "448m", "local[2]": "512m", "local[8,3]": "896m", "spark://a:1": None}


def test_the_settings_of_a_session_on_this_computer_and_of_a_cluster() -> None:
    everywhere = {
        "spark.cleaner.referenceTracking.blocking.shuffle": "true",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.maxBytesPerBatch": "2097152",
        "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
        "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": "1048576",
        "spark.executorEnv.MALLOC_ARENA_MAX": "2",
    }
    here = {
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.sql.shuffle.partitions": "8",
    }
    assert bounded("spark://a:1") == everywhere
    assert bounded("local[2]") == everywhere | here


MASTERS = ("local", "local[2]", "local[8,3]", "spark://a:1")
