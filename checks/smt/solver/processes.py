"""The same work done with many items in several processes, each a copy of this one.

Nothing is sent to a process but the places of items: it is forked, and knows what was encoded
before. What is done with an item comes back pickled; Z3's own objects stay where they were made.
Z3 dies at times where a search is cut short: then only that process ends, and of all items only
the one that it worked at goes without an answer.

Each item is asked of Z3 in contexts of its own. So what Z3 answers depends on the item alone, and
not on which process was free to take it, or on how many there are.
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
Died = Callable[[T, str], R]  # What stands for the result of an item, and how its process ended.

_expendable: list[bool] = []  # In a process that may end without an answer it has one item.


def map_unordered(
    do: Callable[[T], R], died: Died[T, R], items: Sequence[T], workers: int
) -> Generator[tuple[int, R]]:
    """What is done with each item, with its place among them, in any order.

    With one worker, and where no process can be forked (on Windows), all is done by this process.
    Raises what `do` raises; then, and with the generator closed, the processes end at once.
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
    """What is done with each item, in their order."""
    found = sorted(map_unordered(do, died, items, workers), key=lambda row: row[0])
    return [result for _, result in found]


def map_with_shares(
    do: Callable[[T, Budget], R],
    died: Died[T, R],
    items: Sequence[T],
    workers: int,
    budget: Budget,
) -> list[R]:
    """What is done with each item, in their order, by `workers` processes: each item has an equal
    part of the budget, whichever is done first, and what all of them spend is taken off."""
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
    """End this process if it was begun here, and if not, do nothing."""
    if _expendable:
        os._exit(1)


class _WorkerDeath:
    """How a process ended that was to answer."""

    def __init__(self, code: int | None) -> None:
        known = {int(number): number.name for number in signal.Signals}
        self.how = known.get(-(code or 0), "no answer")


class _Workers:
    """Processes that are forked, and the item that each is at."""

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
        """Those of which there is an answer, or the end."""
        return [each for each in wait(list(self.at)) if isinstance(each, Connection)]

    def answer(self, ours: Connection, then: int | None) -> tuple[int, Any]:
        """What was done with an item, and which; the process, or another one, goes on with the
        next."""
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
    """What a process does: item by item, until nobody sends another."""
    # Who interrupts the work, or asks it to end, asks the process that waits for the results.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.freeze()  # What is there already is shared with that process while nobody touches it.
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
