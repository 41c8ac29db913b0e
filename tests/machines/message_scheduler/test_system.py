"""The scheduler as a whole, its rounds and its locks: what is established, and what goes wrong."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.checks.prove import prove
from lawful.checks.verdict import Verdict
from lawful.machines.message_scheduler.channel import ChannelFixed
from lawful.machines.message_scheduler.declaration import Notification, RequestFixed
from lawful.machines.message_scheduler.locks import (
    OneLock,
    TwoLocks,
    TwoLocksBothWays,
    TwoLocksUnnoticed,
)
from lawful.machines.message_scheduler.numbers import NumbersAsImplemented, NumbersFixed
from lawful.machines.message_scheduler.rounds import (
    RoundAsSeed,
    RoundFixed,
    RoundLastTakesAll,
)
from lawful.machines.message_scheduler.system import SchedulerFixed
from lawful.machines.message_scheduler.system_as_seed import (
    SchedulerAsSeed,
    SchedulerMovesFirst,
)
from lawful.machines.message_scheduler.turns import TurnsByArrival, TurnsByPriority, TurnsFixed
from lawful.spec.resolve import resolve
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states
from tests.machines.established import verdicts


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (SchedulerFixed, (7_372, 29_372, 18)),
        (RoundFixed, (310, 459, 13)),
        (OneLock, (56, 145, 9)),
        (TurnsByArrival, (553, 1_096, 7)),
        (TurnsFixed, (973, 1_876, 10)),
        (NumbersFixed, (64, 192, 8)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    within = {p.name for p in result.properties if p.verdict is Verdict.HOLDS_WITHIN_SCOPE}
    assert {p.verdict for p in result.properties if p.name not in within} <= {Verdict.HOLDS}
    if cls is RoundFixed:  # It begins with as many as the scope has.
        assert within == {p.name for p in result.properties if p.kind != "reachable"}
    else:  # The channels of one property are those that the scope has.
        assert within == ({"open_channels_are_offered"} if cls is SchedulerFixed else set())


def test_with_two_peers_and_one_client_everything_holds() -> None:
    result = checked(SchedulerFixed, "peers")
    assert counts(result) == (1_828, 8_186, 19)
    # Peers that connect have one channel here, and would have more.
    said = {p.verdict for p in result.properties if p.kind != "reachable"}
    assert said == {Verdict.HOLDS_WITHIN_SCOPE}


@pytest.mark.parametrize(
    ("cls", "expected", "violated"),
    [
        (
            SchedulerAsSeed,
            (5_608, 18_636, 18),
            [
                "nothing_at_a_peer_that_left",
                "once_stopped_nobody_is_called",
                "open_channels_are_offered",
                "callbacks_return",
                "channels.gone_for_good",
                "messages.nobody_waits_once_stopped",
                "messages.offers_differ",
            ],
        ),
        (SchedulerMovesFirst, (960, 2_875, 17), ["receiver_is_called"]),
        (RoundAsSeed, (185, 309, 7), ["ends"]),
        (RoundLastTakesAll, (404, 586, 13), ["one_each_while_several_wait"]),
        (TurnsByPriority, (65, 123, 6), ["served_in_the_end"]),
        (
            NumbersAsImplemented,
            (480, 1_524, 17),
            ["each_has_its_own", "none_is_out_of_range"],
        ),
        (TwoLocks, (13, 29, 4), ["callbacks_never_overlap", "all_come_out"]),
        (
            TwoLocksBothWays,
            (19, 43, 5),
            ["deadlock", "callbacks_never_overlap", "all_come_out"],
        ),
        (
            TwoLocksUnnoticed,
            (15, 31, 5),
            ["deadlock", "callbacks_never_overlap", "all_come_out"],
        ),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_goes_wrong(
    cls: type[Machine], expected: tuple[int, int, int], violated: list[str]
) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert same_sequences(result) == violated


def test_one_lock_is_proved_for_any_number_of_threads() -> None:
    assert verdicts(prove(resolve(OneLock).machine, sizes={})) == {"proved"}


def test_a_round_is_proved_for_any_number() -> None:
    assert verdicts(prove(resolve(RoundFixed).machine, sizes={})) == {"proved"}


def test_the_pictures_are_what_is_declared() -> None:
    same_states(ChannelFixed, RequestFixed, Notification, SchedulerFixed)
