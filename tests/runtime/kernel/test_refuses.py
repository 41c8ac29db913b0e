"""What `may` and `can` ask: whether a call would be refused. The guards decide where they can."""

from __future__ import annotations

from typing import Annotated

import pytest

from lawful import Machine, Nat, Opaque, Sort, Timer, can, event, ignore, require, transition
from lawful.runtime.timers import SimulatedClock


class Token:
    """A value that counts how often it was compared."""

    def __init__(self) -> None:
        self.compared = 0

    def __eq__(self, other: object) -> bool:
        self.compared += 1
        return self is other

    __hash__ = object.__hash__


class Gate(Machine):
    """Events whose guards decide, and events whose bodies refuse later."""

    open: bool = False
    left: Nat = 2
    last: Annotated[Token, Opaque("Token")] | None = None
    same: bool = False
    rest: Timer = Timer()

    @transition()
    def toggle(self) -> None:
        self.open = not self.open

    @transition()
    def enter(self, token: Annotated[Token, Opaque("Token")]) -> None:
        """After its guard it compares, and cannot refuse."""
        require(self.open, "it is closed")
        self.same = self.last is not None and self.last == token
        self.last = token

    @transition()
    def draw(self, n: Nat) -> None:
        """It refuses after a change."""
        require(self.open, "it is closed")
        self.left += n
        self.check()

    def check(self) -> None:
        require(self.left < 5, "too many")

    @transition()
    def divide(self, n: Nat) -> Nat:
        """It has no value for 0, which is no refusal."""
        require(self.open, "it is closed")
        return self.left // n

    @event
    def go(self, n: Nat) -> None: ...

    @transition(event="go")
    def few(self, n: Nat) -> None:
        require(n < self.left, "not few")

    @transition(event="go")
    def exact(self, n: Nat) -> None:
        require(n == self.left, "not exact")
        self.left = 0
        require(self.open, "it is closed")

    shut = ignore("go", when=lambda self, n: n // self.left > 3, because="far too many")

    @transition(timer="rest")
    def wake(self) -> None: ...

    @transition()
    def sleep(self) -> None:
        self.rest.start(2)

    @transition()
    def try_toggle(self) -> bool:
        return can(self.draw, 3)


def test_a_guard_that_decides_runs_nothing_else() -> None:
    """The check of the argument compares it, too; the body would once more."""
    gate, token = Gate(), Token()
    assert not gate.lawful.may("enter", token)
    checked = token.compared
    gate.toggle()
    gate.enter(token)
    before = token.compared
    assert gate.lawful.may("enter", token)
    assert token.compared == before + checked
    gate.enter(token)
    assert token.compared == before + 2 * checked + 1


def test_a_body_that_refuses_later_is_tried() -> None:
    gate = Gate()
    assert [gate.lawful.may("draw", n) for n in (1, 2, 3)] == [False, False, False]
    gate.toggle()
    assert [gate.lawful.may("draw", n) for n in (1, 2, 3)] == [True, True, False]
    assert (gate.left, gate.try_toggle()) == (2, False)


def test_a_fault_is_no_refusal() -> None:
    gate = Gate()
    assert not gate.lawful.may("divide", 0)
    gate.toggle()
    assert gate.lawful.may("divide", 0)


@pytest.mark.parametrize(("n", "may"), [(1, True), (2, False), (3, False), (7, False), (8, True)])
def test_several_transitions_and_an_ignore(n: int, may: bool) -> None:
    gate = Gate()
    assert gate.lawful.may("go", n) == may
    gate.toggle()
    assert gate.lawful.may("go", n) == (may or n == 2)


def test_an_ignore_without_a_value_is_a_fault() -> None:
    gate = Gate.lawful.state(left=0)
    assert gate.lawful.may("go", 1)


def test_a_timer_is_a_guard() -> None:
    clock = SimulatedClock()
    gate = Gate(clock=clock)
    found = [gate.lawful.may("wake")]
    gate.sleep()
    found.append(gate.lawful.may("wake"))
    clock.advance(2.0)
    assert [*found, gate.lawful.may("wake")] == [False, False, True]
    assert gate.rest.armed


class Door(Sort):
    """A door of a hall."""


class Leaf(Machine):
    """A part; its events refuse before and after a change."""

    open: bool = False
    turns: Nat = 0
    shuts: Timer = Timer()

    @transition()
    def unlatch(self) -> None:
        require(not self.open, "it is open")
        self.open = True
        self.shuts.start(3)

    @transition()
    def turn(self, by: Nat) -> Nat:
        self.turns += by
        require(self.turns < 5, "too far")
        return self.turns

    @transition()
    def shut(self) -> None:
        require(self.shuts.armed, "it is not open")
        self.open = False

    quiet = ignore("shut", when=lambda self: self.turns == 3, because="it is held")


class Hall(Machine):
    doors: dict[Door, Leaf] = {}
    used: Nat = 0

    @transition()
    def add(self, d: Door) -> None:
        self.doors[d] = Leaf()

    @transition()
    def unlatch(self, d: Door) -> None:
        require(d in self.doors, "there is no such door")
        self.doors[d].unlatch()
        self.used += 1

    @transition()
    def turn(self, d: Door, by: Nat) -> Nat:
        """Without a guard: for a door that is not there it has no value."""
        return self.doors[d].turn(by)

    @transition()
    def turn_twice(self, d: Door, by: Nat) -> None:
        require(d in self.doors, "there is no such door")
        self.doors[d].turn(by)
        self.doors[d].turn(by)

    @transition()
    def shut(self, d: Door) -> None:
        require(d in self.doors, "there is no such door")
        self.doors[d].shut()


class Bell(Machine):
    """A whole with one part and a timer of its own."""

    front: Leaf = Leaf()
    rest: Timer = Timer()

    @transition()
    def wait(self) -> None:
        self.rest.start(3)

    @transition(timer="rest")
    def ring(self) -> Nat:
        """Its timer is stopped before the part is called."""
        return self.front.turn(5 if self.rest.armed else 1)


A, B = Door("a"), Door("b")


def test_a_part_is_asked_whose_event_is_called_next() -> None:
    hall = Hall()
    hall.add(A)
    may = hall.lawful.may
    assert (may("unlatch", A), may("unlatch", B)) == (True, False)
    hall.unlatch(A)
    assert (may("unlatch", A), may("shut", A), may("shut", B)) == (False, True, False)
    assert [may("turn", A, by) for by in (4, 5)] == [True, False]
    assert may("turn", B, 0)
    assert [may("turn_twice", A, by) for by in (2, 3, 5)] == [True, False, False]
    assert (hall.used, hall.doors[A].turns) == (1, 0)
    hall.turn(A, 3)
    assert (may("turn_twice", A, 1), may("turn", A, 1)) == (False, True)


def test_a_part_that_ignores_its_event_takes_it() -> None:
    hall = Hall()
    hall.add(A)
    assert not hall.lawful.may("shut", A)
    hall.turn(A, 3)
    assert hall.lawful.may("shut", A)
    hall.shut(A)


def test_a_part_is_not_asked_before_the_timer_is_stopped() -> None:
    clock = SimulatedClock()
    bell = Bell(clock=clock)
    bell.wait()
    assert not bell.lawful.may("ring")
    clock.advance(3.0)
    assert bell.lawful.may("ring")
    assert bell.ring() == 1
