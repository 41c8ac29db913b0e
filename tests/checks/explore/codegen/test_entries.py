"""Steps note which entries of maps they write: of those maps nothing else is packed."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from lawful import Machine, Nat, Scope, Sort, State, Timer, require, total, transition
from lawful.checks.explore.codegen.body import Body
from lawful.checks.explore.codegen.expressions import Expressions
from lawful.checks.explore.expansion.successors import Stepping
from lawful.checks.explore.layout.entries import Entries, entries
from lawful.checks.explore.layout.layouts import Index, MachineLayout, MapLayout, Number, Product
from lawful.checks.explore.layout.packing import slots
from lawful.checks.explore.space import Space
from lawful.spec import types as t
from tests.checks.explore.compiled.both_engines import compared, flat_of


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


class Purse(Machine):
    """What a guest has: never less than nothing, which is a fault; much of it leaves the scope."""

    coins: Nat = 0
    debts: int = 0

    @transition()
    def earn(self) -> None:
        self.coins += 1
        self.debts += 2

    @transition()
    def pay(self) -> None:
        self.coins -= 1


class Inn(Machine):
    """Entries of maps break bounds and leave the scope: one at a time, or several in one step."""

    purses: dict[Seat, Purse] = {}
    queue: dict[Seat, list[Seat]] = total([])

    @transition()
    def come(self, s: Seat) -> None:
        require(s not in self.purses, "there is one")
        self.purses[s] = Purse()

    @transition()
    def earn(self, s: Seat) -> None:
        require(s in self.purses, "nobody")
        self.purses[s].earn()

    @transition()
    def pay(self, s: Seat, r: Seat) -> None:
        require(s in self.purses and r in self.purses, "nobody")
        self.purses[s].pay()
        self.purses[r].earn()

    @transition()
    def wait(self, s: Seat, r: Seat) -> None:
        self.queue[s].append(r)
        self.queue[r].append(s)

    @transition()
    def leave(self, s: Seat) -> None:
        require(s in self.purses and len(self.queue[s]) > 0, "nobody waits")
        del self.purses[s]
        self.queue[s].pop(0)

    deadlock_ok = True
    scope = Scope(Seat=3, queue=2, Nat=range(0, 3), int=range(0, 5))


def test_the_bounds_of_an_entry_are_tested_where_a_step_wrote_it() -> None:
    found = compared(Inn, 300)
    assert (found.states, found.escaped, found.differences) == (300, 0, ())


def test_bounds_of_entries_that_are_not_tested_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def first(_self: Stepping, f: Body, of: Entries | None) -> Generator[None]:
        if of is not None:
            f.line(f"at = {of.begin}")
        yield

    monkeypatch.setattr(Stepping, "_entries", first)
    assert compared(Inn, 6).differences


class Columns(Machine):
    """Numbers that steps write by one, and by two."""

    first: Nat = 0
    second: Nat = 0
    third: Nat = 0

    @transition()
    def one(self) -> None:
        self.first += 1

    @transition()
    def others(self) -> None:
        self.second += 1
        self.third += 1

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3))


def test_only_bounds_of_what_a_step_may_have_written_are_tested() -> None:
    """By the cells that the tests of each kind of step look at: three numbers, and one that says
    whether an item had no place."""
    flat, resolved = flat_of(Columns)
    made = Stepping(flat, resolved.world, Space(flat, resolved.world))
    functions = re.split(r"\n(?=def )", made.program.source)
    checks = [text for text in functions if text.startswith("def check_")]
    assert [set(re.findall(r"w\[(\d)\]", text)) for text in checks] == [{*"03"}, {*"123"}]


def test_entries_stand_at_equal_distances() -> None:
    """Two entries of 24 bits in a word; those of 70 bits begin a word each."""
    item, wide = Number(0, 4095), Number(0, (1 << 35) - 1)
    key, kind = Index(t.BOOL, 5), t.Map(t.BOOL, t.INT, True, True)
    whole = MachineLayout(
        t.Part("Any"),
        (
            ("first", item),
            ("pairs", MapLayout(kind, key, Product(t.INT, (item, item)))),
            ("wide", MapLayout(kind, key, Product(t.INT, (wide, wide)))),
        ),
    )
    places = slots(whole)
    found = entries(whole, places)
    rows = [(e.begin, e.stride, e.count, e.bit, e.in_word, e.bits, e.words) for e in found.values()]
    assert rows == [(1, 2, 5, 0, 2, 24, 1), (11, 2, 5, 5, 1, 0, 2)]
    assert [places[at].shift for at in (0, 1, 2, 3, 9)] == [0, 0, 12, 24, 0]
    assert [places[at].word for at in (0, 1, 3, 5, 11, 12, 13)] == [0, 1, 1, 2, 4, 5, 6]
