"""What lawful writes today of the machine in `depot.py`, in each format that outlives a process.

Times of the wall clock are those of one moment, so that equal code writes equal text.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lawful import Refused
from lawful.cli import main
from lawful.runtime.databases.tables import VERSION as STORE
from lawful.runtime.journal import Journal
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from lawful.spec.codec.as_json import to_json
from lawful.spec.resolve import resolve
from tests.runtime.services.test_store import died

from .depot import Depot, Parcel

TARGET = "tests.release.depot"
SUFFIXES = {
    "ir": ".json",
    "snapshot": ".json",
    "journal": ".jsonl",
    "replay_states": ".jsonl",
    "lock": ".json",
    "certificate": ".json",
    "store": ".sql",
}
WALL = 1_790_000_000.0


def used(depot: Depot, clock: SimulatedClock, parcels: int = 2) -> Depot:
    """Some parcels, ten seconds after each, and one that is refused."""
    for number in range(parcels):
        depot.store(2**60 if number == 1 else number, Parcel(number, number == 0), f"note {number}")
        clock.advance(10)
    with contextlib.suppress(Refused):
        depot.store(0, Parcel(2, True), "again")
    return depot


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The name of a format, and what is written in it today. `folder` is for the files between."""
    clock = SimulatedClock(5.0)
    yield "ir", _json(to_json(resolve(Depot).machine, places=False))
    yield "snapshot", _json(used(Depot(clock=clock), clock).lawful.snapshot())
    rows, states = folder / "journal.jsonl", folder / "states.jsonl"
    yield "journal", journal(rows)
    first = folder / "first.jsonl"
    first.write_text("".join(_lines(rows)[:6]), encoding="utf-8")
    _run("replay", str(first), f"{TARGET}:Depot", "--keep", str(states))
    yield "replay_states", states.read_text(encoding="utf-8")
    _run("lock", f"{TARGET}:Gate", "--file", str(folder / "lock.json"))
    yield "lock", (folder / "lock.json").read_text(encoding="utf-8")
    _run("certify", f"{TARGET}:Gate", "--out", str(folder / "proofs"), "--parts", "states")
    yield "certificate", (folder / "proofs" / "Gate.certificate.json").read_text(encoding="utf-8")
    yield "store", store(folder / "store.db")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


def _run(*words: str) -> None:
    assert main([*words, "--quiet"]) == 0


def journal(path: Path) -> str:
    """A journal of ten parcels: from the ninth on a row has only the entry that is new."""
    clock = SimulatedClock(5.0)
    depot = Depot(clock=clock, limit=20)
    with patch("time.time", lambda: WALL), Journal(path) as to:
        to.attach(depot, "a")
        used(depot, clock, 10)
    return path.read_text(encoding="utf-8")


def store(path: Path) -> str:
    """The database of a store, as SQL."""
    clock = SimulatedClock(5.0)
    with patch("time.time", lambda: WALL), Store(path, outbox=[Depot]) as to:
        used(to.add(Depot(clock=clock), "a"), clock)
        died(to, "a")  # Its snapshot is of the beginning: what happened since is in the events.
    with sqlite3.connect(path) as database:
        found = [*database.iterdump(), f"PRAGMA user_version = {STORE};"]
    database.close()
    return "\n".join(found) + "\n"


def _json(data: Any) -> str:
    return json.dumps(data, indent=1) + "\n"
