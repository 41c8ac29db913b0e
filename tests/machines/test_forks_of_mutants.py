"""The process in which a mutant runs ends, whatever the mutant does, and says what was seen."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from tests.machines import embedded_mutants
from tests.machines.embedded_mutants import WAITS, seen, service_tests

FAILS = "def test_of_a_service():\n    assert 1 == 2\n"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_mutants, "LOOK", 0.01)
    monkeypatch.setattr(embedded_mutants, "ASLEEP", 30)


def test_a_test_that_fails_is_told_although_this_session_has_a_watchdog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_mutants, "ASLEEP", 300)
    path = tmp_path / "test_some.py"
    path.write_text(FAILS)
    witness = service_tests(str(path), f"--rootdir={tmp_path}")
    assert seen((), None, witness) == "test_of_a_service"


def test_what_waits_for_ever_is_ended_in_one_thread_and_in_two() -> None:
    held = threading.Lock()
    held.acquire()

    def waits() -> str:
        held.acquire()
        return "it ended"

    def joins() -> str:
        other = threading.Thread(target=waits)
        other.start()
        other.join()
        return "it ended"

    assert [seen((), None, each) for each in (waits, joins)] == [WAITS, WAITS]


def test_what_ends_late_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread lets it go on."""
    monkeypatch.setattr(embedded_mutants, "ASLEEP", 300)

    def ends() -> str:
        ended = threading.Event()
        threading.Timer(0.05, ended.set).start()
        ended.wait()
        return "it ended"

    assert seen((), None, ends) == "it ended"


@pytest.mark.nightly
def test_what_runs_for_ever_ends_by_its_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_mutants, "PROCESSOR_TIME", 1)

    def runs() -> str:
        while True:
            pass

    assert seen((), None, runs) == f"ended by {signal.SIGXCPU.name}"
