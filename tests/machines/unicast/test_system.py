"""A link as a whole: what exploration establishes of it, and how it was as written."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.machines.unicast.callers import (
    ReceiverCalled,
    ReceiverUnreaped,
    SenderCalled,
    SenderUnreaped,
)
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.exchange import Exchange
from lawful.machines.unicast.interruptions import LinkClosed, LinkPartitioned
from lawful.machines.unicast.reports import LinkBoasting, LinkReporting
from lawful.machines.unicast.restarts import (
    LinkComparing,
    LinkRestarting,
    LinkSetBack,
    LinkWithEpoch,
    LinkWrapping,
    LinkWrappingInTime,
)
from lawful.machines.unicast.system import (
    LinkAsSeed,
    LinkBurst,
    LinkFixed,
    LinkLossy,
    LinkNarrow,
)
from lawful.machines.unicast.system_as_seed import (
    LinkAckingHighest,
    LinkBusy,
    LinkForgetful,
    LinkLateAck,
    LinkTorn,
    LinkUnasked,
    LinkWedged,
)
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states


def test_everything_holds() -> None:
    result = checked(LinkFixed)
    assert counts(result) == (15_665, 87_638, 26)
    assert {p.verdict.value for p in result.properties} == {"holds"}


@pytest.mark.nightly
def test_everything_holds_though_losses_never_end() -> None:
    result = checked(LinkLossy)
    assert counts(result) == (5_801, 39_086, 25)
    assert [p.name for p in result.properties if not p.verdict.good] == ["two_copies_are_under_way"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("cls", "expected"),
    [(LinkBurst, (19_449, 164_354, 31)), (LinkNarrow, (52_945, 553_794, 44))],
)
def test_everything_holds_where_gaps_arise(
    cls: type[Machine], expected: tuple[int, int, int]
) -> None:
    """Also where the receiver keeps none of what is ahead."""
    result = checked(cls)
    assert counts(result) == expected
    assert [p.name for p in result.properties if not p.verdict.good] == ["two_copies_are_under_way"]


@pytest.mark.nightly
def test_what_goes_wrong() -> None:
    result = checked(LinkAsSeed)
    assert counts(result) == (10_292, 53_746, 27)
    assert same_sequences(result) == [
        "no_duplicate",
        "in_order",
        "no_loss",
        "settled",
        "sent_is_delivered",
        "sent_is_purged",
        "sender.no_silent_loss",
        "receiver.never_goes_back",
    ]


@pytest.mark.one_in(9)
@pytest.mark.parametrize(
    ("cls", "expected", "violated"),
    [
        (LinkTorn, (4_679, 23_458, 24), {"no_loss", "settled"}),
        (
            LinkForgetful,
            (2_962, 10_840, 26),
            {
                "no_duplicate",
                "in_order",
                "acks_are_true",
                "purged_is_not_awaited",
                "receiver.never_goes_back",
            },
        ),
        pytest.param(
            LinkWedged,
            (28_299, 114_388, 42),
            {
                "no_duplicate",
                "in_order",
                "acks_are_true",
                "purged_is_not_awaited",
                "settled",
                "receiver.never_goes_back",
            },
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            LinkLateAck,
            (2_801, 7_713, 36),
            {
                "no_duplicate",
                "in_order",
                "acks_are_true",
                "purged_is_not_awaited",
                "settled",
                "receiver.never_goes_back",
            },
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            LinkAckingHighest,
            (13_047, 60_412, 30),
            {
                "acks_are_true",
                "acked_is_delivered",
                "no_loss",
                "purged_is_not_awaited",
                "settled",
            },
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            LinkBusy,
            (5_741, 34_182, 26),
            {"sent_is_delivered", "sent_is_purged", "idle_is_removed"},
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            LinkUnasked,
            (4_885, 30_084, 22),
            {
                "sent_is_delivered",
                "sent_is_purged",
                "gaps_are_filled",
                "idle_is_removed",
                "silence_follows",
            },
            marks=pytest.mark.nightly,
        ),
        (LinkReporting, (15_665, 87_638, 26), set[str]()),
        pytest.param(LinkPartitioned, (16_051, 67_302, 26), set[str](), marks=pytest.mark.nightly),
        pytest.param(LinkClosed, (15_666, 99_261, 26), set[str](), marks=pytest.mark.nightly),
        pytest.param(Exchange, (18_225, 112_321, 27), set[str](), marks=pytest.mark.nightly),
        (SenderCalled, (1_843, 164_021, 14), set[str]()),
        (SenderUnreaped, (1_843, 163_103, 14), set[str]()),
        (ReceiverCalled, (1_337, 88_412, 8), set[str]()),
        (ReceiverUnreaped, (677, 44_086, 7), set[str]()),
        pytest.param(
            LinkSetBack,
            (167_297, 653_765, 28),
            {"in_order", "purged_has_arrived", "sender.connections_only_grow"},
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            LinkBoasting,
            (15_665, 87_638, 26),
            {
                "delivered_as_reported",
                "in_doubt_is_what_is_not_acknowledged",
                "kept_until_delivered",
                "no_loss",
                "sent_is_delivered",
                "sent_is_purged",
                "settled",
            },
            marks=pytest.mark.nightly,
        ),
        pytest.param(LinkWithEpoch, (9_026, 37_660, 23), set[str](), marks=pytest.mark.nightly),
        pytest.param(
            LinkRestarting,
            (9_730, 39_768, 24),
            {"purged_has_arrived", "sender.connections_only_grow"},
            marks=pytest.mark.nightly,
        ),
        (LinkWrapping, (290, 813, 27), {"no_duplicate", "in_order"}),
        (LinkWrappingInTime, (209, 586, 26), set[str]()),
        (LinkComparing, (159, 452, 22), {"settled"}),
    ],
)
def test_each_defect_alone(
    cls: type[Machine], expected: tuple[int, int, int], violated: set[str]
) -> None:
    """Or the condition under which it is none."""
    result = checked(cls)
    assert counts(result) == expected
    assert set(same_sequences(result)) == violated


def test_the_pictures_are_what_is_declared() -> None:
    same_states(SenderEntryFixed, ReceiverEntryFixed, LinkFixed)
