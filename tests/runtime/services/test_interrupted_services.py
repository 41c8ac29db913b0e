"""Ctrl-C at each place of what a service has beside its instances: it serves as before.

Of deadlines no timer is lost, of a registry no instance, of a journal no row.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from lawful import Machine, Nat, Timer, transition
from lawful.runtime import deadlines, journal, journal_numbers, registry, store
from lawful.runtime.deadlines import Deadlines
from lawful.runtime.instances import access, journal_rows, observers
from lawful.runtime.journal import Journal, read
from lawful.runtime.kernel.state import UNKNOWN
from lawful.runtime.registry import Registry
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from tests.runtime.services.interrupting import at_every_place


class Bell(Machine):
    rings: Nat = 0
    due: Timer = Timer()

    @transition()
    def wind(self, seconds: Nat) -> None:
        self.due.start(seconds)

    @transition(timer="due")
    def ring(self) -> Nat:
        self.rings += 1
        self.due.start(10)
        return self.rings


EVERY = pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.nightly)])


def test_no_timer_is_lost_where_firing_is_interrupted() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        clock, several, heard = SimulatedClock(), Deadlines(), list[object]()
        bells = [Bell(clock=clock) for _ in range(3)]
        for seconds, bell in enumerate(bells, 1):
            several.add(bell, heard.append)
            bell.wind(seconds)
        clock.advance(5)
        attempt(lambda: several.fire_due(clock.now()))
        assert several.next_deadline() in (1.0, 2.0, 3.0, 15.0)
        several.fire_due(clock.now())
        assert [bell.rings for bell in bells] == [1, 1, 1]
        assert several.next_deadline() == 15.0
        several.fire_due(clock.advance(10))
        assert [bell.rings for bell in bells] == [2, 2, 2]

    assert at_every_place((deadlines.__file__,), play) > 20


def test_who_waits_for_a_timer_hears_of_an_earlier_one_whose_event_is_interrupted() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        clock, several, heard = SimulatedClock(), Deadlines(), list[float | None]()
        bell = Bell(clock=clock)
        several.add(bell, print)
        several.driven(lambda: heard.append(min(access.deadlines_of(bell), default=None)))
        attempt(lambda: bell.wind(7))
        assert several.next_deadline() == (7.0 if bell.due.armed else None)
        assert set(heard) == ({7.0} if bell.due.armed else set())

    assert at_every_place((deadlines.__file__, access.__file__, observers.__file__), play) > 5


OF_REGISTRY = (registry.__file__, store.__file__, contextlib.__file__)
Act = Callable[[Registry[Bell]], object]


def use(bells: Registry[Bell]) -> None:
    with bells.use("a") as bell:
        bell.wind(1)


def release(bells: Registry[Bell]) -> None:
    bells.release("b")


def add(bells: Registry[Bell]) -> None:
    bells.add(Bell(), "c")


@pytest.mark.parametrize("act", [use, release, add])
@EVERY
def test_a_registry_serves_after_an_interrupt(act: Act, every: int, tmp_path: Path) -> None:
    numbers = count()

    def play(attempt: Callable[..., bool]) -> None:
        path = tmp_path / f"{next(numbers)}.db"
        with Store(path, synchronous="NORMAL") as kept:
            bells = Registry(kept, Bell, most=1)
            for name in "ab":
                bells.add(Bell(), name)
            attempt(lambda: act(bells))
            for name in "abab":
                with bells.use(name) as bell:
                    bell.wind(5)
            assert len(bells) == 1
            bells.release("b")
            assert len(bells) == 0
        path.unlink()

    assert at_every_place(OF_REGISTRY, play, every) > 10


def test_a_registry_restores_an_instance_that_takes_no_further_event(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db", synchronous="NORMAL") as kept:
        bells = Registry(kept, Bell)
        lost = bells.add(Bell(), "a")
        lost.wind(5)
        lost.__watch__ = UNKNOWN  # As where the connection to a server broke off.
        with bells.use("a") as bell:
            assert bell is not lost
            bell.wind(6)
        assert [row["args"] for row in kept.events("a")] == [{"seconds": 5}, {"seconds": 6}]


OF_JOURNAL = (journal.__file__, journal_rows.__file__, access.__file__)


@pytest.mark.parametrize("again", [True, False])
@EVERY
def test_an_instance_is_attached_to_a_journal_or_is_not(
    again: bool, every: int, tmp_path: Path
) -> None:
    path = tmp_path / "j.jsonl"

    def play(attempt: Callable[..., bool]) -> None:
        path.unlink(missing_ok=True)
        bell = Bell()
        with Journal(path, buffer=0) as kept:
            attach = partial(kept.attach, bell, "a")
            was = attempt(attach)
            if was and again:
                attach()
            bell.wind(5)
            if was and not again:
                assert bell.__watch__ is None
        rows = [(row["seq"], row["outcome"]) for row in read(path)]
        first = rows[: len(rows) - (again or not was)]
        assert first in ([], [(0, "made")], [(0, "made"), (1, "attached")])
        assert rows[len(first) :] == ([(len(first), "done")] if again or not was else [])
        with Journal(path) as kept:
            kept.attach(bell, "a")

    assert at_every_place(OF_JOURNAL, play, every) > 40


def test_an_interrupted_end_of_an_instance_in_a_journal_loses_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_numbers, "MOST", 1)  # It goes into the temporary file.
    path = tmp_path / "j.jsonl"

    def play(attempt: Callable[..., bool]) -> None:
        path.unlink(missing_ok=True)
        bell = Bell()
        with Journal(path, buffer=0) as kept:
            end = kept.attach(bell, "a")
            bell.wind(5)
            if attempt(end):
                try:
                    kept.attach(Bell(), "a")
                except ValueError:  # Its name is not free yet.
                    end()
                    kept.attach(Bell(), "a")
            else:
                kept.attach(Bell(), "a")
        assert [row["seq"] for row in read(path)] == [0, 1, 2]

    assert at_every_place((*OF_JOURNAL, journal_numbers.__file__), play) > 10
