"""What `may` and `can` ask: whether a call would be refused. The guards decide where they can."""

from __future__ import annotations

from typing import Annotated

import pytest

from lawful import Machine, Nat, Opaque, Timer, can, event, ignore, require, transition
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
