"""The registry runs: what a service embeds, with its limits, its lock and its times."""

from __future__ import annotations

import pytest

from lawful import Refused
from lawful.machines.object_diffusion.attribution import Peer
from lawful.machines.object_diffusion.callbacks import Status
from lawful.machines.object_diffusion.messages import ObjectId, RequestIds, RequestObjects
from lawful.machines.object_diffusion.registry import Insertion, Registry
from lawful.runtime.timers import SimulatedClock

ANNA, BEN = Peer("anna"), Peer("ben")
NONE: frozenset[ObjectId] = frozenset()


def ids(*numbers: int) -> tuple[ObjectId, ...]:
    return tuple(ObjectId(f"{i:05}") for i in numbers)


def holder(registry: Registry) -> Insertion | None:
    return registry.lock


def acts(registry: Registry, p: Peer) -> None:
    """The peer's loop carries out its decision, but reads no reply."""
    decision = registry.read_decision(p)
    if len(decision.objects_to_req) > 0:
        registry.on_request_objects(p)
    if decision.ids_to_req > 0:
        registry.on_request_ids(p)


def announced(registry: Registry, p: Peer, *numbers: int) -> None:
    """A peer has answered the first request with these."""
    registry.register(p)
    assert p in registry.make_decisions(NONE)
    acts(registry, p)
    registry.on_receive_ids(p, ids(*numbers))
    registry.on_decision_completed(p)


def test_what_waits_for_a_slow_pool_is_limited() -> None:
    """An honest peer that always has more, and a pool that takes nothing in 300 rounds."""
    registry = Registry(clock=SimulatedClock())
    registry.register(ANNA)
    count = most = 0
    for _ in range(300):
        if ANNA not in registry.make_decisions(NONE):
            continue
        decision = registry.read_decision(ANNA)
        for request in list(registry.peers[ANNA].pending):
            if isinstance(request, RequestObjects):
                registry.on_receive_objects(ANNA, request.ids)
            else:
                registry.on_receive_ids(ANNA, ids(*range(count, count + request.count)))
                count += request.count
        if len(decision.objects_to_req) > 0:
            registry.on_request_objects(ANNA)
        if decision.ids_to_req > 0 and registry.on_request_ids(ANNA).blocking:
            registry.on_receive_ids(ANNA, ids(*range(count, count + 10)))
            count += 10
        registry.on_decision_completed(ANNA)
        most = max(most, len(registry.peers[ANNA].owt_pool))
    assert (most, count) == (50, 150)
    assert len(registry.peers[ANNA].pending) == 0


def test_one_object_at_a_time_is_inserted_and_a_rejected_one_ends_its_peer() -> None:
    registry = Registry(clock=SimulatedClock(), target_object_redundancy=1)
    announced(registry, ANNA, 1, 2)
    registry.make_decisions(NONE)
    acts(registry, ANNA)
    registry.on_decision_completed(ANNA)
    one, two = ids(1, 2)
    registry.make_decisions(NONE)
    registry.read_decision(ANNA)
    registry.on_receive_objects(ANNA, frozenset({one, two}))
    registry.take_lock(ANNA, two)
    assert holder(registry) == Insertion(ANNA, two)
    with pytest.raises(Refused, match="the pool is locked"):
        registry.take_lock(ANNA, one)
    with pytest.raises(Refused, match="does not have the lock"):
        registry.on_added_to_pool(ANNA, one)
    registry.on_added_to_pool(ANNA, two)
    assert holder(registry) is None
    assert registry.peers[ANNA].owt_pool == {one}
    registry.take_lock(ANNA, one)
    registry.on_rejected(ANNA, one)
    assert holder(registry) is None
    assert len(registry.peers) == 0


def test_rounds_begin_with_the_next_object() -> None:
    """With room for one object each, the last ID has its turn before the first has another."""
    registry = Registry(
        clock=SimulatedClock(), target_object_redundancy=1, max_num_objects_inflight_total=1
    )
    announced(registry, ANNA, 1, 2, 3)
    first, second, third = ids(1, 2, 3)
    asked: list[frozenset[ObjectId]] = []
    for _ in range(4):
        registry.make_decisions(NONE)
        decision = registry.peers[ANNA].decision
        assert decision is not None
        asked.append(decision.objects_to_req)
    assert asked == [frozenset({x}) for x in (first, second, third, first)]


def test_a_silent_peer_is_given_up_and_another_is_asked() -> None:
    clock = SimulatedClock()
    registry = Registry(clock=clock, target_object_redundancy=1)
    announced(registry, ANNA, 1)
    announced(registry, BEN, 1)
    (one,) = ids(1)
    registry.make_decisions(NONE)
    acts(registry, ANNA)
    acts(registry, BEN)
    registry.on_decision_completed(ANNA)
    registry.on_decision_completed(BEN)
    clock.advance(6.0)
    registry.make_decisions(NONE)
    registry.read_decision(BEN)
    registry.on_receive_ids(BEN, ())  # It answers, and so has no limit any more.
    assert registry.lawful.fire_due(clock.advance(3.0)) == []
    registry.lawful.fire_due(clock.advance(1.0))
    assert set(registry.peers) == {BEN}
    registry.on_request_ids(BEN)
    registry.on_decision_completed(BEN)
    registry.make_decisions(NONE)
    decision = registry.read_decision(BEN)
    assert decision.objects_to_req == {one}
    assert registry.on_request_objects(BEN) == RequestObjects(frozenset({one}))


def test_a_blocking_request_waits_without_limit() -> None:
    clock = SimulatedClock()
    registry = Registry(clock=clock)
    registry.register(ANNA)
    assert registry.make_decisions(NONE) == {ANNA}
    registry.read_decision(ANNA)
    assert registry.on_request_ids(ANNA) == RequestIds(blocking=True, ack=0, count=10)
    assert registry.lawful.fire_due(clock.advance(100_000.0)) == []
    assert registry.make_decisions(NONE) == frozenset()
    assert registry.peers[ANNA].state == Status.ACTING
