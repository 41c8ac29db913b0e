"""The campaign: every kind of fault, counted. Nothing that returned is lost, nothing is torn.

`make test` injects few of each kind, `make nightly` many, and prints one table of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runtime.faults.counting import Count, table

if sys.platform == "win32":
    pytest.skip("signals and limits of POSIX", allow_module_level=True)

from tests.runtime.faults import disks, processes, signals

Kind = Callable[[int, Path], Count]
# Each kind with the number that the short campaign and the nightly one give it: of places and of
# bytes every which one, else how often.
KINDS: dict[str, tuple[Kind, int, int]] = {
    "interrupt anywhere in a stored event": (signals.in_a_store, 11, 1),
    "interrupt anywhere in a stored growth": (signals.in_a_growth, 41, 1),
    "interrupt anywhere in a journalled event": (signals.in_a_journal, 11, 1),
    "interrupt anywhere in a journal's rotation": (signals.in_a_rotation, 17, 1),
    "signal of the system's timer in a stored event": (signals.by_the_timer, 60, 30_000),
    "kill -9 of a process with a store and a journal": (processes.killed, 1, 150),
    "disk full under a store": (disks.full_store, 5, 300),
    "disk full under a journal": (disks.full_journal, 5, 300),
    "byte flipped in a database": (disks.flipped_store, 997, 5),
    "byte flipped in a journal": (disks.flipped_journal, 97, 1),
    "threads on one instance": (processes.threads, 30, 5_000),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_faults_cost_nothing(kind: str, tmp_path: Path) -> None:
    run, few, _ = KINDS[kind]
    found = run(few, tmp_path)
    assert found.injected > 0
    assert (found.lost, found.torn) == (0, 0), found


@pytest.mark.nightly
def test_many_faults_cost_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows: dict[str, Count] = {}
    for number, (kind, (run, _, many)) in enumerate(KINDS.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        rows[kind] = run(many, folder)
    with capsys.disabled():
        print(f"\n{table(rows)}")
    assert all(found.injected > 30 and found.observed > 0 for found in rows.values())
    assert {kind: found for kind, found in rows.items() if found.lost or found.torn} == {}
