"""Timers: deadlines, what is due, and what never fires late."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import (
    Machine,
    Nat,
    Refused,
    Sort,
    State,
    Timer,
    ignore,
    require,
    transition,
)
from lawful.runtime.instances.access import Fired
from lawful.runtime.timers import MILLISECONDS, RealClock, SimulatedClock, SteadyClock


class Lamp(State):
    OFF = "off"
    ON = "on"


class Switch(Machine):
    state: Lamp = Lamp.OFF
    off: Timer = Timer()
    beep: Timer = Timer()
    beeps: Nat = 0
    quiet: bool = False

    @transition(target=Lamp.ON)
    def press(self, seconds: Nat) -> None:
        self.off.start(seconds)
        self.beep.start(1)

    @transition()
    def hold(self) -> None:
        self.off.stop()

    @transition(source=Lamp.ON, target=Lamp.OFF, timer="off")
    def go_dark(self) -> None:
        self.beep.stop()

    @transition(timer="beep")
    def sound(self) -> Nat:
        require(not self.quiet, "not now")
        self.beeps += 1
        self.beep.start(0)
        return self.beeps

    @transition()
    def hush(self, quiet: bool) -> None:
        self.quiet = quiet

    calm = ignore("go_dark", because="it is dark")


class Node(Sort):
    pass


class Leases(Machine):
    held: dict[Node, Timer] = {}
    lost: list[Node] = []

    @transition()
    def take(self, node: Node, seconds: Nat) -> None:
        self.held[node] = Timer()
        self.held[node].start(seconds)

    @transition()
    def renew(self, node: Node) -> None:
        self.held[node].start(10)

    @transition(timer="held[node]")
    def lapse(self, node: Node) -> Node:
        del self.held[node]
        self.lost.append(node)
        return node


def switch() -> tuple[Switch, SimulatedClock]:
    clock = SimulatedClock(100.0)
    return Switch(clock=clock), clock


def test_a_deadline_is_an_instant_of_the_clock() -> None:
    lamp, clock = switch()
    assert lamp.lawful.next_deadline() is None
    assert not lamp.off.armed
    lamp.press(5)
    assert (lamp.lawful.next_deadline(), lamp.off.deadline) == (101.0, 105.0)
    clock.advance(2)
    lamp.press(5)
    assert lamp.off.deadline == 107.0


def test_a_timers_event_is_possible_once_it_is_due() -> None:
    lamp, clock = switch()
    lamp.press(5)
    with pytest.raises(Refused, match=r"timer beep is not due: 1 s are left"):
        lamp.sound()
    clock.advance(1)
    assert lamp.lawful.enabled() == ("press", "hold", "sound", "hush")
    assert lamp.sound() == 1


def test_due_timers_fire_in_the_order_of_their_deadlines() -> None:
    lamp, clock = switch()
    lamp.press(5)
    assert lamp.lawful.fire_due(100.5) == []
    assert lamp.lawful.fire_due(110.0) == [
        Fired("sound", "sound", 1),
        Fired("go_dark", "go_dark", None),
    ]
    assert (lamp.state, lamp.beep.armed, clock.now()) == (Lamp.OFF, False, 100.0)


def test_firing_ends_though_a_timer_starts_itself_again() -> None:
    lamp, _ = switch()
    lamp.press(5)
    assert lamp.lawful.fire_due(103.0) == [Fired("sound", "sound", 1)]
    assert lamp.beep.deadline == 103.0  # The time of its step was 103.
    assert lamp.lawful.fire_due(103.0) == [Fired("sound", "sound", 2)]


def test_what_is_refused_stays_armed() -> None:
    lamp, _ = switch()
    lamp.press(50)
    lamp.hush(True)
    assert lamp.lawful.fire_due(103.0) == []
    assert (lamp.beep.armed, lamp.lawful.next_deadline()) == (True, 101.0)
    lamp.hush(False)
    assert lamp.lawful.fire_due(103.0) == [Fired("sound", "sound", 1)]


def test_what_was_stopped_or_put_off_never_fires() -> None:
    lamp, clock = switch()
    lamp.press(5)
    lamp.hold()
    clock.advance(50)
    assert [fired.event for fired in lamp.lawful.fire_due(clock.now())] == ["sound"]
    assert lamp.state is Lamp.ON
    lamp.press(5)
    clock.advance(4)
    lamp.press(5)
    assert [fired.event for fired in lamp.lawful.fire_due(clock.now() + 2)] == ["sound"]
    assert lamp.off.deadline == clock.now() + 5


def test_one_timers_step_stops_another_that_was_due_too() -> None:
    lamp, _ = switch()
    lamp.press(1)
    lamp.hush(True)
    assert [fired.event for fired in lamp.lawful.fire_due(200.0)] == ["go_dark"]
    assert lamp.lawful.next_deadline() is None


def test_timers_in_a_family_fire_with_their_keys() -> None:
    a, b = Node("a"), Node("b")
    leases = Leases(clock=SimulatedClock())
    leases.take(a, 3)
    leases.take(b, 2)
    assert leases.lawful.next_deadline() == 2
    assert [f.output for f in leases.lawful.fire_due(5)] == [b, a]
    assert (leases.lost, leases.held) == ([b, a], {})
    leases.take(a, 3)
    leases.renew(a)
    assert leases.held == {a: Timer(deadline=10.0)}
    with pytest.raises(Refused, match=r"held has no b"):
        leases.lapse(b)
    with pytest.raises(Refused, match=r"timer held\[node\] is not due"):
        leases.lapse(a)


def test_clocks() -> None:
    clock = SimulatedClock(3.0)
    assert clock.advance(0.5) == clock.now() == 3.5
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="goes forward"):
            clock.advance(wrong)
    real = RealClock()
    assert real.now() <= real.now()


def test_firing_by_the_real_clock() -> None:
    lamp = Switch()
    lamp.press(2)
    deadline = lamp.lawful.next_deadline()
    assert deadline is not None
    assert lamp.lawful.fire_due(deadline)[0] == Fired("sound", "sound", 1)


class Set:
    """A clock that somebody sets, back too."""

    time = 0.0

    def now(self) -> float:
        return self.time


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.sampled_from([1.0, MILLISECONDS]))
def test_a_steady_clock_counts_what_goes_forward(times: list[float], unit: float) -> None:
    clock = Set()
    clock.time = times[0]
    steady = SteadyClock(clock, unit)
    told = [steady.now()]
    for clock.time in times[1:]:
        told.append(steady.now())
    assert told == sorted(told)
    forward = sum(max(0.0, after - before) for before, after in itertools.pairwise(times))
    assert told[-1] - told[0] == pytest.approx(forward * unit, rel=1e-6, abs=1e-3)
