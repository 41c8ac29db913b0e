"""Questions asked by several threads: Z3 searches in all of them at once, and everything else is
done by one at a time, so that they share one encoding.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

PAUSE = 0.02  # Seconds between two attempts to interrupt a search.


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class _Mine(threading.local):
    """Of a thread that takes turns: that of its pool."""

    pool: _Pool | None = None


_mine = _Mine()


class _Pool:
    """Threads of which one at a time has its turn."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.stopped = False
        self.searches: list[Callable[[], None]] = []  # How each that goes on is interrupted.

    def work(self, do: Callable[[T], R], item: T) -> R:
        """What is done with an item, in this thread's turn."""
        with self.turn:
            _mine.pool = self
            try:
                self.go_on()
                return do(item)
            finally:
                _mine.pool = None

    def go_on(self) -> None:
        if self.stopped:
            raise Stopped

    def stop(self, asked: Collection[Future[R]]) -> None:
        """Nobody waits any more: searches are interrupted, and nothing else is begun."""
        self.stopped = True
        begun = [each for each in asked if not each.cancelled()]
        while wait(begun, PAUSE).not_done:  # One that has just begun does not hear of it at once.
            for interrupt in list(self.searches):
                interrupt()


@contextmanager
def searching(interrupt: Callable[[], None]) -> Generator[None]:
    """Meanwhile another thread has its turn; raises Stopped where nobody waits any more, and then
    the search is interrupted."""
    pool = _mine.pool
    if pool is None:
        yield
        return
    pool.searches.append(interrupt)
    pool.turn.release()
    try:
        yield
    finally:
        pool.turn.acquire()
        pool.searches.remove(interrupt)
    pool.go_on()


def spread(
    do: Callable[[T], R], items: Sequence[T], workers: int
) -> Generator[tuple[int, R]]:
    """What is done with each item, with its place among them, in any order."""
    if workers < 2 or len(items) < 2:
        for i, item in enumerate(items):
            yield i, do(item)
        return
    pool = _Pool()
    with ThreadPoolExecutor(workers) as threads:
        asked: dict[Future[R], int] = {
            threads.submit(copy_context().run, pool.work, do, item): i
            for i, item in enumerate(items)
        }
        try:
            for each in as_completed(asked):
                yield asked[each], each.result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            pool.stop(asked)


def in_order(do: Callable[[T], R], items: Sequence[T], workers: int) -> list[R]:
    """What is done with each item, in their order."""
    return [result for _, result in sorted(spread(do, items, workers), key=lambda row: row[0])]
