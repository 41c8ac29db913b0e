"""Threads: the line keeps its protocol, nothing is lost, nothing happens twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import ContextVar

import pytest

from lawful import Machine, Nat, Refused, require, transition
from lawful.checks.explore import explore
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.runner import Full, Job, Line, Runner
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.testing import paths
from tests.root import PATIENCE
from tests.runtime.services.runner_protocol import (
    Caller,
    CallsOnly,
    Dispatcher,
    LooksThenLeaves,
    WaitsInside,
)
from tests.runtime.services.runner_protocol import Job as Declared


class Tally(Machine):
    """Numbers in the order in which they came."""

    most: Nat = 1_000_000
    seen: list[Nat] = []

    @transition()
    def add(self, number: Nat) -> Nat:
        require(number <= self.most, "too many")
        self.seen.append(number)
        return len(self.seen)


# The protocol.


@pytest.mark.parametrize(
    ("machine", "counts"),
    [
        (CallsOnly, (46, 85, 6)),
        (Dispatcher, (1612, 4336, 9)),
        (LooksThenLeaves, (238, 394, 16)),
        (WaitsInside, (2860, 7432, 13)),
    ],
)
def test_what_is_expected_of_the_protocol_is_found(
    machine: type[Machine], counts: tuple[int, int, int]
) -> None:
    found = resolve(machine)
    result = explore(lower(found.machine, found.scopes["scope"]), found.world, found.expects)
    assert (result.distinct, result.generated, result.depth) == counts
    assert result.complete
    assert [p for p in result.properties if not p.as_expected] == []


class Played:
    """A line that is told, one step after the other, what the callers of a path do."""

    def __init__(self) -> None:
        self.line = Line(3)
        self.waiting: dict[int, Job] = {}

    def call(self, c: int) -> bool:
        job = self.waiting[c] = Job(print, c)
        return self.line.enter(job)

    def post(self, c: int) -> bool:
        return self.line.enter(Job(print, c, future=Future()))

    def begin(self, c: int) -> Job:
        job = self.line.next()
        assert job is not None
        return job

    def end(self, c: int) -> None: ...

    def leave(self, c: int) -> None:
        assert self.line.next() is None
        assert self.line.holder is None

    def hand_over(self, c: int) -> int:
        assert self.line.next() is None
        assert self.line.holder is not None
        return self.line.holder

    def give_up(self, c: int) -> None:
        assert not self.line.abandon(self.waiting[c])


def test_the_line_does_what_is_declared() -> None:
    """Along paths that cover every two transitions that can follow each other."""
    callers = {f"Caller{i}": i for i in range(1, 4)}
    steps = 0
    for path in paths(Dispatcher, cover="pairs"):
        played = Played()
        for step in path:
            act: Callable[[int], object] = getattr(played, step.event)
            act(callers[str(step.args["c"])])
            line = [
                {"$": "Job", "by": f"Caller{job.by}", "waits": job.waits}
                for job in played.line.jobs
            ]
            holder = played.line.holder
            assert line == step.after["line"]
            assert (None if holder is None else f"Caller{holder}") == step.after["holder"]
            steps += 1
    assert steps == 98


# Events in events.


def test_an_event_that_is_caused_by_an_event_comes_after_it() -> None:
    runner, tally = Runner(), Tally()
    order: list[str] = []

    def cause(stepped: Stepped) -> None:
        number = stepped.args["number"]
        order.append(f"{number} begins")
        if number < 3:
            runner.post(tally.add, number + 1)
        order.append(f"{number} ends")

    tally.lawful.observe(cause)
    assert runner.call(tally.add, 1) == 1
    assert tally.seen == [1, 2, 3]
    assert order == [f"{n} {what}" for n in (1, 2, 3) for what in ("begins", "ends")]


def test_what_waits_for_itself_is_refused_and_nothing_is_stranded() -> None:
    runner, tally = Runner(), Tally()
    with pytest.raises(RuntimeError, match="post it"):
        runner.call(runner.call, tally.add, 1)
    assert runner.call(tally.add, 2) == 1
    assert tally.seen == [2]


def test_who_posts_into_a_full_line_is_told() -> None:
    runner, tally = Runner(capacity=2), Tally()

    def three() -> None:
        for number in (1, 2):
            runner.post(tally.add, number)
        with pytest.raises(Full, match="2 events are in line"):
            runner.post(tally.add, 3)

    runner.call(three)
    assert tally.seen == [1, 2]
    with pytest.raises(ValueError, match="room for one event at least, not for 0"):
        Runner(0)


def test_an_outcome_is_that_of_ones_own_event() -> None:
    runner, tally = Runner(), Tally()
    with pytest.raises(Refused, match="too many"):
        runner.call(tally.add, 2_000_000)
    refused = runner.post(tally.add, 3_000_000)
    assert runner.post(tally.add, 5).result(timeout=0) == 1
    assert isinstance(refused.exception(timeout=0), Refused)
    assert tally.seen == [5]


def test_what_was_posted_can_be_withdrawn_until_it_begins() -> None:
    runner, tally = Runner(), Tally()
    posted: list[Future[int]] = []

    def both() -> None:
        posted.extend((runner.post(tally.add, 1), runner.post(tally.add, 2)))
        assert posted[0].cancel()

    runner.call(both)
    assert tally.seen == [2]
    assert not posted[1].cancel()
    with pytest.raises(CancelledError):
        posted[0].result()


def test_an_interrupt_in_anothers_event_is_told_after_the_line_is_empty() -> None:
    runner, tally = Runner(), Tally()

    def interrupted() -> None:
        raise KeyboardInterrupt

    def both() -> int:
        runner.post(interrupted)
        runner.post(tally.add, 1)
        return 7

    with pytest.raises(KeyboardInterrupt):
        runner.call(both)
    assert tally.seen == [1]
    assert runner.line.holder is None


# Threads.


class Recorded(Line):
    """A line that tells the declared machine each step that it makes, and compares the answer.

    It is called under the runner's lock, so the machine sees the steps in their order.
    """

    __slots__ = ("declared", "names", "steps")

    def __init__(self, names: dict[int, Caller]) -> None:
        super().__init__(3)
        self.names = names
        universe = {Caller: [f"c{i}" for i in range(THREADS)]}
        self.declared = Dispatcher(universe=universe)
        self.steps = 0

    def name(self, ident: int) -> Caller:
        return self.names.setdefault(ident, Caller(f"c{len(self.names)}"))

    def enter(self, job: Job) -> bool:
        by = self.name(job.by)
        way = self.declared.call if job.waits else self.declared.post
        holds = super().enter(job)
        assert way(by) == holds
        self.steps += 1
        return holds

    def next(self) -> Job | None:
        holder = self.holder
        assert holder is not None
        before = self.name(holder)
        if self.declared.runs is not None:
            self.declared.end(before)
        job = super().next()
        if job is not None:
            assert self.declared.begin(before) == Declared(self.name(job.by), job.waits)
        elif self.holder is None:
            self.declared.leave(before)
        else:
            assert self.declared.hand_over(before) == self.name(self.holder)
        self.steps += 1
        return job


THREADS, EACH = 6, 150


def test_of_what_threads_do_nothing_is_lost_and_nothing_happens_twice() -> None:
    """Every step that the line makes on the way is one that is declared."""
    runner, tally = Runner(capacity=3), Tally()
    line = runner.line = Recorded({})
    wrong: list[BaseException] = []
    taken: list[int] = []
    begin = threading.Barrier(THREADS)

    def cause(stepped: Stepped) -> None:
        number = stepped.args["number"]
        if stepped.outcome == "done" and number % 10 == 0:
            with suppress(Full):
                runner.post(tally.add, number + 1)
                taken.append(number + 1)

    def work(mine: int) -> None:
        begin.wait()
        for i in range(EACH):
            number = (mine * EACH + i) * 10 + (2_000_000 if i % 7 == 0 else 0)
            try:
                runner.call(tally.add, number)
                assert number <= 1_000_000
            except Refused:
                assert number > 1_000_000

    def guarded(mine: int) -> None:
        try:
            work(mine)
        except BaseException as error:
            wrong.append(error)

    tally.lawful.observe(cause)
    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE)
    assert [t for t in threads if t.is_alive()] == []
    assert wrong == []
    called = [n for n in tally.seen if n % 10 == 0]
    wanted = [i * 10 for i in range(THREADS * EACH) if i % EACH % 7]
    assert sorted(called) == wanted
    assert [n for n in tally.seen if n % 10 == 1] == taken
    assert (line.declared.holder, line.declared.line, line.declared.runs) == (None, [], None)
    assert line.steps > 2 * len(tally.seen)


class Interrupted:
    """The lock of a caller that is interrupted while it waits: before its turn, or in it."""

    in_its_turn = False

    def __init__(self) -> None:
        self.turn = LOCK()
        self.takings = 0

    def acquire(self) -> None:
        self.takings += 1
        if self.takings == 1:
            self.turn.acquire()
            return
        WAITS.set()
        if self.in_its_turn:
            assert self.turn.acquire(timeout=PATIENCE)
        raise KeyboardInterrupt

    def release(self) -> None:
        self.turn.release()

    def locked(self) -> bool:
        return self.turn.locked()


class InterruptedInItsTurn(Interrupted):
    in_its_turn = True


WAITS = threading.Event()
LOCK = threading.Lock


@pytest.mark.parametrize("lock", [Interrupted, InterruptedInItsTurn])
def test_the_event_of_an_interrupted_caller_happens_once(
    lock: type[Interrupted], monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, tally = Runner(), Tally()
    begun, go_on = threading.Event(), threading.Event()
    WAITS.clear()

    def first() -> None:
        begun.set()
        assert (WAITS if lock.in_its_turn else go_on).wait(PATIENCE)

    other = threading.Thread(target=runner.call, args=(first,))
    other.start()
    assert begun.wait(PATIENCE)
    monkeypatch.setattr(threading, "Lock", lock)
    with pytest.raises(KeyboardInterrupt):
        runner.call(tally.add, 1)
    monkeypatch.undo()
    go_on.set()
    other.join(PATIENCE)
    assert tally.seen == [1]
    assert runner.line.holder is None


def test_what_is_posted_has_the_context_of_who_posts_it() -> None:
    span = ContextVar("span", default="none")
    runner, seen = Runner(), list[str]()

    def post() -> None:
        span.set("poster")
        runner.post(lambda: seen.append(span.get()))

    def beginning() -> None:
        other = threading.Thread(target=post)
        other.start()
        other.join()

    runner.call(beginning)
    assert (seen, span.get()) == (["poster"], "none")
