"""Work spread over processes that are forked from this one, so that a crash of Z3 costs one item.

A process receives only the positions of items: it is a copy, and knows what was encoded before it
was forked. Results come back pickled; Z3's objects stay where they were made. Z3 crashes at times
when a search is cut short: then one process ends, and only its item goes without an answer.

Each item is asked in Z3 contexts of its own. So the answer depends on the item alone, and not on
which process took it or on how many there are.
"""

from __future__ import annotations

import gc
import os
import signal
import traceback
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from .budget import Budget
from .z3_terms import forget

T = TypeVar("T")
R = TypeVar("R")
# The result of an item whose process ended, from the item and how the process ended.
Died = Callable[[T, str], R]

_expendable: list[bool] = []  # Not empty in a worker, which may end without an answer.


def map_unordered(
    do: Callable[[T], R], died: Died[T, R], items: Sequence[T], workers: int
) -> Generator[tuple[int, R]]:
    """Apply `do` to each item; yield the results with their positions, as they arrive.

    With one worker, or where no process can be forked (on Windows), this process does all. Raises
    what `do` raises. Then, and when the generator is closed, the processes end at once.
    """
    if workers < 2 or not items or "fork" not in get_all_start_methods():
        for i, item in enumerate(items):
            forget()
            yield i, do(item)
        return
    crew = _Workers(lambda i: do(items[i]))
    try:
        left = iter(range(len(items)))
        for i in islice(left, workers):
            crew.begin(i)
        while crew.at:
            for each in crew.answered():
                i, result = crew.answer(each, next(left, None))
                yield i, died(items[i], result.how) if isinstance(result, _WorkerDeath) else result
    finally:
        crew.end()


def map_in_order(
    do: Callable[[T], R], died: Died[T, R], items: Sequence[T], workers: int
) -> list[R]:
    """Apply `do` to each item; the results in the order of the items."""
    found = sorted(map_unordered(do, died, items, workers), key=lambda row: row[0])
    return [result for _, result in found]


def map_with_shares(
    do: Callable[[T, Budget], R],
    died: Died[T, R],
    items: Sequence[T],
    workers: int,
    budget: Budget,
) -> list[R]:
    """Apply `do` to each item within an equal share of the budget; the results in order.

    The budget is charged with what all of them spend.
    """
    share = budget.left / max(1, len(items))

    def within(item: T) -> tuple[R, Budget]:
        own = budget.apart(share)
        return do(item, own), own

    rows = map_in_order(
        within, lambda item, how: (died(item, how), budget.apart(0)), items, workers
    )
    for _, own in rows:
        budget.charge(own)
    return [result for result, _ in rows]


def exit_worker() -> None:
    """End this process if it is a worker; otherwise do nothing."""
    if _expendable:
        os._exit(1)


class _WorkerDeath:
    """How a process ended that was to answer."""

    def __init__(self, code: int | None) -> None:
        known = {int(number): number.name for number in signal.Signals}
        self.how = known.get(-(code or 0), "no answer")


class _Workers:
    """Forked processes, and the item that each works at."""

    def __init__(self, work: Callable[[int], Any]) -> None:
        self.work = work
        self.at: dict[Connection, tuple[BaseProcess, int]] = {}

    def begin(self, i: int) -> None:
        fork = get_context("fork")
        ours, theirs = fork.Pipe()
        # A copy of our ends would keep a process waiting after we are gone.
        args = (self.work, theirs, [ours, *self.at])
        process = fork.Process(target=_serve, args=args, daemon=True)
        process.start()
        theirs.close()
        ours.send(i)
        self.at[ours] = process, i

    def answered(self) -> list[Connection]:
        """The connections with an answer, or whose process has ended."""
        return [each for each in wait(list(self.at)) if isinstance(each, Connection)]

    def answer(self, ours: Connection, then: int | None) -> tuple[int, Any]:
        """The position and result of one item; the process, or a new one, gets the next item."""
        process, i = self.at.pop(ours)
        try:
            done, result = ours.recv()
        except (EOFError, ConnectionResetError):
            process.join()
            ours.close()
            if then is not None:
                self.begin(then)
            return i, _WorkerDeath(process.exitcode)
        if not done or then is None:
            ours.close()
            process.join()
        else:
            ours.send(then)
            self.at[ours] = process, then
        if not done:
            raise result
        return i, result

    def end(self) -> None:
        for ours, (process, _) in self.at.items():
            process.kill()
            process.join()
            ours.close()


def _serve(work: Callable[[int], Any], theirs: Connection, others: Sequence[Connection]) -> None:
    """The loop of a worker: item by item, until no more are sent."""
    # An interrupt is for the process that waits for the results.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.freeze()  # Memory is shared with the parent as long as nobody writes to it.
    gc.disable()  # Terms refer to no term that was made after them: there are no cycles to seek.
    _expendable.append(True)
    for each in others:
        each.close()
    while True:
        try:
            i = theirs.recv()
        except EOFError:
            return
        forget()
        try:
            answer = True, work(i)
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = False, error
        theirs.send(answer)
