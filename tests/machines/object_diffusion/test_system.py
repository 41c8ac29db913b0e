"""Object diffusion composed: what exploration establishes, and how it was as written."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.machines.object_diffusion.attribution import RoundsAsSeed, RoundsFixed
from lawful.machines.object_diffusion.conditions import DiffusionByAddress, DiffusionTorn
from lawful.machines.object_diffusion.connection import (
    ConnectionAsImplemented,
    ConnectionAsSeed,
    ConnectionFixed,
    ConnectionWaiting,
)
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.object_diffusion.registry import AnyPeers, Registry
from lawful.machines.object_diffusion.system import DiffusionAsSeed, DiffusionFixed
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (ConnectionFixed, (7_320, 27_209, 41)),
        (DiffusionFixed, (2_402, 9_092, 38)),
        (Registry, (3_001, 17_616, 31)),
        (AnyPeers, (5_041, 30_957, 41)),
        (RoundsFixed, (32, 77, 6)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert {p.verdict.value for p in result.properties} == {"holds"}


@pytest.mark.parametrize(
    ("cls", "expected", "violated"),
    [
        pytest.param(
            ConnectionWaiting,
            (3_814, 14_059, 40),
            [
                "nothing_to_complain_of",
                "something_becomes_of_each_id",
                "announced_ids_are_acked",
                "peer.blocks_on_nothing",
            ],
            marks=pytest.mark.nightly,
        ),
        (
            ConnectionAsSeed,
            (5_870, 21_141, 40),
            [
                "nothing_to_complain_of",
                "something_becomes_of_each_id",
                "announced_ids_are_acked",
                "peer.blocks_on_nothing",
            ],
        ),
        pytest.param(
            ConnectionAsImplemented,
            (4_394, 13_405, 30),
            ["honest_peers_stay"],
            marks=pytest.mark.nightly,
        ),
        (
            DiffusionAsSeed,
            (2_568, 9_786, 38),
            ["peers_wake_for_something", "offered_objects_arrive", "announced_ids_are_acked"],
        ),
        pytest.param(
            DiffusionTorn,
            (4_277, 13_006, 40),
            ["no_more_copies_than_the_target"],
            marks=pytest.mark.nightly,
        ),
        (
            DiffusionByAddress,
            (251, 804, 24),
            [
                "received_is_not_lost",
                "every_connection_has_its_entry",
                "peers.acks_are_a_prefix",
                "peers.steps_are_in_order",
                "peers.all_of_a_decision_is_done",
                "peers.what_arrives_goes_to_the_pool",
            ],
        ),
        (RoundsAsSeed, (8, 20, 4), ["every_object_has_its_turn"]),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_goes_wrong(
    cls: type[Machine], expected: tuple[int, int, int], violated: list[str]
) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert same_sequences(result) == violated


def test_who_connects_again_once_the_old_connection_has_ended_loses_nothing() -> None:
    result = checked(DiffusionByAddress, "apart")
    assert counts(result) == (118, 325, 23)
    assert {p.verdict.value for p in result.properties} == {"holds"}


def test_the_pictures_are_what_is_declared() -> None:
    same_states(InboundPeerFixed, ConnectionFixed, DiffusionFixed)
