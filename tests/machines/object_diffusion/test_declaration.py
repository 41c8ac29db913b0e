"""One peer's decision as declared: what exploration finds, and that the runtime does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from lawful.machines.object_diffusion.as_seed import (
    InboundPeerAsSeed,
    InboundPeerComparing,
    InboundPeerOverwritten,
    InboundPeerUnbounded,
    InboundPeerWaiting,
)
from lawful.machines.object_diffusion.declaration import InboundPeer, InboundPeerFixed
from lawful.machines.object_diffusion.messages import ObjectId
from lawful.runtime.timers import SimulatedClock
from lawful.testing import conformance
from tests.machines.checked import checked, counts

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=20, stateful_step_count=30
)


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (InboundPeerFixed, (3_200, 13_556, 33)),
        (InboundPeerWaiting, (3_591, 15_128, 42)),
        (InboundPeerAsSeed, (4_509, 20_339, 39)),
        (InboundPeerComparing, (1_356, 5_220, 28)),
        (InboundPeerUnbounded, (3_728, 16_328, 33)),
    ],
)
def test_everything_is_as_expected(cls: type[InboundPeer], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert result.cuts == 0


def test_a_decision_that_is_replaced_while_it_is_acted_upon_is_acted_upon_again() -> None:
    """A round that publishes blindly (O-B6): what follows is in the expectations."""
    assert counts(checked(InboundPeerOverwritten)) == (255, 783, 25)


def small(cls: Any) -> Callable[[SimulatedClock], InboundPeer]:
    """So few objects that limits are met."""

    def make(clock: SimulatedClock) -> InboundPeer:
        peer: InboundPeer = cls(
            clock=clock,
            max_num_objects_outstanding=3,
            max_num_objects_inflight=2,
            max_num_ids_req=2,
        )
        return peer

    return make


TestFixed = conformance(InboundPeerFixed, small(InboundPeerFixed), settings=QUICK)
TestWaiting = conformance(InboundPeerWaiting, small(InboundPeerWaiting), settings=QUICK)
TestAsSeed = conformance(InboundPeerAsSeed, small(InboundPeerAsSeed), settings=QUICK)


@pytest.mark.parametrize("acked", range(30))
def test_however_many_ids_wait_all_up_to_the_first_that_is_needed_are_acked(acked: int) -> None:
    """The pool has these many, not the next one, and one behind it: more than any scope has."""
    most = acked + 3
    peer = InboundPeerFixed(max_num_objects_outstanding=most, max_num_ids_req=most)
    ids = tuple(ObjectId(f"{i:02}") for i in range(acked + 2))
    peer.decide(frozenset(), frozenset())
    peer.read_decision()
    peer.on_request_ids()
    peer.on_receive_ids(ids)
    peer.on_decision_completed()
    decision = peer.decide(frozenset((*ids[:acked], ids[-1])), frozenset())
    assert (decision.ids_to_ack, decision.ids_to_req) == (acked, 1 + acked)
