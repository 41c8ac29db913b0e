"""A link as a whole: what exploration establishes of it, and how it was as written."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.restarts import (
    LinkComparing,
    LinkRestarting,
    LinkWithEpoch,
    LinkWrapping,
    LinkWrappingInTime,
)
from lawful.machines.unicast.system import LinkAsSeed, LinkBurst, LinkFixed, LinkLossy
from lawful.machines.unicast.system_as_seed import (
    LinkAckingHighest,
    LinkBusy,
    LinkForgetful,
    LinkLateAck,
    LinkTorn,
    LinkUnasked,
)
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states


def test_everything_holds() -> None:
    result = checked(LinkFixed)
    assert counts(result) == (15_313, 81_292, 25)
    assert {p.verdict.value for p in result.properties} == {"holds"}


@pytest.mark.nightly
def test_everything_holds_though_losses_never_end() -> None:
    result = checked(LinkLossy)
    assert counts(result) == (5_285, 33_914, 22)
    assert [p.name for p in result.properties if not p.verdict.good] == ["two_copies_are_under_way"]


@pytest.mark.nightly
def test_everything_holds_where_gaps_arise() -> None:
    result = checked(LinkBurst)
    assert counts(result) == (18_101, 151_574, 31)
    assert [p.name for p in result.properties if not p.verdict.good] == ["two_copies_are_under_way"]


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
            (12_927, 59_854, 30),
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
            (5_525, 33_138, 24),
            {"sent_is_delivered", "sent_is_purged", "idle_is_removed"},
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            LinkUnasked,
            (4_626, 28_372, 22),
            {
                "sent_is_delivered",
                "sent_is_purged",
                "gaps_are_filled",
                "idle_is_removed",
                "silence_follows",
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
