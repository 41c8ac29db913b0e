"""A link as a whole: what exploration establishes of it, and how it was as written."""

from __future__ import annotations

import pytest

from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.machines.unicast.system import LinkAsSeed, LinkBurst, LinkFixed, LinkLossy
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states


def test_everything_holds() -> None:
    result = checked(LinkFixed)
    assert counts(result) == (15_313, 81_292, 25)
    assert {p.verdict.value for p in result.properties} == {"holds"}


def test_everything_holds_though_losses_never_end() -> None:
    result = checked(LinkLossy)
    assert counts(result) == (5_285, 33_914, 22)
    assert {p.verdict.value for p in result.properties} == {"holds"}


@pytest.mark.nightly
def test_everything_holds_where_gaps_arise() -> None:
    result = checked(LinkBurst)
    assert counts(result) == (18_101, 151_574, 31)
    assert {p.verdict.value for p in result.properties} == {"holds"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("scope", "expected"),
    [("worse", (35_423, 217_383, 26)), ("three", (116_495, 629_759, 30))],
)
def test_with_more_faults_or_messages(scope: str, expected: tuple[int, int, int]) -> None:
    assert counts(checked(LinkFixed, scope)) == expected


def test_what_goes_wrong() -> None:
    result = checked(LinkAsSeed)
    assert counts(result) == (10_292, 53_746, 27)
    assert same_sequences(result) == [
        "no_duplicate", "in_order", "no_loss", "settled", "sent_is_delivered", "sent_is_purged",
        "sender.no_silent_loss", "receiver.never_goes_back",
    ]


def test_the_pictures_are_what_is_declared() -> None:
    same_states(SenderEntryFixed, ReceiverEntryFixed, LinkFixed)
