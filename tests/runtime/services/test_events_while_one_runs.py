"""The contract of an event that an observer, the handler of an output or another thread calls.

`docs/runtime.md`, "While an event runs", has the table; each of its cells is a case here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from lawful import Machine, Nat, Timer, transition
from lawful.runtime.deadlines import Deadlines
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.runner import Runner
from lawful.runtime.timers import SimulatedClock
from tests.root import PATIENCE


class Counter(Machine):
    count: Nat = 0
    lapse: Timer = Timer()

    @transition()
    def add(self) -> Nat:
        self.count += 1
        self.lapse.start(1)
        return self.count

    @transition(timer="lapse")
    def end(self) -> Nat:
        self.count += 10
        return self.count


Send = Callable[[Callable[[], object]], object]


def at_once(event: Callable[[], object]) -> object:
    return event()


@pytest.fixture
def heard() -> list[str]:
    return []


def counter(heard: list[str], inner: Callable[[Counter], object]) -> Counter:
    """A counter with two observers, the first of which calls `inner` after the first event."""
    made = Counter(clock=SimulatedClock())

    def first(done: Stepped) -> None:
        heard.append(f"first hears {done.output}")
        if done.output == 1:
            inner(made)
            heard.append(f"first sees {made.count}")

    made.lawful.observe(first)
    made.lawful.observe(lambda done: heard.append(f"second hears {done.output}"))
    return made


def test_an_observers_event_runs_at_once_and_is_told_later(heard: list[str]) -> None:
    assert counter(heard, lambda made: made.add()).add() == 1
    assert heard == [
        "first hears 1",
        "first sees 2",
        "second hears 1",
        "first hears 2",
        "second hears 2",
    ]


def test_an_observers_event_is_posted_and_runs_later(heard: list[str]) -> None:
    runner = Runner()
    made = counter(heard, lambda made: runner.post(made.add))
    assert runner.call(made.add) == 1
    assert heard == [
        "first hears 1",
        "first sees 1",
        "second hears 1",
        "first hears 2",
        "second hears 2",
    ]


def unless_stuck(runner: Runner, act: Callable[[], object]) -> None:
    """Raise what the act raises; fail where it waits for the event that it is in."""
    raised = list[BaseException]()

    def run() -> None:
        try:
            act()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        if any(job.by == runner.line.holder for job in [*runner.line.jobs]):
            pytest.fail("it waits for itself")
        thread.join(0.01)
    for error in raised:
        raise error


def test_an_observer_cannot_wait_for_an_event(heard: list[str]) -> None:
    runner = Runner()
    made = counter(heard, lambda made: runner.call(made.add))
    with pytest.raises(RuntimeError, match="post it"):
        unless_stuck(runner, lambda: runner.call(made.add))
    assert (made.count, heard) == (1, ["first hears 1", "second hears 1"])
    assert runner.call(made.add) == 2


@pytest.mark.parametrize("with_runner", [False, True])
def test_a_handler_of_an_output_calls_the_next_event(with_runner: bool) -> None:
    runner, deadlines, seen = Runner(), Deadlines(), list[int]()
    send: Send = runner.post if with_runner else at_once
    clock = SimulatedClock()
    made = Counter(clock=clock)

    def handle(fired: object) -> None:
        seen.append(made.count)
        send(made.add)
        seen.append(made.count)

    deadlines.add(made, handle)
    made.add()
    now = clock.advance(1)
    fire: Callable[[], int] = lambda: deadlines.fire_due(now)  # noqa: E731  # Typed as a call.
    assert (runner.call(fire) if with_runner else fire()) == 1
    assert seen == ([11, 11] if with_runner else [11, 12])
    assert made.count == 12


class Slow(SimulatedClock):
    """An event that reads the time waits for the gate."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.opened = threading.Event(), threading.Event()
        self.opened.set()

    def now(self) -> float:
        assert self.opened.is_set() or not self.reached.is_set(), "two events run at once"
        self.reached.set()
        assert self.opened.wait(PATIENCE)
        return super().now()


def in_an_event(made: Counter, clock: Slow, send: Send) -> threading.Thread:
    """A thread that is in an event until the gate opens."""
    clock.opened.clear()
    clock.reached.clear()
    other = threading.Thread(target=send, args=(made.add,), daemon=True)
    other.start()
    assert clock.reached.wait(PATIENCE)
    return other


def test_another_threads_event_is_refused_while_one_runs() -> None:
    clock = Slow()
    made = Counter(clock=clock)
    made.lawful.observe(lambda done: None)
    other = in_an_event(made, clock, at_once)
    with pytest.raises(RuntimeError, match="another thread runs an event"):
        made.add()
    clock.opened.set()
    other.join(PATIENCE)
    assert (made.add(), made.count) == (2, 2)


def test_another_threads_event_waits_for_its_turn() -> None:
    clock, runner = Slow(), Runner()
    made = Counter(clock=clock)
    made.lawful.observe(lambda done: None)
    other = in_an_event(made, clock, runner.call)
    later = runner.post(made.add)
    assert not later.done()
    clock.opened.set()
    other.join(PATIENCE)
    assert (later.result(PATIENCE), made.count) == (2, 2)
