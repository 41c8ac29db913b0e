"""The service in simulated worlds: every promise, whatever fails; and what breaks is found."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, transition
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from lawful.machines.read_only_windows import declaration
from lawful.machines.read_only_windows.declaration import Phase, WindowFixed
from lawful.machines.read_only_windows.service import (
    Config,
    Kind,
    Options,
    WindowedExecutor,
    settings,
)
from lawful.machines.read_only_windows.service.jobs import Answer, Job
from lawful.machines.read_only_windows.service.load_clients import Seen, judge
from lawful.machines.read_only_windows.service.scripts import Step
from lawful.machines.read_only_windows.service.table import GuardedTable, Value
from lawful.machines.services.threads import Event
from lawful.runtime.journal import Journal, read
from lawful.runtime.simulation.turns import World
from tests.machines.drawn import same_journal
from tests.machines.read_only_windows.simulated import FAULTS, TRANSITIONS, simulate

TWO_READERS = Config(read_only_transaction_num_threads=2, read_only_transaction_threshold=2)
ADD = (Step("add", "n", number=1),)
GET = (Step("work", number=3), Step("get", "n"))
MACHINE = "lawful.machines.read_only_windows.declaration"


def test_every_promise_is_kept_and_every_fault_and_transition_happens() -> None:
    runs = [simulate(seed) for seed in (4, 28, 5)]
    assert [run.problems for run in runs] == [[], [], []]
    assert [run.events for run in runs] == [272, 259, 543]
    assert {fault for run in runs for fault in run.faults} == set(FAULTS)
    assert {name for run in runs for name in run.transitions} == set(TRANSITIONS)


@pytest.mark.nightly
def test_every_promise_is_kept_in_many_worlds() -> None:
    assert [run.seed for run in map(simulate, range(5_000, 5_300)) if run.problems] == []


def test_a_seed_gives_the_same_events_again() -> None:
    first, second, other = simulate(3), simulate(3), simulate(4)
    assert first == second
    assert first.digest != other.digest


# Bugs that are planted in the service.


class WriteAtOnce(WindowedExecutor):
    """The main thread does not ask the window before it writes."""

    def _next_task(self) -> Job | None:
        if self._writes:
            return self._begun(self._writes)
        return super()._next_task()


class Busybody(WindowedExecutor):
    """Any thread ends a read-write window, also while the main thread writes (L-B11)."""

    def _fire(self, between_tasks: bool = False) -> None:
        super()._fire(between_tasks=True)


class Forgetful(WindowedExecutor):
    """What was put back is lost."""

    def _put_back(self, job: Job) -> None:
        super()._put_back(job)
        self._queue.popleft()


class PutsBackLast(WindowedExecutor):
    """What was put back has to wait for all that came after it (L-B7)."""

    def _put_back(self, job: Job) -> None:
        super()._put_back(job)
        self._queue.rotate(-1)


class AnsweredTwice(WindowedExecutor):
    """A request is answered twice."""

    def _answer(self, job: Job, values: tuple[Value, ...] = (), error: str = "") -> None:
        super()._answer(job, values, error)
        if error:
            self._due.append((job.answered, Answer("failed")))


class Asleep(WindowedExecutor):
    """Nobody is woken."""

    def _wake(self) -> None:
        return


class Deaf(WindowedExecutor):
    """A thread never looks up."""

    def _look(self, job: Job) -> None:
        return


class Closing(WindowedExecutor):
    """A write that is executed while the node shuts down goes on to its end."""

    def _look_on_main(self, job: Job) -> None:
        return


class Timeless(WindowedExecutor):
    """No timer is fired: the main thread looks for it again and again."""

    def _fire(self, between_tasks: bool = False) -> None:
        return


class KeepsSleepers(WindowedExecutor):
    """Who was woken is kept among those who sleep."""

    def _wake(self) -> None:
        vars(self).setdefault("_woken", []).extend(self._sleepers.values())
        super()._wake()


class SleepsAnew(WindowedExecutor):
    """A thread that woke up by itself is kept among those who sleep."""

    def _sleeper(self, thread: int | None) -> Event:
        event = self._sleepers[-len(self._sleepers)] = self._threads.event()
        return event


class KeepsAbandoned(WindowedExecutor):
    """What waits when the node shuts down is answered, and kept."""

    def shutdown(self) -> None:
        waiting = tuple(self._writes)
        super().shutdown()
        self._writes.extend(waiting)


class KeepsJobs(WindowedExecutor):
    """Each request that came is kept."""

    def _arrive(self, job: Job, queue: deque[Job]) -> None:
        vars(self).setdefault("_jobs", []).append(job)
        super()._arrive(job, queue)


class KeepsRows(WindowedExecutor):
    """A journal goes on to hear of each request."""

    def _arrive(self, job: Job, queue: deque[Job]) -> None:
        job.unheard = None
        super()._arrive(job, queue)


LEAKS = (
    (KeepsRows, 0, "left to the journal"),
    (KeepsSleepers, 0, "left in _woken"),
    (SleepsAnew, 5, "threads sleep in"),
    (KeepsAbandoned, 1, "left in _writes"),
    (KeepsJobs, 0, "left in _jobs"),
)


@pytest.mark.parametrize(("leak", "seed", "problem"), LEAKS)
def test_a_planted_leak_is_found(leak: type[WindowedExecutor], seed: int, problem: str) -> None:
    """The first seed that finds it, and what it finds."""
    (found,) = simulate(seed, kind=leak).problems
    assert problem in found


BUGS = (
    (WriteAtOnce, 0, "the state is broken: 1 writers and 3 readers at once"),
    (PutsBackLast, 22, "one reader has not read in the order of requests"),
    (Timeless, 0, "Stuck: at 3.487 s there were 10000 turns without time: main"),
    *(
        pytest.param(*bug, marks=pytest.mark.nightly)
        for bug in (
            (Busybody, 0, "the state is broken: 1 writers and 1 readers at once"),
            (Forgetful, 0, "not all had ended 20.0 s after the faults"),
            (AnsweredTwice, 0, "requests [56, 98, 133, 163] had not one answer"),
            (
                Asleep,
                0,
                "Stuck: at 23.100 s nobody can go on: main, reader 0, reader 1, reader 2, end",
            ),
            (Deaf, 3, "the shutdown took 4.383 s"),
            (Closing, 1, "the shutdown took 4.374 s"),
        )
    ),
)


@pytest.mark.parametrize(("bug", "seed", "problem"), BUGS)
def test_a_planted_bug_is_found(bug: type[WindowedExecutor], seed: int, problem: str) -> None:
    """The first seed that finds it, and what it finds first."""
    assert simulate(seed, kind=bug).problems[0] == problem


def test_the_judge_knows_what_time_allows() -> None:
    first = Seen(True, 0.0, 1.0, 200, (1,))
    assert judge([first, Seen(False, 0.5, 2.0, 200, (0, 0))]) == []
    assert judge([first, Seen(False, 1.5, 2.0, 200, (0, 0))]) == ["0 was seen after 1"]
    assert judge([first, Seen(False, 0.5, 2.0, 200, (0, 1))]) == [
        "a write came during a reader: (0, 1)"
    ]
    assert judge([first, Seen(True, 0.5, 2.0, 200, (1,))]) == ["1 writes were lost"]


# Replay.


def replayed(path: Path) -> int:
    return main(["replay", str(path), MACHINE, "--engine", "local", "--quiet"])


def test_the_journal_of_a_simulated_run_conforms(tmp_path: Path) -> None:
    """It has no row of a step that was refused."""
    path = tmp_path / "events.jsonl"
    with Journal(path) as journal:
        assert simulate(3, journal=OfTheWindow(journal), count=4).problems == []
    assert Counter(row["outcome"] for row in read(path)) == {"made": 1, "done": 98}
    assert replayed(path) == 0


def test_the_page_shows_the_journal_of_a_write_and_two_reads(tmp_path: Path) -> None:
    world = World(seed=1)

    def live() -> None:
        options = Options(world, OfTheWindow(journal), world)
        executor = WindowedExecutor(TWO_READERS, GuardedTable(world), options)
        for kind, script in ((Kind.WRITE, ADD), (Kind.READ, GET), (Kind.READ, GET)):
            executor.submit(kind, script, got.append)
        world.sleep(1.0)
        executor.shutdown()

    got: list[Answer] = []
    with Journal(tmp_path / "j") as journal:
        world.start(live, "live")
        world.run()
    assert [answer.values for answer in got] == [(1,), (1,), (1,)]
    same_journal(tmp_path / "j")


class Unguarded(WindowFixed):
    """A write is executed in any window."""

    @transition(source=(Phase.WRITE, Phase.READ))
    def write(self) -> None:
        self.caught_up = True


def test_with_a_guard_switched_off_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared, path = tmp_path / "declared.jsonl", tmp_path / "events.jsonl"
    with Journal(declared) as journal:
        window = declaration.WindowFixed()
        window.start()
        journal.attach(window, "one")
    monkeypatch.setattr(settings, "WindowFixed", Unguarded)
    with Journal(path) as journal:
        run = simulate(3, journal=OfTheWindow(journal), count=4)
    assert run.problems[0] == "the state is broken: 1 writers and 1 readers at once"
    kept: dict[str, Any] = next(iter(read(declared)))
    as_declared = {"machine": "WindowFixed", "fingerprint": kept["fingerprint"]}
    rows = [{**row, **as_declared} for row in read(path)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert replayed(path) == ExitCode.DEVIATES


class OfTheWindow:
    """The rows of the window alone, under a name for each run."""

    def __init__(self, journal: Journal, name: str = "window") -> None:
        self._journal = journal
        self._name = name

    def attach(self, entry: Machine, instance: str, *, refused: bool = True) -> Callable[[], None]:
        if instance != "window":
            return lambda: None
        return self._journal.attach(entry, self._name, refused=refused)
