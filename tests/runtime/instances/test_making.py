"""How instances are made after the first one: by an `__init__` of their class's own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lawful import Clock, Machine, Nat, Param, Timer, require, transition
from lawful.runtime.instances import lifecycle
from lawful.runtime.timers import SimulatedClock


class Kettle(Machine):
    """A machine with a timer."""

    boils: Timer = Timer()
    level: Nat = 0
    seconds: Param[float]

    @transition()
    def fill(self, level: Nat) -> None:
        self.level = level
        self.boils.start(self.seconds)

    @transition(timer="boils")
    def whistle(self) -> Nat:
        return self.level


class Metronome(Machine):
    """A machine that reads a clock."""

    beats: Clock = Clock(tick=0.5)
    seen: Nat = 0

    @transition()
    def look(self) -> None:
        require(self.beats.now > self.seen, "no beat since")
        self.seen = self.beats.now


class Cup(Machine):
    """A machine without time."""

    level: Nat = 0

    @transition()
    def fill(self, level: Nat) -> None:
        self.level = level


def test_a_timed_instance_with_a_clock_is_made_the_quick_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = [SimulatedClock(now) for now in (10.0, 20.0, 30.0)]
    first = Kettle(seconds=4.0, clock=clocks[0])

    def general(*_: Any, **__: Any) -> None:
        raise AssertionError("made the general way")

    monkeypatch.setattr(lifecycle, "begin", general)
    made = [first, *(Kettle(seconds=4.0, clock=clock) for clock in clocks[1:])]
    for kettle in made:
        kettle.fill(2)
    assert [each.lawful.next_deadline() for each in made] == [14.0, 24.0, 34.0]
    assert [each.output for each in made[2].lawful.fire_due(34.0)] == [2]
    assert [each.boils.armed for each in made] == [True, True, False]
    assert Kettle(seconds=1.0).lawful.next_deadline() is None
    wrong: list[dict[str, Any]] = [{"universe": {}}, {"clock": 3}]
    for given in wrong:
        with pytest.raises(AssertionError, match="made the general way"):
            Kettle(seconds=4.0, **given)


@pytest.mark.parametrize("machine", [Kettle, Metronome, Cup])
def test_what_is_no_clock_is_refused_each_time(machine: Any) -> None:
    given: Any = {"seconds": 1.0} if machine is Kettle else {}
    machine(clock=SimulatedClock(), **given)
    wrong: Any
    for wrong in (3, SimpleNamespace(now=3)):
        with pytest.raises(TypeError, match=rf"^{machine.__name__}: a clock has a method now\(\)"):
            machine(clock=wrong, **given)


def test_each_counts_the_ticks_of_its_own_clock() -> None:
    clocks = [SimulatedClock(now) for now in (0.0, 5.0)]
    made = [Metronome(clock=clock) for clock in clocks]
    clocks[1].advance(1.6)
    assert [each.lawful.may("look") for each in made] == [False, True]
    made[1].look()
    assert [each.seen for each in made] == [0, 3]


def test_a_machine_without_time_takes_a_clock() -> None:
    clock = SimulatedClock(7.0)
    cups = [Cup(), Cup(clock=clock)]
    heard: list[float] = []
    cups[1].lawful.observe(lambda done: heard.append(done.time))
    cups[1].fill(3)
    assert (cups[1].level, heard) == (3, [7.0])
