"""Several processes do what one does; what goes wrong in one is told, and nobody stays behind."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from multiprocessing import active_children, get_all_start_methods

import pytest

from lawful.checks.smt.solver.processes import exit_worker, map_in_order, map_unordered

pytestmark = pytest.mark.skipif(
    "fork" not in get_all_start_methods(), reason="this system forks no process"
)


@pytest.fixture(autouse=True)
def nobody_stays() -> Iterator[None]:
    before = active_children()
    yield
    assert active_children() == before


def ended(n: int, how: str) -> str:
    return f"{n}: {how}"


def unexpected(n: int, how: str) -> int:
    raise AssertionError(f"{n} ended by {how}")


def test_everything_is_done_once_and_in_order() -> None:
    pid = os.getpid()
    assert map_in_order(lambda n: n * n, unexpected, range(20), 3) == [n * n for n in range(20)]
    assert map_in_order(lambda n: int(os.getpid() == pid), unexpected, range(9), 3) == [0] * 9


def test_a_worker_seeks_no_garbage() -> None:
    assert gc.isenabled()
    assert map_in_order(lambda n: gc.isenabled(), unexpected, range(3), 2) == [False] * 3
    assert gc.isenabled()


def test_one_worker_is_this_process() -> None:
    assert map_in_order(lambda n: os.getpid(), unexpected, range(3), 1) == [os.getpid()] * 3
    assert map_in_order(lambda n: os.getpid(), unexpected, range(0), 3) == []


def test_what_fails_fails_for_whoever_asked_and_says_where() -> None:
    def work(n: int) -> int:
        if n == 1:
            raise ValueError(f"of {n}")
        return n

    with pytest.raises(ValueError, match="of 1") as caught:
        map_in_order(work, unexpected, range(1000), 2)
    assert "in work" in caught.value.__notes__[0]


def test_of_a_process_that_dies_only_its_item_goes_without_an_answer() -> None:
    def work(n: int) -> str:
        if n % 4 == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if n % 4 == 2:
            exit_worker()
        return str(n)

    asked = map_in_order(work, ended, range(9), 2)
    ends = {1: "1: SIGKILL", 2: "2: no answer", 5: "5: SIGKILL", 6: "6: no answer"}
    assert asked == [ends.get(n, str(n)) for n in range(9)]
    exit_worker()  # This process was not begun there, and goes on.


def test_who_is_not_waited_for_ends() -> None:
    """The second item is never done: it waits for what nobody sends."""
    read, write = os.pipe()

    def work(n: int) -> int:
        return n if n == 0 else len(os.read(read, 1))

    results = map_unordered(work, unexpected, range(2), 2)
    assert next(results) == (0, 0)
    results.close()
    os.close(read)
    os.close(write)
