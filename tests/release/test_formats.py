"""Each version of each format is read, and what is written today is the newest version.

`files/NAME.VERSION.*` was written by the code that had that version, and is never written again.
Whoever changes what is written gives it another version, and adds a file: `FORMATS=write` writes
the files that are not there yet.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayError, replay_increment
from lawful.checks.replay.columnar import trace_store
from lawful.checks.replay.increments import state_files
from lawful.checks.replay.program import ReplayProgram
from lawful.cli import main
from lawful.commands import certify, lock
from lawful.runtime import journal
from lawful.runtime.databases import tables
from lawful.runtime.instances import journal_rows
from lawful.runtime.journal import JournalError
from lawful.runtime.outbox import Outbox
from lawful.runtime.store import Store, StoreError
from lawful.runtime.store_check import damages
from lawful.runtime.timers import SimulatedClock
from lawful.spec.codec import as_json
from lawful.spec.resolve import resolve

from . import written
from .depot import Depot
from .written import TARGET

FILES = Path(__file__).resolve().parent / "files"
# The newest version of each format, which the code says.
NEWEST = {
    "ir": as_json.VERSION,
    "snapshot": 1,
    "journal": journal_rows.VERSION,
    "replay_states": state_files.VERSION,
    "lock": lock.VERSION,
    "certificate": certify.VERSION,
    "store": tables.VERSION,
    "trace_store": trace_store.VERSION,
}
EACH = [(name, version) for name, newest in NEWEST.items() for version in range(1, newest + 1)]


def file(name: str, version: int) -> Path:
    """The file, or folder, of a version. FileNotFoundError where there is none."""
    found = sorted(FILES.glob(f"{name}.{version}*"))
    if len(found) != 1:
        raise FileNotFoundError(f"no file of {name}, version {version}")
    return found[0]


def text(name: str, version: int) -> str:
    return file(name, version).read_text(encoding="utf-8")


def values(parcels: int) -> dict[str, Any]:
    """The variables of the depot after so many parcels, as a snapshot of that moment has them."""
    depot = Depot(clock=(clock := SimulatedClock(5.0)))
    return written.used(depot, clock, parcels).lawful.snapshot()


# How each is read.


def _ir(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    machine, known = as_json.from_json(data), resolve(Depot).machine
    assert as_json.to_json(machine, places=False) == data
    assert as_json.fingerprints(machine) == as_json.fingerprints(known)


def _snapshot(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    depot = Depot.lawful.restore(data, clock=SimulatedClock(0.0))
    assert depot.lawful.snapshot() == data == values(2)


def _journal(path: Path) -> None:
    rows = list(journal.read(path))
    answer = replayed(path)
    (machine,) = answer["machines"]
    assert machine["verdicts"]["fits"] == machine["instances"] == 1
    assert machine["events"] == len(rows) - 1
    assert {row["v"] for row in rows} == {".1": {1}, ".2": {1, 2}}.get(path.suffixes[0], {3})


def replayed(path: Path, machine: str = "Depot") -> dict[str, Any]:
    """The answer of a replay that fits."""
    out = Path("answer.json").absolute()
    given = [str(path), f"{TARGET}:{machine}", "--engine", "local", "--quiet"]
    assert main(["replay", *given, "--json", str(out)]) == 0
    answer: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return answer


def _replay_states(path: Path) -> None:
    """The rows after the first six go on from the states of these."""
    rows = Path("later.jsonl").absolute()
    rows.write_text("".join(text("journal", 3).splitlines(keepends=True)[6:]), encoding="utf-8")
    program = ReplayProgram((resolve(Depot).machine,))
    found = replay_increment([rows], program, state_files.read_states(path, program).states)
    (state,) = found.states.values()
    assert json.loads(state)["next"] == 12


def _lock(path: Path) -> None:
    assert main(["lock", f"{TARGET}:Gate", "--file", str(path), "--stale", "--quiet"]) == 0


def _certificate(path: Path) -> None:
    folder = Path("certificate").absolute()
    folder.mkdir(exist_ok=True)
    shutil.copy(path, folder / "Gate.certificate.json")
    given = ["--out", str(folder), "--parts", "states", "--verify", "--quiet"]
    assert main(["certify", f"{TARGET}:Gate", *given]) == 0


def _store(path: Path) -> None:
    database = database_of(path)
    with Store(database, outbox=[Depot]) as store:
        depot = store.restore(Depot, "a", clock=SimulatedClock(1_000.0))
        found = depot.lawful.snapshot()["variables"]
        events = [row["seq"] for row in store.events("a")]
        sent = list[Any]()
        Outbox(store, Depot, lambda letter: sent.append((letter.seq, letter.output))).deliver()
        assert [*damages(store)] == []
    wanted = values(2)["variables"]
    assert {**found, "due": None} == {**wanted, "due": None}
    assert events == [1, 2]
    assert sent == ([(1, 1), (2, 2)] if path.name == "store.5.sql" else [])
    with sqlite3.connect(database) as opened:
        assert opened.execute("PRAGMA user_version").fetchone() == (tables.VERSION,)
    opened.close()


def database_of(path: Path) -> Path:
    """The database that the SQL in a file makes."""
    made = Path("store.db").absolute()
    made.unlink(missing_ok=True)
    database = sqlite3.connect(made, isolation_level=None)
    database.executescript(path.read_text(encoding="utf-8"))
    database.close()
    return made


def _trace_store(path: Path) -> None:
    (machine,) = replayed(path, "Gate")["machines"]
    assert (machine["verdicts"]["fits"], machine["events"]) == (1, 3)


READERS: dict[str, Callable[[Path], None]] = {
    "ir": _ir,
    "snapshot": _snapshot,
    "journal": _journal,
    "replay_states": _replay_states,
    "lock": _lock,
    "certificate": _certificate,
    "store": _store,
    "trace_store": _trace_store,
}


@pytest.mark.parametrize(("name", "version"), EACH)
def test_each_version_is_read(
    name: str, version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    READERS[name](file(name, version))


def test_what_is_written_today_is_the_newest_version(tmp_path: Path) -> None:
    for name, found in written.texts(tmp_path):
        path = FILES / f"{name}.{NEWEST[name]}{written.SUFFIXES[name]}"
        if os.environ.get("FORMATS") == "write" and not path.exists():
            path.write_text(found, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == found, f"{name}: give it another version"


def test_every_file_is_of_a_version_that_is_read() -> None:
    found = {tuple(path.name.split(".")[:2]) for path in FILES.iterdir()}
    assert found == {(name, str(version)) for name, version in EACH}


@pytest.mark.parametrize("name", [name for name in NEWEST if name != "trace_store"])
def test_a_version_of_the_future_is_refused_by_its_number(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    newest, path = NEWEST[name], file(name, NEWEST[name])
    future = re.sub(
        rf'(\\?"v(?:ersion)?\\?": ?|user_version = ){newest}\b', r"\g<1>97", path.read_text("utf-8")
    )
    assert future != path.read_text("utf-8")
    later = tmp_path / path.name
    later.write_text(future, encoding="utf-8")
    with pytest.raises(
        (ValueError, JournalError, ReplayError, StoreError, AssertionError)
    ) as error:
        READERS[name](later)
    assert "97" in f"{error.value}{capsys.readouterr().err}"


def test_the_page_names_each_format() -> None:
    page = (FILES.parents[2] / "docs" / "versions.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| [^|]+ \| `(\w+)` \| (\d) \|", page, re.M))
    assert rows == {name: str(version) for name, version in NEWEST.items()}
