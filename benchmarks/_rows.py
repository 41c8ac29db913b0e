"""What a row of a journal or a store costs beyond the same bytes, written or inserted ready."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks._kinds import Books, Sender
from lawful.runtime.journal import Journal
from lawful.runtime.store import Store

Call = Callable[[], Any]
# What is done: the event with its row, the event alone, and the same row of ready bytes.
Three = tuple[Call, Call, Call]
NEVER = 10**9


def _filled(size: int) -> Callable[[], tuple[Any, Call]]:
    def make() -> tuple[Any, Call]:
        made = Books()
        made.fill(size)
        return made, lambda: made.set_one(3, 1)

    return make


def _sender() -> tuple[Any, Call]:
    made = Sender()
    return made, made.send


EVENTS = {
    "a number": _sender,
    "an entry of 10": _filled(10),
    "an entry of 100,000": _filled(100_000),
}


def rows() -> Iterator[tuple[str, Three]]:
    """The rows of the table, while their files are open."""
    for title, make in EVENTS.items():
        with tempfile.TemporaryDirectory() as folder:
            yield f"a journal row, {title}", _journalled(Path(folder), make)
        with tempfile.TemporaryDirectory() as folder:
            yield f"a store row, {title}", _stored(Path(folder), make)


def _journalled(folder: Path, make: Callable[[], tuple[Any, Call]]) -> Three:
    machine, act = make()
    journal = Journal(folder / "rows.jsonl", buffer=0)
    journal.attach(machine, "a")
    act()
    data = (folder / "rows.jsonl").read_bytes().splitlines(keepends=True)[-1]
    ready = (folder / "ready.jsonl").open("ab", buffering=0)
    return act, make()[1], lambda: ready.write(data)


def _stored(folder: Path, make: Callable[[], tuple[Any, Call]]) -> Three:
    """Without the disk's confirmation: each event is a transaction that is not synchronous."""
    stores = [
        Store(folder / name, synchronous="NORMAL", snapshot_every=NEVER)
        for name in ("s.db", "r.db")
    ]
    machine, act = make()
    stores[0].add(machine, "a")
    stores[1].add(make()[0], "a")
    act()
    source, ready = (each.transactions for each in stores)
    [row] = source.rows(source.sql.events, ("a", 0))
    last = ready.row(ready.sql.whole, ("a",))[2]
    sums = [last, row[-1]]
    execute, seq = ready.database.execute, 0

    def insert() -> None:
        nonlocal seq
        seq += 1
        execute("BEGIN IMMEDIATE", ())
        execute(ready.sql.head, (seq, row[-1], None, None, "a", seq - 1, sums[seq > 1]))
        execute(ready.sql.event, ("a", seq, *row[2:]))
        execute("COMMIT", ())

    return act, make()[1], insert
