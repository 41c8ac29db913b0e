"""The service in simulated worlds: every promise, whatever fails; and what breaks is found."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, transition
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from lawful.machines.read_only_windows import declaration
from lawful.machines.read_only_windows.declaration import Phase, WindowFixed
from lawful.machines.read_only_windows.service import WindowedExecutor, settings
from lawful.machines.read_only_windows.service.executor import Answer, Job
from lawful.machines.read_only_windows.service.load_clients import Seen, judge
from lawful.machines.read_only_windows.service.table import Value
from lawful.runtime.journal import Journal, read
from tests.machines.read_only_windows.simulated import FAULTS, TRANSITIONS, simulate

MACHINE = "lawful.machines.read_only_windows.declaration"


def test_every_promise_is_kept_and_every_fault_and_transition_happens() -> None:
    faults, transitions = Counter[str](), Counter[str]()
    for seed in range(30):
        run = simulate(seed)
        assert run.problems == [], f"seed {seed}"
        faults += run.faults
        transitions += run.transitions
    assert set(faults) == set(FAULTS)
    assert set(transitions) == set(TRANSITIONS)


def test_a_seed_gives_the_same_events_again() -> None:
    first, second, other = simulate(3), simulate(3), simulate(4)
    assert first == second
    assert first.digest != other.digest


# Bugs that are planted in the service.


class WriteAtOnce(WindowedExecutor):
    """The main thread does not ask the window before it writes."""

    def _next_task(self) -> Job | None:
        if self._writes:
            return self._begun(self._writes.popleft())
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


BUGS = (WriteAtOnce, Busybody, Forgetful, AnsweredTwice, Asleep, Deaf, Closing)


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug: type[WindowedExecutor]) -> None:
    found = next((run for seed in range(60) if (run := simulate(seed, kind=bug)).problems), None)
    assert found is not None
    assert simulate(found.seed, kind=bug).problems == found.problems


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
    path = tmp_path / "events.jsonl"
    with Journal(path) as journal:
        assert simulate(2, journal=OfTheWindow(journal), count=8).problems == []
    assert replayed(path) == 0


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
        found = [simulate(s, journal=OfTheWindow(journal, f"{s}"), count=8) for s in range(4)]
    assert any(run.problems for run in found)
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

    def attach(self, entry: Machine, instance: str) -> object:
        return self._journal.attach(entry, self._name) if instance == "window" else None
