"""Ctrl-C between any two instructions: of a runner, which strands nothing, and of an observed,
stored or journalled event, which happens whole or not at all.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import pytest

from lawful import Machine, Nat, Timer, transition
from lawful.runtime import runner as runners
from lawful.runtime.instances import observers
from lawful.runtime.instances.observers import Stepped
from lawful.runtime.journal import Journal, read
from lawful.runtime.runner import Runner
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from tests.root import PATIENCE
from tests.runtime.services.interrupting import at_every_place

RUNNER = (runners.__file__,)


def test_an_interrupted_call_happens_once_or_not_at_all_and_others_go_on() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        runner, seen = Runner(), list[int]()
        was = attempt(lambda: runner.call(seen.append, 1))
        assert seen in ([], [1]) if was else seen == [1]
        runner.call(seen.append, 2)
        assert seen[-1] == 2
        assert (runner.line.holder, list(runner.line.jobs)) == (None, [])

    assert at_every_place(RUNNER, play) > 20


def test_what_was_posted_is_run_where_the_poster_is_interrupted() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        runner, seen, futures = Runner(), list[int](), list[Future[None]]()

        def causing() -> None:
            for number in (1, 2):
                futures.append(runner.post(seen.append, number))

        attempt(lambda: runner.post(causing))
        assert (runner.line.holder, list(runner.line.jobs)) == (None, [])
        taken = [number for number, _ in enumerate(futures, 1)]
        assert seen in (taken, [*taken, len(taken) + 1])
        assert all(future.done() for future in futures)

    assert at_every_place(RUNNER, play) > 40


@pytest.mark.parametrize("capacity", [1, 9])
def test_who_waits_gets_its_turn_from_one_who_is_interrupted(capacity: int) -> None:
    def play(attempt: Callable[..., bool]) -> None:
        runner, seen = Runner(capacity), list[int]()
        others = [
            threading.Thread(target=runner.call, args=(seen.append, number), daemon=True)
            for number in (1, 2)
        ]

        def beginning() -> None:
            for number, other in enumerate(others, 1):
                other.start()
                while len(runner.line.jobs) < min(number, capacity):
                    pass  # It comes: nothing else can happen.

        attempt(lambda: runner.call(beginning))
        for other in others:
            if other.ident is not None:
                other.join(PATIENCE)
                assert not other.is_alive()
        assert sorted(seen) == [n for n, other in enumerate(others, 1) if other.ident is not None]
        assert (runner.line.holder, list(runner.line.jobs)) == (None, [])

    assert at_every_place(RUNNER, play) > 20


class Counted(Machine):
    count: Nat = 0
    added: list[Nat] = []
    lapse: Timer = Timer()

    @transition()
    def add(self, number: Nat) -> Nat:
        self.count += number
        self.added.append(number)
        self.lapse.start(5)
        return self.count


def test_an_interrupted_event_is_undone_or_told_at_the_latest_before_the_next() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        counted, heard = Counted(), list[Stepped]()
        counted.lawful.observe(heard.append)
        attempt(lambda: counted.add(1))
        happened = counted.added == [1]
        assert heard == [] if not happened else len(heard) <= 1
        counted.add(10)
        assert [done.args["number"] for done in heard] == ([1, 10] if happened else [10])

    assert at_every_place((observers.__file__, __file__), play) > 20


def test_an_interrupted_event_is_kept_and_done_or_neither() -> None:
    """Anywhere: the standard library's code included."""

    def play(attempt: Callable[..., bool]) -> None:
        with Store(":memory:", snapshot_every=2) as kept:
            counted = kept.add(Counted(clock=SimulatedClock()), "a")
            counted.add(1)
            attempt(lambda: counted.add(2))
            assert [row["args"]["number"] for row in kept.events("a")] == list(counted.added)
            assert not counted.__environment__.paused
            counted.add(4)
            assert kept.restore(Counted, "a") == counted

    assert at_every_place((), play) > 100


def test_an_interrupted_event_has_one_row_in_the_journal_or_did_not_happen(tmp_path: Path) -> None:
    def play(attempt: Callable[..., bool]) -> None:
        path = tmp_path / "j.jsonl"
        with Journal(path, buffer=0, append=False) as journal:
            counted = Counted(clock=SimulatedClock())
            journal.attach(counted, "a")
            counted.add(1)
            attempt(lambda: counted.add(2))
            counted.add(4)
        rows = list(read(path))
        assert [row["args"].get("number") for row in rows] == [None, *counted.added]
        with Journal(path) as journal:
            journal.attach(counted, "a")
        assert [row["seq"] for row in read(path)] == list(range(len(rows) + 1))

    assert at_every_place((), play) > 60


class Alarm:
    """Lets signals raise KeyboardInterrupt in the main thread, one after another."""

    def __init__(self) -> None:
        self.on = False
        self.rung = 0

    def ring(self, *_: object) -> None:
        if self.on:
            self.rung += 1
            raise KeyboardInterrupt

    def during(self, act: Callable[[], object], seconds: float, again: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds, again)
        try:
            self.on = True
            act()
            self.on = False
        except KeyboardInterrupt:
            self.on = False  # No call before: no further interrupt comes out of this.
        signal.setitimer(signal.ITIMER_REAL, 0)


def unheard(_: object) -> None:
    """A hook for exceptions that nobody gets."""


@pytest.mark.parametrize(
    "attempts", [150, pytest.param(30_000, marks=pytest.mark.nightly)], ids=str
)
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers of signals")
def test_signals_leave_an_event_kept_and_done_or_neither(
    attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of the two is chance; every instance goes on, and comes back as it is."""
    alarm = Alarm()
    former = signal.signal(signal.SIGALRM, alarm.ring)
    # What a signal raises while the garbage of other tests is collected, nobody gets.
    monkeypatch.setattr(sys, "unraisablehook", unheard)
    gc.disable()
    try:
        for number in range(attempts):
            with Store(":memory:", snapshot_every=3) as kept:
                counted = kept.add(Counted(clock=SimulatedClock()), "a")
                counted.add(1)
                delay = 1e-6 * (1 + number * 7 % 300)
                alarm.during(partial(counted.add, 2), delay, (0, 3e-4, 1e-4)[number % 3])
                assert [row["args"]["number"] for row in kept.events("a")] == list(counted.added)
                assert counted.count == sum(counted.added)
                assert not counted.__environment__.paused
                counted.add(4)
                assert kept.restore(Counted, "a") == counted
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        gc.enable()
