"""The brokers as a service embeds them: what is explored of them, and what one replica does."""

from __future__ import annotations

import pytest

from lawful import Refused
from lawful.machines.queue_cluster.joining import Content, Count, Declared, Updatee, Updater
from lawful.machines.queue_cluster.messages import (
    Acquire,
    Create,
    Declare,
    Delivery,
    Destroy,
    Done,
    Enqueue,
    Front,
    Gone,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
)
from lawful.machines.queue_cluster.promises import BrokersLive
from tests.machines.checked import checked, counts

A, B, LATE = Node("a"), Node("b"), Node("late")
Q, OTHER = QueueName("q"), QueueName("other")
FIRST, SECOND = MessageId(A, 0), MessageId(A, 1)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("scope", "expected"),
    [("scope", (29_757, 85_013, 50)), ("joining", (11_715, 41_401, 40))],
)
def test_everything_holds(scope: str, expected: tuple[int, int, int]) -> None:
    result = checked(BrokersLive, scope)
    assert counts(result) == expected


@pytest.mark.nightly
def test_a_node_joins_while_the_last_consumer_leaves() -> None:
    """Between the release and the cancel nobody owns the queue, and one node is interested."""
    result = checked(BrokersLive, "leaving")
    others = {p.name for p in result.properties if not p.as_expected}
    assert others == {"is_consumed_elsewhere"}  # In this scope there are no messages.
    assert (result.distinct, result.generated, result.depth) == (292, 647, 21)


def replica(me: Node) -> Updatee:
    """A member that knows a queue, and no node and queue that comes later."""
    made = Updatee(me=me)
    made.declare_delivered(Q)
    return made


def test_two_publishers_at_one_node_keep_their_messages_apart() -> None:
    """Q16, Q18: `enqueue` names the message that it is about."""
    a = replica(A)
    one, other = a.publish(b"one"), a.publish(b"other")
    assert (one, other) == (Create(0, b"one"), Create(1, b"other"))
    assert a.enqueue(1, Q) == Enqueue(Key(SECOND, Q))
    assert a.enqueue(0, Q) == Enqueue(Key(FIRST, Q))
    with pytest.raises(Refused, match="once to each queue"):
        a.enqueue(0, Q)


def test_an_unknown_queue_is_refused_before_anything_is_multicast() -> None:
    """And a queue that is destroyed meanwhile is no error where the multicast is delivered."""
    a = replica(A)
    a.publish(b"one")
    with pytest.raises(Refused, match="there is no such queue"):
        a.enqueue(0, OTHER)
    said = a.enqueue(0, Q)
    a.create_delivered(A, 0, b"one")
    a.destroy_delivered(Q)
    a.enqueue_delivered(A, said.key)
    assert (a.queues, a.acquired) == ({}, {})


def filled() -> Updatee:
    """Two messages of `a` are on the queue at `b`."""
    b = replica(B)
    for seq, id, body in ((0, FIRST, b"one"), (1, SECOND, b"two")):
        b.create_delivered(A, seq, body)
        b.enqueue_delivered(A, Key(id, Q))
        b.routed_delivered(A, seq)
    return b


def test_what_comes_back_is_first_again_and_says_so() -> None:
    b = filled()
    key = Key(FIRST, Q)
    assert b.acquire(Q) == (Delivery(key, b"one", False), Acquire(key))
    b.acquire_delivered(B, key)
    b.requeue_delivered(B, b.release(key).key)
    assert b.queues == {Q: [FIRST, SECOND]}
    assert b.acquire(Q) == (Delivery(key, b"one", True), Acquire(key))


def test_a_rejected_message_is_on_the_alternate_queue_once_with_its_body() -> None:
    b = filled()
    b.declare_delivered(OTHER)
    key = Key(FIRST, Q)
    b.acquire(Q)
    b.acquire_delivered(B, key)
    (said,) = b.reject(key, OTHER)
    assert said == Reject(key, 0, OTHER, b"one")
    assert isinstance(said, Reject)
    b.reject_delivered(B, said)
    assert b.queues == {Q: [SECOND], OTHER: [MessageId(B, 0)]}
    assert b.bodies == {SECOND: b"two", MessageId(B, 0): b"one"}


def test_a_member_that_left_leaves_nothing_behind() -> None:
    """Neither its numbers nor its name, except on messages that are still queued."""
    b = filled()
    b.acquire_delivered(A, Key(FIRST, Q))
    b.member_leaves(A)
    assert (b.created, b.acquired, b.redelivered) == ({}, {}, {Key(FIRST, Q)})
    with pytest.raises(Refused, match="it left before"):
        b.create_delivered(A, 0, b"three")
    b.dequeue_delivered(B, b.expire(Key(FIRST, Q)).key)
    assert b.bodies == {SECOND: b"two"}


def test_an_updater_may_be_ahead_of_a_node_that_joins() -> None:
    """Q56: it says who has the message, and the node handles the acquire later, or not at all."""
    key, late = Key(FIRST, Q), Updatee(me=LATE)
    late.welcome((Declared(Q, 0),), 1, frozenset(), (Count(A, 2),), ())
    late.receive(Front(key, b"one", A, False))
    late.end(Done(Q))
    assert (late.acquired, late.told) == ({key: A}, {key})
    late.acquire_delivered(A, key)
    assert (late.acquired, late.told) == ({key: A}, set())
    with pytest.raises(Refused, match="owners acquire what is free"):
        late.acquire_delivered(B, key)
    late.requeue_delivered(A, key)
    late.acquire_delivered(B, key)
    assert (late.acquired, late.redelivered) == ({key: B}, {key})


def test_a_reject_that_the_updater_handled_first_moves_the_message_here_too() -> None:
    """Q27, Q56: the new node comes to the reject when it has the whole queue, without the message,
    and before or after it hears that the message has gone."""
    key, moved = Key(FIRST, Q), MessageId(A, 2)
    said = Reject(key, 2, OTHER, b"one")
    for ahead in (True, False):
        b, late, updater = filled(), Updatee(me=LATE), Updater()
        b.declare_delivered(OTHER)
        b.acquire_delivered(A, key)
        late.welcome((Declared(Q, 0), Declared(OTHER, 1)), 2, frozenset(), (Count(A, 2),), ())
        updater.begin((Content(Q, (FIRST,)), Content(OTHER, ())))
        b.reject_delivered(A, said)
        gone = b.front(updater.send(Q))
        assert gone == Gone(key)
        assert isinstance(gone, Gone)
        if not ahead:
            late.reject_delivered(A, said)
            assert set(late.heard) == {key}
        late.pass_over(gone)
        late.end(updater.done(Q))
        late.end(updater.done(OTHER))
        if ahead:
            assert (late.queues, late.gone) == ({Q: [], OTHER: []}, {key})
            late.reject_delivered(A, said)
        assert late.queues == {Q: [], OTHER: [moved]}
        assert (late.bodies, late.heard, late.gone) == ({moved: b"one"}, {}, set())


def test_a_message_comes_again_after_who_had_it_left_though_another_has_it() -> None:
    """Q29, Q56: A had it at the join and leaves; then B acquires it, and only then it comes."""
    key, late = Key(FIRST, Q), Updatee(me=LATE)
    late.welcome((Declared(Q, 0),), 1, frozenset(), (Count(A, 2),), ())
    late.member_leaves(A)
    late.acquire_delivered(B, key)
    late.receive(Front(key, b"one", A, False))
    assert (late.acquired, late.redelivered) == ({key: B}, {key})


def test_a_message_comes_again_after_who_was_heard_of_left() -> None:
    """Q29, Q56: A acquires it after the join and leaves; then B acquires it."""
    key, late = Key(FIRST, Q), Updatee(me=LATE)
    late.welcome((Declared(Q, 0),), 1, frozenset(), (Count(A, 2),), ())
    late.acquire_delivered(A, key)
    late.member_leaves(A)
    late.acquire_delivered(B, key)
    late.receive(Front(key, b"one", None, False))
    assert (late.acquired, late.redelivered) == ({key: B}, {key})


def test_what_was_told_ends_with_the_message() -> None:
    """Of A, which had acquired it before the join."""
    key = Key(FIRST, Q)
    for event in ("requeue_delivered", "dequeue_delivered"):
        late = Updatee(me=LATE)
        late.welcome((Declared(Q, 0),), 1, frozenset(), (Count(A, 2),), ())
        late.receive(Front(key, b"one", A, False))
        getattr(late, event)(A, key)
        assert (late.acquired, late.told) == ({}, set())


def test_a_queue_that_is_declared_again_is_another_queue_to_all() -> None:
    """Q43, Q47: two nodes declare it, and it is destroyed in between; the number of its declaration
    tells late multicasts about the first from those about the second."""
    a, b = Updatee(me=A), Updatee(me=B)
    assert (a.declare(Q), b.declare(Q)) == (Declare(Q), Declare(Q))
    for each in (a, b):
        each.declare_delivered(Q)
        assert each.declared == {Q: 0}
    assert a.destroy(Q) == Destroy(Q)
    for each in (a, b):
        each.destroy_delivered(Q)
        assert each.declared == {}
        each.declare_delivered(Q)
        each.declare_delivered(Q)  # It is there already.
        assert (each.queues, each.declared, each.declarations) == ({Q: []}, {Q: 1}, 2)


def test_a_node_that_joins_gets_what_is_on_the_queues_from_the_back() -> None:
    """Q48, Q56; both handle an acquire in between."""
    b, late, updater = filled(), Updatee(me=LATE), Updater()
    late.welcome((Declared(Q, 0),), 1, frozenset(), (Count(A, 2),), ())
    updater.begin((Content(Q, tuple(b.queues[Q])),))
    assert updater.send(Q) == Key(SECOND, Q)
    front = b.front(Key(SECOND, Q))
    assert front == Front(Key(SECOND, Q), b"two", None, False)
    for each in (b, late):
        each.acquire_delivered(A, Key(FIRST, Q))
    assert isinstance(front, Front)
    late.receive(front)
    first = b.front(updater.send(Q))
    assert first == Front(Key(FIRST, Q), b"one", A, False)
    assert isinstance(first, Front)
    late.receive(first)
    assert updater.done(Q) == Done(Q)
    late.end(Done(Q))
    names = ("queues", "acquired", "bodies", "redelivered", "created", "routing")
    for name in (*names, "declared", "declarations"):
        assert getattr(late, name) == getattr(b, name)
    assert (late.updating, late.heard) == (set(), {})


def test_a_member_is_not_welcomed_and_an_updater_begins_once() -> None:
    """Q48, Q56: whoever knows a queue or a number is no new node."""
    late, updater = Updatee(me=LATE), Updater()
    late.create_delivered(A, 0, b"one")
    for member in (filled(), replica(A), late):
        with pytest.raises(Refused, match="is a member"):
            member.welcome((), 0, frozenset(), (), ())
    updater.begin((Content(Q, (FIRST,)),))
    with pytest.raises(Refused, match="sends already"):
        updater.begin(())
