"""Signals: at each place where CPython delivers one, and by the system's timer."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lawful.runtime.journal import Journal
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from tests.runtime.faults.counting import Count
from tests.runtime.faults.ledger import Book, Ledger, is_torn, journalled
from tests.runtime.services.interrupting import at_every_place

Act = Callable[[], object]
Interrupted = Callable[[Act], bool]  # Runs it, and says whether it was interrupted.


def made() -> Ledger:
    return Ledger(universe={Book: ["x"]}, clock=SimulatedClock())


def stored(event: Callable[[Ledger], object], interrupted: Interrupted, found: Count) -> None:
    """Interrupt an event of a stored instance: it is kept and done, or neither; both go on."""
    with Store(":memory:", snapshot_every=2) as store:
        ledger = store.add(made(), "a")
        ledger.add(1)
        if not interrupted(partial(event, ledger)):
            return
        rows = store.events("a")
        numbers = [row["args"]["number"] for row in rows if row["transition"] == "add"]
        books = sum(row["transition"] == "grow_Book" for row in rows)
        torn = numbers != list(ledger.entries) or books + 1 != len(ledger.books) or is_torn(ledger)
        ledger.add(4)
        back = store.restore(Ledger, "a")
        lost = back.entries != ledger.entries or not {1, 4} <= set(back.entries)
        found.took(True, lost, torn or dict(back.books) != dict(ledger.books))


def add(ledger: Ledger) -> None:
    ledger.add(2)


def grow(ledger: Ledger) -> None:
    ledger.lawful.grow(Book, "y")


def in_a_store(every: int, _: Path) -> Count:
    found = Count()
    at_every_place((), lambda attempt: stored(add, attempt, found), every)
    return found


def in_a_growth(every: int, _: Path) -> Count:
    found = Count()
    at_every_place((), lambda attempt: stored(grow, attempt, found), every)
    return found


def in_a_journal(every: int, folder: Path, largest: int | None = None) -> Count:
    """In the event and in its row; then the numbers of the next journal go on."""
    found, numbers = Count(), iter(range(1_000_000))

    def play(interrupted: Interrupted) -> None:
        path = folder / f"{next(numbers)}" / "j.jsonl"
        path.parent.mkdir()
        with Journal(path, buffer=0, largest=largest) as journal:
            ledger = made()
            journal.attach(ledger, "a")
            ledger.add(1)
            was = interrupted(lambda: ledger.add(2))
            ledger.add(4)
            ledger.add(8)
        told = journalled(path)
        lost = told is None or not {1, 4, 8} <= set(told)
        with Journal(path) as journal:
            journal.attach(ledger, "a")
        if was:
            found.took(True, lost, told != list(ledger.entries) or is_torn(ledger))

    at_every_place((), play, every)
    return found


def in_a_rotation(every: int, folder: Path) -> Count:
    """The same where every event begins a new file."""
    return in_a_journal(every, folder, largest=1)


class Alarm:
    """Lets signals raise KeyboardInterrupt in the main thread, one after another."""

    def __init__(self, seconds: float, again: float) -> None:
        self.on = False
        self.rung = 0
        self.seconds = seconds
        self.again = again

    def ring(self, *_: object) -> None:
        if self.on:
            self.rung += 1
            raise KeyboardInterrupt

    def during(self, act: Act) -> bool:
        signal.setitimer(signal.ITIMER_REAL, self.seconds, self.again)
        try:
            self.on = True
            act()
            self.on = False
        except KeyboardInterrupt:
            self.on = False  # No call before: no further interrupt comes out of this.
        signal.setitimer(signal.ITIMER_REAL, 0)
        return True


def unheard(_: object) -> None:
    """A hook for exceptions that nobody gets."""


def by_the_timer(attempts: int, _: Path) -> Count:
    """When the signal comes is chance; so one that comes too late counts as injected, too."""
    found = Count()
    former = signal.getsignal(signal.SIGALRM)
    # What a signal raises while the garbage of other tests is collected, nobody gets.
    hook, sys.unraisablehook = sys.unraisablehook, unheard
    gc.disable()
    try:
        for number in range(attempts):
            alarm = Alarm(1e-6 * (1 + number * 7 % 300), (0, 3e-4, 1e-4)[number % 3])
            signal.signal(signal.SIGALRM, alarm.ring)
            stored((add, grow)[number % 2], alarm.during, found)
            found.observed -= not alarm.rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        sys.unraisablehook = hook
        gc.enable()
    return found
