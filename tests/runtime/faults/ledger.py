"""The machine of the campaign, and what a store and a journal have of an instance of it."""

from __future__ import annotations

from pathlib import Path

from lawful import Machine, Nat, Sort, Timer, total, transition
from lawful.checks.replay.fold import fold
from lawful.checks.replay.program import ReplayProgram
from lawful.checks.replay.rows import Row, journal_row
from lawful.runtime.journal import read, rotated


class Book(Sort, growing=True):
    """What entries are for."""


class Ledger(Machine):
    """Each event changes two variables, a container in place, and a timer."""

    amount: Nat = 0
    entries: list[Nat] = []
    books: dict[Book, Nat] = total(0)
    lapse: Timer = Timer()

    @transition()
    def add(self, number: Nat) -> Nat:
        self.amount += number
        self.entries.append(number)
        self.lapse.start(5)
        return self.amount


class Loan(Machine):
    """It has outputs, and is due."""

    times: Nat = 0
    end: Timer = Timer()

    @transition()
    def extend(self) -> Nat:
        self.times += 1
        self.end.start(3_600)
        return self.times

    @transition(timer="end")
    def lapse(self) -> None: ...


def is_torn(ledger: Ledger) -> bool:
    """Whether a step is half done."""
    universe = ledger.__environment__.universe
    keys = set(ledger.books) != set(universe["Book"]) if universe else False
    paused = ledger.__environment__.paused
    return keys or paused or ledger.amount != sum(ledger.entries)


def journalled(path: Path) -> list[int] | None:
    """The entries in a journal's rows, of all its files; None where replay does not fit them."""
    rows = [row for each in (*rotated(path), path) for row in read(each)]
    told = [row for row in (journal_row(each, "") for each in rows) if isinstance(row, Row)]
    verdict = fold(ReplayProgram((Ledger.lawful.ir,)), "a", told)
    fits = verdict.verdict == "fits" and len(told) == len(rows)
    return [row["args"]["number"] for row in rows if row["event"] == "add"] if fits else None
