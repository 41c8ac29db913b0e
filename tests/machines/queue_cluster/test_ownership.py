"""Queue ownership runs: the document's story at three nodes, and what holds whatever happens."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import PropertyViolated, Refused
from lawful.machines.queue_cluster.as_seed import QueueOwnerAsSeed, QueueOwnerAssigned
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.messages import Cancel, Consume, Node, Release
from lawful.machines.queue_cluster.ownership import Ownership
from tests.machines.queue_cluster.cluster import A, B, C, Cluster


def seen(node: QueueOwnerFixed) -> dict[str, Any]:
    """All variables; the timer by whether it runs."""
    names = "state", "consumers_here", "busy", "sent", "owner", "consumers"
    return {name: getattr(node, name) for name in names} | {"slice": node.time_slice.armed}


FRESH: dict[str, Any] = {
    "state": Ownership.STOPPED,
    "consumers_here": 0,
    "busy": 0,
    "sent": [],
    "owner": None,
    "consumers": set(),
    "slice": False,
}


def test_the_only_node_that_consumes_keeps_the_queue() -> None:
    cluster = Cluster()
    a = cluster.nodes[A]
    assert cluster.does(A, "consume") == Consume()
    assert seen(a) == FRESH | {"consumers_here": 1, "sent": [Consume()]}
    cluster.place(A)
    cluster.handle(A)
    granted = FRESH | {"consumers_here": 1, "owner": A, "consumers": {A}}
    assert seen(a) == granted
    assert cluster.does(A, "take") is None
    assert seen(a) == granted | {"state": Ownership.OWNED}
    assert a.lawful.next_deadline() is None
    assert seen(cluster.nodes[B]) == FRESH
    cluster.settle()
    assert seen(cluster.nodes[B]) == FRESH | {"owner": A, "consumers": {A}}


def sharing() -> Cluster:
    """A owns the queue, B and C are interested."""
    cluster = Cluster()
    for n in (A, C, B):
        cluster.does(n, "consume")
    cluster.settle()
    assert cluster.owners() == [A]
    return cluster


def test_a_slice_ends_when_its_busy_consumers_are_through() -> None:
    cluster = sharing()
    a = cluster.nodes[A]
    cluster.does(A, "dispatch")
    with pytest.raises(Refused):
        a.slice_over()
    cluster.clock.advance(0.02)
    cluster.does(A, "slice_over")
    stopping = FRESH | {
        "state": Ownership.STOPPING,
        "consumers_here": 1,
        "busy": 1,
        "owner": A,
        "consumers": {A, B, C},
    }
    assert seen(a) == stopping
    with pytest.raises(Refused, match="consumers are busy"):
        a.stopped()
    with pytest.raises(Refused, match="state is STOPPING, not OWNED"):
        a.dispatch()
    assert seen(a) == stopping
    cluster.does(A, "dispatched")
    assert cluster.does(A, "stopped") == (Release(interested=True), None)
    given = {"state": Ownership.STOPPED, "busy": 0, "sent": [Release(interested=True)]}
    assert seen(a) == stopping | given
    cluster.settle()
    assert cluster.owners() == [B]


def test_ownership_goes_round_the_ring() -> None:
    cluster = sharing()
    turns: list[Node] = []
    for _ in range(6):
        (owner,) = cluster.owners()
        turns.append(owner)
        cluster.clock.advance(0.02)
        cluster.does(owner, "slice_over")
        cluster.does(owner, "stopped")
        assert cluster.owners() == []
        cluster.settle()
    assert turns == [A, B, C, A, B, C]


def test_who_loses_interest_releases_and_cancels() -> None:
    cluster = sharing()
    assert cluster.does(A, "cancel") is None
    assert cluster.does(A, "stopped") == (Release(interested=False), Cancel())
    cluster.settle()
    assert seen(cluster.nodes[A]) == FRESH | {"owner": B, "consumers": {B, C}}
    owned = {"state": Ownership.OWNED, "consumers_here": 1, "slice": True}
    assert seen(cluster.nodes[B]) == FRESH | {"owner": B, "consumers": {B, C}} | owned


def test_one_of_several_consumers_leaves_without_a_word() -> None:
    cluster = sharing()
    assert cluster.does(A, "consume") is None
    assert cluster.does(A, "cancel") is None
    assert cluster.nodes[A].consumers_here == 1
    assert cluster.owners() == [A]


def test_the_queue_of_a_member_that_left_goes_to_the_next() -> None:
    cluster = sharing()
    cluster.does(A, "cancel")
    cluster.does(A, "stopped")
    cluster.crash(A)
    cluster.settle()
    assert cluster.owners() == [B]
    assert seen(cluster.nodes[C]) == FRESH | {
        "consumers_here": 1,
        "owner": B,
        "consumers": {B, C},
    }


def test_a_queue_granted_too_late_is_passed_on() -> None:
    """The last consumer goes while its consume is on its way (Q-B2)."""
    cluster = Cluster()
    cluster.does(A, "consume")
    cluster.does(A, "cancel")
    cluster.does(B, "consume")
    for _ in range(2):
        cluster.place(A)
        cluster.handle(A)
    late = FRESH | {"owner": A}
    assert seen(cluster.nodes[A]) == late
    assert cluster.does(A, "take") == Release(interested=False)
    assert seen(cluster.nodes[A]) == late | {"sent": [Release(interested=False)]}
    cluster.settle()
    assert cluster.owners() == [B]


def test_a_node_that_joins_knows_the_owner_and_takes_nothing_before_it_is_updated() -> None:
    """Q48, Q56: a late node that consumes was OWNED beside the owner."""
    cluster = sharing()
    a, late = cluster.nodes[A], QueueOwnerFixed(me=Node("d"))
    late.join(a.owner, frozenset(a.consumers))
    assert late.consume() is None
    assert seen(late) == FRESH | {
        "state": Ownership.UPDATING,
        "consumers_here": 1,
        "owner": A,
        "consumers": {A, B, C},
    }
    with pytest.raises(Refused):
        late.take()
    assert late.updated() == Consume()
    late.consume_delivered(Node("d"))
    with pytest.raises(Refused, match="not the owner"):
        late.take()
    for n in (A, B, C):
        late.release_delivered(n, Release(interested=True))
    assert late.take() is None
    assert (late.state, late.owner) == (Ownership.OWNED, Node("d"))


def test_a_queue_that_is_destroyed_stops_its_consumers() -> None:
    """Q43: and what comes late about it has no effect."""
    cluster = sharing()
    a = cluster.nodes[A]
    a.dispatch()
    a.destroy_delivered()
    assert seen(a) == FRESH | {"state": Ownership.ENDED, "busy": 1}
    with pytest.raises(Refused):
        a.dispatch()
    a.consume_delivered(B)
    a.release_delivered(A, Release(interested=True))
    a.member_leaves(C)
    a.dispatched()
    assert a.over()
    assert seen(a) == FRESH | {"state": Ownership.ENDED}


def test_to_the_letter_nobody_is_made_the_owner() -> None:
    """Q-B1: what the first release asserts is false."""
    node = QueueOwnerAsSeed(me=A)
    node.consume()
    node.consume_delivered(A)
    assert (node.state, node.owner) == (Ownership.OWNED, None)
    node.cancel()
    before = node.lawful.snapshot()
    with pytest.raises(PropertyViolated, match="owner == sender"):
        node.release_delivered(A, Release(interested=False))
    assert node.lawful.snapshot() == before


def test_to_the_letter_a_queue_is_taken_for_nobody() -> None:
    """Q-B2."""
    node = QueueOwnerAssigned(me=A)
    node.consume()
    node.cancel()
    node.consume_delivered(A)
    assert (node.state, node.consumers_here) == (Ownership.OWNED, 0)
    with pytest.raises(PropertyViolated, match="owner != sender"):
        node.cancel_delivered(A)


# What holds whatever happens, at whatever pace.

EVENTS = ("consume", "cancel", "take", "stopped", "dispatch", "dispatched", "slice_over")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from((A, B, C)), st.sampled_from((*EVENTS, "place", "handle"))),
        st.tuples(st.just(C), st.just("crash")),
    ),
    max_size=60,
)


def perform(cluster: Cluster, n: Node, what: str) -> None:
    """The step, if it is possible."""
    if n not in cluster.alive:
        return
    if what == "place" and cluster.unordered[n]:
        cluster.place(n)
    elif what == "handle" and cluster.handled[n] < len(cluster.order):
        cluster.handle(n)
    elif what == "crash":
        cluster.crash(n)
    elif what in EVENTS:
        cluster.clock.advance(0.02)
        with contextlib.suppress(Refused):
            cluster.does(n, what)


@settings(derandomize=True, deadline=None, database=None, max_examples=150)
@given(STEPS)
def test_consumers_run_at_one_node_at_most(steps: list[tuple[Node, str]]) -> None:
    """Q32, whatever the pace; and once everything is handled, at one that is interested."""
    cluster = Cluster()
    for n, what in steps:
        perform(cluster, n, what)
        assert len(cluster.owners()) <= 1
    for n in cluster.alive:
        if cluster.nodes[n].state == Ownership.STOPPING:
            while cluster.nodes[n].busy:
                cluster.does(n, "dispatched")
            cluster.does(n, "stopped")
    cluster.settle()
    interested = {n for n in cluster.alive if cluster.nodes[n].consumers_here}
    assert len(cluster.owners()) == (1 if interested else 0)
    assert set(cluster.owners()) <= interested
    assert {frozenset(cluster.nodes[n].consumers) for n in cluster.alive} == {frozenset(interested)}
    assert len({cluster.nodes[n].owner for n in cluster.alive}) == 1
