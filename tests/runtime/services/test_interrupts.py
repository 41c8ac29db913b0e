"""Ctrl-C between any two instructions: of a runner, which strands nothing, and of a step, which
happens whole or not at all.

CPython delivers an exception from outside after a call, where a function begins, and where a loop
goes round. Each of these places is tried, one after the other; but for those where a block ends
with a call: there the exception is one of the block, and a tracer can only raise one after it.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import gc
import inspect
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from lawful import Machine, Nat, Record, State, Timer, Undefined, event, require, transition
from lawful.runtime import runner as runners
from lawful.runtime.instances import observers
from lawful.runtime.instances.observers import Stepped
from lawful.runtime.journal import Journal, read
from lawful.runtime.runner import Runner
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from lawful.spec.syntax.declare import slot
from tests.root import PATIENCE

DELIVERED = frozenset(
    {
        "CALL",
        "CALL_KW",
        "CALL_FUNCTION_EX",
        "RESUME",
        "JUMP_BACKWARD",
        "INSTRUMENTED_CALL",
    }
)


class Interrupt:
    """Raises KeyboardInterrupt at the place of this number, in code of these files, or anywhere."""

    def __init__(self, number: int, *files: str) -> None:
        self.left = number
        self.files = files
        self.before = dict[FrameType, int]()
        self.names = dict[CodeType, dict[int, str]]()
        self.blocks = dict[CodeType, list[tuple[int, int]]]()

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if self.files and frame.f_code.co_filename not in self.files:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and self._delivers(frame):
            self.left -= 1
            if self.left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self

    def _delivers(self, frame: FrameType) -> bool:
        before, self.before[frame] = self.before.get(frame), frame.f_lasti
        code = frame.f_code
        if code not in self.names:
            read: Any = dis.Bytecode(code)
            self.names[code] = {i.offset: i.opname for i in read}
            self.blocks[code] = [(row.start, row.end) for row in read.exception_entries]
        if before is None or self.names[code][before] not in DELIVERED:
            return False
        inside = [
            [low <= at < high for low, high in self.blocks[code]] for at in (before, frame.f_lasti)
        ]
        return inside[0] == inside[1]


def interrupted(number: int, files: tuple[str, ...], act: Callable[[], object]) -> bool:
    """Whether the act was interrupted, and did not end before that place."""
    kept, interrupt = sys.gettrace(), Interrupt(number, *files)
    here = inspect.currentframe()
    assert here is not None
    here.f_trace_opcodes = True  # Before: CPython 3.12 looks at it when tracing begins.
    gc.disable()  # What is raised in a callback of the collector, nobody gets.
    sys.settrace(interrupt)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(kept)
        gc.enable()
    assert interrupt.left >= 0  # What was raised came out.
    return False


def at_every_place(files: tuple[str, ...], play: Callable[[Callable[..., bool]], None]) -> int:
    """Play once for each place, until there is none of that number; how many there are."""
    for number in range(10_000):
        came = list[bool]()

        def attempt(
            act: Callable[[], object], number: int = number, came: list[bool] = came
        ) -> bool:
            came.append(interrupted(number, files, act))
            return came[0]

        play(attempt)
        if not came[0]:
            return number
    raise AssertionError("it does not end")


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


class Shop(Machine):
    sold: Nat = 0
    stock: dict[int, Nat] = {}
    names: set[int] = set()
    last: list[int] = []

    @transition()
    def sell(self, name: int, n: Nat) -> Nat:
        require(n < 9, "too many")
        self.names.add(name)
        self.stock[name] = self.stock.get(name, 0) + n
        self.last.append(name)
        self.sold += n
        return self.sold

    @transition()
    def clear(self) -> None:
        for name in sorted(self.names):
            self.sold -= self.stock[name]
            self.stock[name] = 0
        self.last = []

    @transition(event="move")
    def up(self, name: int, n: Nat) -> None:
        require(n > 2, "few")
        self.names.add(name)
        self.sold += n
        if name in self.stock:
            self.stock[name] = n
        else:
            self.stock[name] = len(self.last)

    @transition(event="move")
    def down(self, name: int, n: Nat) -> None:
        require(n <= 2 or name in self.stock, "many")
        self.sold = n


@pytest.mark.parametrize("event", ["sell", "clear", "move"])
def test_an_interrupted_step_is_undone_or_done(event: str) -> None:
    def whole(shop: Shop) -> Any:
        return shop.sold, dict(shop.stock), set(shop.names), list(shop.last)

    def act(shop: Shop) -> None:
        shop.lawful.take(event, *(() if event == "clear" else (2, 3)))

    def fresh() -> Shop:
        shop = Shop()
        shop.sell(1, 2)
        return shop

    before, after = whole(fresh()), fresh()
    act(after)

    def play(attempt: Callable[..., bool]) -> None:
        shop = fresh()
        was = attempt(lambda: act(shop))
        assert whole(shop) in ((before, whole(after)) if was else (whole(after),))

    assert at_every_place((__file__,), play) > 4


class Till(Machine):
    sums: dict[int, Nat] = {}
    total: Nat = 0

    @event
    def book(self, name: int, n: Nat) -> Nat:
        """Two transitions serve it."""
        raise NotImplementedError

    @transition(event="book")
    def more(self, name: int, n: Nat) -> Nat:
        require(n > 1, "little")
        self.sums[name] = n
        self.total += n
        return self.total

    @transition(event="book")
    def less(self, name: int, n: Nat) -> Nat:
        require(n < 2, "much")
        self.total += n
        return self.total

    @transition()
    def count(self, n: Nat) -> None:
        self.total += n
        self.sums[n] = 1


class Mall(Machine):
    """Its events call those of parts."""

    first: Till = Till()
    tills: dict[int, Till] = {}
    sold: Nat = 0

    @transition()
    def open(self, number: int) -> None:
        self.tills[number] = Till()

    @transition()
    def sell(self, number: int, n: Nat) -> Nat:
        require(number in self.tills, "no till")
        self.sold += n
        self.first.count(n)
        if n > 1:
            self.tills[number].count(n)
        booked = self.first.book(number, n)
        self.tills[number].count(5 // (4 - n))
        return booked


@pytest.mark.parametrize("number", [1, 3, 4])
def test_an_interrupted_step_is_undone_or_done_in_all_parts(number: int) -> None:
    """With the number 4 the step fails at its end."""

    def whole(mall: Mall) -> Any:
        tills = mall.first, *mall.tills.values()
        return mall.sold, [(dict(till.sums), till.total) for till in tills]

    def fresh() -> Mall:
        mall = Mall()
        mall.open(7)
        mall.sell(7, 2)
        return mall

    def act(mall: Mall) -> None:
        with contextlib.suppress(Undefined):
            mall.sell(7, number)

    before, after = whole(fresh()), fresh()
    act(after)
    assert (whole(after) == before) == (number == 4)

    def play(attempt: Callable[..., bool]) -> None:
        mall = fresh()
        was = attempt(lambda: act(mall))
        assert whole(mall) in ((before, whole(after)) if was else (whole(after),))

    assert at_every_place((), play) > 20


class Tag(Record):
    """Its hash and its comparison are Python code."""

    id: int


class Color(State):
    RED = "red"
    BLUE = "blue"


class Tagged(Machine):
    """Its steps change containers in place, and then fail."""

    tags: dict[Tag, Nat] = {}
    colors: dict[Color, Nat] = {}
    seen: set[Tag] = set()
    queue: list[int] = []
    shelves: dict[Tag, dict[Tag, Nat]] = {}

    @transition()
    def put(self, tag: Tag, color: Color, number: int) -> int:
        self.tags[tag] = 1
        self.colors[color] = 1
        self.seen.add(tag)
        self.queue.append(number)
        if tag in self.shelves:
            self.shelves[tag][tag] = 1
        else:
            self.shelves[tag] = {tag: 1}
        return 1 // number

    @transition()
    def drop(self, tag: Tag, color: Color, number: int) -> int:
        del self.tags[tag]
        del self.colors[color]
        self.seen.remove(tag)
        self.queue.pop(0)
        self.shelves[tag][Tag(9)] = 1
        self.shelves[tag][tag] = 2
        return 1 // number


def contents(tagged: Tagged) -> Any:
    return {slot(n): copy.deepcopy(getattr(tagged, slot(n))) for n in tagged.lawful.plan.variables}


@pytest.mark.parametrize("event", ["put", "drop"])
@pytest.mark.parametrize("number", [0, 1])
def test_what_changed_in_place_is_undone_whatever_comes(event: str, number: int) -> None:
    """With the number 0 the step fails at its end, so that its undoing is interrupted."""

    def play(attempt: Callable[..., bool]) -> None:
        tagged = Tagged()
        tagged.put(Tag(1), Color.RED, 1)
        before = contents(tagged)
        of = Tag(2 if event == "put" else 1), Color.BLUE if event == "put" else Color.RED

        def act() -> None:
            with contextlib.suppress(Undefined):
                tagged.lawful.take(event, *of, number)

        attempt(act)
        undone = contents(tagged) == before
        assert undone or number == 1
        tagged.put(Tag(3), Color.RED, 1)
        later = {Tag(1), Tag(2), Tag(3)} if event == "put" else {Tag(3)}
        wanted = {Tag(1), Tag(3)} if undone else later
        assert tagged.seen == wanted == set(tagged.tags)

    assert at_every_place((), play) > 20


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

    assert at_every_place((observers.__file__, __file__), play) > 20


def test_an_interrupted_event_is_kept_and_done_or_neither() -> None:
    """Anywhere: the standard library's code included."""

    def play(attempt: Callable[..., bool]) -> None:
        with Store(":memory:", snapshot_every=2) as kept:
            counted = kept.add(Counted(clock=SimulatedClock()), "a")
            counted.add(1)
            attempt(lambda: counted.add(2))
            assert [row["args"]["number"] for row in kept.events("a")] == list(counted.added)
            assert not counted.__environment__.paused
            counted.add(4)
            assert kept.restore(Counted, "a") == counted

    assert at_every_place((), play) > 100


def test_an_interrupted_event_has_one_row_in_the_journal_or_did_not_happen(tmp_path: Path) -> None:
    def play(attempt: Callable[..., bool]) -> None:
        path = tmp_path / "j.jsonl"
        with Journal(path, buffer=0, append=False) as journal:
            counted = Counted(clock=SimulatedClock())
            journal.attach(counted, "a")
            counted.add(1)
            attempt(lambda: counted.add(2))
            counted.add(4)
        rows = list(read(path))
        assert [row["args"].get("number") for row in rows] == [None, *counted.added]
        with Journal(path) as journal:
            journal.attach(counted, "a")
        assert [row["seq"] for row in read(path)] == list(range(len(rows) + 1))

    assert at_every_place((), play) > 60


class Alarm:
    """Lets signals raise KeyboardInterrupt in the main thread, one after another."""

    def __init__(self) -> None:
        self.on = False
        self.rung = 0

    def ring(self, *_: object) -> None:
        if self.on:
            self.rung += 1
            raise KeyboardInterrupt

    def during(self, act: Callable[[], object], seconds: float, again: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds, again)
        try:
            self.on = True
            act()
            self.on = False
        except KeyboardInterrupt:
            self.on = False  # No call before: no further interrupt comes out of this.
        signal.setitimer(signal.ITIMER_REAL, 0)


def unheard(_: object) -> None:
    """A hook for exceptions that nobody gets."""


@pytest.mark.parametrize(
    "attempts", [150, pytest.param(30_000, marks=pytest.mark.nightly)], ids=str
)
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers of signals")
def test_signals_leave_an_event_kept_and_done_or_neither(
    attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of the two is chance; every instance goes on, and comes back as it is."""
    alarm = Alarm()
    former = signal.signal(signal.SIGALRM, alarm.ring)
    # What a signal raises while the garbage of other tests is collected, nobody gets.
    monkeypatch.setattr(sys, "unraisablehook", unheard)
    gc.disable()
    try:
        for number in range(attempts):
            with Store(":memory:", snapshot_every=3) as kept:
                counted = kept.add(Counted(clock=SimulatedClock()), "a")
                counted.add(1)
                delay = 1e-6 * (1 + number * 7 % 300)
                alarm.during(partial(counted.add, 2), delay, (0, 3e-4, 1e-4)[number % 3])
                assert [row["args"]["number"] for row in kept.events("a")] == list(counted.added)
                assert counted.count == sum(counted.added)
                assert not counted.__environment__.paused
                counted.add(4)
                assert kept.restore(Counted, "a") == counted
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        gc.enable()
