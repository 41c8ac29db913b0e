"""One peer's decision runs: the document's story, round by round."""

from __future__ import annotations

from typing import Any

import pytest

from lawful import Refused
from lawful.machines.object_diffusion.as_seed import InboundPeerAsSeed, InboundPeerWaiting
from lawful.machines.object_diffusion.callbacks import Status, Step
from lawful.machines.object_diffusion.declaration import InboundPeer, InboundPeerFixed
from lawful.machines.object_diffusion.messages import Decision, ObjectId, RequestIds, RequestObjects
from lawful.runtime.timers import SimulatedClock

IDS = tuple(ObjectId(f"{i:02}") for i in range(12))
NONE: frozenset[ObjectId] = frozenset()
VARIABLES = (
    "state",
    "decision",
    "step",
    "num_ids_in_flight",
    "outstanding_fifo",
    "available_ids",
    "inflight_ids",
    "owt_pool",
    "pending",
)
FRESH: dict[str, Any] = {
    "state": Status.COMPLETED,
    "decision": None,
    "step": Step.SIGNALLED,
    "num_ids_in_flight": 0,
    "outstanding_fifo": [],
    "available_ids": set(),
    "inflight_ids": set(),
    "owt_pool": set(),
    "pending": [],
}


def some(*numbers: int) -> frozenset[ObjectId]:
    return frozenset(IDS[i] for i in numbers)


def seen(peer: InboundPeer) -> dict[str, Any]:
    return {name: getattr(peer, name) for name in VARIABLES}


def refused(peer: InboundPeer, why: str, event: str, *args: Any) -> None:
    """The event is refused, and nothing has changed."""
    before = peer.lawful.snapshot()
    with pytest.raises(Refused, match=why):
        getattr(peer, event)(*args)
    assert peer.lawful.snapshot() == before


def blocked() -> InboundPeerFixed:
    """10 IDs are requested by a blocking request."""
    peer = InboundPeerFixed(clock=SimulatedClock())
    decision = Decision(0, 10, can_pipeline_ids_req=False, objects_to_req=NONE)
    assert peer.decide(NONE, NONE) == decision
    assert peer.read_decision() == decision
    assert peer.on_request_ids() == RequestIds(blocking=True, ack=0, count=10)
    return peer


def announced(count: int) -> InboundPeerFixed:
    """So many of them were announced."""
    peer = blocked()
    peer.on_receive_ids(IDS[:count])
    peer.on_decision_completed()
    return peer


def test_a_blocking_request_keeps_the_peer_frozen() -> None:
    peer = blocked()
    request = RequestIds(blocking=True, ack=0, count=10)
    decision = Decision(0, 10, can_pipeline_ids_req=False, objects_to_req=NONE)
    assert seen(peer) == FRESH | {
        "state": Status.ACTING,
        "decision": decision,
        "step": Step.REQUESTED_IDS,
        "num_ids_in_flight": 10,
        "pending": [request],
    }
    refused(peer, "state is ACTING, not COMPLETED or UNREAD", "decide", NONE, NONE)
    refused(peer, "the reply to a blocking request is not there", "on_decision_completed")
    refused(peer, "a blocking reply is not empty", "on_receive_ids", ())


def test_ten_requested_and_seven_received() -> None:
    peer = announced(7)
    assert seen(peer) == FRESH | {
        "outstanding_fifo": list(IDS[:7]),
        "available_ids": set(IDS[:7]),
    }


def test_the_unread_decision_is_replaced_and_the_frozen_one_is_not() -> None:
    peer = announced(3)
    peer.decide(NONE, some(0, 1))
    newer = peer.decide(some(0), some(1))
    assert newer == Decision(1, 10, can_pipeline_ids_req=True, objects_to_req=some(1))
    assert peer.read_decision() == newer
    refused(peer, "state is ACTING", "decide", NONE, NONE)
    refused(peer, "objects are still to be requested", "on_decision_completed")


def test_objects_and_ids_are_requested_in_a_pipeline_and_received_in_order() -> None:
    peer = announced(3)
    decision = peer.decide(some(0), some(1, 2))
    peer.read_decision()
    assert peer.on_request_objects() == RequestObjects(some(1, 2))
    refused(peer, "IDs are still to be requested", "on_decision_completed")
    assert peer.on_request_ids() == RequestIds(blocking=False, ack=1, count=10)
    assert seen(peer) == FRESH | {
        "state": Status.ACTING,
        "decision": decision,
        "step": Step.REQUESTED_IDS,
        "num_ids_in_flight": 10,
        "outstanding_fifo": [IDS[1], IDS[2]],
        "inflight_ids": set(some(1, 2)),
        "pending": [RequestObjects(some(1, 2)), RequestIds(blocking=False, ack=1, count=10)],
    }
    peer.on_decision_completed()
    # The next round: nothing new is wanted, and both replies are there.
    peer.decide(NONE, NONE)
    peer.read_decision()
    refused(peer, "objects were requested", "on_receive_ids", IDS[3:5])
    refused(peer, "not the objects that were requested", "on_receive_objects", some(1))
    peer.on_receive_objects(some(1, 2))
    peer.on_receive_ids(IDS[3:5])
    assert seen(peer) == FRESH | {
        "state": Status.ACTING,
        "step": Step.READ,
        "decision": Decision(0, 10, can_pipeline_ids_req=True, objects_to_req=NONE),
        "outstanding_fifo": list(IDS[1:5]),
        "available_ids": set(IDS[3:5]),
        "owt_pool": set(some(1, 2)),
    }


def test_the_longest_prefix_is_acked_and_no_more() -> None:
    """In the pool, or on its way from this peer; what comes after a gap has to wait."""
    peer = announced(5)
    assert peer.decide(some(0, 1, 3, 4), some(2)).ids_to_ack == 2
    assert peer.decide(some(1, 2, 3, 4), NONE).ids_to_ack == 0
    assert peer.decide(some(0, 1, 2, 3, 4), NONE).ids_to_ack == 5


def test_what_is_not_interesting_is_not_requested() -> None:
    peer = announced(3)
    why = "not available, in the pool, or to be acked"
    refused(peer, why, "decide", NONE, some(3))
    refused(peer, why, "decide", some(1), some(1))
    small = InboundPeerFixed(max_num_objects_inflight=1)
    small.decide(NONE, NONE)
    small.read_decision()
    small.on_request_ids()
    small.on_receive_ids(IDS[:2])
    small.on_decision_completed()
    refused(small, "more objects in flight than one peer may have", "decide", NONE, some(0, 1))


def test_what_breaks_the_protocol_is_refused() -> None:
    peer = blocked()
    refused(peer, "more IDs than were requested", "on_receive_ids", IDS[:11])
    refused(peer, "the same ID twice", "on_receive_ids", (IDS[0], IDS[0]))
    refused(peer, "IDs were requested", "on_receive_objects", some(0))
    peer.on_receive_ids(IDS[:1])
    refused(peer, "replies are read before anything is requested", "on_receive_ids", IDS[1:2])
    peer.on_decision_completed()
    peer.decide(NONE, NONE)
    peer.read_decision()
    refused(peer, "nothing was requested", "on_receive_ids", IDS[1:2])
    peer.on_request_ids()
    peer.on_decision_completed()
    peer.decide(NONE, NONE)
    peer.read_decision()
    refused(peer, "an ID that was announced before", "on_receive_ids", (IDS[0],))


def test_an_object_is_received_added_to_the_pool_and_acked() -> None:
    peer = announced(1)
    peer.decide(NONE, some(0))
    peer.read_decision()
    peer.on_request_objects()
    peer.on_request_ids()
    peer.on_decision_completed()
    peer.decide(NONE, NONE)
    peer.read_decision()
    peer.on_receive_objects(some(0))
    more = RequestIds(blocking=False, ack=0, count=10)
    assert peer.on_request_ids() == more
    peer.on_decision_completed()
    waiting = Decision(1, 0, can_pipeline_ids_req=False, objects_to_req=NONE)
    assert peer.decide(NONE, NONE) == waiting
    received = FRESH | {
        "state": Status.UNREAD,
        "decision": waiting,
        "num_ids_in_flight": 20,
        "outstanding_fifo": [IDS[0]],
        "owt_pool": set(some(0)),
        "pending": [more, more],
    }
    assert seen(peer) == received
    peer.on_added_to_pool(IDS[0])
    assert seen(peer) == received | {"owt_pool": set()}
    refused(peer, "not on its way to the pool", "on_added_to_pool", IDS[0])
    peer.read_decision()
    peer.on_receive_ids(())
    peer.on_receive_ids(())
    peer.on_decision_completed()
    peer.decide(some(0), NONE)
    peer.read_decision()
    last = RequestIds(blocking=True, ack=1, count=10)
    assert peer.on_request_ids() == last
    assert seen(peer) == FRESH | {
        "state": Status.ACTING,
        "step": Step.REQUESTED_IDS,
        "num_ids_in_flight": 10,
        "decision": Decision(1, 10, can_pipeline_ids_req=False, objects_to_req=NONE),
        "pending": [last],
    }


def awaited(peer: InboundPeer) -> Decision:
    """The decision made with all IDs eligible for an ack, and a reply with IDs under way."""
    peer.decide(NONE, NONE)
    peer.read_decision()
    peer.on_request_ids()
    peer.on_receive_ids(IDS[:1])
    peer.on_decision_completed()
    peer.decide(NONE, NONE)
    peer.read_decision()
    assert peer.on_request_ids() == RequestIds(blocking=False, ack=0, count=10)
    peer.on_decision_completed()
    return peer.decide(some(0), NONE)


def test_an_ack_waits_for_the_reply_that_is_under_way() -> None:
    """O-B2, and the case in which `pdIdsToAck` is not 0 but `pdIdsToReq` is (O5)."""
    peer = InboundPeerFixed()
    assert awaited(peer) == Decision(1, 0, can_pipeline_ids_req=False, objects_to_req=NONE)
    peer.read_decision()
    peer.on_receive_ids(IDS[1:2])
    peer.on_decision_completed()
    later = peer.decide(some(0), NONE)
    assert later == Decision(1, 10, can_pipeline_ids_req=True, objects_to_req=NONE)


def test_as_the_implementation_had_it_a_request_blocks_with_an_id_unacked() -> None:
    """O-B2: the reply brings an ID, and the decision knows nothing of it."""
    peer = InboundPeerWaiting()
    assert awaited(peer) == Decision(1, 10, can_pipeline_ids_req=False, objects_to_req=NONE)
    peer.read_decision()
    peer.on_receive_ids(IDS[1:2])
    assert peer.on_request_ids() == RequestIds(blocking=True, ack=1, count=10)
    assert peer.outstanding_fifo == [IDS[1]]


def test_as_the_implementation_had_it_the_next_decision_does_not_wait_for_the_reply() -> None:
    """O-B1: completed while the request blocks, decided anew, and out of date at once."""
    peer = InboundPeerAsSeed()
    peer.decide(NONE, NONE)
    peer.read_decision()
    peer.on_request_ids()
    peer.on_decision_completed()
    peer.decide(NONE, NONE)
    peer.on_receive_ids(IDS[:1])
    stale = peer.read_decision()
    assert stale == Decision(0, 10, can_pipeline_ids_req=False, objects_to_req=NONE)
    assert peer.on_request_ids() == RequestIds(blocking=True, ack=0, count=10)
    assert peer.outstanding_fifo == [IDS[0]]
