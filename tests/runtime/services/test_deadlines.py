"""Many instances on one heap: what fires is what each of them would fire alone."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import (
    Clock,
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Timer,
    Undefined,
    require,
    transition,
)
from lawful.runtime.deadlines import Deadlines
from lawful.runtime.instances.access import Fired, first_deadline
from lawful.runtime.store import Store, StoreBusy
from lawful.runtime.timers import SimulatedClock


class Bell(Machine):
    """Two timers, of which one may be refused, and one starts itself again."""

    ring: Timer = Timer()
    echo: Timer = Timer()
    quiet: bool = False
    rings: Nat = 0
    echoes: Nat = 0

    @transition()
    def start(self, seconds: Nat, after: Nat) -> None:
        self.ring.start(seconds)
        self.echo.start(after)

    @transition()
    def stop(self) -> None:
        self.ring.stop()

    @transition()
    def hush(self, quiet: bool) -> None:
        self.quiet = quiet

    @transition(timer="ring")
    def sound(self) -> Nat:
        require(not self.quiet, "not now")
        self.rings += 1
        return self.rings

    @transition(timer="echo")
    def again(self) -> Nat:
        self.echoes += 1
        self.echo.start(2)
        return self.echoes


class Hourly(Machine):
    """What its timer fires is refused until the clock says 3."""

    clock: Clock = Clock(tick=1)
    wait: Timer = Timer()

    @transition()
    def begin(self) -> None:
        self.wait.start(1)

    @transition(timer="wait")
    def end(self) -> Nat:
        require(self.clock.now >= 3, "too early")
        return self.clock.now


class Faulty(Machine):
    """Its timer's transition is a fault."""

    wait: Timer = Timer()
    count: Nat = 0

    @transition()
    def begin(self) -> None:
        self.wait.start(1)

    @transition(timer="wait")
    def end(self) -> None:
        self.count -= 1


Act = tuple[str, int, int, int]
ACTS = st.lists(
    st.tuples(
        st.sampled_from(("start", "start", "stop", "hush", "pass", "pass")),
        st.integers(0, 2),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    max_size=40,
)


def do(bell: Bell, act: Act) -> None:
    what, _, x, y = act
    if what == "start":
        bell.start(x, y)
    elif what == "stop":
        bell.stop()
    elif what == "hush":
        bell.hush(x % 2 == 1)


@given(ACTS)
def test_on_the_heap_each_fires_what_it_fires_alone(acts: list[Act]) -> None:
    clock = SimulatedClock()
    alone, together = ([Bell(clock=clock) for _ in range(3)] for _ in range(2))
    deadlines, heard = Deadlines(), [list[Fired]() for _ in range(3)]
    for bell, told in zip(together, heard, strict=True):
        deadlines.add(bell, told.append)
    for act in acts:
        if act[0] != "pass":
            do(alone[act[1]], act)
            do(together[act[1]], act)
            continue
        now = clock.advance(act[2])
        for told in heard:
            told.clear()
        due = min((b.lawful.next_deadline() or 0 for b in alone if may_fire(b, now)), default=None)
        said = deadlines.next_deadline()
        assert due is None or (said is not None and said <= due)
        fired = deadlines.fire_due(now)
        wanted = [bell.lawful.fire_due(now) for bell in alone]
        assert (heard, fired) == (wanted, sum(map(len, wanted)))
        assert together == alone


def may_fire(bell: Bell, now: float) -> bool:
    ring, echo = bell.ring.deadline, bell.echo.deadline
    return (echo is not None and echo <= now) or (
        ring is not None and ring <= now and not bell.quiet
    )


def counting(heard: Counter[int], number: int) -> Callable[[Fired], None]:
    return lambda _: heard.update((number,))


@pytest.mark.nightly
def test_ten_thousand_instances_each_fire_once_at_their_time() -> None:
    clock, deadlines, heard = SimulatedClock(), Deadlines(), Counter[int]()
    bells = [Bell(clock=clock) for _ in range(10_000)]
    for number, bell in enumerate(bells):
        deadlines.add(bell, counting(heard, number))
        bell.start(1 + number % 100, 1_000)
    for number in range(0, 10_000, 4):
        bells[number].stop()
    for number in range(1, 10_000, 4):
        bells[number].start(500, 1_000)
    wanted = [n for n in range(10_000) if n % 4 > 1]
    for second in range(1, 101):
        assert deadlines.fire_due(clock.advance(1)) == sum(1 + n % 100 == second for n in wanted)
    assert sorted(heard.elements()) == wanted
    assert deadlines.next_deadline() == 500.0
    assert deadlines.fire_due(clock.advance(400)) == 2_500


def test_what_is_refused_is_asked_again_after_the_next_event() -> None:
    clock, deadlines, heard = SimulatedClock(), Deadlines(), list[Fired]()
    bell = Bell(clock=clock)
    deadlines.add(bell, heard.append)
    bell.hush(True)
    bell.start(1, 50)
    assert deadlines.fire_due(clock.advance(2)) == 0
    assert deadlines.next_deadline() == 50.0
    bell.hush(False)
    assert deadlines.next_deadline() == 1.0
    assert deadlines.fire_due(clock.now()) == 1
    assert heard == [Fired("sound", "sound", 1)]


def test_what_waits_for_the_clock_is_asked_again_at_each_tick() -> None:
    clock, deadlines, heard = SimulatedClock(), Deadlines(), list[Fired]()
    hourly = Hourly(clock=clock)
    deadlines.add(hourly, heard.append)
    hourly.begin()
    seen: list[float] = []
    while (due := deadlines.next_deadline()) is not None:
        seen.append(due)
        deadlines.fire_due(clock.advance(due - clock.now()))
    assert seen == [1.0, 2.0, 3.0]
    assert heard == [Fired("end", "end", 3)]


def test_a_fault_keeps_no_other_instance_from_firing() -> None:
    clock, deadlines, heard = SimulatedClock(), Deadlines(), list[Fired]()
    faulty, other, bell = Faulty(clock=clock), Faulty(clock=clock), Bell(clock=clock)
    for each in (faulty, other, bell):
        deadlines.add(each, heard.append)
    faulty.begin()
    other.begin()
    bell.start(1, 50)
    with pytest.raises(PropertyViolated) as caught:
        deadlines.fire_due(clock.advance(1))
    assert len(caught.value.__notes__) == 1
    assert caught.value.__notes__[0].startswith("another instance raised PropertyViolated(")
    assert heard == [Fired("sound", "sound", 1)]
    assert deadlines.fire_due(clock.now()) == 0
    assert deadlines.next_deadline() == 50.0


def test_what_was_ended_fires_no_more_and_the_heap_does_not_grow() -> None:
    clock, deadlines, heard = SimulatedClock(), Deadlines(), list[Fired]()
    bell, gone = Bell(clock=clock), Bell(clock=clock)
    deadlines.add(bell, heard.append)
    end = deadlines.add(gone, heard.append)
    gone.start(1, 1)
    for seconds in range(5_000, 1, -1):
        bell.start(seconds, 6_000)
    end()
    end()
    gone.start(1, 1)
    assert len(deadlines) <= 67
    assert deadlines.next_deadline() == 2.0
    assert deadlines.fire_due(clock.advance(10)) == 1
    assert heard == [Fired("sound", "sound", 1)]


class Three(Machine):
    """The transition of its second timer is a fault."""

    first: Timer = Timer()
    second: Timer = Timer()
    third: Timer = Timer()
    count: Nat = 0

    @transition()
    def begin(self) -> None:
        self.first.start(1)
        self.second.start(2)
        self.third.start(3)

    @transition(timer="first")
    def one(self) -> Nat:
        self.count += 1
        return self.count

    @transition(timer="second")
    def two(self) -> Nat:
        return self.count // (self.count - 1)

    @transition(timer="third")
    def three(self) -> Nat:
        self.count += 10
        return self.count


def test_a_fault_keeps_no_other_timer_of_its_instance_from_firing() -> None:
    clock, deadlines, heard = SimulatedClock(), Deadlines(), list[Fired]()
    three = Three(clock=clock)
    deadlines.add(three, heard.append)
    three.begin()
    with pytest.raises(Undefined, match=r"Three\.two"):
        deadlines.fire_due(clock.advance(3))
    assert heard == [Fired("one", "one", 1), Fired("three", "three", 11)]
    assert (three.first.armed, three.second.armed, three.third.armed) == (False, True, False)
    alone = Three(clock=clock)
    alone.begin()
    with pytest.raises(Undefined, match=r"Three\.two"):
        alone.lawful.fire_due(clock.advance(3))
    assert alone.count == 11


@pytest.mark.parametrize("error", [KeyError("lost"), KeyboardInterrupt()])
def test_what_cannot_be_performed_strands_nothing(error: BaseException) -> None:
    clock, deadlines, heard = SimulatedClock(), Deadlines(), list[object]()

    def perform(fired: Fired) -> None:
        heard.append(fired.output)
        if heard == [1]:
            raise error

    bells = [Bell(clock=clock) for _ in range(3)]
    for bell in bells:
        deadlines.add(bell, perform)
        bell.start(1, 1)
    with pytest.raises(type(error)):
        deadlines.fire_due(clock.advance(1))
    rest = 0 if isinstance(error, Exception) else 4
    assert deadlines.fire_due(clock.now()) == rest
    assert [(bell.rings, bell.echoes) for bell in bells] == [(1, 1)] * 3
    assert heard == ([1] * 6 if rest == 0 else [1] * 5)


@pytest.mark.parametrize("seconds", [math.inf, -math.inf, math.nan])
def test_a_timer_is_started_for_a_time_that_ends(seconds: float) -> None:
    lamp = Lasting(seconds=seconds)
    with pytest.raises(Undefined, match=r"self\.lit\.start\(self\.seconds\).*a time that ends"):
        lamp.light()
    assert (lamp.lit.armed, lamp.lawful.next_deadline()) == (False, None)


class Lasting(Machine):
    lit: Timer = Timer()
    seconds: Param[float]

    @transition()
    def light(self) -> None:
        self.lit.start(self.seconds)

    @transition(timer="lit")
    def go_out(self) -> None: ...


def test_each_event_is_looked_at_where_an_interrupt_ends_a_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deadlines, bell = Deadlines(), Bell(clock=SimulatedClock())
    deadlines.add(bell, print)
    looks = iter([KeyboardInterrupt])

    def look(*given: Any) -> Any:
        for interrupt in looks:
            raise interrupt
        return first_deadline(*given)

    monkeypatch.setattr("lawful.runtime.deadlines.first_deadline", look)
    with pytest.raises(KeyboardInterrupt):
        bell.start(60, 60)
    assert deadlines.next_deadline() == 60


class Bolt(Machine):
    """Each timer fires one event; one of them is a fault of the machine."""

    wrong: Timer = Timer()
    shot: Timer = Timer()
    by: Nat = 0
    shots: Nat = 0

    @transition()
    def load(self, seconds: Nat) -> None:
        self.shot.start(seconds)
        self.wrong.start(seconds)

    @transition(timer="wrong")
    def divide(self) -> Nat:
        return 7 // self.by

    @transition(timer="shot")
    def shoot(self) -> Nat:
        self.shots += 1
        return self.shots


def test_a_timer_that_is_due_while_the_database_is_locked_fires_afterwards(tmp_path: Path) -> None:
    """One with a fault, and one whose instance was released, wait for the next event."""
    clock, deadlines, heard = SimulatedClock(), Deadlines(), list[Fired]()
    with Store(tmp_path / "s.db", timeout=0.0) as store:
        bolt, gone = (store.add(Bolt(clock=clock), name) for name in "ab")
        for each in (bolt, gone):
            deadlines.add(each, heard.append)
        bolt.load(10)
        gone.load(10)
        store.release("b")
        other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        now = clock.advance(20)
        for pause in (1, 2, 4, 8, 16, 32, 64, 64):
            with pytest.raises(StoreBusy) as caught:
                deadlines.fire_due(now)
            assert "Bolt.divide: " in str(caught.value.__notes__)
            assert deadlines.next_deadline() == now + pause
            now = clock.advance(pause)
        other.execute("ROLLBACK")
        other.close()
        for _ in range(2):  # The second time after the event of the first.
            with pytest.raises(Undefined):
                deadlines.fire_due(now)
        assert ([each.output for each in heard], bolt.shots) == ([1], 1)
        assert (deadlines.next_deadline(), deadlines.fire_due(now)) == (None, 0)
