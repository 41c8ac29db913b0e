"""Timers that fire by themselves: in a task, in a thread, earlier than was thought, and despite
what fails."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable

import pytest

from lawful import Machine, Nat, Timer, Undefined, transition
from lawful.runtime import driving
from lawful.runtime.deadlines import Deadlines
from lawful.runtime.driving import Driver, drive, logged
from lawful.runtime.instances.access import Fired
from lawful.runtime.runner import Runner
from lawful.runtime.tasks import TaskRunner
from lawful.runtime.timers import SimulatedClock
from tests.root import PATIENCE


class Bell(Machine):
    rings: Nat = 0
    divisor: int = 1
    wait: Timer = Timer()

    @transition()
    def start(self, seconds: Nat) -> None:
        self.wait.start(seconds)

    @transition()
    def spoil(self) -> None:
        self.divisor = 0
        self.wait.start(0)

    @transition(timer="wait")
    def ring(self) -> Nat:
        self.rings += 1
        return self.rings // self.divisor


def in_a_thread(
    use: Callable[[Runner, list[Bell], queue.Queue[object]], None], number: int = 2
) -> None:
    """Use bells whose timers a thread fires; what it tells goes into the queue."""
    deadlines, runner, heard = Deadlines(), Runner(), queue.Queue[object]()
    bells = [Bell() for _ in range(number)]
    for bell in bells:
        deadlines.add(bell, heard.put)
    with Driver(deadlines, runner, failed=heard.put):
        use(runner, bells, heard)
    assert not [each for each in threading.enumerate() if each.name == "lawful timers"]
    deadlines.driven(lambda: None)()  # Nobody drives them any more.


def test_a_thread_wakes_up_for_an_earlier_deadline() -> None:
    def use(runner: Runner, bells: list[Bell], heard: queue.Queue[object]) -> None:
        runner.call(bells[0].start, 1_000_000)
        runner.call(bells[1].start, 0)
        assert heard.get(timeout=PATIENCE) == Fired("ring", "ring", 1)
        runner.call(bells[1].start, 0)
        assert heard.get(timeout=PATIENCE) == Fired("ring", "ring", 2)
        assert [bell.rings for bell in bells] == [0, 2]

    in_a_thread(use)


def test_what_fails_in_a_thread_is_told_and_the_others_fire() -> None:
    def use(runner: Runner, bells: list[Bell], heard: queue.Queue[object]) -> None:
        runner.call(bells[0].spoil)
        assert isinstance(heard.get(timeout=PATIENCE), Undefined)
        runner.call(bells[1].start, 0)
        assert heard.get(timeout=PATIENCE) == Fired("ring", "ring", 1)
        assert (bells[0].rings, bells[0].wait.armed) == (0, True)

    in_a_thread(use)


def test_events_of_many_threads_and_their_timers_are_in_one_line() -> None:
    def use(runner: Runner, bells: list[Bell], heard: queue.Queue[object]) -> None:
        def work(bell: Bell) -> None:
            for _ in range(20):
                runner.call(bell.start, 0)

        threads = [threading.Thread(target=work, args=(bell,)) for bell in bells]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        outputs = list[object]()
        while runner.call(lambda: any(bell.wait.armed for bell in bells)):
            outputs.append(heard.get(timeout=PATIENCE))
        while not heard.empty():
            outputs.append(heard.get())
        assert len(outputs) == sum(bell.rings for bell in bells) >= len(bells)

    in_a_thread(use, 8)


def test_there_is_one_driver() -> None:
    deadlines, runner = Deadlines(), Runner()
    first = Driver(deadlines, runner)
    with pytest.raises(RuntimeError, match="drives these deadlines already"):
        Driver(deadlines, runner)
    first.stop()
    with Driver(deadlines, runner):
        first.stop()  # Once more: it is not this one that it ends.
        with pytest.raises(RuntimeError, match="drives these deadlines already"):
            asyncio.run(drive(deadlines))


@pytest.mark.parametrize("lined_up", [False, True])
def test_a_task_wakes_up_for_an_earlier_deadline(lined_up: bool) -> None:
    async def run() -> None:
        deadlines, heard = Deadlines(), asyncio.Queue[object]()
        bells = [Bell() for _ in range(3)]
        for bell in bells:
            deadlines.add(bell, heard.put_nowait)
        runner = TaskRunner() if lined_up else None
        task = asyncio.create_task(drive(deadlines, runner=runner, failed=heard.put_nowait))
        bells[0].start(1_000_000)
        await asyncio.sleep(0)  # It goes to sleep now.
        bells[1].start(0)
        assert await asyncio.wait_for(heard.get(), PATIENCE) == Fired("ring", "ring", 1)
        bells[2].spoil()
        assert isinstance(await asyncio.wait_for(heard.get(), PATIENCE), Undefined)
        await asyncio.to_thread(bells[1].start, 0)  # From another thread it wakes up, too.
        assert await asyncio.wait_for(heard.get(), PATIENCE) == Fired("ring", "ring", 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        deadlines.driven(lambda: None)()

    asyncio.run(run())


def test_what_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    logged(ValueError("the bell is broken"))
    (record,) = caplog.records
    assert (record.name, record.getMessage()) == ("lawful", "a timer's event failed")
    assert record.exc_info is not None


def test_a_thread_waits_for_deadlines_that_are_far_away() -> None:
    def use(runner: Runner, bells: list[Bell], heard: queue.Queue[object]) -> None:
        runner.call(bells[0].start, 10**12)  # More seconds than a lock can be waited for.
        for ring in (1, 2):
            runner.call(bells[1].start, 0)
            assert heard.get(timeout=PATIENCE) == Fired("ring", "ring", ring)

    in_a_thread(use)


def test_a_thread_outlives_what_is_told_of_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    heard, deadlines, runner = queue.Queue[object](), Deadlines(), Runner()

    def told(what: threading.ExceptHookArgs) -> None:
        heard.put(what.exc_type)

    monkeypatch.setattr(threading, "excepthook", told)
    monkeypatch.setattr(driving, "PAUSE", 0.0)

    def failed(error: Exception) -> None:
        raise SystemExit

    bells = [Bell(), Bell()]
    for bell in bells:
        deadlines.add(bell, heard.put)
    with Driver(deadlines, runner, failed=failed):
        runner.call(bells[0].spoil)
        assert heard.get(timeout=PATIENCE) is SystemExit
        runner.call(bells[1].start, 0)
        assert heard.get(timeout=PATIENCE) == Fired("ring", "ring", 1)


def test_the_time_is_that_of_the_turn() -> None:
    async def run() -> None:
        clock, deadlines, runner = SimulatedClock(), Deadlines(), TaskRunner()
        bell, heard, gate = Bell(clock=clock), asyncio.Queue[object](), asyncio.Event()
        bell.lawful.observe(lambda done: heard.put_nowait((done.event, done.time)))
        deadlines.add(bell, lambda _: None)
        bell.start(1)
        clock.advance(1)
        before = asyncio.create_task(runner.call(gate.wait))
        await asyncio.sleep(0)
        task = asyncio.create_task(drive(deadlines, clock, runner=runner))
        await asyncio.sleep(0)
        clock.advance(4)
        gate.set()
        await before
        found = [await asyncio.wait_for(heard.get(), PATIENCE) for _ in range(2)]
        assert found == [("start", 0.0), ("ring", 5.0)]
        task.cancel()

    asyncio.run(run())


@pytest.mark.parametrize("turns", range(6))
def test_a_task_ends_that_is_cancelled_as_it_wakes_up(turns: int) -> None:
    """A cancellation in the turn of the loop in which an earlier deadline wakes the task up."""
    deadlines, bell = Deadlines(), Bell()
    deadlines.add(bell, lambda _: None)

    async def cancelled() -> bool:
        bell.start(1_000_000)
        task = asyncio.create_task(drive(deadlines))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        bell.start(1_000)
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        for _ in range(20):
            await asyncio.sleep(0)
        return task.cancelled()

    assert asyncio.run(cancelled())
