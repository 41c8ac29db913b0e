"""Events that timers fire change containers in place, observed and stored ones too."""

from __future__ import annotations

import copy
import dataclasses
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import (
    Ambiguous,
    Machine,
    Nat,
    PropertyViolated,
    Refused,
    Timer,
    Undefined,
    event,
    ignore,
    require,
    transition,
)
from lawful.runtime import store as stores
from lawful.runtime import store_transactions, stored_instance
from lawful.runtime.instances import access, observers
from lawful.runtime.journal import Journal, read
from lawful.runtime.kernel import write_log
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.kernel.plan import Alarm, Plan
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from lawful.spec.syntax.declare import slot
from tests.runtime.compile.test_in_place import counted
from tests.runtime.instances.test_helper_records import inside, looked_at, own, state, told
from tests.runtime.services.interrupting import at_every_place


class Leases(Machine):
    due: dict[int, Timer] = {}
    beep: Timer = Timer()
    off: Timer = Timer()
    calm: Timer = Timer()
    counts: dict[int, Nat] = {}
    marks: dict[int, set[int]] = {}
    seen: set[int] = set()
    queue: list[int] = []
    quiet: bool = False
    left: int = 3

    @transition()
    def take(self, key: int, seconds: Nat) -> None:
        if key not in self.marks:
            self.marks[key] = set()
        self.counts[key] = 0
        self.queue.append(key)
        self.due[key] = Timer()
        self.due[key].start(seconds)
        self.beep.start(seconds)

    @transition()
    def wait(self, key: int, seconds: Nat) -> None:
        self.off.start(seconds)
        self.calm.start(key)

    @transition()
    def hush(self, key: int, seconds: Nat) -> None:
        self.quiet = seconds > 2

    @transition(timer="due[key]")
    def lapse(self, key: int) -> int:
        require(not self.quiet, "not now")
        self.note(key)
        self.left -= 1
        return 6 // self.left

    def note(self, key: int) -> None:
        self.counts[key] += 1
        self.marks[key].add(self.left)
        self.seen.add(key)

    @event
    def beat(self) -> int:
        raise NotImplementedError

    @transition(event="beat", timer="beep")
    def even(self) -> int:
        require(len(self.seen) % 2 == 0, "odd")
        self.counts[0] = 7
        return 0

    @transition(event="beat", timer="beep")
    def odd(self) -> int:
        """It refuses at its end."""
        self.seen.add(9)
        require(len(self.queue) > 1, "nothing waits")
        self.seen.discard(9)
        return self.queue.pop(0)

    @event
    def end(self) -> None: ...

    @transition(event="end", timer="off")
    def stop(self) -> None:
        require(not self.quiet, "not now")
        self.note(self.queue.pop(0))

    @transition(event="end")
    def halt(self) -> None:
        self.seen.add(77)

    @transition(timer="calm")
    def rest(self) -> None:
        require(self.left > 0, "all are gone")
        self.seen.add(55)

    calmed = ignore("rest", when=lambda self: self.quiet, because="it is quiet")


class Copying(Leases):
    """Its timers fire as where a way has no method of its own."""


def _without_methods() -> None:
    plan, alarms = Copying.lawful.plan, list[Alarm]()
    for alarm in plan.alarms:
        ways = [copy.copy(way) for way in alarm.ways]
        alarms.append(dataclasses.replace(alarm, ways=tuple(ways)))
    plan.alarms = tuple(alarms)


_without_methods()
FAULTS = Ambiguous, Refused, Undefined, PropertyViolated


def test_each_timer_has_its_way() -> None:
    assert ways_with_methods(Leases.lawful.plan) == [["lapse"], ["beat"], ["stop"], []]
    assert ways_with_methods(Copying.lawful.plan) == [[], [], [], []]


def ways_with_methods(plan: Plan) -> list[list[str]]:
    """Of each alarm the ways that it shares with what users call."""
    own = [id(way) for way in plan.ways.values()]
    return [[way.name for way in alarm.ways if id(way) in own] for alarm in plan.alarms]


def run(made: Any, what: str, x: int, y: int) -> Any:
    """What was fired, or the class of what was raised."""
    try:
        if what != "pass":
            return made.lawful.take(what, *(() if what in ("end", "beat") else (x, y)))
        fired = list[Any]()
        clock = made.__environment__.clock
        try:
            made.lawful.fire(clock.advance(y), fired)
        except FAULTS as error:
            return type(error), len(getattr(error, "__notes__", [])), fired
        return fired
    except FAULTS as error:
        return type(error)


ACTS = st.lists(
    st.tuples(
        st.sampled_from(("take", "take", "wait", "hush", "pass", "pass", "end", "beat")),
        st.integers(0, 4),
        st.integers(0, 4),
    ),
    max_size=14,
)


@given(ACTS, st.booleans())
def test_what_fires_is_what_fires_where_all_is_copied(
    acts: list[tuple[str, int, int]], stored: bool
) -> None:
    made, copying, bare = (cls(clock=SimulatedClock()) for cls in (Leases, Copying, Leases))
    heard: tuple[list[Any], list[Any]] = [], []
    made.lawful.observe(lambda done: heard[0].append(told(done)))
    copying.lawful.observe(lambda done: heard[1].append(told(done)))
    with Store(":memory:", snapshot_every=7) as store:
        if stored:
            store.add(made, "a")
        for act in acts:
            assert run(made, *act) == run(copying, *act) == run(bare, *act)
            assert state(made) == state(copying) == state(bare)
            assert heard[0] == heard[1]
        if stored:
            assert containers(store.restore(Leases, "a")) == containers(made)


def filled() -> Leases:
    made = Leases(clock=SimulatedClock())
    for key in (1, 2, 3):
        made.take(key, key)
    made.wait(9, 2)
    return made


@counted
@pytest.mark.parametrize("how", ["bare", "observed", "journalled", "stored"])
def test_nothing_is_copied_that_nobody_holds(how: str, tmp_path: Path) -> None:
    made: Any = filled()
    with Store(":memory:") as store, Journal(tmp_path / "j.jsonl") as journal:
        if how == "observed":
            made.lawful.observe(looked_at)
        elif how == "journalled":
            journal.attach(made, "a")
        elif how == "stored":
            store.add(made, "a")
        before = [each for each in inside(made) if each != id(made._due_)]
        fired = made.lawful.fire_due(2)
        assert [each.transition for each in fired] == ["lapse", "lapse", "stop"]
        assert set(before) <= set(inside(made))
    if how == "journalled":
        rows = [row["transition"] for row in read(tmp_path / "j.jsonl")]
        assert rows == [None, "lapse", "lapse", "stop"]


def test_nobody_hears_of_what_is_refused() -> None:
    made, heard = filled(), list[str]()
    made.lawful.observe(lambda done: heard.append(done.outcome))
    made.hush(0, 3)
    with Store(":memory:") as store:
        store.add(made, "a")
        before = state(made)
        assert made.lawful.fire_due(2) == []
        assert (state(made), heard) == (before, ["done"])
        assert store.events("a") == []
        made.hush(0, 0)
        assert len(made.lawful.fire_due(2)) == 3
    assert heard == ["done"] * 5


def test_the_refusal_of_an_observer_comes_out() -> None:
    made = filled()

    def hear(done: Stepped[Leases]) -> None:
        if done.transition == "lapse":
            done.instance.beat()

    made.lawful.observe(hear)
    with pytest.raises(Refused, match="beat"):
        made.lawful.fire_due(1)
    assert made.counts[1] == 1


def containers(made: Leases) -> Any:
    return own((made.counts, made.marks, made.seen, made.queue, made.left))


FILES = (
    *(str(each.__file__) for each in (stores, store_transactions, stored_instance, observers)),
    *(str(each.__file__) for each in (access, write_log)),
    __file__,
)


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("how", ["bare", "observed", "stored"])
def test_an_interrupted_timer_has_fired_whole_or_not(how: str, every: int) -> None:
    done = filled()
    done.lawful.fire_due(1)
    states = [state(filled()), state(done)]

    def play(attempt: Callable[..., bool]) -> None:
        made, heard = filled(), list[Stepped]()
        with Store(":memory:") as store:
            if how == "observed":
                made.lawful.observe(heard.append)
            elif how == "stored":
                store.add(made, "a")
            was = attempt(lambda: made.lawful.fire_due(1))
            assert state(made) in (states if was else states[1:])
            if how == "stored":
                assert containers(store.restore(Leases, "a")) == containers(made)
            assert len(heard) <= (state(made) == states[1])
            made.lawful.fire_due(1)
            assert state(made) == states[1]

    assert at_every_place(FILES, play, every) > 9


@counted
@pytest.mark.parametrize("how", ["bare", "observed", "stored"])
def test_an_event_does_not_depend_on_what_a_container_holds(how: str) -> None:
    """Memory is counted: a copy of 20,000 entries takes more than a step."""
    made, first = filled(), filled()
    many = {key: 0 for key in range(20_000)}
    setattr(made, slot("counts"), {**many, 1: 0, 2: 0, 3: 0})
    with Store(":memory:") as store:
        for name, each in (("a", first), ("b", made)):
            if how == "observed":
                each.lawful.observe(lambda _: None)
            elif how == "stored":
                store.add(each, name)
        first.lawful.fire_due(2)  # It compiles.
        made.lawful.fire_due(1)
        tracemalloc.start()
        assert [each.transition for each in made.lawful.fire_due(2)] == ["lapse", "stop"]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < sys.getsizeof(many) / 4
