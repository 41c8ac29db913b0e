"""Each guard of the windows is true and refuses in some scope, or is listed with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful import machines as package
from lawful.machines.read_only_windows.callers import TransactionCalled
from lawful.machines.read_only_windows.closing import PoolFixed
from lawful.machines.read_only_windows.in_time import NodeInTime, NodeTight
from lawful.machines.read_only_windows.requests import Request
from lawful.machines.read_only_windows.system import NodeFixed
from lawful.machines.read_only_windows.system_as_seed import NodeSingleThreaded
from tests.machines.covering import Guard, exercised, texts

FOLDER = Path(package.__path__[0]) / "read_only_windows"
# What is odd about a guard in every scope, and why.
LISTED: dict[Guard, tuple[str, str]] = {
    ("steps", "needed(self.main[0])"): (
        "never refuses",
        "The guard before it says that something is posted, and the list holds writes alone.",
    ),
}
# Of the source of `finish`, where the guard has no text.
OF_A_SOURCE = {("declaration", "tasks[thread] is EXECUTING"): "never refuses"}


def test_what_is_listed_is_in_the_source() -> None:
    assert set(texts(FOLDER, {guard: odd for guard, (odd, _) in LISTED.items()}).values()) == {True}


@pytest.mark.nightly
def test_everything_else_happens() -> None:
    systems = (NodeFixed, NodeInTime, NodeTight, NodeSingleThreaded)
    others = (PoolFixed, TransactionCalled, Request)
    found = exercised(*((cls, "scope") for cls in (*systems, *others)))
    assert found.odd == {guard: odd for guard, (odd, _) in LISTED.items()} | OF_A_SOURCE
    assert (found.unreached, found.never) == (frozenset(), frozenset())
