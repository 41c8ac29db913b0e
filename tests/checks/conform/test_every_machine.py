"""The runtime does what the reference engine says, on every machine of the tests.

Conformance again, with what the machines themselves break left aside: here it is enough that the
runtime breaks it in the same way.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from lawful.checks.conform import oracle as model
from lawful.machines.read_only_windows.as_seed import WindowAsSeed
from lawful.machines.unicast.system import LinkAsSeed, LinkFixed
from lawful.runtime.instance import Machine
from lawful.runtime.timers import SimulatedClock
from lawful.spec.resolve import resolve
from lawful.testing import conformance
from tests.checks.declarations import conformance as conforming
from tests.checks.declarations import encoding, exploration, families, rings
from tests.classics.jugs import Jugs
from tests.classics.peterson import Peterson
from tests.classics.two_phase import TwoPhase

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=5, stateful_step_count=30
)
PARAMETERS: dict[str, dict[str, Any]] = {
    "WindowAsSeed": {"read_only_transaction_num_threads": 2, "read_only_transaction_threshold": 2},
    "Table": {"quota": {encoding.Lamp.OFF: 1, encoding.Lamp.ON: 2, encoding.Lamp.BROKEN: 3}},
}


def defined(module: ModuleType) -> list[type[Machine]]:
    """The machines that a module defines."""
    found: list[type[Machine]] = [c for c in vars(module).values() if is_machine(c)]
    return [cls for cls in found if cls.__module__ == module.__name__]


def is_machine(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Machine)


MACHINES = [
    *defined(encoding),
    *defined(rings),
    *defined(conforming),
    *defined(exploration),
    *defined(families),
    Jugs,
    Peterson,
    TwoPhase,
    LinkFixed,
    LinkAsSeed,
    WindowAsSeed,
]


class Everything(frozenset[str]):
    """What is excused: all."""

    def __contains__(self, name: object) -> bool:
        return True


def excused(resolved: object) -> frozenset[str]:
    return Everything()


def agree(cls: type[Machine], used: settings) -> None:
    sorts = resolve(cls).world.sorts.items()

    def make(clock: SimulatedClock) -> Machine:
        universe = {sort: [f"{name}{i}" for i in range(3)] for name, sort in sorts}
        return cls(clock=clock, universe=universe, **PARAMETERS.get(cls.__name__, {}))

    conformance(cls, make, settings=used)("runTest").debug()


@pytest.mark.one_in(12)
@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
def test_runtime_and_reference_agree(cls: type[Machine], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "_excused", excused)
    agree(cls, QUICK)


@pytest.mark.nightly
@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
def test_they_agree_in_long_runs(cls: type[Machine], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "_excused", excused)
    agree(cls, settings(QUICK, derandomize=False, max_examples=100, stateful_step_count=50))
