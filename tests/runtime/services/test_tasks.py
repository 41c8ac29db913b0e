"""Tasks: a cancelled caller loses and repeats no event, and each caller gets its own outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, Refused, require, transition
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.runner import Full
from lawful.runtime.tasks import TaskRunner
from tests.root import PATIENCE


class Tally(Machine):
    """Numbers in the order in which they came."""

    seen: list[Nat] = []

    @transition()
    def add(self, number: Nat) -> Nat:
        require(number % 7 != 0, "a multiple of 7")
        self.seen.append(number)
        return len(self.seen)


class Desk:
    """A tally whose events go on after the step, until `gate` opens."""

    def __init__(self, capacity: int = 64) -> None:
        self.runner = TaskRunner(capacity)
        self.tally = Tally()
        self.gate = asyncio.Event()
        self.ended: list[int] = []

    async def add(self, number: int) -> int:
        count = self.tally.add(number)
        await self.gate.wait()
        self.ended.append(number)
        return count


async def turns(several: int = 5) -> None:
    """Let every task go on as far as it can."""
    for _ in range(several):
        await asyncio.sleep(0)


def test_an_event_gives_its_output_or_refusal_to_its_caller() -> None:
    async def main() -> None:
        runner, tally = TaskRunner(), Tally()
        assert await runner.call(tally.add, 1) == 1
        with pytest.raises(Refused, match="a multiple of 7"):
            await runner.call(tally.add, 7)
        found = await asyncio.gather(
            *(runner.call(tally.add, n) for n in (2, 14, 3)), return_exceptions=True
        )
        assert (found[0], type(found[1]), found[2]) == (2, Refused, 3)
        assert tally.seen == [1, 2, 3]

    asyncio.run(main())


def test_an_event_that_waits_ends_before_the_next_begins() -> None:
    async def main() -> None:
        desk = Desk()
        calls = [asyncio.create_task(desk.runner.call(desk.add, n)) for n in (1, 2)]
        posted = desk.runner.post(desk.tally.add, 3)
        await turns()
        assert (desk.tally.seen, posted.done()) == ([3, 1], True)
        desk.gate.set()
        assert await asyncio.gather(*calls) == [2, 3]
        assert (desk.tally.seen, desk.ended) == ([3, 1, 2], [1, 2])

    asyncio.run(main())


def test_an_event_that_is_caused_by_an_event_comes_after_it() -> None:
    async def main() -> None:
        runner, tally = TaskRunner(), Tally()
        order: list[str] = []

        def cause(stepped: Stepped) -> None:
            number = stepped.args["number"]
            order.append(f"{number} begins")
            if number < 3:
                runner.post(tally.add, number + 1)
            order.append(f"{number} ends")

        tally.lawful.observe(cause)
        assert await runner.call(tally.add, 1) == 1
        assert order == [f"{n} {what}" for n in (1, 2, 3) for what in ("begins", "ends")]

    asyncio.run(main())


def test_what_waits_for_itself_is_refused() -> None:
    async def main() -> None:
        runner, tally = TaskRunner(), Tally()

        async def inside() -> None:
            await runner.call(tally.add, 1)

        with pytest.raises(RuntimeError, match="post it"):
            await runner.call(inside)
        assert await runner.call(tally.add, 2) == 1

    asyncio.run(main())


def test_a_caller_that_is_cancelled_does_not_cut_its_event_in_half() -> None:
    async def main() -> None:
        desk = Desk()
        running, waiting = (asyncio.create_task(desk.runner.call(desk.add, n)) for n in (1, 2))
        await turns()
        assert (running.cancel(), waiting.cancel()) == (True, True)
        await turns()
        assert (running.cancelled(), waiting.cancelled()) == (True, True)
        assert (desk.tally.seen, desk.ended) == ([1], [])
        desk.gate.set()
        await desk.runner.idle()
        assert (desk.tally.seen, desk.ended) == ([1, 2], [1, 2])

    asyncio.run(main())


def test_a_full_line_makes_callers_wait_and_a_cancelled_one_was_not_taken() -> None:
    async def main() -> None:
        desk = Desk(capacity=1)
        calls = [asyncio.create_task(desk.runner.call(desk.add, n)) for n in (1, 2, 3, 4)]
        await turns()
        with pytest.raises(Full, match="1 events are in line"):
            desk.runner.post(desk.tally.add, 5)
        calls[2].cancel()
        desk.gate.set()
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert (found[:2], type(found[2]), found[3]) == ([1, 2], asyncio.CancelledError, 3)
        assert desk.tally.seen == [1, 2, 4]

    asyncio.run(main())
    with pytest.raises(ValueError, match="room for one event at least, not for 0"):
        TaskRunner(0)


def test_an_error_that_nobody_waits_for_is_told_the_loop() -> None:
    async def main() -> None:
        told: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what))
        desk = Desk()
        calls = [asyncio.create_task(desk.runner.call(desk.add, n)) for n in (1, 7)]
        await turns()
        for call in calls:
            call.cancel()
        await turns()
        desk.gate.set()
        await desk.runner.idle()
        (one,) = told
        assert one["message"] == "an event failed whose caller was cancelled"
        assert isinstance(one["exception"], Refused)

    asyncio.run(main())


def test_an_event_that_is_cancelled_itself_ends_so_and_the_next_runs() -> None:
    async def main() -> None:
        runner, tally = TaskRunner(), Tally()

        async def gives_up() -> None:
            raise asyncio.CancelledError

        def stops() -> None:
            raise StopIteration(1)

        with pytest.raises(asyncio.CancelledError):
            await runner.call(gives_up)
        with pytest.raises(RuntimeError, match="raised StopIteration"):
            await runner.call(stops)
        assert await runner.call(tally.add, 1) == 1
        await runner.idle()

    asyncio.run(main())


def test_an_interrupt_is_for_the_loop_and_strands_nothing() -> None:
    async def main(runner: TaskRunner, tally: Tally) -> None:
        def both() -> None:
            runner.post(tally.add, 1).add_done_callback(lambda done: done.result())
            raise KeyboardInterrupt

        await runner.call(both)

    runner, tally = TaskRunner(), Tally()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main(runner, tally))
    assert tally.seen == [1]


Plan = list[tuple[int, bool, int]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 12)), max_size=25),
    st.integers(1, 4),
)
def test_whatever_is_cancelled_every_event_that_was_taken_happens_once(
    plan: Plan, capacity: int
) -> None:
    """Callers begin some turns after each other, wait some turns in their events, and are
    cancelled after some turns, or not."""

    async def main() -> None:
        runner, tally = TaskRunner(capacity), Tally()
        begun: list[int] = []
        ended: list[int] = []

        async def event(number: int, waits: int) -> int:
            begun.append(number)
            try:
                return tally.add(number)
            finally:
                await turns(waits)
                ended.append(number)

        calls: list[asyncio.Task[int]] = []
        for number, (waits, cancelled, after) in enumerate(plan):
            calls.append(asyncio.create_task(runner.call(event, number, waits)))
            await turns(after % 3)
            if cancelled:
                calls[after % len(calls)].cancel()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        await runner.idle()
        assert begun == ended
        assert len(begun) == len(set(begun))
        assert tally.seen == [n for n in begun if n % 7]
        for number, outcome in enumerate(outcomes):
            if isinstance(outcome, int):
                assert tally.seen[outcome - 1] == number
            elif isinstance(outcome, Refused):
                assert number % 7 == 0
            else:
                assert isinstance(outcome, asyncio.CancelledError)

    asyncio.run(main())


async def cancelled(victim: int, after: int, capacity: int, waits: bool) -> None:
    """Cancel one of four callers after so many rounds of the loop; nothing is lost or repeated."""
    runner, seen, errors = TaskRunner(capacity), list[int](), list[object]()
    asyncio.get_running_loop().set_exception_handler(lambda _, told: errors.append(told))

    async def waiting(number: int) -> int:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return plain(number)

    def plain(number: int) -> int:
        seen.append(number)
        return number

    def called(number: int) -> Coroutine[Any, Any, int]:
        return runner.call(waiting, number) if waits else runner.call(plain, number)

    tasks = [asyncio.create_task(called(number)) for number in range(4)]
    for _ in range(after):
        await asyncio.sleep(0)
    tasks[victim].cancel()
    given = await asyncio.gather(*tasks, return_exceptions=True)
    await runner.idle()
    others = [number for number in range(4) if number != victim]
    assert [given[number] for number in others] == others
    assert [number for number in seen if number != victim] == others
    assert seen.count(victim) == 1 if given[victim] == victim else seen.count(victim) <= 1
    assert errors == []
    assert await runner.call(plain, 9) == 9


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("capacity", [1, 9])
def test_a_caller_may_be_cancelled_at_any_of_its_awaits(capacity: int, waits: bool) -> None:
    async def everywhere() -> None:
        for victim in range(4):
            for after in range(20):
                await asyncio.wait_for(cancelled(victim, after, capacity, waits), PATIENCE)

    asyncio.run(everywhere())


def test_an_event_has_the_context_of_its_caller_whoever_runs_it() -> None:
    span = ContextVar("span", default="none")

    async def main() -> list[tuple[str, str]]:
        desk, seen = Desk(), list[tuple[str, str]]()

        async def event(name: str) -> None:
            await asyncio.sleep(0)
            seen.append((name, span.get()))

        async def caller(name: str) -> None:
            span.set(name)
            await desk.runner.call(lambda: seen.append((name, span.get())))
            await desk.runner.call(event, name)
            await desk.runner.post(lambda: seen.append((name, span.get())))

        before = asyncio.create_task(desk.runner.call(desk.add, 1))
        await turns()
        callers = [asyncio.create_task(caller(name)) for name in "abc"]
        await turns()
        desk.gate.set()
        await asyncio.gather(before, *callers)
        return seen

    seen = asyncio.run(main())
    assert len(seen) == 9
    assert all(name == found for name, found in seen)


def test_an_event_that_raises_cancelled_cancels_nobody_else() -> None:
    async def main() -> None:
        runner, others = TaskRunner(), list[asyncio.Future[None]]()

        def cancelled() -> None:
            raise asyncio.CancelledError

        def causing() -> str:
            others.append(runner.post(cancelled))
            return "done"

        assert await runner.call(causing) == "done"
        with pytest.raises(asyncio.CancelledError):
            await others[0]

    asyncio.run(main())
