"""Ctrl-C between any two instructions: of a runner, which strands nothing, and of a step, which
happens whole or not at all.

CPython delivers an exception from outside after a call, where a function begins, and where a loop
goes round. Each of these places is tried, one after the other; but for those where a block ends
with a call: there the exception is one of the block, and a tracer can only raise one after it.
"""

from __future__ import annotations

import dis
import inspect
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import CodeType, FrameType
from typing import Any

import pytest

from lawful import Machine, Nat, Timer, require, transition
from lawful.runtime import runner as runners
from lawful.runtime import store as stores
from lawful.runtime.instances import observers
from lawful.runtime.instances.observers import Stepped
from lawful.runtime.runner import Runner
from lawful.runtime.store import Store
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
    """Raises KeyboardInterrupt at the place of this number, in code of these files."""

    def __init__(self, number: int, *files: str) -> None:
        self.left = number
        self.files = files
        self.before = dict[FrameType, int]()
        self.names = dict[CodeType, dict[int, str]]()
        self.blocks = dict[CodeType, list[tuple[int, int]]]()

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in self.files:
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
    sys.settrace(interrupt)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(kept)
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


@pytest.mark.parametrize("event", ["sell", "clear"])
def test_an_interrupted_step_is_undone_or_done(event: str) -> None:
    def whole(shop: Shop) -> Any:
        return shop.sold, dict(shop.stock), set(shop.names), list(shop.last)

    def act(shop: Shop) -> None:
        shop.lawful.take(event, *((2, 3) if event == "sell" else ()))

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
    def play(attempt: Callable[..., bool]) -> None:
        with Store(":memory:", snapshot_every=2) as kept:
            counted = kept.add(Counted(), "a")
            counted.add(1)
            attempt(lambda: counted.add(2))
            assert len(kept.events("a")) == len(counted.added)
            counted.add(4)
            assert kept.restore(Counted, "a") == counted

    assert at_every_place((stores.__file__, observers.__file__), play) > 60
