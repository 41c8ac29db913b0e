"""Clocks at run time: ticks of the instance's clock, deadlines, one instant for each step."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Clock, Machine, Nat, Param, Refused, Timer, Undefined, event, require, transition
from lawful.runtime.journal import Journal
from lawful.runtime.timers import RealClock, SimulatedClock


class Pair(Machine):
    """A part: its clock is that of its whole."""

    clock: Clock = Clock(tick=0.5)
    idle: Timer = Timer(urgent=True)
    at: Nat = 0

    @transition()
    def go(self, seconds: Nat) -> None:
        self.idle.start(seconds)
        self.at = self.clock.now

    @transition(timer="idle")
    def fire(self) -> Nat:
        return self.clock.now - self.at


class Watch(Machine):
    clock: Clock = Clock(tick=0.5)
    pair: Pair = Pair()
    slow: Timer = Timer()
    quick: Timer = Timer(urgent=True)
    at: Nat = 0
    seconds: Nat = 0

    @transition()
    def start(self, seconds: Nat) -> Nat:
        self.pair.go(seconds)
        self.slow.start(seconds)
        self.quick.start(seconds)
        self.at = self.clock.now
        assert self.at == self.clock.now == self.pair.clock.now
        return self.at

    @transition(timer="slow")
    def on_slow(self) -> Nat:
        return self.clock.now - self.at

    @transition(timer="quick")
    def on_quick(self) -> Nat:
        return self.clock.now - self.at

    @transition(timer="pair.idle")
    def on_pair(self) -> Nat:
        return self.pair.clock.now

    @transition()
    def wait(self) -> Nat:
        require(self.clock.now >= self.at + 2, "too early")
        return self.clock.now


class Bell(Machine):
    clock: Clock = Clock(tick=1)
    bell: Timer = Timer()
    at: Nat = 0

    @transition()
    def half(self) -> None:
        self.bell.start(0.5)
        self.at = self.clock.now

    @transition(timer="bell")
    def ring(self) -> Nat:
        return self.clock.now - self.at


def test_now_is_whole_ticks_since_it_was_made() -> None:
    clock = SimulatedClock(100.0)
    watch = Watch(clock=clock)
    assert watch.clock.now == watch.pair.clock.now == 0
    clock.advance(0.49)
    assert watch.clock.now == 0
    clock.advance(0.01)
    assert watch.clock.now == watch.pair.clock.now == 1
    clock.advance(1.6)
    assert watch.clock.now == 4
    assert repr(watch.clock) == "Clock(tick=0.5, now=4)"
    assert watch.wait() == 4


def test_there_is_no_event_tick() -> None:
    assert [e.name for e in Watch.lawful.ir.events] == [
        "start",
        "on_slow",
        "on_quick",
        "on_pair",
        "wait",
    ]
    assert not hasattr(Watch(), "tick")
    with pytest.raises(ValueError, match="no event tick"):
        Watch().lawful.take("tick")


def test_a_guard_reads_the_clock() -> None:
    clock = SimulatedClock()
    watch = Watch(clock=clock)
    clock.advance(0.99)
    with pytest.raises(Refused, match="too early"):
        watch.wait()
    clock.advance(0.01)
    assert watch.wait() == 2


def test_of_what_is_due_at_one_instant_the_urgent_is_first() -> None:
    clock = SimulatedClock()
    watch = Watch(clock=clock)
    assert watch.start(1) == 0
    assert watch.lawful.next_deadline() == 1.0
    now = clock.advance(1.25)
    fired = [(each.event, each.output) for each in watch.lawful.fire_due(now)]
    assert fired == [("on_quick", 2), ("on_pair", 2), ("on_slow", 2)]


def test_a_timer_is_not_due_before_its_tick() -> None:
    """Explored, half a tick is one tick; so it is at run time."""
    clock = SimulatedClock()
    bell = Bell(clock=clock)
    bell.half()
    assert bell.lawful.next_deadline() == 1.0
    clock.advance(0.75)
    assert bell.lawful.fire_due(clock.now()) == []
    clock.advance(0.25)
    assert [each.output for each in bell.lawful.fire_due(clock.now())] == [1]
    clock.advance(0.75)
    bell.half()
    assert bell.lawful.next_deadline() == 2.25
    clock.advance(0.5)
    assert [each.output for each in bell.lawful.fire_due(clock.now())] == [1]


class Delay(Machine):
    clock: Clock = Clock(tick=0.1)
    bell: Timer = Timer()
    at: Nat = 0

    @transition()
    def wind(self, hundredths: Nat) -> None:
        if hundredths == 7:
            self.bell.start(0.07)
        if hundredths == 30:
            self.bell.start(0.3)
        if hundredths == 110:
            self.bell.start(1.1)
        self.at = self.clock.now

    @transition(timer="bell")
    def ring(self) -> Nat:
        return self.clock.now - self.at


@given(
    st.floats(0, 1e6),
    st.lists(st.floats(0, 50), max_size=4),
    st.sampled_from([(7, 1), (30, 3), (110, 11)]),
)
def test_it_rings_after_its_ticks_and_never_before(
    begin: float, waits: list[float], delay: tuple[int, int]
) -> None:
    clock = SimulatedClock(begin)
    machine = Delay(clock=clock)
    for wait in waits:
        clock.advance(wait)
    hundredths, ticks = delay
    machine.wind(hundredths)
    deadline = machine.lawful.next_deadline()
    assert deadline is not None
    assert deadline - clock.now() >= hundredths / 100 - 1e-9
    fired = machine.lawful.fire_due(deadline)
    assert len(fired) == 1
    assert ticks <= fired[0].output <= ticks + 1


def test_now_never_decreases() -> None:
    clock = SimulatedClock(10.0)
    bell = Bell(clock=clock)
    bell.half()
    assert [each.output for each in bell.lawful.fire_due(17.0)] == [7]
    assert clock.now() == 10.0
    assert bell.clock.now == 7
    bell.lawful.fire_due(3.0)
    assert bell.clock.now == 7


class Restless(RealClock):
    """It goes on at every look at it."""

    def __init__(self, now: float = 0.0) -> None:
        self.instant = now

    def now(self) -> float:
        self.instant += 0.75
        return self.instant


def test_during_a_step_time_stands_still() -> None:
    """`start` looks three times, and asserts."""
    watch = Watch(clock=Restless())
    first = watch.start(1)
    assert watch.start(1) > first
    assert watch.clock.now > first + 1


class Door(Machine):
    """At each tick one of its two transitions is enabled."""

    clock: Clock = Clock()

    @event
    def push(self) -> str:
        raise NotImplementedError

    @transition(event="push")
    def late(self) -> str:
        require(self.clock.now >= 5, "it is early")
        return "late"

    @transition(event="push")
    def early(self) -> str:
        require(self.clock.now < 5, "it is late")
        return "early"


@pytest.mark.parametrize(
    ("question", "args", "answer"),
    [("may", ("push",), True), ("explain", ("push",), ()), ("enabled", (), ("push",))],
)
@pytest.mark.parametrize("watched", [False, True])
def test_during_a_question_time_stands_still(
    question: str, args: tuple[str, ...], answer: object, watched: bool
) -> None:
    """Else 5 o'clock comes after `late` was asked, and before `early` is."""
    for sooner in range(8):
        clock = Restless()
        door = Door(clock=clock)
        if watched:
            door.lawful.observe(lambda _: None)
        clock.instant += 5 - sooner / 4
        assert getattr(door.lawful, question)(*args) == answer, sooner
        assert door.push() == ("late" if sooner <= 6 else "early")


class Never(Machine):
    clock: Clock = Clock()
    idle: Timer = Timer()
    seconds: Param[float]

    @transition()
    def go(self) -> None:
        self.idle.start(self.seconds)


def test_seconds_without_a_tick_are_undefined() -> None:
    never = Never(seconds=math.inf)
    with pytest.raises(Undefined, match="no number of ticks"):
        never.go()
    assert not never.idle.armed


def restored(watch: Watch, clock: SimulatedClock) -> Watch:
    return Watch.lawful.restore(json.loads(json.dumps(watch.lawful.snapshot())), clock=clock)


def copied(watch: Watch, clock: SimulatedClock) -> Watch:
    return copy.deepcopy(watch)


@pytest.mark.parametrize("kept", [restored, copied])
def test_a_copy_keeps_the_present(kept: Callable[[Watch, SimulatedClock], Watch]) -> None:
    clock = SimulatedClock(3.0)
    watch = Watch(clock=clock)
    clock.advance(1.25)
    watch.start(1)
    other = kept(watch, clock)
    assert other == watch
    for each in (watch, other):
        assert (each.clock.now, each.pair.clock.now) == (2, 2)
        assert each.lawful.next_deadline() == 5.25
    clock.advance(0.25)
    assert (watch.clock.now, other.clock.now, other.pair.clock.now) == (3, 3, 3)


def test_a_snapshot_goes_on_where_it_was_on_another_clock() -> None:
    clock = SimulatedClock(3.0)
    watch = Watch(clock=clock)
    clock.advance(1.25)
    watch.start(1)
    data = watch.lawful.snapshot()
    assert data["variables"]["clock"] == 1.25
    late = SimulatedClock(1000.0)
    other = Watch.lawful.restore(data, clock=late)
    assert other.clock.now == 2
    late.advance(0.25)
    assert other.clock.now == 3
    assert other.lawful.next_deadline() == 1001.0
    assert pickle.loads(pickle.dumps(watch)).clock.now == 2


def test_the_journal_tells_the_tick_when_it_has_changed(tmp_path: Path) -> None:
    clock = SimulatedClock()
    watch = Watch(clock=clock)
    with Journal(tmp_path / "rows") as journal:
        journal.attach(watch, "w")
        clock.advance(0.6)
        with pytest.raises(Refused):
            watch.wait()
        clock.advance(0.3)
        watch.start(2)
        clock.advance(0.2)
        with pytest.raises(Refused):
            watch.wait()
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    assert [row["changed"].get("clock") for row in rows] == [0, 1, None, 2]
    assert rows[2]["changed"]["pair"]["clock"] == 1
    assert rows[2]["changed"]["quick"] is True
