"""Steps note which entries of maps they write: of those maps nothing else is packed."""

from __future__ import annotations

from typing import Any

import pytest

from lawful import Machine, Nat, Scope, Sort, State, Timer, require, total, transition
from lawful.checks.explore.codegen.expressions import Expressions
from lawful.checks.explore.layout.entries import Entries, runs
from lawful.checks.explore.layout.packing import Slot
from tests.checks.explore.compiled.both_engines import compared


class Seat(Sort):
    """A seat of the machine below."""


class Stage(State):
    """A stage of a seat."""

    FREE = "free"
    HELD = "held"


class Guest(Machine):
    """Who sits on a seat, and how long."""

    waited: Nat = 0
    bell: Timer = Timer()

    @transition()
    def wait(self) -> None:
        require(self.waited < 1, "long enough")
        self.waited += 1
        self.bell.start(2)

    @transition(timer="bell")
    def ring(self) -> None:
        self.waited = 0

    @transition()
    def hush(self) -> None:
        self.bell.stop()


class Hall(Machine):
    """It writes entries of maps in every way there is."""

    stage: dict[Seat, Stage] = total(Stage.FREE)
    waiting: dict[Seat, list[Seat]] = total([])
    guests: dict[Seat, Guest] = {}
    alarms: dict[Seat, Timer] = total(Timer())

    @transition(source=Stage.FREE, target=Stage.HELD, of="stage[s]")
    def take(self, s: Seat) -> None:
        self.alarms[s].start(1)

    @transition(timer="alarms[s]")
    def alarm(self, s: Seat) -> None:
        self.stage[s] = Stage.FREE

    @transition()
    def queue(self, s: Seat, r: Seat) -> None:
        require(len(self.waiting[s]) < 1 and s != r, "one waits")
        self.waiting[s].append(r)

    @transition()
    def swap(self, s: Seat, r: Seat) -> None:
        require(s != r and len(self.waiting[s]) > 0, "nothing to give")
        first = self.waiting[s].pop(0)
        s = first
        self.waiting[s].clear()

    @transition()
    def come(self, s: Seat) -> None:
        require(s not in self.guests, "there is one")
        self.guests[s] = Guest()

    @transition()
    def wait(self, s: Seat) -> None:
        require(s in self.guests, "nobody")
        self.guests[s].wait()

    @transition()
    def ring_all(self) -> None:
        require(len(self.guests) > 1, "nobody")
        for guest in self.guests.values():
            guest.hush()

    @transition()
    def go(self, s: Seat) -> None:
        require(s in self.guests, "nobody")
        del self.guests[s]

    deadlock_ok = True
    scope = Scope(Seat=3, waiting=2, Nat=range(0, 3))


def test_every_way_to_write_an_entry_is_noted() -> None:
    found = compared(Hall, 300)
    assert (found.states, found.escaped, found.differences) == (300, 0, ())


def test_an_entry_that_is_not_noted_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_self: Expressions, _place: Any) -> None:
        return None

    monkeypatch.setattr(Expressions, "writes", nothing)
    assert compared(Hall, 3).differences


def test_runs_are_entries_at_equal_distances_in_one_word() -> None:
    """Entries of two cells of 10 bits: some 23 bits apart, one with its cells closer."""
    places = [
        (0, 0),
        (0, 10),
        (0, 23),
        (0, 33),
        (0, 46),
        (0, 53),
        (1, 0),
        (1, 10),
        (1, 23),
        (1, 33),
    ]
    slots = [Slot(i, word, shift, 10, 0) for i, (word, shift) in enumerate(places)]
    found = [(r.first, r.last, r.bits) for r in runs(Entries(0, 2, 5, 0), slots)]
    assert found == [(0, 1, 23), (2, 2, 0), (3, 4, 23)]
