"""A proof has the same answers whatever else the machine does, and with however many processes.

Not only the verdicts are compared: that an obligation took the same number of Z3's units says that
each of its searches went the same way.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_all_start_methods

import pytest

from lawful import Machine
from lawful.checks.prove import How, Method, prove
from lawful.checks.prove.result import Obligation, PropertyProof
from lawful.checks.smt.solver.budget import Effort
from lawful.machines.unicast.as_seed import ReceiverEntryAsSeed
from lawful.spec.resolve import resolve
from tests.checks.declarations.provable import Counter, Hard, Owned, PlacesUnguarded
from tests.classics.jugs import Jugs
from tests.classics.peterson import Peterson

pytestmark = pytest.mark.skipif(
    "fork" not in get_all_start_methods(), reason="this system forks no process"
)
SMALL = Effort(500_000)
ASKED: tuple[tuple[type[Machine], Method], ...] = (
    (Counter, "auto"),
    (Owned, "induction"),
    (PlacesUnguarded, "auto"),
    (Jugs, "auto"),
    (ReceiverEntryAsSeed, "auto"),
    (Peterson, "induction"),
    (Hard, "auto"),
)
BUSY = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"

Told = tuple[list[Obligation], list[PropertyProof]]


def told(cls: type[Machine], method: Method, workers: int) -> Told:
    """All that is answered, but for how long it took."""
    result = prove(resolve(cls).machine, sizes={}, how=How(method, SMALL, workers=workers))
    return [replace(o, seconds=0.0) for o in result.obligations], [*result.properties]


@contextmanager
def busy(many: int) -> Generator[None]:
    """Inside, so many processes take whatever time the machine has."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(many)]
    try:
        yield
    finally:
        for each in loops:
            each.kill()
            each.wait()


@pytest.mark.nightly
@pytest.mark.parametrize(("cls", "method"), ASKED, ids=[cls.__name__ for cls, _ in ASKED])
def test_four_processes_answer_as_one_does(cls: type[Machine], method: Method) -> None:
    alone = told(cls, method, 1)
    assert sum(o.units for o in alone[0]) > 0
    assert told(cls, method, 4) == alone


@pytest.mark.nightly
@pytest.mark.parametrize(("cls", "method"), ASKED, ids=[cls.__name__ for cls, _ in ASKED])
def test_a_busy_machine_answers_as_an_idle_one_does(cls: type[Machine], method: Method) -> None:
    alone = told(cls, method, 1)
    with busy(4):
        assert told(cls, method, 1) == alone
        assert told(cls, method, 4) == alone
        assert told(cls, method, 8) == alone
