"""Ctrl-C between any two instructions: of a runner, which strands nothing, and of an observer.

Stored and journalled events are in the campaign, `tests/runtime/faults`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from lawful import Machine, Nat, Timer, transition
from lawful.runtime import runner as runners
from lawful.runtime.instances import observers
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.runner import Runner
from tests.root import PATIENCE
from tests.runtime.services.interrupting import at_every_place

RUNNER = (runners.__file__,)


def test_an_interrupted_call_happens_once_or_not_at_all_and_others_go_on() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        runner, seen = Runner(), list[int]()
        was = attempt(lambda: runner.call(seen.append, 1))
        assert seen in ([], [1]) if was else seen == [1]
        runner.call(seen.append, 2)
        assert seen[-1] == 2
        assert (runner.line.holder, list(runner.line.jobs)) == (None, [])

    assert at_every_place(RUNNER, play) > 20


def test_what_was_posted_is_run_where_the_poster_is_interrupted() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        runner, seen, futures = Runner(), list[int](), list[Future[None]]()

        def causing() -> None:
            for number in (1, 2):
                futures.append(runner.post(seen.append, number))

        attempt(lambda: runner.post(causing))
        assert (runner.line.holder, list(runner.line.jobs)) == (None, [])
        taken = [number for number, _ in enumerate(futures, 1)]
        assert seen in (taken, [*taken, len(taken) + 1])
        assert all(future.done() for future in futures)

    assert at_every_place(RUNNER, play) > 40


@pytest.mark.parametrize("capacity", [1, 9])
def test_who_waits_gets_its_turn_from_one_who_is_interrupted(capacity: int) -> None:
    def play(attempt: Callable[..., bool]) -> None:
        runner, seen = Runner(capacity), list[int]()
        others = [
            threading.Thread(target=runner.call, args=(seen.append, number), daemon=True)
            for number in (1, 2)
        ]

        def beginning() -> None:
            for number, other in enumerate(others, 1):
                other.start()
                while len(runner.line.jobs) < min(number, capacity):
                    pass  # It comes: nothing else can happen.

        attempt(lambda: runner.call(beginning))
        for other in others:
            if other.ident is not None:
                other.join(PATIENCE)
                assert not other.is_alive()
        assert sorted(seen) == [n for n, other in enumerate(others, 1) if other.ident is not None]
        assert (runner.line.holder, list(runner.line.jobs)) == (None, [])

    assert at_every_place(RUNNER, play) > 20


class Counted(Machine):
    count: Nat = 0
    added: list[Nat] = []
    lapse: Timer = Timer()

    @transition()
    def add(self, number: Nat) -> Nat:
        self.count += number
        self.added.append(number)
        self.lapse.start(5)
        return self.count


def test_an_interrupted_event_is_undone_or_told_at_the_latest_before_the_next() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        counted, heard = Counted(), list[Stepped]()
        counted.lawful.observe(heard.append)
        attempt(lambda: counted.add(1))
        happened = counted.added == [1]
        assert heard == [] if not happened else len(heard) <= 1
        counted.add(10)
        assert [done.args["number"] for done in heard] == ([1, 10] if happened else [10])

    assert at_every_place((observers.__file__, __file__), play) > 10


class Doubled(Machine):
    """Without timers."""

    count: Nat = 0
    added: list[Nat] = []

    @transition()
    def add(self, number: Nat) -> Nat:
        self.count += number
        self.added.append(number)
        return self.count


def test_so_it_is_of_an_instance_without_timers_and_with_two_observers() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        doubled, first, second = Doubled(), list[Stepped](), list[Stepped]()
        doubled.add(100)
        doubled.lawful.observe(first.append)
        doubled.lawful.observe(second.append)
        attempt(lambda: doubled.add(1))
        happened = doubled.added == [100, 1]
        assert doubled.count == (101 if happened else 100)
        doubled.add(10)
        for heard in (first, second):
            numbers = [done.args["number"] for done in heard]
            assert numbers == ([1, 10] if happened else [10])
            assert heard[-1].changed == {"count": doubled.count, "added": doubled.added}

    assert at_every_place((observers.__file__, __file__), play) > 10


class Ordered(Machine):
    """Its event changes a part: of an observed instance, too, it runs as that of any other."""

    inner: Doubled = Doubled()

    @transition()
    def add(self, number: Nat) -> Nat:
        return self.inner.add(number)


def test_so_it_is_of_an_instance_with_a_part() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        ordered, heard = Ordered(), list[Stepped]()
        ordered.lawful.observe(heard.append)
        attempt(lambda: ordered.add(1))
        happened = ordered.inner.added == [1]
        assert ordered.inner.count == happened
        ordered.add(10)
        assert [done.args["number"] for done in heard] == ([1, 10] if happened else [10])

    assert at_every_place((observers.__file__, __file__), play) > 20
