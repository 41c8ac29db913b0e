"""What members make of words that nobody may say: of a member that lies, of a group that repeats or
invents."""

from __future__ import annotations

from lawful.machines.queue_cluster.ledger import Of
from lawful.machines.queue_cluster.messages import (
    Acquire,
    Cancel,
    Consume,
    Create,
    Dequeue,
    Enqueue,
    Key,
    MessageId,
    Node,
    QueueName,
    Reject,
    Release,
    Requeue,
    Routed,
)
from lawful.machines.queue_cluster.ownership import Multicast
from lawful.machines.queue_cluster.system import Left
from tests.machines.queue_cluster.told import (
    Does,
    Told,
    accepts,
    declares,
    destroys,
    publishes,
    rejects,
    releases,
    says,
    subscribes,
    told,
)

Q = QueueName("q")
TWO = ((0, declares("A", "q")), (3, publishes("A", "m", "q")), (4, publishes("B", "n", "q")))


def key(node: str, number: int, queue: str = "q") -> Key:
    return Key(MessageId(Node(node), number), QueueName(queue))


def of_q(said: Multicast) -> Of:
    return Of(Q, 0, said)


def publishes_by_hand(name: str) -> Does:
    """This member, whom nobody plays, publishes its first message."""
    return says(name, Create(0, b"l"), Enqueue(key(name, 0)), Routed(0))


def test_a_member_that_lies_about_messages() -> None:
    scene = told(
        *TWO,
        (8, publishes_by_hand("L")),
        (10, subscribes("A", "a", "q", 3)),
        (20, says("L", Create(5, b"x"))),
        (20.1, says("L", Create(0, b"x"))),
        (20.2, says("L", Enqueue(key("A", 0)))),
        (20.3, says("L", Enqueue(key("L", 0)))),
        (20.4, says("L", Routed(0))),
        (20.5, says("L", Create(1, b"x"), Enqueue(key("L", 1)), Enqueue(key("L", 1)), Routed(1))),
        (21.6, Told.look),
        (22, says("L", Acquire(key("A", 0)))),
        (22.1, says("L", Requeue(key("A", 0)))),
        (22.2, says("L", Dequeue(key("A", 0)))),
        (22.3, says("L", Reject(key("A", 0), 2, Q, b"m"))),
        (23.4, Told.look),
        (24, Told.weigh),
        (25, accepts("A", "a", "m")),
        (30, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "8: L: create 0 l, L: enqueue L0 on q, L: routed 0",
        "11: A: consume q/0",
        "13: A: acquire A0 on q, A: acquire B0 on q, A: acquire L0 on q,"
        " A: release for good q/0, A: cancel q/0",
        "14: [a gets m from q], [a gets n from q], [a gets l from q]",
        "20: L: create 5 x",
        "20.1: L: create 0 x",
        "20.2: L: enqueue A0 on q",
        "20.3: L: enqueue L0 on q",
        "20.4: L: routed 0",
        "20.5: L: create 1 x, L: enqueue L1 on q, L: enqueue L1 on q, L: routed 1",
        "21.6: [A: q is STOPPED by None for : m n l x 5 completed 3 delivered 6 refused],"
        " [B: q is STOPPED by None for : m n l x 1 completed 6 refused]",
        "22: L: acquire A0 on q",
        "22.1: L: requeue A0 on q",
        "22.2: L: dequeue A0 on q",
        "22.3: L: reject A0 on q as 2 to q m",
        "23.4: [A: q is STOPPED by None for : m n l x 5 completed 3 delivered 8 refused],"
        " [B: q is STOPPED by None for : m n l x 1 completed 8 refused]",
        "24: [A keeps queues 1, held 3, created 3, bodies 4, acquired 3, declared 1,"
        " queued 4], [B keeps queues 1, created 3, bodies 4, acquired 3, declared 1,"
        " queued 4]",
        "26: A: dequeue A0 on q, A: consume q/0",
        "27: [accept m is done]",
        "28: A: acquire L1 on q, A: release for good q/0, A: cancel q/0",
        "29: [a gets x from q]",
        "30: [A: q is STOPPED by None for : n l x 7 completed 4 delivered 8 refused],"
        " [B: q is STOPPED by None for : n l x 1 completed 8 refused]",
    ]


def test_a_member_that_lies_while_another_acquires() -> None:
    scene = told(
        *TWO,
        (10, subscribes("A", "a", "q", 3)),
        (12.5, says("L", Acquire(key("A", 0)))),
        (12.6, says("L", Dequeue(key("B", 0)))),
        (20, Told.look),
        (21, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "11: A: consume q/0",
        "12.5: L: acquire A0 on q",
        "12.6: L: dequeue B0 on q",
        "13: A: acquire A0 on q, A: acquire B0 on q",
        "14: [a gets m from q], [a gets n from q]",
        "20: [A: q is OWNED by A for A: m n 4 completed 2 delivered 2 refused],"
        " [B: q is STOPPED by A for A: m 1 completed 1 refused]",
        "21: [A keeps queues 1, held 2, created 2, bodies 2, acquired 2, declared 1,"
        " queued 2, q owner 1, q consumers 1], [B keeps queues 1, created 2, bodies 1,"
        " acquired 1, declared 1, queued 1, q owner 1, q consumers 1]",
    ]


def test_a_member_that_left_speaks_again() -> None:
    """Nothing of it counts, while anybody has something of its."""
    scene = told(
        *TWO,
        (5, declares("A", "r")),
        (8, publishes_by_hand("L")),
        (8.2, says("L", Create(1, b"k"))),
        (8.4, says("K", Create(0, b"k"), Enqueue(key("K", 0, "r")))),
        (9.5, Told.weigh),
        (10, subscribes("A", "a", "q", 3)),
        (20, says("L", Left())),
        (22, Told.weigh),
        (23, says("K", Routed(0))),
        (23.2, says("L", Create(0, b"again"))),
        (25, Told.weigh),
        (26, destroys("A", "q")),
        (29, Told.weigh),
        (29.2, says("L", Create(0, b"again"))),
        (31, Told.look),
        (33, says("A", Left())),
        (35, Told.look),
        (36, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: A: declare r, [publish n is done]",
        "7: [declare r is done]",
        "8: L: create 0 l, L: enqueue L0 on q, L: routed 0",
        "8.2: L: create 1 k",
        "8.4: K: create 0 k, K: enqueue K0 on r",
        "9.5: [A keeps queues 2, created 4, routing 2, bodies 5, declared 2, queued 4],"
        " [B keeps queues 2, created 4, routing 2, bodies 5, declared 2, queued 4]",
        "11: A: consume q/0",
        "13: A: acquire A0 on q, A: acquire B0 on q, A: acquire L0 on q,"
        " A: release for good q/0, A: cancel q/0",
        "14: [a gets m from q], [a gets n from q], [a gets l from q]",
        "20: L: leaves",
        "22: [A keeps queues 2, held 3, created 3, routing 1, bodies 4, acquired 3,"
        " declared 2, queued 4], [B keeps queues 2, created 3, routing 1, bodies 4,"
        " acquired 3, declared 2, queued 4]",
        "23: K: routed 0",
        "23.2: L: create 0 again",
        "25: [A keeps queues 2, held 3, created 3, bodies 4, acquired 3, declared 2,"
        " queued 4], [B keeps queues 2, created 3, bodies 4, acquired 3, declared 2,"
        " queued 4]",
        "27: A: destroy q",
        "28: [a has ended], [destroy q is done]",
        "29: [A keeps queues 1, held 3, created 3, bodies 1, declared 1, queued 1],"
        " [B keeps queues 1, created 3, bodies 1, declared 1, queued 1]",
        "29.2: L: create 0 again",
        "31: [A: r is STOPPED by None for : k 7 completed 3 delivered 2 refused],"
        " [B: r is STOPPED by None for : k 1 completed 1 refused]",
        "33: A: leaves",
        "35: [A: r is STOPPED by None for : k 7 completed 3 delivered 3 refused],"
        " [B: r is STOPPED by None for : k 1 completed 1 refused]",
        "36: [A keeps queues 1, held 3, created 3, bodies 1, declared 1, queued 1],"
        " [B keeps queues 1, created 3, routing 1, bodies 2, declared 1, queued 1]",
    ]


def test_messages_of_several_members_are_routed_at_once() -> None:
    scene = told(
        *TWO,
        (5, declares("A", "r")),
        (8, says("L", Create(0, b"l"))),
        (8.2, says("K", Create(0, b"k"))),
        (8.4, says("L", Enqueue(key("L", 0)))),
        (8.5, publishes("A", "o", "q")),
        (10, says("K", Enqueue(key("K", 0, "r")))),
        (10.2, says("K", Enqueue(key("K", 0, "q")))),
        (10.4, says("L", Routed(0))),
        (10.5, Told.weigh),
        (11.5, says("K", Routed(0))),
        (14, Told.look),
        (15, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: A: declare r, [publish n is done]",
        "7: [declare r is done]",
        "8: L: create 0 l",
        "8.2: K: create 0 k",
        "8.4: L: enqueue L0 on q",
        "9.5: A: create 1 o, A: enqueue A1 on q, A: routed 1",
        "10: K: enqueue K0 on r",
        "10.2: K: enqueue K0 on q",
        "10.4: L: routed 0",
        "10.5: [publish o is done], [A keeps queues 2, created 4, routing 2, bodies 5,"
        " declared 2, queued 4], [B keeps queues 2, created 4, routing 2, bodies 5,"
        " declared 2, queued 4]",
        "11.5: K: routed 0",
        "14: [A: q is STOPPED by None for : m n l o k 4 completed],"
        " [A: r is STOPPED by None for : k 4 completed],"
        " [B: q is STOPPED by None for : m n l o k 1 completed],"
        " [B: r is STOPPED by None for : k 1 completed]",
        "15: [A keeps queues 2, created 4, bodies 5, declared 2, queued 6],"
        " [B keeps queues 2, created 4, bodies 5, declared 2, queued 6]",
    ]


def test_a_group_that_repeats_and_invents() -> None:
    """Whoever waits for its own words goes on to wait for them."""
    scene = told(
        *TWO,
        (10, subscribes("A", "a", "q")),
        (10.1, subscribes("B", "b", "q")),
        (20, says("A", Create(0, b"m"))),
        (20.1, says("A", Create(9, b"m"))),
        (20.2, says("A", Routed(0))),
        (20.3, says("A", Acquire(key("A", 0)))),
        (20.4, says("A", Dequeue(key("A", 0)))),
        (20.5, says("A", Requeue(key("A", 0)))),
        (20.6, says("A", Reject(key("A", 0), 1, None, b"m"))),
        (20.7, says("A", of_q(Consume()))),
        (20.8, says("A", of_q(Release(interested=False)))),
        (20.9, says("A", of_q(Cancel()))),
        (23, Told.look),
        (23.1, Told.weigh),
        (24, releases("A", "a", "m")),
        (24.2, says("A", Create(1, b"x"))),
        (24.4, says("A", of_q(Release(interested=True)))),
        (30, Told.look),
        (31, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "11: A: consume q/0",
        "11.1: B: consume q/0",
        "13: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "14: [a gets m from q]",
        "15: B: acquire B0 on q, B: release for good q/0, B: cancel q/0",
        "16: [b gets n from q]",
        "20: A: create 0 m",
        "20.1: A: create 9 m",
        "20.2: A: routed 0",
        "20.3: A: acquire A0 on q",
        "20.4: A: dequeue A0 on q",
        "20.5: A: requeue A0 on q",
        "20.6: A: reject A0 on q as 1 to None m",
        "20.7: A: consume q/0",
        "20.8: A: release for good q/0",
        "20.9: A: cancel q/0",
        "23: [A: q is STOPPED by None for : m n 3 completed 1 delivered 10 refused],"
        " [B: q is STOPPED by None for : n 2 completed 1 delivered 4 refused]",
        "23.1: [A keeps queues 1, held 1, created 2, bodies 2, acquired 2, declared 1,"
        " queued 2], [B keeps queues 1, held 1, created 2, bodies 1, acquired 1,"
        " declared 1, queued 1]",
        "24.2: A: create 1 x",
        "24.4: A: release for now q/0",
        "25: A: requeue A0 on q, A: consume q/0",
        "26: [release m is done]",
        "27: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "28: [a gets m from q, again]",
        "30: [A: q is STOPPED by None for : m n 5 completed 2 delivered 12 refused],"
        " [B: q is STOPPED by None for : n 2 completed 1 delivered 5 refused]",
        "31: [A keeps queues 1, held 1, created 2, bodies 2, acquired 2, redelivered 1,"
        " declared 1, queued 2], [B keeps queues 1, held 1, created 2, bodies 1,"
        " acquired 1, declared 1, queued 1]",
    ]


def test_a_message_is_settled_before_it_was_ordered() -> None:
    """The group repeats an acquire, and places an acceptance and a release before it."""
    scene = told(
        *TWO,
        (10, subscribes("A", "a", "q", 2)),
        (12.2, says("A", Dequeue(key("A", 0)))),
        (12.4, says("A", Requeue(key("B", 0)))),
        (12.6, says("A", Create(1, b"x"))),
        (20, Told.look),
        (21, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "11: A: consume q/0",
        "12.2: A: dequeue A0 on q",
        "12.4: A: requeue B0 on q",
        "12.6: A: create 1 x",
        "13: A: acquire A0 on q, A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "14: [a gets m from q], [a gets n from q]",
        "20: [A: q is STOPPED by None for : m n 4 completed 2 delivered 3 refused],"
        " [B: q is STOPPED by None for : n 1 completed]",
        "21: [A keeps queues 1, held 2, created 2, bodies 2, acquired 2, declared 1,"
        " queued 2], [B keeps queues 1, created 2, routing 1, bodies 2, acquired 1,"
        " declared 1, queued 1]",
    ]


def test_a_member_that_lies_about_ownership() -> None:
    scene = told(
        *TWO,
        (8, subscribes("A", "a", "q", 9)),
        (9, subscribes("B", "b", "q", 9)),
        (15, says("AL", of_q(Release(interested=False)))),
        (16, says("L", of_q(Cancel()))),
        (17.5, Told.look),
        (18, says("L", of_q(Consume()))),
        (20, Told.look),
        (20.2, says("L", Left())),
        (22, Told.look),
        (23, says("A", Left())),
        (25, Told.look),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "9: A: consume q/0",
        "10: B: consume q/0",
        "11: A: acquire A0 on q, A: acquire B0 on q",
        "12: [a gets m from q], [a gets n from q]",
        "15: AL: release for good q/0",
        "16: L: cancel q/0",
        "17.5: [A: q is OWNED by A for AB: m n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for AB: m n 1 completed]",
        "18: L: consume q/0",
        "20: [A: q is OWNED by A for ABL: m n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for ABL: m n 1 completed]",
        "20.2: L: leaves",
        "22: [A: q is OWNED by A for AB: m n 4 completed 2 delivered],"
        " [B: q is STOPPED by A for AB: m n 1 completed]",
        "23: A: leaves",
        "25: B: acquire A0 on q, B: acquire B0 on q,"
        " [A: q is OWNED by A for AB: m n 4 completed 2 delivered 1 refused],"
        " [B: q is OWNED by B for B: m n 1 completed]",
    ]


def test_a_group_that_invents_a_message_with_the_number_of_another() -> None:
    """The number is that of a rejection, which is under way."""
    scene = told(
        *TWO,
        (10, subscribes("A", "a", "q")),
        (20, rejects("A", "a", "m")),
        (20.5, says("A", Create(1, b"x"))),
        (30, Told.look),
        (31, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "11: A: consume q/0",
        "13: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "14: [a gets m from q]",
        "20.5: A: create 1 x",
        "21: A: reject A0 on q as 1 to None m, A: consume q/0",
        "22: [reject m is done]",
        "23: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "24: [a gets n from q]",
        "30: [A: q is STOPPED by None for : n 5 completed 2 delivered 1 refused],"
        " [B: q is STOPPED by None for : m n 1 completed 1 refused]",
        "31: [A keeps queues 1, held 1, created 2, bodies 1, acquired 1, declared 1,"
        " queued 1], [B keeps queues 1, created 2, routing 1, bodies 3, acquired 2,"
        " declared 1, queued 2]",
    ]


def test_a_group_that_makes_a_rejection_of_an_acceptance() -> None:
    """With a number that was never given."""
    scene = told(
        *TWO,
        (10, subscribes("A", "a", "q")),
        (20, accepts("A", "a", "m")),
        (20.5, says("A", Reject(key("A", 0), 1, Q, b"m"))),
        (30, Told.look),
        (31, Told.weigh),
    )
    assert scene.story == [
        "1: A: declare q",
        "2: [declare q is done]",
        "4: A: create 0 m, A: enqueue A0 on q, A: routed 0",
        "5: B: create 0 n, B: enqueue B0 on q, B: routed 0, [publish m is done]",
        "6: [publish n is done]",
        "11: A: consume q/0",
        "13: A: acquire A0 on q, A: release for good q/0, A: cancel q/0",
        "14: [a gets m from q]",
        "20.5: A: reject A0 on q as 1 to q m",
        "21: A: dequeue A0 on q, A: consume q/0",
        "22: [accept m is done]",
        "23: A: acquire B0 on q, A: release for good q/0, A: cancel q/0",
        "24: [a gets n from q]",
        "30: [A: q is STOPPED by None for : n 5 completed 2 delivered 1 refused],"
        " [B: q is STOPPED by None for : n m 1 completed]",
        "31: [A keeps queues 1, held 1, created 2, bodies 1, acquired 1, declared 1,"
        " queued 1], [B keeps queues 1, created 2, bodies 2, acquired 1, declared 1,"
        " queued 2]",
    ]
