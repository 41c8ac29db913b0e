"""Disks: they are full in the middle of a write, or give back other bytes."""

from __future__ import annotations

import contextlib
import resource
import sqlite3
from collections.abc import Generator
from functools import partial
from pathlib import Path

from lawful.runtime.journal import Journal, JournalError, read
from lawful.runtime.outbox import Outbox, Outgoing
from lawful.runtime.store import Store, StoreError
from lawful.runtime.store_check import damages
from lawful.runtime.timers import SimulatedClock
from tests.runtime.faults.counting import Count
from tests.runtime.faults.ledger import Ledger, Loan, is_torn, journalled
from tests.runtime.faults.signals import made


@contextlib.contextmanager
def no_file_beyond(size: int) -> Generator[None]:
    """Let no file of this process get longer: a write beyond writes a part, then fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def full_store(attempts: int, folder: Path) -> Count:
    """An event that finds no room is undone, and its caller hears of it; later ones are kept."""
    found = Count()
    for number in range(attempts):
        path = folder / f"full{number}.db"
        with Store(path, snapshot_every=3) as store:
            ledger = store.add(made(), "a")
            ledger.add(1)
            ledger.add(2)
            room = max(each.stat().st_size for each in folder.glob(f"full{number}.db*"))
            seen = False
            try:
                with no_file_beyond(room + number * 37 % 5000):
                    for each in range(3, 60):
                        ledger.add(each)
            except (sqlite3.Error, StoreError):
                seen = True
            kept = list(ledger.entries)
            told = [row["args"]["number"] for row in store.events("a")]
            ledger.add(100)
        with Store(path) as store:
            back = store.restore(Ledger, "a")
            found.took(seen, list(back.entries) != [*kept, 100], told != kept or is_torn(ledger))
    return found


def full_journal(attempts: int, folder: Path) -> Count:
    """The rows of events that find no room wait; the file ends with a whole row until there is
    room again, and then has all."""
    found = Count()
    for number in range(attempts):
        path = folder / f"full{number}.jsonl"
        ledger, seen, done = made(), False, list[int]()
        with Journal(path, buffer=0) as journal:
            journal.attach(ledger, "a")
            room = path.stat().st_size
            with no_file_beyond(room + number * 37 % 900):
                for each in range(1, 9):
                    try:
                        ledger.add(each)
                        done.append(each)
                    except OSError:
                        seen = True
            early = journalled(path)
            ledger.add(100)
        told = journalled(path)
        lost = told is None or not set(done) <= set(told)
        found.took(seen, lost, early != done or told != list(ledger.entries))
    return found


def flipped_store(apart: int, folder: Path) -> Count:
    """A byte that is another: an error, or the state that was kept."""
    path, found = folder / "s.db", Count()
    with Store(path, snapshot_every=4) as store:
        ledger = store.add(made(), "a")
        other = store.add(made(), "b")
        for number in range(10):
            ledger.add(number)
        other.add(5)
        wanted = [ledger.lawful.snapshot()["variables"]["entries"], list(other.entries)]
        whole_rows = _copied(path, folder / "copy.db")
    for at in range(0, len(whole_rows), apart):
        damaged = bytearray(whole_rows)
        damaged[at] ^= 1 << at % 8 if at % 3 else 255
        for old in folder.glob("damaged.db*"):
            old.unlink()
        (folder / "damaged.db").write_bytes(damaged)
        seen, back = False, wanted
        try:
            with Store(folder / "damaged.db") as store:
                both = (store.restore(Ledger, n, clock=SimulatedClock()) for n in "ab")
                back = [list(each.entries) for each in both]
        except (StoreError, sqlite3.DatabaseError):
            seen = True
        found.took(seen, False, back != wanted)
    return found


def flipped_outbox(apart: int, folder: Path) -> Count:
    """The same of outputs, and of when an instance is due: an error, a damage that is told, or what
    was kept. Nothing else is delivered."""
    path, found = folder / "s.db", Count()
    with Store(path, outbox=[Loan]) as store:
        for name in "ab":
            loan = store.add(Loan(), name)
            for _ in range(4):
                loan.extend()
        due = [*store.due(Loan)]
        whole = _copied(path, folder / "copy.db")
    wanted = {(name, seq, seq) for name in "ab" for seq in range(1, 5)}
    for at in range(0, len(whole), apart):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8 if at % 3 else 255
        for old in folder.glob("damaged.db*"):
            old.unlink()
        (folder / "damaged.db").write_bytes(damaged)
        got, asked, seen = set[tuple[str, int, object]](), due, False
        try:
            with Store(folder / "damaged.db", synchronous="NORMAL", outbox=[Loan]) as store:
                seen = any(damages(store))
                asked = [*store.due(Loan)]
                Outbox(store, Loan, partial(_note, got)).deliver(1e12)
        except (StoreError, sqlite3.DatabaseError):
            seen = True
        found.took(seen, not seen and (got, asked) != (wanted, due), not got <= wanted)
    return found


def _note(got: set[tuple[str, int, object]], letter: Outgoing) -> None:
    got.add((letter.name, letter.seq, letter.output))


def _copied(path: Path, copy: Path) -> bytes:
    """The database as one file, while its rows are not all in snapshots."""
    source, target = sqlite3.connect(path), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()
    return copy.read_bytes()


def flipped_journal(apart: int, folder: Path) -> Count:
    """The same of a journal, which has no checksums: what fits is what the machine does."""
    path, found = folder / "whole.jsonl", Count()
    with Journal(path) as journal:
        ledger = made()
        journal.attach(ledger, "a")
        for number in range(1, 9):
            ledger.add(number)
    whole, damaged = path.read_bytes(), folder / "damaged.jsonl"
    for at in range(0, len(whole), apart):
        rows = bytearray(whole)
        rows[at] ^= 1 << at % 7 if at % 3 else 255
        damaged.write_bytes(rows)
        try:
            list(read(damaged))
            told = journalled(damaged)
        except (JournalError, UnicodeError):
            told = None
        found.took(told is None, False, told not in (None, list(ledger.entries)))
    return found
