"""Threads that take turns: one at a time, but for their searches; and none goes on for nobody."""

from __future__ import annotations

import threading
import time

import pytest

from lawful.checks.logic import Logic
from lawful.checks.solve import ask
from lawful.checks.spread import in_order, searching, spread


def nothing() -> None:
    """What a search of no length is interrupted by."""


def test_everything_is_done_once_and_in_order() -> None:
    assert in_order(lambda n: n * n, range(20), 3) == [n * n for n in range(20)]


def test_one_at_a_time_has_its_turn_and_searches_overlap() -> None:
    inside: list[int] = []
    together = threading.Barrier(2, timeout=30.0)  # Passed only by two that search at once.

    def work(n: int) -> int:
        inside.append(n)
        assert len(inside) == 1
        inside.remove(n)
        with searching(nothing):
            together.wait()
        inside.append(n)
        assert len(inside) == 1
        inside.remove(n)
        return n

    assert in_order(work, range(8), 2) == list(range(8))


def test_what_fails_fails_for_whoever_asked_and_nothing_else_is_begun() -> None:
    done: list[int] = []

    def work(n: int) -> int:
        if n == 1:
            raise ValueError(n)
        with searching(nothing):
            done.append(n)
        return n

    with pytest.raises(ValueError, match="1"):
        in_order(work, range(1000), 2)
    assert len(done) < 1000


@pytest.mark.nightly
def test_who_is_not_waited_for_is_interrupted() -> None:
    """A search that would take minutes ends with the first result that nobody goes on from."""
    begun = threading.Event()

    def work(n: int) -> str:
        if n == 0:
            with searching(nothing):
                assert begun.wait(30.0)
            return "done"
        logic = Logic()
        x, y, z = (logic.fresh(name, logic.int) for name in "xyz")
        cube = [logic.times(logic.times(v, v), v) for v in (x, y, z)]
        hard = logic.equal(logic.add(*cube), logic.number(114))  # Nobody knows of any.
        begun.set()
        return ask(logic, [hard], 300.0).status

    began = time.perf_counter()
    results = spread(work, range(2), 2)
    assert next(results) == (0, "done")
    results.close()
    assert time.perf_counter() - began < 60.0
