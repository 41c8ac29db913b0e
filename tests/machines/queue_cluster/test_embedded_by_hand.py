"""The machines that a node embeds, asked by hand what its service asks rarely or never: at another
moment, twice, or about what is not there."""

from __future__ import annotations

import pytest

from lawful import Refused
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.joining import Content, Count, Declared, Updatee, Updater
from lawful.machines.queue_cluster.messages import (
    Bind,
    Body,
    Cancel,
    Consume,
    Done,
    Exchange,
    Front,
    Gone,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Release,
)
from lawful.machines.queue_cluster.ownership import Ownership

A, B, C = Node("A"), Node("B"), Node("C")
Q, R = QueueName("q"), QueueName("r")
FIRST, SECOND = Key(MessageId(B, 0), Q), Key(MessageId(B, 1), Q)
BODY: Body = b"m"
NOBODY: frozenset[Node] = frozenset()


# The ownership of a queue.


def owned() -> QueueOwnerFixed:
    """With one consumer, which runs."""
    queue = QueueOwnerFixed(me=A)
    queue.consume()
    queue.consume_delivered(A)
    queue.take()
    return queue


def test_one_of_two_leaves_a_queue_that_another_node_owns() -> None:
    queue = QueueOwnerFixed(me=A)
    assert (queue.consume(), queue.consume()) == (Consume(), None)
    assert queue.cancel() is None
    assert (queue.consumers_here, list(queue.sent)) == (1, [Consume()])


def test_nobody_leaves_a_queue_without_consumers() -> None:
    queue = QueueOwnerFixed(me=A)
    queue.join(owner=None, consumers=NOBODY)
    with pytest.raises(Refused, match="not one of several"):
        queue.cancel()
    assert queue.consumers_here == 0


def test_only_an_idle_consumer_of_an_owned_queue_takes_a_message() -> None:
    queue = QueueOwnerFixed(me=A)
    queue.consume()
    with pytest.raises(Refused, match="state is STOPPED"):
        queue.dispatch()
    queue = owned()
    queue.dispatch()
    with pytest.raises(Refused, match="every consumer is busy"):
        queue.dispatch()
    assert queue.busy == 1


def test_a_release_comes_after_what_was_said_before() -> None:
    """It is granted while its cancel and its new interest are under way."""
    queue = QueueOwnerFixed(me=A)
    queue.consume_delivered(B)
    queue.consume()
    queue.consume_delivered(A)
    queue.cancel()
    queue.consume()
    queue.release_delivered(B, Release(interested=True))
    queue.take()
    queue.cancel()
    assert queue.stopped() == (Release(interested=False), Cancel())
    assert list(queue.sent) == [Cancel(), Consume(), Release(interested=False), Cancel()]


def test_a_queue_that_has_ended_hears_of_no_consumer() -> None:
    queue = QueueOwnerFixed(me=A)
    queue.destroy_delivered()
    queue.consume_delivered(B)
    assert (queue.owner, set(queue.consumers)) == (None, set())


def test_a_node_does_not_hear_that_it_has_left() -> None:
    with pytest.raises(Refused, match="this node is here"):
        owned().member_leaves(A)


def test_a_node_joins_once() -> None:
    queue = QueueOwnerFixed(me=A)
    queue.join(owner=None, consumers=NOBODY)
    with pytest.raises(Refused, match="state is UPDATING"):
        queue.join(owner=None, consumers=NOBODY)


def test_a_node_that_knows_who_consumes_does_not_join() -> None:
    queue = QueueOwnerFixed(me=A)
    queue.consume_delivered(B)
    queue.release_delivered(B, Release(interested=False))
    assert (queue.owner, set(queue.consumers)) == (None, {B})
    with pytest.raises(Refused, match="knows the queue"):
        queue.join(owner=B, consumers=frozenset({B}))


def test_a_node_joins_between_a_release_for_good_and_its_cancel() -> None:
    queue = QueueOwnerFixed(me=A)
    queue.join(owner=None, consumers=frozenset({B}))
    assert (queue.state, set(queue.consumers)) == (Ownership.UPDATING, {B})


# The messages.


def member(*, ring: int = 0) -> Updatee:
    """A node with the queue Q, and B's first message on it."""
    one = Updatee(me=A, ring=ring)
    one.declare_delivered(Q)
    publish(one, FIRST)
    return one


def publish(one: Updatee, key: Key) -> None:
    one.create_delivered(B, key.id.seq, BODY)
    one.enqueue_delivered(B, key)
    one.routed_delivered(B, key.id.seq)


def joining() -> Updatee:
    """A node that joins, with the queues Q and R still to come; B has sent two messages."""
    one = Updatee(me=A)
    queues = (Declared(Q, 0), Declared(R, 1))
    one.welcome(queues, 2, frozenset[Bind](), (Count(B, 2),), ())
    return one


def test_no_exchange_routes_to_a_queue_that_is_not_there() -> None:
    one = member()
    one.bind_delivered(Bind(Exchange("x"), R))
    assert set(one.bindings) == set()


def test_a_queue_that_is_declared_again_is_the_same() -> None:
    one = member()
    one.declare_delivered(Q)
    assert list(one.queues[Q]) == [FIRST.id]
    assert (dict(one.declared), one.declarations) == ({Q: 0}, 1)


def test_only_its_origin_routes_a_message() -> None:
    one = member()
    one.create_delivered(B, 1, BODY)
    with pytest.raises(Refused, match="its origin routes it"):
        one.enqueue_delivered(C, SECOND)
    assert list(one.queues[Q]) == [FIRST.id]


def test_a_message_that_is_still_routed_here_is_not_complete() -> None:
    one = member()
    one.publish(BODY)
    one.create_delivered(A, 0, BODY)
    with pytest.raises(Refused, match="not what this node said"):
        one.routed_delivered(A, 0)


def test_an_acquire_that_nobody_here_said_is_refused() -> None:
    one = member()
    with pytest.raises(Refused, match="not what this node said"):
        one.acquire_delivered(A, SECOND)


def test_an_acquire_of_what_has_gone_changes_nothing() -> None:
    one = member()
    one.acquire_delivered(B, SECOND)
    assert dict(one.acquired) == {}
    one.acquire(Q)
    one.destroy_delivered(Q)
    one.acquire_delivered(B, FIRST)
    assert (dict(one.acquired), set(one.acquiring)) == ({}, {FIRST})


def test_what_is_settled_comes_after_its_acquire() -> None:
    one = member()
    one.acquire(Q)
    one.accept(FIRST)
    with pytest.raises(Refused, match="not what this node said"):
        one.dequeue_delivered(A, FIRST)
    assert list(one.queues[Q]) == [FIRST.id]


def test_a_ring_of_one_message_keeps_the_last_one() -> None:
    one = member(ring=1)
    publish(one, SECOND)
    assert list(one.queues[Q]) == [SECOND.id]


def test_a_rejected_message_that_has_gone_with_its_queue_moves_nowhere() -> None:
    one = member()
    one.declare_delivered(R)
    one.acquire_delivered(B, FIRST)
    one.destroy_delivered(Q)
    one.reject_delivered(B, Reject(FIRST, 1, R, BODY))
    assert {q: list(ids) for q, ids in one.queues.items()} == {R: []}


def test_a_message_that_is_rejected_to_a_queue_that_has_gone_ends() -> None:
    one = member()
    one.acquire_delivered(B, FIRST)
    one.reject_delivered(B, Reject(FIRST, 1, R, BODY))
    assert (list(one.queues[Q]), dict(one.bodies)) == ([], {})


# A node joins.


def test_who_knows_queues_or_nodes_is_not_welcomed() -> None:
    knows_queues, knows_nodes = Updatee(me=A), Updatee(me=A)
    knows_queues.declare_delivered(Q)
    knows_nodes.create_delivered(B, 0, BODY)
    knows_nodes.routed_delivered(B, 0)
    for one in (knows_queues, knows_nodes):
        with pytest.raises(Refused, match="is a member"):
            one.welcome((Declared(R, 0),), 1, frozenset[Bind](), (), ())


def test_an_updater_is_ahead_by_two_acquires() -> None:
    one = joining()
    for key in (SECOND, FIRST):
        one.receive(Front(key, BODY, B, False))
    for key in (FIRST, SECOND):
        one.acquire_delivered(B, key)
    assert (dict(one.acquired), set(one.told)) == ({FIRST: B, SECOND: B}, set())


def test_an_acquired_message_that_has_gone_is_rejected_after_the_update() -> None:
    one = joining()
    one.acquire_delivered(B, FIRST)
    one.pass_over(Gone(FIRST))
    for q in (Q, R):
        one.end(Done(q))
    one.reject_delivered(B, Reject(FIRST, 2, R, BODY))
    assert {q: list(ids) for q, ids in one.queues.items()} == {Q: [], R: [MessageId(B, 2)]}


def test_nothing_is_remembered_of_what_does_not_come() -> None:
    one = joining()
    one.pass_over(Gone(FIRST))
    one.acquire_delivered(B, FIRST)
    assert (dict(one.heard), set(one.gone)) == ({}, {FIRST})
    one.dequeue_delivered(B, FIRST)
    assert (dict(one.heard), set(one.gone)) == ({}, set())


def test_what_a_node_had_that_left_during_the_update_comes_again() -> None:
    one = joining()
    one.acquire_delivered(B, FIRST)
    one.member_leaves(B)
    one.receive(Front(FIRST, BODY, None, False))
    assert (dict(one.acquired), set(one.redelivered)) == ({}, {FIRST})


def test_an_updater_sends_the_other_queues_where_one_ends() -> None:
    updater = Updater()
    updater.begin((Content(Q, (FIRST.id,)), Content(R, (SECOND.id,))))
    updater.destroy_delivered(Q)
    assert {q: list(ids) for q, ids in updater.to_send.items()} == {R: [SECOND.id]}
