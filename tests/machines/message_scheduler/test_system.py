"""The scheduler with all around it: what is established, and what goes wrong in the document."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.checks.verdict import Verdict
from lawful.machines.message_scheduler.ageing import MessagingAgeing, MessagingAgeingAtOnce
from lawful.machines.message_scheduler.declaration import Scheduler
from lawful.machines.message_scheduler.locks_as_seed import (
    TwoLocks,
    TwoLocksBothWays,
    TwoLocksUnnoticed,
)
from lawful.machines.message_scheduler.rounds_as_seed import RoundAsSeed
from lawful.machines.message_scheduler.system import (
    MessagingFair,
    MessagingFixed,
    MessagingInTime,
)
from lawful.machines.message_scheduler.system_as_seed import (
    MessagingAsSeed,
    MessagingByPriority,
    MessagingCounting,
    MessagingLastTakesAll,
    MessagingMovesFirst,
)
from lawful.machines.message_scheduler.threads import Threads
from lawful.spec.resolve import resolve
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states

GOOD = {Verdict.HOLDS, Verdict.HOLDS_WITHIN_SCOPE}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (MessagingInTime, (3_382, 37_549, 22)),
        (MessagingFair, (920, 10_498, 23)),
        (MessagingAgeing, (4_270, 48_792, 23)),
        (MessagingAgeingAtOnce, (3_262, 37_434, 23)),
        (Threads, (194, 353, 16)),
        pytest.param(*(MessagingFixed, (29_914, 649_630, 27)), marks=pytest.mark.nightly),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert {p.verdict for p in result.properties} <= GOOD
    assert [name for name, row in result.transitions.items() if not row["enabled"]] == []


def test_every_composed_machine_has_the_scheduler_of_a_service() -> None:
    """And no steps of its own on what the scheduler decides."""
    for cls in (MessagingFixed, MessagingFair, MessagingAgeing, MessagingInTime, Threads):
        assert resolve(cls).parts == {"Scheduler": Scheduler}


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (MessagingAsSeed, (8_635, 51_969, 30)),
        pytest.param(*(MessagingMovesFirst, (11_845, 157_660, 41)), marks=pytest.mark.nightly),
        pytest.param(*(MessagingLastTakesAll, (28_482, 443_662, 27)), marks=pytest.mark.nightly),
        pytest.param(*(MessagingCounting, (21_353, 305_272, 36)), marks=pytest.mark.nightly),
        (MessagingByPriority, (4_270, 48_792, 23)),
        (RoundAsSeed, (28, 46, 4)),
        (TwoLocks, (13, 29, 4)),
        (TwoLocksBothWays, (19, 43, 5)),
        (TwoLocksUnnoticed, (15, 31, 5)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_goes_wrong(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert set(same_sequences(result)) == set(resolve(cls).expects)


def test_the_pictures_are_what_is_declared() -> None:
    same_states(Scheduler, Threads)
