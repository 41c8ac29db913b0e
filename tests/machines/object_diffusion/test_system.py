"""Object diffusion composed: what exploration establishes, and how it was as written."""

from __future__ import annotations

import pytest

from lawful import Machine
from lawful.machines.object_diffusion.attribution import RoundsAsSeed, RoundsFixed
from lawful.machines.object_diffusion.conditions import (
    DiffusionAsSeed,
    DiffusionByAddress,
    DiffusionTorn,
)
from lawful.machines.object_diffusion.connection import ConnectionFixed
from lawful.machines.object_diffusion.connection_as_seed import (
    ConnectionAsSeed,
    ConnectionComparing,
    ConnectionRefusing,
    ConnectionWaiting,
)
from lawful.machines.object_diffusion.declaration import InboundPeerFixed
from lawful.machines.object_diffusion.in_time import DiffusionInTime
from lawful.machines.object_diffusion.in_turns import RegistryInTurns
from lawful.machines.object_diffusion.registry import AnyPeers, Registry
from lawful.machines.object_diffusion.system import DiffusionFixed
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (ConnectionFixed, (9_200, 35_153, 41)),
        (DiffusionFixed, (3_365, 12_432, 38)),
        (RegistryInTurns, (3_026, 22_090, 49)),
        pytest.param(*(Registry, (4_961, 31_590, 33)), marks=pytest.mark.nightly),
        pytest.param(*(AnyPeers, (7_904, 61_465, 43)), marks=pytest.mark.nightly),
        (RoundsFixed, (32, 109, 6)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert {p.verdict.value for p in result.properties} == {"holds"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("cls", "expected", "violated"),
    [
        pytest.param(
            ConnectionWaiting,
            (5_126, 19_677, 41),
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
            (7_992, 29_915, 41),
            [
                "nothing_to_complain_of",
                "something_becomes_of_each_id",
                "announced_ids_are_acked",
                "peer.blocks_on_nothing",
            ],
        ),
        pytest.param(
            ConnectionComparing,
            (4_824, 15_065, 30),
            ["honest_peers_stay"],
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            ConnectionRefusing,
            (9_306, 35_373, 41),
            ["honest_peers_stay"],
            marks=pytest.mark.nightly,
        ),
        (
            DiffusionAsSeed,
            (3_572, 13_302, 38),
            ["peers_wake_for_something", "offered_objects_arrive", "announced_ids_are_acked"],
        ),
        pytest.param(
            DiffusionTorn,
            (5_716, 17_093, 43),
            ["no_more_copies_than_the_target"],
            marks=pytest.mark.nightly,
        ),
        (
            DiffusionByAddress,
            (359, 1_130, 23),
            [
                "only_the_holder_inserts",
                "received_is_not_lost",
                "every_connection_has_its_entry",
                "peers.a_blocking_reply_brings_something",
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


@pytest.mark.nightly
def test_in_time_everything_holds() -> None:
    """Until time ends."""
    result = checked(DiffusionInTime)
    assert counts(result) == (7_267, 16_300, 46)
    assert {p.verdict.good for p in result.properties} == {True}


def test_who_connects_again_once_the_old_connection_has_ended_loses_nothing() -> None:
    result = checked(DiffusionByAddress, "apart")
    assert counts(result) == (165, 450, 23)
    assert {p.verdict.value for p in result.properties} == {"holds"}


def test_the_pictures_are_what_is_declared() -> None:
    same_states(InboundPeerFixed, ConnectionFixed, DiffusionFixed)
