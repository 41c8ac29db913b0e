"""The campaign: every kind of fault, counted. Nothing that returned is lost, nothing is torn.

`make test` injects few of each kind, `make nightly` many; the summary of both has a table of them.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runtime.faults.counting import FAULT, Count

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
    "kill -9 between an intent and its acknowledgement": (processes.noted, 2, 60),
    "disk full under a store": (disks.full_store, 5, 300),
    "disk full under a journal": (disks.full_journal, 5, 300),
    "byte flipped in a database": (disks.flipped_store, 997, 5),
    "byte flipped under an outbox": (disks.flipped_outbox, 1499, 11),
    "byte flipped in a journal": (disks.flipped_journal, 97, 1),
    "threads on one instance": (processes.threads, 30, 5_000),
}


Record = Callable[[str, object], None]


def injected(kind: str, how_often: int, folder: Path, record: Record) -> Count:
    """Inject faults of a kind; the summary of the run shows what they did."""
    found = KINDS[kind][0](how_often, folder)
    record(FAULT, [kind, *dataclasses.astuple(found)])
    assert (found.lost, found.torn) == (0, 0), found
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_faults_cost_nothing(kind: str, tmp_path: Path, record_property: Record) -> None:
    assert injected(kind, KINDS[kind][1], tmp_path, record_property).injected > 0


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_many_faults_cost_nothing(kind: str, tmp_path: Path, record_property: Record) -> None:
    found = injected(kind, KINDS[kind][2], tmp_path, record_property)
    assert found.injected > 30 and found.observed > 0
